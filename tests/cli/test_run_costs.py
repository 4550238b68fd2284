"""What `outperform run` says that it will cost, and `--dry-run`."""

import json
import re
import sqlite3
from importlib.metadata import version

import pytest

from outperform import estimate_cost
from outperform.study.study_file import read_study
from tests.cli.running import run, run_here, start, write_study


def test_a_dry_run_says_the_cost_and_makes_no_store(tmp_path):
    write_study(tmp_path, replicates=10)
    lines = run(tmp_path, "--dry-run", "--workers", "2").splitlines()
    assert lines[0] == (
        "toy: 2 pipelines on 1 task, random search with 3 trials; how long a fit takes is not "
        "known yet"
    )
    assert lines[1].split() == ["design", "fits", "left", "time", "on", "2", "workers"]
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


def test_a_resumed_run_says_what_is_left_of_it(tmp_path):
    write_study(tmp_path, replicates=4)
    lines = run(tmp_path, "--workers", "1").splitlines()
    assert lines[1].split() == ["design", "fits", "time", "on", "1", "worker"]
    with sqlite3.connect(tmp_path / "study.db") as connection:
        connection.execute("UPDATE measurements SET seconds = 0.001")
    write_study(tmp_path, replicates=10)
    lines = run(tmp_path, "--workers", "1").splitlines()
    assert lines[1].split() == ["design", "fits", "left", "time", "on", "1", "worker"]
    assert lines[2].split() == ["ideal", "80", "48", "0", "s", "chosen"]
    assert lines[3].split()[:3] == ["fix-hopt", "26", "–"]
    assert "48 fits done now, 32 were recorded before, 0 failed" in lines
    with sqlite3.connect(tmp_path / "study.db") as connection:
        connection.execute("UPDATE measurements SET seconds = 3600")
    lines = run(tmp_path, "--workers", "1").splitlines()
    assert lines[2].split() == ["ideal", "80", "0", "0", "s", "chosen"]


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


def test_python_gets_the_same(tmp_path):
    write_study(tmp_path, replicates=4)
    study = read_study(tmp_path / "study.toml")
    for retry_failed, measured in ((False, {}), (True, {"seconds_per_fit": 60})):
        options = [*(["--seconds-per-fit", "60"] if measured else [])]
        options += ["--retry-failed"] if retry_failed else []
        told = run_here(tmp_path, "--dry-run", "--workers", "2", "--json", *options).stdout
        cost = estimate_cost(
            study, tmp_path / "study.db", "local:2", retry_failed=retry_failed, **measured
        )
        values = {"kind": "RunCost", "version": version("outperform"), **cost.to_dict()}
        assert json.loads(told) == values
    assert not (tmp_path / "study.db").exists()
    run(tmp_path)
    cost = estimate_cost(study, tmp_path / "study.db", "local:2")
    assert str(cost) == "toy: 0 fits left, 0 s at most on 2 workers."


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
