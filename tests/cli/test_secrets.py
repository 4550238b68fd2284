"""Passwords are seen by nobody but those whom they are for: whatever is asked, printed or kept."""

import subprocess
import sys
from shlex import quote

import pytest
from click.testing import CliRunner

import outperform as op
from outperform.cli import list_commands, main
from outperform.store import open_store
from tests.postgres_server import PASSWORD, find_server, make_address

OPTION = "hunter3-in-options"  # of an engine
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
ENGINE = """
[engine]
address = "secret_training:make_executor"
spool = "spool"
[engine.options]
password = "hunter3-in-options"
login = {tokens = ["hunter3-in-options"]}
"""
TRAINING = """
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor

def fit(params, split, seeds):
    score = (seeds["init"] / 2**32 + params["c"]) / 2
    if score > 0.9:
        raise ValueError("too good")
    return {"valid": score, "test": score}

def make_executor(password, login):
    return ThreadPoolExecutor(2)

def make_trouble(password):
    raise OSError(f"{password} is no password")

def make_nothing(password):
    return [password]

class Closed(ThreadPoolExecutor):
    def __init__(self, password):
        super().__init__(1)
        self.error = BrokenExecutor(f"{password} is no password")

    def submit(self, *arguments, **words):
        raise RuntimeError(*self.error.args)

class Broken(Closed):
    def submit(self, *arguments, **words):
        future = Future()
        future.set_exception(self.error)
        return future

class Unruly(Closed):
    def shutdown(self, *arguments, **words):
        raise LookupError(*self.error.args)
"""
# What every command is asked; the last two take no store, and are given one all the same.
WORDS = {
    "run": ["study.toml", "--store", "{}"],
    "status": ["{}"],
    "compare": ["{}", "a", "b", "--drop-incomplete"],
    "rank": ["{}"],
    "decompose": ["{}"],
    "quality": ["{}"],
    "audit": ["{}", "a", "b", "--drop-incomplete"],
    "best-of": ["{}", "--trials", "--drop-incomplete"],
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
def home(tmp_path_factory):
    """Where the study is, and what it trains."""
    home = tmp_path_factory.mktemp("secrets")
    (home / "study.toml").write_text(STUDY + ENGINE)
    (home / "secret_training.py").write_text(TRAINING)
    return home


@pytest.fixture(scope="module")
def folder(home, address):
    """Likewise, once the study was run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        result = ask(*fill(WORDS["run"], address), command="run")
    assert result.exit_code in (0, 4), result.output
    assert PASSWORD not in result.output
    assert OPTION not in result.output
    shown = address.replace(f":{PASSWORD}", "")
    assert f"Next: outperform status {quote(shown)}; then" in result.output
    assert quote(shown) == f"'{shown}'"  # for a shell
    return home


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
    assert OPTION not in result.output
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
    assert OPTION not in result.output


MADE = 'address = "secret_training:{name}"\n[engine.options]\npassword = "{{}}"'
TABLES = {  # of engines, and what is said of them
    'address = "dask://me:{}@lab:1"': "'dask://lab:1' does not say",
    'address = "dask://lab:1?token={}"': "'dask://lab:1?token=...' does not say",
    'address = "ray://{}@lab:1"': "'ray://lab:1' does not say",
    'address = "ssh://{}@lab:1"': "there is no engine 'ssh://lab:1'",
    'options = "{}"': "options is no table",
    'password = "{}"': "unknown word 'password'",
    '[engine.options]\npassword = "{}': "Unterminated string",
    'address = "local:1"\n[engine.options]\nn_threads = "{}"': "n_threads is '...'",
    MADE.format(name="make_executor"): "missing 1 required positional argument: 'login'",
    MADE.format(name="make_trouble"): "made no executor: OSError: ... is no password",
    MADE.format(name="make_nothing"): "makes ['...']",
    MADE.format(name="Closed"): "takes no more work: ... is no password",
    MADE.format(name="Broken"): "Broken is broken: ... is no password",
    MADE.format(name="Unruly"): "unexpectedly (LookupError: ... is no password)",
}


@pytest.mark.parametrize(("table", "said"), TABLES.items())
def test_no_error_shows_what_is_said_of_an_engine(home, table, said, monkeypatch):
    if "dask" in table:
        pytest.importorskip("distributed", reason='pip install "outperform[dask]"')
    monkeypatch.chdir(home)
    (home / "other.toml").write_text(f"{STUDY}[engine]\n{table.format(OPTION)}")
    result, debugged = (ask("other.toml", *debug, command="run") for debug in ([], ["--debug"]))
    (home / "other.toml").unlink()
    assert (result.exit_code, debugged.exit_code) == (2, 2)
    assert said in result.output
    assert "Traceback" in debugged.output
    assert OPTION not in result.output + debugged.output
    kept = [path for path in home.glob("other.*") if OPTION.encode() in path.read_bytes()]
    assert kept == []


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
    holders = [path.name for path in files if OPTION.encode() in path.read_bytes()]
    assert holders == ["study.toml"]
    tables = ("measurements", "run_labels", "meta", "lease", "outperform_format")
    schema = address.rpartition("schema=")[2]
    rows = [find_server().query(f"SELECT * FROM {schema}.{table}") for table in tables]
    assert PASSWORD not in "".join(rows)
    assert OPTION not in "".join(rows)
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
