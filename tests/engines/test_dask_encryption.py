"""Dask's scheduler and worker with certificates, made here and used for real."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from outperform.cli import main
from outperform.engines import open_engine
from outperform.errors import EngineError, InvalidInput
from tests.certificates import make_certificates
from tests.dask_processes import DaskProcesses
from tests.engines.conftest import STUDY, eventually

pytest.importorskip("distributed", reason='pip install "outperform[dask]"')

CERTIFICATES = """
[engine]
address = "{address}"
[engine.options.security]
tls_ca_file = "ca.pem"
tls_client_cert = "me.pem"
tls_client_key = "me.key"
require_encryption = true
"""


def name_certificates(folder, **changes):
    files = {"tls_ca_file": "ca.pem", "tls_client_cert": "me.pem", "tls_client_key": "me.key"}
    named = {word: str(folder / file) for word, file in files.items()}
    return {word: name for word, name in {**named, **changes}.items() if name}


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory):
    """A scheduler and a worker that talk to nobody without a certificate."""
    folder = tmp_path_factory.mktemp("encrypted")
    make_certificates(folder)
    make_certificates(folder / "strange")
    files = {"--tls-ca-file": "ca.pem", "--tls-cert": "me.pem", "--tls-key": "me.key"}
    options = [word for name, file in files.items() for word in (name, str(folder / file))]
    processes = DaskProcesses(folder, options)
    try:
        processes.start_worker("first")
        assert eventually((folder / "scheduler.json").exists, seconds=60)
        yield processes
    finally:
        processes.end()


class TestEncryption:
    def test_a_study_file_names_the_certificates(self, encrypted, monkeypatch):
        monkeypatch.chdir(encrypted.folder)
        text = CERTIFICATES.format(address=encrypted.address)
        Path("small.toml").write_text(STUDY + text)
        result = CliRunner().invoke(main, ["run", "small.toml"])
        assert result.exit_code == 0, result.output
        assert "2 fits done now, 0 were recorded before, 0 failed" in result.output
        assert "Receive client connection" in Path("scheduler.log").read_text()

    def test_without_one_a_run_ends_in_words(self, encrypted, tmp_path):
        (tmp_path / "small.toml").write_text(STUDY)
        words = ["run", str(tmp_path / "small.toml"), "--engine", encrypted.address]
        result = subprocess.run(
            [sys.executable, "-m", "outperform", *words], capture_output=True, text=True
        )
        assert result.returncode == 2
        assert re.fullmatch(
            rf"Error: the Dask scheduler at '{encrypted.address}' ends the connection: .*\n"
            r"If it is encrypted, give the certificates that it asks for as security in "
            r"\[engine\.options\]; if not, none\.\n",
            result.stderr,
        )
        assert not (tmp_path / "small.db").exists()

    @pytest.mark.parametrize("words", [["tls_ca_file"], ["tls_client_cert", "tls_client_key"]])
    def test_those_of_strangers_are_refused_on_either_side(self, encrypted, words):
        strange = name_certificates(encrypted.folder / "strange")
        changes = {word: strange[word] for word in words}
        security = name_certificates(encrypted.folder, **changes)
        with pytest.raises(EngineError) as caught:
            open_engine(encrypted.address, {"security": security})
        assert caught.value.problem.startswith(
            f"the Dask scheduler at '{encrypted.address}' ends the connection: "
        )

    @pytest.mark.parametrize("by_file", [False, True])
    def test_too_few_are_refused_before_a_connection(self, encrypted, by_file):
        # Dask itself would end in a TypeError, and hang for 20 seconds.
        file = f"dask://{encrypted.folder / 'scheduler.json'}"
        security = name_certificates(encrypted.folder, tls_client_cert=None)
        address, options = (file, {}) if by_file else (encrypted.address, {"security": security})
        with pytest.raises(InvalidInput) as caught:
            open_engine(address, options)
        assert str(caught.value) == (
            f"'{address}' is encrypted, and there are no certificates for it. Give security a "
            "tls_ca_file, a tls_client_cert and a tls_client_key, in [engine.options]."
        )

    @pytest.mark.parametrize(
        ("security", "problem"),
        [
            ("hunter2", "security in [engine.options] is no table"),
            (
                {"tls_ca": "hunter2"},
                "security in [engine.options] is of no use: Unknown parameters: ['tls_ca']",
            ),
            (
                {"tls_ca_file": "/nowhere/ca.pem"},
                "the tls_ca_file of security in [engine.options] is not there",
            ),
        ],
    )
    def test_what_names_none_is_refused(self, security, problem):
        with pytest.raises(InvalidInput) as caught:
            open_engine("dask://127.0.0.1:1", {"security": security})
        assert caught.value.problem == problem

    def test_a_key_of_another_certificate_is_refused(self, encrypted):
        strange = name_certificates(encrypted.folder / "strange")["tls_client_key"]
        security = name_certificates(encrypted.folder, tls_client_key=strange)
        with pytest.raises(InvalidInput, match=r"is of no use: .*key values mismatch"):
            open_engine("dask://127.0.0.1:1", {"security": security})

    def test_what_dask_is_configured_to_use_is_used(self, encrypted, collect):
        import dask

        names = name_certificates(encrypted.folder)
        tls = "distributed.comm.tls."
        settings = {
            "distributed.comm.require-encryption": True,
            f"{tls}ca-file": names["tls_ca_file"],
            f"{tls}client.cert": names["tls_client_cert"],
            f"{tls}client.key": names["tls_client_key"],
        }
        with (
            dask.config.set(settings),
            open_engine(encrypted.address) as engine,
        ):
            engine.submit(abs, -9, tag=0)
            assert collect(engine, 1)[0].value == 9

    def test_certificates_for_one_that_is_not_encrypted_are_an_error(self, encrypted, dask_address):
        with pytest.raises(EngineError) as caught:
            open_engine(dask_address, {"security": name_certificates(encrypted.folder)})
        why = (
            "(?i:wrong version)|cannot convert to SSL"  # as the scheduler is slow or quick to speak
        )
        assert re.search(f"ends the connection: .*({why})", caught.value.problem)
