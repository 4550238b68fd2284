"""The command `outperform run`, in processes that are killed, starved and contradicted."""

import json
import os
import pty
import random
import re
import signal
import sqlite3
import subprocess
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from outperform.engines import Engine, open_engine
from outperform.runner.spool import HEARTBEAT
from outperform.store import open_store
from tests.cli.running import (
    FAILING,
    call,
    call_there,
    count_fits,
    run,
    run_here,
    start,
    table,
    wait_for_fits,
    write_study,
)


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
    assert "1 run of a on toy cannot be done: every trial of its search failed." in said
    status = call("status", tmp_path / "study.db").stdout
    assert "1 run of a on toy cannot be done: every trial of its search failed" in status


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
    assert f"time on {n_workers} worker" in result.stdout
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


def test_a_spool_is_used_and_a_bad_one_is_refused_before_anything_is_done(tmp_path):
    write_study(tmp_path)
    run_here(tmp_path, "--engine", "inline", "--spool", str(tmp_path / "spool"))
    with open_store(tmp_path / "study.db") as store:
        key = next(iter(store.scores()))
    (tmp_path / "study.db").unlink()
    (tmp_path / "spool" / f"{key}.json").write_text("{}")
    output = run_here(tmp_path, "--engine", "inline", "--spool", str(tmp_path / "spool")).output
    assert (
        "Note: 1 file of the spool set aside as *.damaged, its fits done again: it "
        "makes no sense.\n"
    ) in output
    refused = run_here(tmp_path, "--engine", "inline", "--spool", str(tmp_path / "study.toml"))
    assert refused.exit_code == 2
    assert f"the spool '{tmp_path / 'study.toml'}' cannot be written: File exists" in refused.output
