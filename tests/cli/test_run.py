"""The command `outperform run`, in processes that are killed, starved and contradicted."""

import contextlib
import json
import os
import pty
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import outperform as op
from outperform.cli import main
from outperform.engines import Engine, open_engine
from outperform.runner.spool import HEARTBEAT
from outperform.store import open_store
from outperform.study.study_file import read_study

COMMAND = (sys.executable, "-m", "outperform", "run", "study.toml")
STUDY = """
name = "toy"
[tuning]
tuner = "{tuner}"
trials = {trials}
[limits]
timeout = {timeout}
[[task]]
name = "toy"
metric = "accuracy"
[[pipeline]]
name = "a"
function = "training:fit_a"
sources = ["init"]
space = {{c = {{uniform = [0, 1]}}}}
[[pipeline]]
name = "b"
function = "training:fit_b"
sources = ["init"]
space = {{c = {{uniform = [0, 1]}}}}
[[design]]
kind = "{kind}"
replicates = {replicates}
"""
TRAINING = """
import os, signal, time
from pathlib import Path

def fit_a(params, split, seeds):
    time.sleep({seconds})
    with open("calls.txt", "a") as calls:
        print("call", file=calls)
    score = (seeds["init"] / 2**32 + params["c"]) / 2
    return {{"valid": score, "test": score + {gain}}}

def fit_b(params, split, seeds):
    time.sleep({seconds})
    score = (seeds["init"] / 2**32 + params["c"]) / 2
    return {{"valid": score, "test": score}}
"""
FAILING = """
import os, signal, time
from pathlib import Path

def fit_a(params, split, seeds):
    if Path("mended").exists():
        return {"valid": 0.5, "test": 0.5}
    trouble = seeds["init"] % 8
    if trouble == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    if trouble == 1:
        time.sleep(100)
    if trouble == 2:
        return {"valid": float("nan"), "test": float("nan")}
    if trouble == 3:
        raise RuntimeError("out of luck")
    return {"valid": 0.5, "test": 0.5}

def fit_b(params, split, seeds):
    return {"valid": 0.25, "test": 0.25}
"""


def write_study(
    folder: Path, *, seconds: float | str = 0.0, gain: float = 0.25, **changes: Any
) -> None:
    folder.mkdir(exist_ok=True)
    words = {"tuner": "random", "trials": 3, "timeout": 60, "kind": "ideal", "replicates": 5}
    (folder / "study.toml").write_text(STUDY.format(**words | changes))
    (folder / "training.py").write_text(TRAINING.format(seconds=seconds, gain=gain))


def start(folder: Path, *options: str, **redirected: Any) -> subprocess.Popen[str]:
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | redirected
    return subprocess.Popen([*COMMAND, *options], cwd=folder, text=True, **streams)


def call(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def run_here(folder: Path, *options: str) -> Result:
    """A whole run, in this very process unless workers are asked for: as a command it starts."""
    engine = () if {"--engine", "--workers"} & {*options} else ("--engine", "inline")
    return call_there(folder, "run", "study.toml", *options, *engine)


def call_there(folder: Path, *words: str) -> Result:
    shutil.rmtree(folder / "__pycache__", ignore_errors=True)  # of code that has just changed
    sys.modules.pop("training", None)
    with contextlib.chdir(folder):
        result = call(*words)
    sys.modules.pop("training", None)
    return result


def run(folder: Path, *options: str, status: int = 0) -> str:
    """What a whole run printed; what it said of trouble comes last."""
    result = run_here(folder, *options)
    assert result.exit_code == status, result.output
    return result.stdout + result.stderr


def table(folder: Path) -> str:
    """Labels of runs with their scores, and measurements without times, as text."""
    with open_store(folder / "study.db") as store:
        scores = store.scores()
        runs = sorted([*label, scores[label.key]] for label in store.run_labels())
        fits = sorted(
            [m.key, m.pipeline, m.task, m.params, m.seeds, m.fold, m.refit, m.status, m.scores]
            for m in store.measurements()
        )
    return json.dumps([runs, fits], indent=1)


def count_fits(folder: Path) -> int:
    """Fits recorded, whatever a run does at the moment."""
    try:
        with open_store(folder / "study.db") as store:
            return sum(store.counts().values())
    except Exception:  # there is no store yet
        return 0


def wait_for_fits(process: subprocess.Popen[str], folder: Path, n: int) -> None:
    """However slow the machine is, a run that goes on gets there."""
    while count_fits(folder) < n:
        assert process.poll() is None, "the run has ended"
        time.sleep(0.02)


# Nothing lost


@pytest.mark.parametrize("tuner", ["random", "gp-ei"])
def test_killed_at_random_moments_and_resumed_nothing_is_lost(tuner, tmp_path):
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    write_study(killed, seconds=0.03, tuner=tuner, replicates=8)
    write_study(whole, tuner=tuner, replicates=8)
    # Times are no part of what is compared, but code is: both folders train the same way.
    (whole / "training.py").write_text((killed / "training.py").read_text())
    rng = random.Random(20)
    partial = set()
    for _ in range(5):
        n_before = count_fits(killed)
        process = start(killed, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if rng.random() < 0.8:  # the others are killed while they start
            while count_fits(killed) == n_before and process.poll() is None:
                time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.25))
        process.send_signal(signal.SIGKILL)
        process.wait()
        n_fits = count_fits(killed)
        assert n_fits >= n_before
        partial |= {n_fits} if 0 < n_fits < 64 else set()
    assert len(partial) >= 3
    said = run(killed, "--workers", "2")
    assert f"{64 - n_fits} fits done now, {n_fits} were recorded before, 0 failed" in said
    run(whole, "--workers", "1")
    assert table(killed) == table(whole)
    n_calls = (killed / "calls.txt").read_text().count("call")
    assert "0 fits done now, 64 were recorded before" in run(killed)
    assert (killed / "calls.txt").read_text().count("call") == n_calls


