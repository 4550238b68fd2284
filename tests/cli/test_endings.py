"""How commands end: exit statuses, interruptions, and outputs that cannot be written."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from outperform.cli import COMMANDS_OF_OUR_OWN, list_commands
from tests.cli.running import call_there, run_here

RUNS = "algorithm,seed,score\n" + "".join(
    f"{name},{seed},{0.5 + (name == 'a') / 10 + seed / 1000}\n"
    for seed in range(8)
    for name in "ab"
)
COMPARE = ["compare", "runs.csv", "a", "b", "--metric", "score", "--maximize"]
STUDY = """
[[task]]
name = "t"
metric = "accuracy"
{data}
[[pipeline]]
name = "a"
function = "{module}:fit"
sources = ["init"]
[[pipeline]]
name = "b"
function = "{module}:fit"
sources = ["init"]
[[design]]
kind = "ideal"
replicates = 6
"""
FIT = "def fit(params, split, seeds):\n    return {'valid': 0.5, 'test': seeds['init'] / 2**32}\n"
LOAD = "def load():\n    return [[i] for i in range(40)], [i % 2 for i in range(40)]\n"


def outperform(*words, cwd, **options):
    return subprocess.run(
        [sys.executable, "-m", "outperform", *words],
        cwd=cwd,
        text=True,
        timeout=120,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
    )


def write_study(folder: Path, code: str, *, module="own_training", data="") -> None:
    (folder / f"{module}.py").write_text(code)
    (folder / "study.toml").write_text(STUDY.format(module=module, data=data))


@pytest.mark.parametrize("words", [[*COMPARE, "--gate"], [*COMPARE, "--json"], ["--help"]])
def test_a_closed_output_is_no_refuted_gate(tmp_path, words):
    (tmp_path / "runs.csv").write_text(RUNS)
    reading, writing = os.pipe()
    os.close(reading)
    ended = outperform(*words, cwd=tmp_path, stdout=writing)
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (141, "")


@pytest.mark.parametrize("words", [[*COMPARE, "--gate"], ["--version"]])
def test_an_output_closed_before_the_start_changes_no_status(tmp_path, words):
    (tmp_path / "runs.csv").write_text(RUNS)
    heard = outperform(*words, cwd=tmp_path)
    command = [sys.executable, "-m", "outperform", *words]
    code = f"import os, sys; os.close(1); os.execv(sys.executable, {command!r})"
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert (ended.returncode, ended.stderr) == (heard.returncode, heard.stderr)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
@pytest.mark.parametrize("words", [COMPARE, [*COMPARE, "--json"], ["plan", "--help"]])
def test_a_full_output_is_told(tmp_path, words):
    (tmp_path / "runs.csv").write_text(RUNS)
    with Path("/dev/full").open("w") as full:
        ended = outperform(*words, cwd=tmp_path, stdout=full)
    assert ended.returncode == 2
    assert ended.stderr == (
        "Error: cannot write the output: No space left on device.\n"
        "Make room there, or send it elsewhere.\n"
    )


WAIT = "import pathlib, time\npathlib.Path('begun').touch()\ntime.sleep(60)\n"
INSIDE = WAIT.replace("\n", "\n    ")


@pytest.mark.parametrize(
    ("where", "waiting"),
    [
        ("import", WAIT),
        ("data", f"def load():\n    {INSIDE}"),
        # Python notes an interruption inside an `exec` of text, and kills itself at its end.
        ("text", f"exec({WAIT!r})"),
        # Compiled modules turn an interruption of their imports into another error.
        ("compiled", f"try:\n    {INSIDE}\nexcept BaseException:\n    raise ImportError('zlib')"),
    ],
    ids=["import", "data", "text", "compiled"],
)
def test_an_early_interruption_is_one_line(tmp_path, where, waiting):
    code = FIT + waiting
    write_study(tmp_path, code, data='data = "own_training:load"' if where == "data" else "")
    words = [sys.executable, "-m", "outperform", "run", "study.toml", "--engine", "inline"]
    with subprocess.Popen(
        words, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        while not (tmp_path / "begun").exists():
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    (line,) = filter(None, errors.splitlines())
    assert line.startswith("Interrupted.")


def test_a_second_interruption_changes_nothing(tmp_path):
    code = """
import atexit, pathlib, time
def end():
    pathlib.Path("ending").touch()
    while not pathlib.Path("interrupted").exists():
        time.sleep(0.02)
atexit.register(end)
pathlib.Path("begun").touch()
time.sleep(60)
"""
    write_study(tmp_path, FIT + code)
    words = [sys.executable, "-m", "outperform", "run", "study.toml", "--engine", "inline"]
    with subprocess.Popen(words, cwd=tmp_path, text=True, stderr=subprocess.PIPE) as process:
        for sign in ("begun", "ending"):
            while not (tmp_path / sign).exists():
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
        (tmp_path / "interrupted").touch()
        errors = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    (line,) = filter(None, errors.splitlines())
    assert line.startswith("Interrupted.")


@pytest.mark.parametrize(
    "exit_call", ["raise SystemExit", "raise SystemExit(0)", "raise BaseException"]
)
@pytest.mark.parametrize("command", ["run", "check"])
def test_a_module_that_exits_is_refused(tmp_path, exit_call, command):
    write_study(tmp_path, FIT + exit_call)
    ended = outperform(command, "study.toml", cwd=tmp_path)
    assert ended.returncode == 2
    reason = "BaseException: " if "Base" in exit_call else "it calls sys.exit"
    assert ended.stderr.startswith(f"Error: cannot import 'own_training' ({reason}) (line 8).\n")


def test_a_data_function_that_exits_is_refused(tmp_path):
    code = FIT + "def load():\n    raise SystemExit(0)\n"
    write_study(tmp_path, code, data='data = "own_training:load"')
    ended = outperform("run", "study.toml", "--engine", "inline", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (
        2,
        "Error: the data function 'load' fails (it calls sys.exit).\n"
        "Mend it, and call it by itself first.\n",
    )


@pytest.mark.parametrize("place", [".", ".."])
def test_a_module_beside_the_study_hides_no_other(tmp_path, place):
    """Python's own modules and an installed numpy are taken, here and in workers."""
    folder = tmp_path / "study"
    folder.mkdir()
    # Nobody has imported colorsys before the study does; the others we may have.
    for name in ("random", "secrets", "numpy", "colorsys"):
        (folder / f"{name}.py").write_text("raise RuntimeError('taken from beside the study')")
    (folder / "helpers.py").write_text("SCALE = 2**32\n")
    imports = "".join(f"import {name}\n" for name in ("random", "numpy", "colorsys", "helpers"))
    write_study(folder, imports + FIT.replace("2**32", "helpers.SCALE"))
    cwd = (folder / place).resolve()
    words = (str((folder / "study.toml").relative_to(cwd)), "--workers", "1")
    ended = outperform("run", *words, cwd=cwd)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "12 fits done now, 0 were recorded before, 0 failed" in ended.stdout


