"""The command `outperform status`, on stores with every kind of content."""

import json
import os
import re
import socket
import sqlite3
from collections.abc import Callable
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import outperform as op
from outperform.engines import InlineEngine
from outperform.errors import StoreError
from outperform.questions.compare.until_decided import run_until_decided
from outperform.runner import run_fits
from outperform.store import open_store
from outperform.study.designs import FixHopt, Variance
from outperform.study.pipelines import FunctionPipeline
from outperform.study.spaces import Uniform
from outperform.study.study import Study
from outperform.study.tasks import Task
from tests.command_line import call


def learn(params, split, seeds):
    return {"valid": params["c"], "test": params["c"]}


def fail(params, split, seeds):
    raise ValueError("first line\nlast line")


def fail_differently(params, split, seeds):
    raise ValueError(f"c is {params['c']}")


def make_store(folder: Path, second: Callable[..., Any]) -> Path:
    path = folder / "study.db"
    pipelines = tuple(
        FunctionPipeline(name, function, {"c": Uniform(0, 1)}, ("init",))
        for name, function in (("good", learn), ("other", second))
    )
    task = Task("toy", metric="accuracy")
    study = Study(pipelines, (task,), (FixHopt(3),), name="demo", trials=12)
    with open_store(path) as store:
        run_fits(study, store, InlineEngine())
    return path


def test_damage_hides_no_status(tmp_path):
    path = make_store(tmp_path, learn)
    before = call("status", path).stdout
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE measurements SET scores = '{' WHERE id = 1")
        connection.execute("UPDATE run_labels SET checksum = 0")
    assert call("status", path).stdout == before


def test_all_is_well(tmp_path):
    path = make_store(tmp_path, learn)
    result = call("status", path)
    assert result.exit_code == 0
    assert result.stdout == (
        "demo: 30 fits done, 0 failed of the 30 that the study needs\n"
        "  pipeline  task  done  failed\n"
        "  good       toy    15       0\n"
        "  other      toy    15       0\n"
        "\n"
        f"Next: outperform compare {path} good other\n"
    )


def test_a_study_without_pairs_leads_to_what_its_runs_answer(tmp_path):
    path = tmp_path / "study.db"
    pipeline = FunctionPipeline("good", lambda p, s, seeds: {"test": 0.5}, {}, ("init",))
    study = Study((pipeline,), (Task("toy", metric="accuracy"),), (Variance(3),))
    with open_store(path) as store:
        run_fits(study, store, InlineEngine())
    assert call("status", path).stdout.endswith(f"\nNext: outperform decompose {path}\n")


def test_an_error_is_shown_once_with_an_example_and_what_it_blocks(tmp_path):
    path = make_store(tmp_path, fail)
    lines = call("status", path).stdout.splitlines()
    assert lines[0] == "demo: 15 fits done, 12 failed of the 30 that the study needs"
    assert lines[3].split() == ["other", "toy", "0", "12"]
    assert lines[5] == "12 × other: ValueError"
    assert lines[6].startswith("  for example on toy with c=0.")
    assert lines[6].endswith(": first line")
    assert lines[8:] == [
        "3 runs of other on toy cannot be done: every trial of their search failed",
        "",
        "Next: mend the cause, then `outperform run STUDY.toml --retry-failed`.",
    ]


def test_errors_are_grouped_by_pipeline_and_kind(tmp_path):
    lines = call("status", make_store(tmp_path, fail_differently)).stdout.splitlines()
    assert [line for line in lines if "×" in line] == ["12 × other: ValueError"]
    (example,) = [line for line in lines if "for example" in line]
    words = re.fullmatch(r"  for example on toy with c=(.*): c is (.*)", example)
    assert words[1] == words[2]


def fail_in_many_ways(params, split, seeds):
    raise type(f"Error{params['c']:.10f}".replace(".", ""), (Exception,), {})("x" * 5000)


def test_many_kinds_of_errors_and_long_ones_do_not_fill_the_screen(tmp_path):
    said = call("status", make_store(tmp_path, fail_in_many_ways)).stdout
    assert said.count("1 × other: ") == 10
    assert "... and 2 other errors: see --json" in said
    assert len(said) < 6000


