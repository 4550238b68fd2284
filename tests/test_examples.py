"""The examples run as their page says, and say what they should."""

import importlib
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from outperform.store import open_store
from outperform.study.tuners import suggest_random

pytest.importorskip("sklearn")

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "study.py"
INITIALISATIONS = ROOT / "examples" / "initialisations.py"


@pytest.mark.slow
def test_a_whole_study_needs_one_import_and_runs(tmp_path):
    result = subprocess.run(
        [sys.executable, EXAMPLE], cwd=tmp_path, capture_output=True, text=True, env=os.environ
    )
    assert result.returncode == 0, result.stderr
    checked, compared = result.stdout.splitlines()
    assert checked == (
        "Every seed does what it should: the same one repeats the score, another changes it (2 "
        "seeds of every source, 2 runs each)."
    )
    assert "P(svm > mine) = 1" in compared
    assert "(6 pairs" in compared


def test_a_study_runs_on_an_executor_of_others(tmp_path):
    pytest.importorskip("executorlib", reason="pip install executorlib")
    script = ROOT / "examples" / "executor.py"
    result = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, env=os.environ
    )
    assert result.returncode == 0, result.stderr
    assert "P(svm > knn) = " in result.stdout
    assert "(30 pairs" in result.stdout
    assert count_fits(tmp_path / "wine.db") == 60  # two pipelines without a search


@pytest.mark.slow
def test_initialisations_are_compared_in_the_form_of_the_table_and_resumed(tmp_path):
    sizes = ["--inits", "5", "--trials", "8", "--pairs", "6", "--engine", "inline"]
    command = [sys.executable, INITIALISATIONS, "--folder", tmp_path / "new" / "results", *sizes]
    first, second = (subprocess.run(command, capture_output=True, text=True) for _ in range(2))
    assert first.returncode == 0, first.stderr
    assert second.stdout == first.stdout
    title, _, heads, row, _, verdict, sentence = first.stdout.splitlines()
    assert title == "Best and worst of 5 initialisations, accuracy in per cent:"
    assert heads.split()[:5] == ["task", "min", "max", "max-min", "δ"]
    low, high, gap, delta = map(float, row.split()[1:5])
    assert 90 < low < high < 100
    assert gap == pytest.approx(high - low, abs=0.02)
    assert delta == pytest.approx(gap / 5, abs=0.01)
    lower, upper = map(float, re.search(r"\((.*), (.*)\)$", row).groups())
    assert verdict.startswith("Conclusive" if lower > 0 or upper < 0 else "Inconclusive")
    assert "(6 pairs" in sentence
    # 5 fits of the pool; 8 trials and 6 pairs of either initialisation, and as many pairs again
    # of those whose search can be simulated; none of them twice.
    two, pool = sorted((tmp_path / "new" / "results").glob("*.db"))
    assert count_fits(pool) == 5
    assert count_fits(two) in (28, 34, 40)


def count_fits(store):
    with open_store(store) as opened:
        return len(list(opened.measurements()))


@pytest.mark.parametrize(
    ("low", "high", "sentence"),
    [
        (-0.1, 0.1, "Inconclusive: no difference is shown; one of δ or more is ruled out."),
        (-0.1, 0.3, "Inconclusive: no difference is shown; one of δ is not ruled out."),
        (
            0.05,
            0.1,
            "Conclusive: the best initialisation is better; a difference of δ or more is ruled "
            "out.",
        ),
        (
            0.05,
            0.3,
            "Conclusive: the best initialisation is better; a difference of δ is not ruled out.",
        ),
        (-0.3, -0.1, "Conclusive: the best initialisation is worse, once both are tuned."),
    ],
)
def test_initialisations_are_judged_by_where_the_interval_lies(low, high, sentence):
    assert runpy.run_path(INITIALISATIONS)["judge"](low, high, 0.2) == sentence


@pytest.fixture
def example(monkeypatch):
    """Imports a module of the examples, as if its script had been started."""
    monkeypatch.syspath_prepend(ROOT / "examples")
    return importlib.import_module


def test_the_experiment_on_designs_runs_small_and_goes_on(example, tmp_path, capsys):
    words = "--tasks cancer --learners kernel tree --trials 11 --ideal 3 --replicates 7"
    options = [*words.split(), "--repetitions", "2", "--engine", "inline", "--store", str(tmp_path)]
    example("designs").main(options)
    first = capsys.readouterr().out
    studies = [line for line in first.splitlines() if line.startswith("designs")]
    assert [line.partition(":")[0] for line in studies] == [
        "designs",
        "designs, 10 trials",
        "designs, 5 trials",
    ]
    for name in ("fix-hopt (init)", "fix-hopt (all)", "simulated-hopt", "resampled-hopt"):
        # In the tables of designs, of deviations and of plans, and for each test of the verdicts.
        assert len(re.findall(rf"^  {re.escape(name)}[ ,]", first, re.MULTILINE)) >= 5
    # Eleven trials and a fit, ten times, are what ten ideal replicates take.
    assert re.search(r"searches of 11 +a fit each +0 .* 100% \(100% to 100%\)", first)
    # One repetition is 11 + 7 fits, both designs together 11 + 7 + 7.
    assert re.search(r"fix-hopt \(all\) +18 +sign .* of 4\)", first)
    assert re.search(r"fix-hopt & resampled-hopt +25 +t .* of 4\)", first)
    assert re.search(r"kernel > tree +cancer +(1\.00|0\.[89])", first)
    assert sorted(path.name for path in tmp_path.glob("*.png")) == [
        "designs-budget.png",
        "designs-kernel.png",
        "designs.png",
    ]
    # Again, nothing is fitted.
    chosen = example("designs").read_arguments(options)
    study = example("designs").make_long_study(chosen)
    example("designs").run(study, tmp_path / "11-trials.db", "inline")
    assert capsys.readouterr().out.split(", this")[0] == studies[0].split(", this")[0]


def swap_letter(name: str) -> str:
    return {"a": "b", "b": "a"}[name[0]] + name[1:]


def test_twins_are_equal_but_for_their_searches(example):
    learners = example("small_learners")
    tasks = {task.name: task for task in learners.make_tasks()}
    pipelines = learners.make_pipelines()
    assert len(pipelines) == 2 * len(learners.LEARNERS)
    data = tasks["cancer"].data()
    split = tasks["cancer"].splitter.split(data.n_examples, seed=0)
    seeds = dict.fromkeys(("init", "order", "augmentation", "dropout"), 3)
    for own, twin in zip(pipelines[::2], pipelines[1::2], strict=True):
        assert twin.name == f"{own.name} again"
        drawn, drawn_twin = (suggest_random(each.space, [], 0, 1) for each in (own, twin))
        assert learners.strip_letters(drawn) != learners.strip_letters(drawn_twin)
        # The same values under the other's letters give the same scores.
        swapped = {swap_letter(name): value for name, value in drawn.items()}
        assert own.fit(drawn, split, seeds, data) == twin.fit(swapped, split, seeds, data)