@pytest.mark.parametrize(
    ("module", "owner"),
    [("random", "a module of Python's standard library"), ("click", "an installed module")],
)
def test_a_module_that_python_would_not_take_is_refused(tmp_path, module, owner):
    write_study(tmp_path, FIT, module=module)
    ended = outperform("run", "study.toml", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (
        2,
        f"Error: {module}.py beside the study has the name of {owner}, which Python takes first "
        "(line 8).\nRename it, in the study too.\n",
    )


# With γ = 0.95, four pairs are the fewest that decide: that neither has such an advantage.
@pytest.mark.parametrize(
    ("words", "n_failed"), [([], 12), (["--until-decided", "a", "b", "--gamma", "0.95"], 8)]
)
def test_a_run_in_which_every_fit_fails_ends_in_4(tmp_path, words, n_failed):
    write_study(tmp_path, "def fit(params, split, seeds):\n    raise ValueError('no')\n")
    ended = outperform("run", "study.toml", "--engine", "inline", *words, cwd=tmp_path)
    assert ended.returncode == 4
    assert f" {n_failed} failed" in ended.stdout


def test_a_number_beyond_floats_fails_its_fit_only(tmp_path):
    code = "def fit(params, split, seeds):\n    return {'test': 0.5, 'steps': 10**400}\n"
    write_study(tmp_path, code, module="training")
    assert run_here(tmp_path).exit_code == 4
    status = call_there(tmp_path, "status", "study.db").stdout
    assert "returned a whole number beyond all floats as 'steps'" in status


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ("{f'{i:01000}': i for i in range(20_000)}", "returned 20,001 scores"),
        ("{'n' * 2**24: 1}", "returned a score with a name of 16,777,216 characters"),
    ],
)
def test_scores_beyond_what_a_store_takes_fail_their_fit_only(tmp_path, scores, said):
    code = (
        "def fit(params, split, seeds):\n"
        f"    extra = {scores} if seeds['init'] % 4 == 0 else {{}}\n"
        "    return {'test': seeds['init'] / 2**32, **extra}\n"
    )
    write_study(tmp_path, code, module="training")
    for _ in range(2):
        ended = run_here(tmp_path)
        assert (ended.exit_code, ended.stderr) == (4, "")
    status = call_there(tmp_path, "status", "study.db").stdout
    assert said in status


@pytest.mark.parametrize(
    "words", [["status"], ["verify"], ["compare", "a", "b"], ["backup", "new"]]
)
def test_a_pipe_in_place_of_a_store_is_not_waited_for(tmp_path, words):
    os.mkfifo(tmp_path / "study.db")
    ended = outperform(words[0], "study.db", *words[1:], cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (
        2,
        "Error: 'study.db' is no regular file, but a pipe or a device.\n"
        "Name a store that `outperform run` has made.\n",
    )


@pytest.mark.parametrize("command", ["run", "check"])
def test_study_files_are_read_up_to_a_limit(tmp_path, command):
    os.mkfifo(tmp_path / "pipe.toml")
    with (tmp_path / "large.toml").open("wb") as file:
        file.truncate(2**24 + 1)
    for name, reason in (("pipe", "it is no regular file"), ("large", "it is larger than 16 MiB")):
        ended = outperform(command, f"{name}.toml", cwd=tmp_path)
        assert (ended.returncode, ended.stderr) == (
            2,
            f"Error: cannot read {name}.toml: {reason}.\n"
            "Write a study file first: `outperform init`.\n",
        )


def test_the_list_of_commands_is_whole_and_breaks_no_option(tmp_path):
    said = outperform("--help", cwd=tmp_path).stdout
    assert "..." not in said.partition("\nOptions:")[2]
    questions, own = said.partition("\nAsk:\n")[2].split("\nRun and keep studies:\n")
    listed = [[line.split()[0] for line in part.splitlines()] for part in (questions, own)]
    assert sorted(listed[0] + listed[1]) == list_commands()
    assert listed[1] == [*COMMANDS_OF_OUR_OWN]
    assert "run --until-decided" in said


def test_caveats_break_no_option(tmp_path):
    runs = "algorithm,split,accuracy\n" + "".join(
        f"{name},{split},{0.5 + (name == 'a') / 10 + split / 1000}\n"
        for split in range(8)
        for name in "ab"
    )
    (tmp_path / "runs.csv").write_text(runs)
    said = outperform("compare", "runs.csv", "a", "b", cwd=tmp_path).stdout
    assert "add --train-size and\n    --test-size (train_size" in said
