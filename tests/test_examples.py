"""The examples run as their page says, and say what they should."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from outperform.store import open_store

pytest.importorskip("sklearn")

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "study.py"
INITIALISATIONS = ROOT / "examples" / "initialisations.py"


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