def test_an_interrupted_run_says_how_to_go_on(tmp_path):
    # Slow until told otherwise: the run cannot end before the signal comes, however late.
    write_study(tmp_path, seconds="0 if Path('quick').exists() else 0.5", replicates=8)
    process = start(tmp_path)
    wait_for_fits(process, tmp_path, 5)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 130
    assert stderr == "Interrupted. All that was finished is recorded: the same command resumes.\n"
    n_fits = count_fits(tmp_path)
    assert 5 <= n_fits < 64
    (tmp_path / "quick").touch()
    assert f"{n_fits} were recorded before" in run(tmp_path)


def test_failures_of_every_kind_are_recorded_shown_and_retried(tmp_path):
    write_study(tmp_path, kind="fix-hopt", replicates=8, timeout=1)
    (tmp_path / "training.py").write_text(FAILING)
    study = (tmp_path / "study.toml").read_text().replace("space = {c = {uniform = [0, 1]}}", "")
    (tmp_path / "study.toml").write_text(study)
    said = run(tmp_path, "--workers", "2", status=4)
    with open_store(tmp_path / "study.db") as store:
        measured = list(store.measurements())
    wrong = [m for m in measured if m.pipeline == "a" and m.seeds["init"] % 8 < 4]
    assert sorted(m.key for m in measured if m.status == "failed") == sorted(m.key for m in wrong)
    assert {m.seeds["init"] % 8 for m in wrong} == {0, 1, 2, 3}
    expected = {
        0: "the worker was killed by SIGKILL, perhaps for want of memory",
        1: "killed after 1 s, the time limit of a fit",
        2: "nan",
        3: "RuntimeError: out of luck",
    }
    for m in wrong:
        assert expected[m.seeds["init"] % 8] in m.error
    assert f"{16 - len(wrong)} fits done now, 0 were recorded before, {len(wrong)} failed" in said
    assert f"{len(wrong)} of the study's fits failed: outperform status study.db" in said
    status = call("status", tmp_path / "study.db")
    assert status.exit_code == 0
    assert f"{16 - len(wrong)} fits done, {len(wrong)} failed of the 16" in status.stdout
    assert "× a: RuntimeError\n  for example on toy with defaults: out of luck\n" in status.stdout
    killed = "the worker was killed by SIGKILL, perhaps for want of memory, in each of 3 tries"
    assert f"× a: {killed}\n" in status.stdout
    said = run(tmp_path, status=4)
    assert "0 fits done now, 16 were recorded before, 0 failed" in said
    assert f"{len(wrong)} of the study's fits failed" in said
    (tmp_path / "mended").touch()
    said = run(tmp_path, "--retry-failed")
    assert f"{len(wrong)} fits done now, {16 - len(wrong)} were recorded before, 0 failed" in said
    assert "16 fits done, 0 failed" in call("status", tmp_path / "study.db").stdout


