"""A tiny study, and `outperform run` of it: here, or as a process of its own."""

import contextlib
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from click.testing import Result

from outperform.store import open_store
from tests.command_line import call

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