def test_json_has_every_failure_with_its_traceback(tmp_path):
    status = json.loads(call("status", make_store(tmp_path, fail), "--json").stdout)
    assert list(status)[:2] == ["kind", "version"]
    assert (status["kind"], status["version"]) == ("Status", version("outperform"))
    assert (status["study"], status["n_fits"]) == ("demo", 30)
    assert status["counts"] == [
        {"pipeline": "good", "task": "toy", "done": 15, "failed": 0},
        {"pipeline": "other", "task": "toy", "done": 0, "failed": 12},
    ]
    assert status["blocked"] == {"other on toy": 3}
    assert len(status["failures"]) == 12
    assert all("Traceback" in failure["error"] for failure in status["failures"])


def test_python_gets_the_same(tmp_path):
    path = make_store(tmp_path, fail)
    status = op.read_status(path)
    printed = json.loads(call("status", path, "--json").stdout)
    assert {**status, "kind": "Status", "version": version("outperform")} == printed
    assert status["failures"][0]["params"].keys() == {"c"}
    with open_store(path) as store:
        assert op.read_status(store) == status
    with pytest.raises(StoreError, match="there is no store"):
        op.read_status(tmp_path / "nowhere.db")


def test_a_run_going_on_is_not_disturbed(tmp_path):
    path = make_store(tmp_path, learn)
    with open_store(path) as store:
        store.lock()
        store.set_meta("study", store.get_meta("study") | {"n_fits": 40})
        said = call("status", path).stdout
        assert "30 fits done, 0 failed of the 40" in said
        holder = json.loads(call("status", path, "--json").stdout)["running"]
        assert holder.startswith(f"process {os.getpid()} on {socket.gethostname()} since ")
        assert said.endswith(f"\nA run is going on: {holder}\n")
    assert json.loads(call("status", path, "--json").stdout)["running"] is None
    assert call("status", path).stdout.endswith(
        "\nNo run is going on; about 10 fits are left.\n"
        "Next: `outperform run STUDY.toml` goes on.\n"
    )


def test_a_run_that_has_just_begun_has_nothing_to_show(tmp_path):
    with open_store(tmp_path / "study.db") as store:
        store.lock()
        said = call("status", store.address).stdout.splitlines()
    assert said[0] == f"{store.address}: nothing is recorded yet"
    assert said[2].startswith("A run is going on: process ")
    assert len(said) == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "Error: there is no store '{}'.\nMake it with `outperform run`.\n"),
        (b"", "Error: '{}' holds nothing yet: the run that made it stopped as it began.\n"
              "Run the study again.\n"),
        (b"algorithm,score\n" * 100, "Error: '{}' is not a store of measurements.\n"
              "Name a store that `outperform run` has made.\n"),
    ],
)  # fmt: skip
def test_what_is_no_store_is_refused(content, message, tmp_path):
    path = tmp_path / "study.db"
    if content is not None:
        path.write_bytes(content)
    result = call("status", path)
    assert result.exit_code == 2
    assert result.stderr == message.format(path)


def test_a_sequential_test_goes_on_by_its_own_options(tmp_path):
    def decide(c, seeds):
        return {"valid": 0.5, "test": seeds["init"] / 2**33 + c}

    pipelines = [
        FunctionPipeline(name, lambda p, s, seeds, c=c: decide(c, seeds), {}, ("init",))
        for name, c in (("good one", 0.1), ("other", 0.0))
    ]
    study = Study(pipelines, [Task("toy", metric="accuracy")], [FixHopt(60)])
    path = tmp_path / "study.db"
    decision = run_until_decided(study, path, "good one", "other", engine="inline", gamma=0.8)
    assert f"outperform compare {path} 'good one' other --sequential --gamma 0.8" in (
        decision.advice
    )
    said = call("status", path).stdout
    assert "fits are left.\nNone of them is needed for what was decided, below.\n" in said
    assert "Next" not in said
    with open_store(path) as store:  # as if it had been interrupted
        (test,) = store.get_meta("sequential")
        store.set_meta("sequential", [test | {"decisions": []}])
    assert (
        "Next: `outperform run STUDY.toml --until-decided 'good one' other --gamma 0.8` goes on."
    ) in call("status", path).stdout
    with open_store(path) as store:  # as if so many replicates as are left could not decide it
        ended = [each | {"outcome": "undecided"} for each in test["decisions"]]
        store.set_meta("sequential", [test | {"decisions": ended}])
    said = call("status", path).stdout
    assert "left.\nThe test below has ended, and none of them would decide it.\n" in said
    assert "Next" not in said