def test_two_runs_on_one_store_are_refused(tmp_path):
    write_study(tmp_path, seconds=0.1, replicates=50)
    first = start(tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for_fits(first, tmp_path, 1)
        said = run(tmp_path, status=2)
    finally:
        first.kill()
        first.wait()
    assert f"Error: 'study.db' is being written by process {first.pid}" in said
    assert "Wait for that run to end, or stop it" in said


@pytest.mark.parametrize(
    ("take_away", "what"),
    [
        (Path.unlink, "removed or renamed"),
        (lambda file: os.truncate(file, 0), "overwritten or cut"),
    ],
)
def test_a_store_taken_away_during_a_run_stops_it_and_nothing_is_lost(tmp_path, take_away, what):
    write_study(tmp_path, seconds=0.05, replicates=50)
    process = start(tmp_path)
    wait_for_fits(process, tmp_path, 5)
    take_away(tmp_path / "study.db")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert f"Error: 'study.db' was {what} while a run wrote it.\n" in said
    n_rescued = int(re.search(r"All (\d+) fits recorded so far are in 'study.rescued.db'", said)[1])
    (tmp_path / "study.rescued.db").replace(tmp_path / "study.db")
    with open_store(tmp_path / "study.db") as store:
        assert len(store.scores()) >= n_rescued >= 5
        assert store.get_meta("study")["name"] == "toy"


def test_only_what_has_changed_is_run_anew_and_the_command_says_so(tmp_path):
    write_study(tmp_path)
    run(tmp_path)
    code = (tmp_path / "training.py").read_text()
    (tmp_path / "training.py").write_text(code.replace('"test": score + 0.25', '"test": 0.125'))
    said = run(tmp_path)
    assert "Note: pipeline a has changed since the last run: its fits are done anew" in said
    assert "pipeline b" not in said
    assert "20 fits done now, 20 were recorded before, 0 failed" in said
    status = call("status", tmp_path / "study.db")
    assert (
        "60 fits done, 0 failed; the study needs 40, and fits from before it was changed are kept"
    ) in status.stdout


# What it says


def test_a_dry_run_says_the_cost_and_makes_no_store(tmp_path):
    write_study(tmp_path, replicates=10)
    lines = run(tmp_path, "--dry-run", "--workers", "2").splitlines()
    assert lines[0] == (
        "toy: 2 pipeline(s) on 1 task(s), random search with 3 trials; how long a fit takes is not "
        "known yet"
    )
    assert lines[1].split() == ["design", "fits", "left", "time", "on", "2", "worker(s)"]
    assert lines[2].split() == ["ideal", "80", "80", "?", "chosen"]
    assert lines[3].split() == ["fix-hopt", "26", "–", "?"]
    assert lines[4:] == [
        "",
        "Next: pass --seconds-per-fit, or --measure to time a fit of each pipeline; then the same "
        "command without --dry-run does 80 fits.",
    ]
    assert not (tmp_path / "study.db").exists()
    told = run(tmp_path, "--dry-run", "--workers", "2", "--seconds-per-fit", "3600").splitlines()
    assert told[0].endswith("; one fit takes about 60.0 min")
    assert told[2].split() == ["ideal", "80", "80", "40.0", "h", "chosen"]
    assert told[-1] == "Next: the same command without --dry-run does 80 fits."


@pytest.mark.parametrize("tuner", ["random", "gp-ei"])
@pytest.mark.parametrize("kind", ["ideal", "fix-hopt"])
def test_a_dry_run_says_what_is_left(tmp_path, kind, tuner):
    def count_left(*options):
        words = ("--dry-run", "--workers", "2", "--seconds-per-fit", "3600", "--json", *options)
        values = json.loads(run_here(tmp_path, *words).stdout)
        (own,) = [each for each in values["designs"] if each["chosen"]]
        assert values["n_left"] == own["n_left"]
        return own["n_fits"], own["n_left"]

    write_study(tmp_path, kind=kind, tuner=tuner, replicates=4)
    n_fits, n_left = count_left()
    assert n_left == n_fits
    run(tmp_path)
    assert count_left() == (n_fits, 0)
    said = run(tmp_path, "--dry-run")
    assert said.endswith("\nNext: nothing is left to do; outperform status study.db\n")
    write_study(tmp_path, kind=kind, tuner=tuner, replicates=10)
    more, n_left = count_left()
    assert n_left == more - n_fits
    # Which fits were runs is forgotten: searches are followed to find them again.
    with sqlite3.connect(tmp_path / "study.db") as connection:
        connection.execute("DELETE FROM run_labels WHERE replicate > 1")
    _, n_left = count_left()
    said = run(tmp_path)
    assert f"{n_left} fits done now" in said
    code = (tmp_path / "training.py").read_text()
    (tmp_path / "training.py").write_text(code.replace("score + 0.25", "score + 0.26"))
    assert count_left() == (more, more // 2)


def test_a_dry_run_counts_failures_as_done_unless_they_are_retried(tmp_path):
    write_study(tmp_path, replicates=4)
    code = (tmp_path / "training.py").read_text()
    fails = "def fit_b(params, split, seeds, refit):\n    assert not refit"
    (tmp_path / "training.py").write_text(code.replace("def fit_b(params, split, seeds):", fails))
    run(tmp_path, status=4)
    assert json.loads(run_here(tmp_path, "--dry-run", "--json").stdout)["n_left"] == 0
    again = json.loads(run_here(tmp_path, "--dry-run", "--json", "--retry-failed").stdout)
    assert again["n_left"] == 4


def test_a_dry_run_knows_what_is_left_to_decide(tmp_path):
    write_study(tmp_path, kind="fix-hopt", replicates=60)
    words = ("--dry-run", "--until-decided", "a", "b", "--workers", "1")
    lines = run(tmp_path, *words, "--seconds-per-fit", "60").splitlines()
    assert lines[3].split() == ["fix-hopt", "126", "126", "2.1", "h", "chosen"]
    assert lines[-1] == "Next: the same command without --dry-run does at most 126 fits."
    run(tmp_path, *words[1:])
    assert run(tmp_path, *words).splitlines()[3].split()[:3] == ["fix-hopt", "126", "0"]
    other = json.loads(run_here(tmp_path, *words, "--gamma", "0.8", "--new-rule", "--json").stdout)
    assert other["n_left"] == 2 * (50 - 9)  # its test may take 50 pairs


def test_a_dry_run_gives_the_cost_as_json(tmp_path):
    write_study(tmp_path, replicates=10)
    process = start(tmp_path, "--dry-run", "--workers", "2", "--seconds-per-fit", "60", "--json")
    told, _ = process.communicate(timeout=60)
    assert json.loads(told) == {
        "kind": "RunCost",
        "version": version("outperform"),
        "study": "toy",
        "n_workers": 2,
        "n_left": 80,
        "designs": [
            {"design": "ideal", "n_fits": 80, "n_left": 80, "seconds": 2400, "chosen": True},
            {"design": "fix-hopt", "n_fits": 26, "n_left": None, "seconds": 780, "chosen": False},
        ],
    }


@pytest.mark.parametrize("options", [("--until-decided", "a", "b"), ()])
def test_a_pipeline_that_always_fails_is_named_with_where_to_look(tmp_path, monkeypatch, options):
    write_study(tmp_path, replicates=9)
    code = (tmp_path / "training.py").read_text().replace("def fit_b", "def other")
    fails = "def fit_b(params, split, seeds):\n    raise RuntimeError('no luck')\n"
    (tmp_path / "training.py").write_text(code + fails)
    monkeypatch.chdir(tmp_path)
    refused = run_here(tmp_path, *options)
    assert refused.exit_code == 4  # a run is done, but fits failed
    if not options:
        refused = call("compare", "study.db", "a", "b")
        assert refused.exit_code == 2
    assert refused.stderr.endswith(
        "Error: no run of 'b' in study.db has a score: they failed, or are still to be done.\n"
        "See which, and why, with `outperform status study.db`.\n"
    )


def test_nothing_is_trained_but_what_is_recorded(tmp_path):
    write_study(tmp_path, replicates=2)
    run(tmp_path, "--dry-run")
    assert not (tmp_path / "calls.txt").exists()
    said = run(tmp_path)
    assert "16 fits done now" in said
    assert (tmp_path / "calls.txt").read_text() == "call\n" * 8


def test_what_a_worker_imports_first_is_no_part_of_the_estimate(tmp_path):
    imports = "0 if hasattr(os, 'warm') else setattr(os, 'warm', True) or 2"
    write_study(tmp_path, seconds=imports, replicates=10)
    lines = run(tmp_path, "--dry-run", "--measure", "--workers", "1").splitlines()
    assert lines[2].split() == ["ideal", "80", "80", "0", "s", "chosen"]


def test_the_estimate_weighs_every_pipeline_by_its_own_time(tmp_path):
    write_study(tmp_path, kind="fix-hopt", replicates=997)
    # Of b there is nothing to search: it has 997 fits, a has 1000.
    head, _, tail = (tmp_path / "study.toml").read_text().rpartition("space = {c =")
    (tmp_path / "study.toml").write_text(head + tail.partition("\n")[2])
    code = (tmp_path / "training.py").read_text().replace('params["c"]', "0.5")
    slow = "def fit_a(params, split, seeds):\n    time.sleep(1.5)"
    (tmp_path / "training.py").write_text(code.replace("def fit_a(params, split, seeds):", slow))
    lines = run(tmp_path, "--dry-run", "--measure", "--workers", "2").splitlines()
    assert re.search(
        r"one fit takes about [\de.-]+ s \(b on toy\) to 1\.[5-9] s \(a on toy\)$", lines[0]
    )
    kind, n_fits, n_left, minutes, *rest = lines[2].split()
    assert [kind, n_fits, n_left, *rest] == ["fix-hopt", "1,997", "1,997", "min", "chosen"]
    assert 12.5 <= float(minutes) < 16  # 1000 · 1.5 s / 2, or more where sleepers are woken late


def test_the_estimate_is_what_was_measured_unless_the_code_has_changed(tmp_path):
    write_study(tmp_path, replicates=250)
    run(tmp_path, "--until-decided", "a", "b")
    with sqlite3.connect(tmp_path / "study.db") as connection:
        connection.execute("UPDATE measurements SET seconds = 2 WHERE pipeline = 'a'")
        connection.execute("UPDATE measurements SET seconds = 1 WHERE pipeline = 'b'")
    lines = run(tmp_path, "--dry-run", "--workers", "2").splitlines()
    assert lines[0].endswith("one fit takes about 1 s (b on toy) to 2 s (a on toy)")
    # 72 are done: 964 · (1 s + 2 s) / 2 are left.
    assert lines[2].split()[:5] == ["ideal", "2,000", "1,928", "24.1", "min"]
    code = (tmp_path / "training.py").read_text()
    (tmp_path / "training.py").write_text(code.replace("score + 0.25", "score + 0.26"))
    note, line, *_ = run(tmp_path, "--dry-run", "--measure", "--workers", "2").splitlines()
    assert note.startswith("Note: pipeline a has changed")
    assert line.endswith(" s (a on toy) to 1 s (b on toy)")


def test_progress_is_live_on_a_terminal_and_quiet_elsewhere(tmp_path):
    write_study(tmp_path, seconds=0.2)
    ours, theirs = pty.openpty()
    process = start(tmp_path, stderr=theirs)
    os.close(theirs)
    said = b""
    try:
        while chunk := os.read(ours, 1000):
            said += chunk
    except OSError:  # the other end is closed: the run is over
        os.close(ours)
    stdout, _ = process.communicate(timeout=120)
    assert said.count(b"\r") > 3
    how_far = rb"fitting .*\d+% \d+ done, 0 failed, \d+ left, \d+\.\d fits/\w+, [\d.]+ \w+ to go\r"
    assert re.search(how_far, said)  # and no second time left beside it
    assert stdout.endswith("\nNext: outperform compare study.db a b\n")
    write_study(tmp_path)
    process = start(tmp_path)
    assert process.communicate(timeout=120)[1] == ""


def test_a_first_fit_that_fails_is_told_and_stops_nothing(tmp_path):
    write_study(tmp_path, trials=1, replicates=1)
    code = (tmp_path / "training.py").read_text()
    fatal = "def fit_a(params, split, seeds):\n    os.kill(os.getpid(), signal.SIGKILL)"
    (tmp_path / "training.py").write_text(code.replace("def fit_a(params, split, seeds):", fatal))
    said = run(tmp_path, "--dry-run", "--measure", "--workers", "1")
    assert (
        "Note: a first fit of a on toy, with default hyperparameters, failed: the worker was "
        "killed by SIGKILL, perhaps for want of memory, in each of 3 tries\n"
    ) in said
    said = run(tmp_path, "--workers", "1", status=4)
    assert "2 fits done now, 0 were recorded before, 1 failed" in said
    assert "1 run(s) of a on toy cannot be done: every trial of their search failed." in said
    status = call("status", tmp_path / "study.db").stdout
    assert "1 run(s) of a on toy cannot be done: every trial of their search failed" in status


def test_a_store_of_a_newer_version_is_refused(tmp_path, monkeypatch):
    write_study(tmp_path)
    monkeypatch.chdir(tmp_path)
    with open_store(tmp_path / "study.db") as store:
        store.lock()
    with sqlite3.connect(tmp_path / "study.db") as connection:
        connection.execute("PRAGMA user_version = 99")
    message = (
        "Error: 'study.db' has format 99, and this outperform knows 3 at most.\n"
        "Upgrade with `pip install --upgrade outperform`.\n"
    )
    assert run(tmp_path, status=2) == message
    assert call("status", "study.db").stderr == message


def test_what_to_do_next_needs_runs_of_both(tmp_path):
    write_study(tmp_path, replicates=2)
    code = (tmp_path / "training.py").read_text()
    broken = code.replace(
        "def fit_b(params, split, seeds):", "def fit_b(*_):\n    return {}\ndef c(*_):"
    )
    (tmp_path / "training.py").write_text(broken)
    assert run(tmp_path, status=4).endswith("\nNext: outperform status study.db\n")
    (tmp_path / "training.py").write_text(code)
    (tmp_path / "study.db").unlink()
    assert run(tmp_path).endswith("\nNext: outperform compare study.db a b\n")


@pytest.mark.parametrize(
    ("n_good", "after"),
    [(5, ""), (6, "; then outperform compare study.db a b --drop-incomplete")],
)
def test_next_is_a_comparison_only_where_pairs_are_left_to_conclude_from(tmp_path, n_good, after):
    # Six wins of six are the fewest that are evidence at 0.05, two-sided.
    write_study(tmp_path, trials=1, replicates=12)
    code = (tmp_path / "training.py").read_text().replace("def fit_b", "def other")
    fails = """
def fit_b(params, split, seeds, refit):
    with open("finals.txt", "a") as finals:
        n_finals = finals.tell() + finals.write("x" * refit)
    if refit and n_finals > {n_good}:
        raise RuntimeError("no luck")
    return {{"valid": 0.5, "test": 0.5}}
"""
    (tmp_path / "training.py").write_text(code + fails.format(n_good=n_good))
    said = run(tmp_path, status=4)
    assert said.endswith(f"\nNext: outperform status study.db{after}\n")
    again = json.loads(run_here(tmp_path, "--json").stdout)
    assert (again["n_done"], again["n_failed"], again["n_known"]) == (0, 0, 48)
    assert again["n_failed_in_study"] == 12 - n_good


def test_of_several_those_with_pairs_enough_are_compared_next(tmp_path):
    write_study(tmp_path, trials=1, replicates=6)
    study = (tmp_path / "study.toml").read_text()
    third = study[study.index('[[pipeline]]\nname = "b"') : study.index("[[design]]")]
    third = third.replace('"b"', '"c"').replace("fit_b", "fit_c")
    (tmp_path / "study.toml").write_text(study.replace("[[design]]", f"{third}[[design]]"))
    code = (tmp_path / "training.py").read_text()
    fails = "    if refit and seeds['init'] % 2:\n        raise RuntimeError('no luck')\n"
    more = code[code.index("def fit_b") :].replace("fit_b", "fit_c")
    code = code.replace(
        "def fit_a(params, split, seeds):\n", f"def fit_a(params, split, seeds, refit):\n{fails}"
    )
    (tmp_path / "training.py").write_text(f"{code}\n{more}")
    said = run(tmp_path, status=4)
    assert said.endswith(
        "\nNext: outperform status study.db; then outperform compare study.db b c\n"
    )


def test_the_next_command_can_be_pasted_whatever_the_names(tmp_path):
    write_study(tmp_path)
    study = (tmp_path / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(study.replace('name = "a"', 'name = "nearest one"'))
    assert run(tmp_path).endswith("\nNext: outperform compare study.db 'nearest one' b\n")


# Until decided


def test_it_stops_as_soon_as_the_pair_is_decided(tmp_path):
    write_study(tmp_path, replicates=60, kind="fix-hopt")
    said = run(tmp_path, "--until-decided", "a", "b")
    (decided,) = [line for line in said.splitlines() if line.startswith("Decided")]
    # Nine wins in a row are the fewest that decide, and nothing is decided with fewer.
    assert decided == "Decided for a after 9 of the 60 replicates that the study allows."
    assert "24 fits done now, 0 were recorded before, 0 failed" in said  # 2 · (3 + 9)
    assert "9 pairs: 9 won by a, 0 by b, 0 tied; log ratio +3.65 for a, -6.24 for b\n" in said


def test_repetitions_are_not_run_to_decide(tmp_path):
    write_study(tmp_path, replicates=9, kind="fix-hopt")
    with (tmp_path / "study.toml").open("a") as study:
        study.write("repetitions = 5\n")
    said = run(tmp_path, "--until-decided", "a", "b")
    assert "24 fits done now, 0 were recorded before, 0 failed" in said  # 2 · (3 + 9)


def test_replicates_recorded_before_are_not_counted_among_the_first(tmp_path):
    write_study(tmp_path, replicates=40, kind="fix-hopt")
    run(tmp_path)
    with open_store(tmp_path / "study.db") as store:
        before = store.get_meta("study")
    said = run(tmp_path, "--until-decided", "a", "b")
    assert "9 pairs: 9 won by a, 0 by b, 0 tied" in said
    assert "Decided for a after 9 of the 40 replicates that the study allows.\n" in said
    assert "0 fits done now" in said
    with open_store(tmp_path / "study.db") as store:
        assert store.get_meta("study") == before
    assert "(40 pairs" in call("compare", tmp_path / "study.db", "a", "b").stdout


def test_the_store_is_that_of_the_whole_study_when_it_stops_early(tmp_path):
    write_study(tmp_path, replicates=60, kind="fix-hopt")
    said = run(tmp_path, "--until-decided", "a", "b")
    n_done = int(re.search(r"(\d+) fits done now", said)[1])
    assert n_done < 126
    status = call("status", tmp_path / "study.db").stdout
    assert f"{n_done} fits done, 0 failed of the 126 that the study needs" in status
    assert "Note" not in run(tmp_path)  # nothing has changed


def test_of_several_designs_the_one_that_is_compared_decides(tmp_path):
    write_study(tmp_path, replicates=10, kind="ideal")
    with (tmp_path / "study.toml").open("a") as study:
        study.write('[[design]]\nkind = "fix-hopt"\nreplicates = 50\n')
    said = run(tmp_path, "--until-decided", "a", "b")
    assert "of the 10 replicates that the study allows" in said


def test_equals_are_run_until_an_advantage_that_matters_is_ruled_out(tmp_path):
    write_study(tmp_path, replicates=80, gain=0.0, kind="fix-hopt")
    said = run(tmp_path, "--until-decided", "a", "b")
    # Each tie takes ½ ln(1.5 · .5) = -.1438 from both: 21 make -3.02, the first below -2.970.
    assert (
        "Decided after 21 of the 80 replicates that the study allows: an advantage of a or b as "
        "large as γ = 0.75 was ruled out.\n"
    ) in said
    assert "48 fits done now" in said  # 2 · (3 + 21)
    assert "\nNext: outperform compare study.db a b --sequential\n" in said


def test_it_stops_where_nothing_can_be_decided_any_more(tmp_path):
    write_study(tmp_path, replicates=20, gain=0.0, kind="fix-hopt")
    said = run(tmp_path, "--until-decided", "a", "b", status=3)
    # After 8 ties, 12 wins would make 12 · .4055 - 8 · .1438 = 3.72; after 9, 11 make 3.17 only.
    assert (
        "Undecided between a and b after 9 of the 20 replicates that the study allows, as 11 more "
        "could not decide it.\n"
    ) in said
    assert "24 fits done now" in said  # 2 · (3 + 9)
    assert "its power was 0.45 in place of 0.95" in said.replace("\n    ", " ")
    assert (
        "\nNext: outperform compare study.db a b --sequential; to decide it with the power asked "
        "for, 0.95, let the study have 80 replicates, and go on with --new-rule.\n"
    ) in said
    study = (tmp_path / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(study.replace("replicates = 20", "replicates = 80"))
    assert "Decided after 21" in run(tmp_path, "--until-decided", "a", "b", "--new-rule")


def test_only_the_two_that_are_asked_about_are_trained(tmp_path, monkeypatch):
    write_study(tmp_path, replicates=60, kind="fix-hopt")
    monkeypatch.chdir(tmp_path)
    study = (tmp_path / "study.toml").read_text()
    third = '[[pipeline]]\nname = "c"\nfunction = "training:fit_c"\nsources = ["init"]\n'
    code = (tmp_path / "training.py").read_text()
    other = "def fit_c(params, split, seeds):\n    return {'valid': 0.5, 'test': 0.5}\n"
    (tmp_path / "training.py").write_text(code + other)
    (tmp_path / "study.toml").write_text(study.replace("[[design]]", f"{third}[[design]]"))
    said = run(tmp_path, "--until-decided", "a", "b")
    assert "\nOnly these two are trained, not c.\n" in said
    assert "24 fits done now, 0 were recorded before, 0 failed" in said  # 2 · (3 + 9)
    assert "Decided for a after 9 of the 60 replicates that the study allows." in said
    # What nobody asked for is not missing, and a ranking of all says whom it leaves out.
    assert "still to be done" not in said
    assert "still to be done" not in call("compare", "study.db", "a", "b").stdout
    assert "left out, as none of their runs has a score: c" in call("rank", "study.db").stdout
    assert "162 fits done now, 24 were recorded before" in run(tmp_path)  # 2 · 51 and 60 of c


def test_a_study_too_small_to_decide_is_refused_before_the_first_fit(tmp_path):
    write_study(tmp_path, replicates=8)
    assert run(tmp_path, "--until-decided", "a", "b", status=2) == (
        "Error: 8 pairs can decide nothing between ½ and γ = 0.75 (α = 0.05, β = 0.05): whoever is "
        "better must win 9 in a row at least.\n"
        "Let the study have 80 replicates, which is the most that are needed, or 9 at the very "
        "least; or pass a larger gamma.\n"
    )
    assert not (tmp_path / "study.db").exists()


def test_a_decision_is_what_python_gives_as_json(tmp_path, monkeypatch):
    write_study(tmp_path, replicates=60, kind="fix-hopt")
    result = run_here(tmp_path, "--until-decided", "a", "b", "--json", "--workers", "1")
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert (printed["outcome"], printed["winner"], printed["winner_name"]) == ("decided", "a", "a")
    assert (printed["n_allowed"], printed["n_replicates"], printed["n_beyond"]) == (60, 9, 0)
    assert [look["pairs"] for look in printed["looks"]] == [*range(1, 10)]
    assert printed["looks"][-1]["log_ratio_a"] >= printed["rule"]["upper"]
    assert "9 pairs: 9 won by a" in result.stderr
    monkeypatch.chdir(tmp_path)
    decision = op.run_until_decided(
        read_study("study.toml"), "python.db", "a", "b", engine="inline"
    )
    assert decision.to_dict() == printed
    assert str(decision).startswith("Decided for a after ")
    assert "Decided for a after" in decision._repr_html_()  # which has no figure


def test_what_an_intended_stop_left_out_is_not_missing(tmp_path, monkeypatch):
    write_study(tmp_path, replicates=60)
    monkeypatch.chdir(tmp_path)
    run(tmp_path, "--until-decided", "a", "b")
    compared = json.loads(call("compare", "study.db", "a", "b", "--json").stdout)
    # The exact interval holds for one look only, and the run has looked again and again.
    assert compared["interval"]["method"] == "anytime"
    caveats = compared["caveats"]
    assert not [caveat for caveat in caveats if "still to be done" in caveat]
    (stop,) = [caveat for caveat in caveats if "the run stopped" in caveat]
    assert re.fullmatch(
        r"the run stopped after \d+ of 60 replicates, as soon as a and b were decided: only an "
        r"anytime interval allows for that",
        stop,
    )
    # Neither a run that goes on and is interrupted nor a study cut down to the stop undoes it.
    n_stopped = int(stop.split()[4])
    study = (tmp_path / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(study.replace("60", str(n_stopped)))
    run(tmp_path)
    assert "(anytime)" in call("compare", "study.db", "a", "b").stdout
    (tmp_path / "study.toml").write_text(study)
    run(tmp_path)  # to its end, which takes no look back
    said = call("compare", "study.db", "a", "b").stdout
    assert "the run stopped" not in said
    assert "(anytime)" in said


def test_another_rule_after_a_look_is_refused_unless_told(tmp_path, monkeypatch):
    write_study(tmp_path, replicates=60, kind="fix-hopt")
    monkeypatch.chdir(tmp_path)
    decide = ("--until-decided", "a", "b")
    assert run_here(tmp_path, *decide).exit_code == 0
    changed = run_here(tmp_path, *decide, "--gamma", "0.8", "--alpha", "0.01", "--beta", "0.1")
    assert changed.exit_code == 2
    assert changed.stdout == ""
    assert changed.stderr == (
        "Error: study.db has been looked at by one rule, a against b on toy by Wald's test between "
        "½ and γ = 0.75, α = 0.05, β = 0.05, at most 60 pairs of fix-hopt, and this is another: a "
        "against b on toy by Wald's test between ½ and γ = 0.8, α = 0.01, β = 0.1, at most 50 "
        "pairs of fix-hopt.\n"
        "Go on by the first, with its options, names and number of replicates; or take the other "
        "with --new-rule (new_rule=True in Python), which every later result of this store will "
        "tell.\n"
    )
    told = run_here(tmp_path, *decide, "--gamma", "0.8", "--new-rule")
    assert told.exit_code == 0, told.output
    doubt = "2 sequential tests were begun here (the rule was changed), and chances to err add up"
    assert doubt in told.stdout.replace("\n    ", " ")
    assert told.stdout.endswith(
        "\nNext: outperform compare study.db a b --sequential --gamma 0.8\n"
    )
    for words in (("compare", "study.db", "a", "b"), ("rank", "study.db")):
        assert doubt in call(*words).stdout.replace("\n    ", " ")
    status = call("status", "study.db")
    for rule, n_pairs in (("γ = 0.75", 9), ("γ = 0.8", 8)):
        (line,) = [each for each in status.stdout.splitlines() if rule in each]
        assert line.startswith("Looked at after every pair, a against b on toy by Wald's test")
        assert line.endswith(f"decided for a on toy after {n_pairs} pairs.")
    kept = json.loads(call("status", "study.db", "--json").stdout)["sequential"]
    assert [(each["rule"]["gamma"], len(each["looks"])) for each in kept] == [(0.75, 9), (0.8, 8)]


def test_the_rule_and_what_it_costs_are_said_before_the_first_fit(tmp_path):
    write_study(tmp_path, replicates=40)
    said = run(tmp_path, "--until-decided", "a", "b", "--dry-run").splitlines()
    assert said[1] == (
        "Deciding between a and b by Wald's test between ½ and γ = 0.75, α = 0.05, β = 0.05: at "
        "most 40 pairs, on average 24.8 where one wins 75% of them and 30.6 between equals; the "
        "test may take 80, and ended after 40 its power is 0.80 in place of 0.95."
    )
    assert not (tmp_path / "study.db").exists()


@pytest.mark.parametrize("option", [("--gamma", "0.8"), ("--beta", "0.1"), ("--new-rule",)])
def test_a_rule_is_refused_where_nothing_is_decided(option, tmp_path):
    write_study(tmp_path)
    assert f"{option[0]} is for --until-decided A B." in run(tmp_path, *option, status=2)


def test_json_of_a_run_counts_its_fits(tmp_path):
    write_study(tmp_path, replicates=2)
    result = run_here(tmp_path, "--json")
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert list(printed)[:2] == ["kind", "version"]
    assert printed == {
        "kind": "Run",
        "version": version("outperform"),
        "n_fits": 16,
        "n_known": 0,
        "n_done": 16,
        "n_failed": 0,
        "blocked": {},
        "unsimulated": {},
        "refusals": {},
        "noise": [],
        "shortage": None,
        "spool": [],
        "n_failed_in_study": 0,
        "store": "study.db",
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--engine", "slurm://head:1"), "there is no engine 'slurm://head:1'"),
        (("--engine", "locl:2"), "there is no engine 'locl:2'"),
        (("--engine", "local:2", "--workers", "2"), "--workers N is short for --engine local:N"),
        (("--store", "mysql://lab/study"), "there is no kind of store called 'mysql'"),
    ],
)
def test_addresses_that_are_not_known_are_refused(options, message, tmp_path):
    write_study(tmp_path)
    assert message in run(tmp_path, *options, status=2)
    assert not (tmp_path / "study.db").exists()


@pytest.mark.parametrize(
    ("options", "n_workers", "note"),
    [
        ((), 3, ""),
        (("--engine", "local:5"), 5, ""),
        (("--workers", "4"), 4, ""),
        (
            ("--engine", "inline"),
            1,
            "Note: the study file's [engine.options] are for local, and left out on inline.\n",
        ),
    ],
)
def test_fits_run_where_the_study_file_says_unless_told_otherwise(
    options, n_workers, note, tmp_path
):
    write_study(tmp_path)
    with (tmp_path / "study.toml").open("a") as file:
        file.write('[engine]\naddress = "local:3"\noptions = {n_threads = 1}\n')
    result = call_there(tmp_path, "run", "study.toml", "--dry-run", *options)
    assert result.exit_code == 0, result.output
    assert f"time on {n_workers} worker(s)" in result.stdout
    assert result.stderr == note


def test_options_that_the_engine_does_not_have_are_refused(tmp_path):
    write_study(tmp_path)
    with (tmp_path / "study.toml").open("a") as file:
        file.write("[engine.options]\nn_thread = 1\n")
    for command in ("run", "check"):
        result = call_there(tmp_path, command, "study.toml")
        assert result.exit_code == 2
        assert result.stderr == (
            "Error: the engine 'local' has no option 'n_thread'.\n"
            "Did you mean 'n_threads'? It has: n_threads, gpus.\n"
        )
    assert not (tmp_path / "study.db").exists()


@pytest.mark.parametrize(
    ("words", "is_beating"),
    [(["run"], True), (["run", "--dry-run", "--measure"], False), (["check"], False)],
)
def test_workers_are_told_of_a_heartbeat_only_where_there_is_one(
    words, is_beating, tmp_path, monkeypatch
):
    """Elsewhere they would take us for dead, as nobody touches the file in the spool."""
    write_study(tmp_path)
    with (tmp_path / "study.toml").open("a") as file:
        file.write('[engine]\naddress = "inline"\nspool = "results"\n')
    heartbeats = []

    def open_and_note(*place: Any, heartbeat: Path | None, patience: float) -> Engine:
        heartbeats.append(heartbeat)
        return open_engine(*place)

    monkeypatch.setattr("outperform.cli.run.open_engine", open_and_note)
    command, *options = words
    assert call_there(tmp_path, command, "study.toml", *options).exit_code == 0
    assert (tmp_path / "results" / HEARTBEAT).exists() == is_beating
    assert heartbeats == [tmp_path / "results" / HEARTBEAT if is_beating else None]


@pytest.mark.parametrize("but", ["not refit or", ""])  # it fails alone, or its whole search does
def test_where_a_run_failed_the_next_command_is_not_one_that_refuses(but, tmp_path, monkeypatch):
    write_study(tmp_path, replicates=20)
    code = (tmp_path / "training.py").read_text()
    once = f"def fit_a(params, split, seeds, refit):\n    assert {but} seeds['init'] % 3"
    (tmp_path / "training.py").write_text(code.replace("def fit_a(params, split, seeds):", once))
    said = run(tmp_path, status=4)
    assert "\nNext: outperform status study.db; then outperform compare study.db a b" in said
    words = said.partition("; then outperform ")[2].split()
    monkeypatch.chdir(tmp_path)
    assert call(*words).exit_code == 0


def test_what_to_do_after_a_decision_allows_for_runs_that_failed(tmp_path, monkeypatch):
    write_study(tmp_path, replicates=60)
    code = (tmp_path / "training.py").read_text()
    once = "def fit_b(params, split, seeds, refit):\n    assert not refit or seeds['init'] % 7"
    (tmp_path / "training.py").write_text(code.replace("def fit_b(params, split, seeds):", once))
    said = run(tmp_path, "--until-decided", "a", "b")
    (line,) = [each for each in said.splitlines() if each.startswith("Next: outperform ")]
    assert line.endswith("compare study.db a b --sequential --drop-incomplete")
    monkeypatch.chdir(tmp_path)
    assert call(*line.split()[2:]).exit_code == 0


def test_where_most_fits_failed_the_next_thing_is_to_see_why(tmp_path):
    write_study(tmp_path)
    code = (tmp_path / "training.py").read_text()
    often = "def fit_a(params, split, seeds):\n    assert params['c'] < 0.15"
    both = code.replace("def fit_a(params, split, seeds):", often).replace(
        "def fit_b(params, split, seeds):", often.replace("fit_a", "fit_b")
    )
    (tmp_path / "training.py").write_text(both)
    said = run(tmp_path, status=4)
    assert said.endswith("\nNext: outperform status study.db\n")
    assert "Next: outperform compare" not in said


def test_where_a_pipeline_never_worked_the_next_thing_is_to_see_why(tmp_path):
    variance = '[[design]]\nkind = "variance"\nreplicates = 2\n'
    write_study(tmp_path)
    study, training = tmp_path / "study.toml", tmp_path / "training.py"
    study.write_text(study.read_text() + variance)
    first = "def fit_a(params, split, seeds):"
    training.write_text(training.read_text().replace(first, f"{first}\n    raise MemoryError"))
    assert run(tmp_path, status=4).endswith("\nNext: outperform status study.db\n")


def test_failures_of_a_space_of_before_are_no_failures_of_the_study(tmp_path):
    write_study(tmp_path, replicates=2)
    training, study = tmp_path / "training.py", tmp_path / "study.toml"
    first = "def fit_a(params, split, seeds):"
    training.write_text(
        training.read_text().replace(first, f"{first}\n    assert params['c'] < 0.4")
    )
    failed = run_here(tmp_path)
    assert failed.exit_code == 4, failed.output
    assert " of the study's fits failed: outperform status study.db\n" in failed.output
    study.write_text(study.read_text().replace("uniform = [0, 1]", "uniform = [0, 0.3]"))
    mended = run_here(tmp_path)
    assert mended.exit_code == 0, mended.output
    assert "of the study's fits failed" not in mended.output


LOADS_ONCE = """
import os, time
from pathlib import Path

HERE = Path(__file__).parent

def count_refused():
    return len(list(HERE.glob("refused *")))

if os.environ.get("OUTPERFORM_TEST") != str(os.getpid()):
    try:
        (HERE / "taken").touch(exist_ok=False)
    except FileExistsError:
        (HERE / f"refused {os.getpid()}").touch()
        raise MemoryError("no room for two") from None

def fit_a(params, split, seeds):
    began = time.monotonic()
    while count_refused() < 3 and time.monotonic() < began + 30:
        time.sleep(0.02)
    time.sleep(0.1)
    return {"valid": params["c"], "test": params["c"]}

fit_b = fit_a
"""


def test_a_run_says_that_it_went_on_with_fewer_workers(tmp_path, monkeypatch):
    write_study(tmp_path, kind="fix-hopt", replicates=3)
    (tmp_path / "training.py").write_text(LOADS_ONCE)
    monkeypatch.setenv("OUTPERFORM_TEST", str(os.getpid()))
    said = run_here(tmp_path, "--workers", "2")
    assert said.exit_code == 0, said.output
    note = (
        "1 of 2 workers did all fits, as others could not load the code of the fits: "
        "MemoryError: no room for two"
    )
    assert said.output.count(f"Note: {note}.\n") == 1


@pytest.mark.parametrize(
    ("kind", "pair", "message"),
    [
        ("ideal", ("a", "bb"), "the study has no pipeline 'bb'"),
        (
            "variance",
            ("a", "b"),
            "deciding adds replicates, but the study has designs without pairs",
        ),
    ],
)
def test_a_pair_that_cannot_be_decided_is_refused(kind, pair, message, tmp_path):
    write_study(tmp_path, kind=kind)
    assert message in run(tmp_path, "--until-decided", *pair, status=2)
    assert not (tmp_path / "study.db").exists()


def test_a_spool_is_used_and_a_bad_one_is_refused_before_anything_is_done(tmp_path):
    write_study(tmp_path)
    run_here(tmp_path, "--engine", "inline", "--spool", str(tmp_path / "spool"))
    with open_store(tmp_path / "study.db") as store:
        key = next(iter(store.scores()))
    (tmp_path / "study.db").unlink()
    (tmp_path / "spool" / f"{key}.json").write_text("{}")
    output = run_here(tmp_path, "--engine", "inline", "--spool", str(tmp_path / "spool")).output
    assert (
        "Note: 1 file(s) of the spool were set aside as *.damaged and their fits done again: it "
        "makes no sense.\n"
    ) in output
    refused = run_here(tmp_path, "--engine", "inline", "--spool", str(tmp_path / "study.toml"))
    assert refused.exit_code == 2
    assert f"the spool '{tmp_path / 'study.toml'}' cannot be written: File exists" in refused.output
