"""A password in an address is seen by nobody but the server: whatever is asked, printed or kept."""

import subprocess
import sys
from shlex import quote

import pytest
from click.testing import CliRunner

import outperform as op
from outperform.cli import list_commands, main
from outperform.store import open_store
from tests.postgres_server import PASSWORD, find_server, make_address

STUDY = """
name = "toy"
[tuning]
trials = 5
[[task]]
name = "toy"
metric = "accuracy"
[[pipeline]]
name = "a"
function = "secret_training:fit"
sources = ["init"]
space = {c = {uniform = [0, 1]}}
[[pipeline]]
name = "b"
function = "secret_training:fit"
sources = ["init"]
space = {c = {uniform = [0, 1]}}
[[design]]
kind = "ideal"
replicates = 6
[[design]]
kind = "fix-hopt"
replicates = 6
repetitions = 2
[[design]]
kind = "variance"
replicates = 3
"""
TRAINING = """
def fit(params, split, seeds):
    score = (seeds["init"] / 2**32 + params["c"]) / 2
    if score > 0.9:
        raise ValueError("too good")
    return {"valid": score, "test": score}
"""
# What every command is asked; the last two take no store, and are given one all the same.
WORDS = {
    "run": ["study.toml", "--store", "{}", "--engine", "inline"],
    "status": ["{}"],
    "compare": ["{}", "a", "b", "--drop-incomplete"],
    "rank": ["{}"],
    "decompose": ["{}"],
    "quality": ["{}"],
    "audit": ["{}", "a", "b", "--drop-incomplete"],
    "best-of": ["{}", "--trials"],
    "plan": ["{}", "--budget", "100"],
    "simulate": ["--store", "{}", "--pairs", "5"],
    "report": ["{}", "-o", "report.html"],
    "verify": ["{}"],
    "backup": ["{}", "backup.db"],
    "copy": ["{}", "copy.db"],
    "check": ["{}"],
    "sota": ["{}", "--test-size", "10"],
}
WRITING = ("report", "backup", "copy")  # files


@pytest.fixture(scope="module")
def address():
    return make_address("guarded", PASSWORD)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, address):
    folder = tmp_path_factory.mktemp("secrets")
    (folder / "study.toml").write_text(STUDY)
    (folder / "secret_training.py").write_text(TRAINING)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        result = ask(*fill(WORDS["run"], address), command="run")
    assert result.exit_code in (0, 4), result.output
    assert PASSWORD not in result.output
    shown = address.replace(f":{PASSWORD}", "")
    assert f"Next: outperform status {quote(shown)}; then" in result.output
    assert quote(shown) == f"'{shown}'"  # for a shell
    return folder


def fill(words, address):
    return [word.format(address) for word in words]


def ask(*words, command):
    return CliRunner().invoke(main, [command, *words])


def test_every_command_is_asked():
    assert {*WORDS, "demo", "init"} == {*list_commands()}  # which take the name of a new folder


@pytest.mark.parametrize("command", [command for command in WORDS if command not in WRITING])
def test_no_command_shows_it(folder, address, command, monkeypatch):
    monkeypatch.chdir(folder)
    result = ask(*fill(WORDS[command], address), command=command)
    assert PASSWORD not in result.output
    assert (result.exit_code == 2) == (command in ("check", "sota")), result.output


@pytest.mark.parametrize("command", ["status", "compare", "run", "copy", "backup", "sota"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("?host=", "?host=/nowhere"),
        ("guarded:", "guarded:wrong-"),
        ("://", ":/"),
        ("sql:", "ssql:"),
        ("&schema", "&sslmod=on&schema"),
        ("host=", "hots="),
    ],
    ids=["host", "password", "slash", "scheme", "parameter", "socket"],
)
def test_no_error_shows_it(folder, address, command, old, new, monkeypatch):
    monkeypatch.chdir(folder)
    words = [word.replace(".db", "-2.db") for word in WORDS[command]]
    for debug in ([], ["--debug"]):
        result = ask(*fill(words, address.replace(old, new)), *debug, command=command)
        assert result.exit_code == 2
        assert PASSWORD not in result.output


@pytest.mark.parametrize("command", ["compare", "status", "verify", "backup", "copy", "plan"])
def test_json_names_the_store_without_it(folder, address, command, monkeypatch):
    monkeypatch.chdir(folder)
    words = [word.replace(".db", f"-{command}.db") for word in WORDS[command]]
    result = ask(*fill(words, address), "--json", command=command)
    assert PASSWORD not in result.output


def test_messages_that_quote_what_was_typed_show_none(folder, address):
    for words in (["compare", "{}"], ["audit", "{}"], ["compare", "{}", "a", "c"]):
        result = ask(*fill(words[1:], address), command=words[0])
        assert result.exit_code == 2
        assert PASSWORD not in result.output
        assert "guarded@/tests" in result.output


def test_nothing_that_was_written_holds_it(folder, address, monkeypatch):
    monkeypatch.chdir(folder)
    for command in WRITING:
        result = ask(*fill(WORDS[command], address), command=command)
        assert (result.exit_code, PASSWORD in result.output) == (0, False)
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {"report.html", "backup.db", "copy.db"} <= {path.name for path in files}
    assert [path for path in files if PASSWORD.encode() in path.read_bytes()] == []
    tables = ("measurements", "run_labels", "meta", "lease", "outperform_format")
    schema = address.rpartition("schema=")[2]
    rows = [find_server().query(f"SELECT * FROM {schema}.{table}") for table in tables]
    assert PASSWORD not in "".join(rows)
    assert len(rows[0]) > 1000


def test_python_shows_none(folder, address, monkeypatch):
    monkeypatch.chdir(folder)
    runs = op.read_runs(address)
    assert PASSWORD not in f"{runs!r} {runs.source} {runs.notes}"
    with open_store(address) as store:
        assert PASSWORD not in f"{store!r} {store.address}"
    wrong = address.replace(PASSWORD, "mistaken")
    with pytest.raises(op.OutperformError) as caught, open_store(wrong) as store:
        store.counts()
    assert "mistaken" not in f"{caught.value} {caught.value.__cause__}"


def test_libpq_finds_it_in_the_environment(folder, address):
    result = subprocess.run(
        [sys.executable, "-m", "outperform", "status", address.replace(f":{PASSWORD}", "")],
        env={"PGPASSWORD": PASSWORD},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("toy: ")
