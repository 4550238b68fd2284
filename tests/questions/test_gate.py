"""Gates: shown, refuted, or not known."""

import numpy as np
import pytest

from outperform import compare, compare_published, compare_runs
from outperform.errors import InvalidInput
from outperform.questions.compare.gate import EXIT_STATUS, decide_gate
from outperform.stats import Summary

RNG = np.random.default_rng(8)
NOISE = RNG.normal(0, 0.01, 40)
BASE = RNG.normal(0, 0.02, 40)  # what both share


def shifted(by, n=40, **options):
    """A is better than B by so much on average, with noise."""
    return compare(NOISE[:n] + by, np.zeros(n), **options)


@pytest.mark.parametrize(
    ("by", "outcome", "status"), [(0.02, "shown", 0), (0.0, "undecided", 3), (-0.02, "refuted", 1)]
)
def test_better(by, outcome, status):
    gate = decide_gate(shifted(by))
    assert (gate.outcome, EXIT_STATUS[gate.outcome]) == (outcome, status)
    assert gate.to_dict()["exit_status"] == status


def test_an_advantage_too_small_to_matter_is_refuted():
    base = np.arange(1000) / 1000
    small = compare(base + np.repeat([1e-4, -1e-4], [600, 400]), base)
    assert small.size == "ruled out"
    assert decide_gate(small).outcome == "refuted"


@pytest.mark.parametrize(
    ("by", "outcome"), [(0.0, "shown"), (-0.009, "undecided"), (-0.05, "refuted")]
)
def test_not_worse(by, outcome):
    # The mean is known to ± t(39)·0.01/√40 = 0.003.
    gate = decide_gate(shifted(by, margin=0.01), "not-worse")
    assert gate.outcome == outcome
    assert gate.claim == "A is not worse than B by 0.01 or more"


def test_a_proven_equivalence_passes_as_not_worse_and_losses_are_turned():
    loss = compare(NOISE + 0.001, np.zeros(40), goal="minimize", margin=0.01)
    assert decide_gate(loss, "not-worse").outcome == "shown"
    worse = compare(NOISE + 0.05, np.zeros(40), goal="minimize", margin=0.01)
    assert decide_gate(worse, "not-worse").outcome == "refuted"


def test_re_splits_must_show_it_for_data_like_these_unless_told_otherwise():
    result = shifted(0.007, train_size=800, test_size=200)
    assert result.winner == "a"
    assert result.holds_for_population is False
    assert decide_gate(result).outcome == "undecided"
    assert decide_gate(result, scope="population").outcome == "undecided"
    assert decide_gate(result, scope="dataset").outcome == "shown"
    assert "here and for data like these" in str(decide_gate(result))
    clear = shifted(0.05, train_size=800, test_size=200)
    assert decide_gate(clear).outcome == "shown"


def test_one_task_can_refute_the_whole():
    rows = [
        {"algorithm": name, "task": task, "seed": seed, "accuracy": 0.5 + value}
        for task, by in (("x", 0.02), ("y", 0.0), ("z", -0.02))
        for name, shift in (("new", by), ("old", 0.0))
        for seed, value in enumerate(BASE + NOISE * (name == "new") + shift)
    ]
    result = compare_runs(rows, "new", "old")
    assert decide_gate(result).outcome == "refuted"
    some = [row for row in rows if row["task"] != "z"]
    assert decide_gate(compare_runs(some, "new", "old")).outcome == "undecided"


def test_published_means_pass_a_gate_too():
    good, bad = Summary(0.9, 0.01, 10), Summary(0.8, 0.01, 10)
    assert decide_gate(compare_published(good, bad)).outcome == "shown"
    assert decide_gate(compare_published(bad, good)).outcome == "refuted"


def test_how_often_it_errs_is_what_it_says():
    # 30 equals: P(W ≥ 21) = .0214, once for A; the exact size of both sides is .0428.
    rng = np.random.default_rng(0)
    text = str(decide_gate(compare(rng.normal(size=30), rng.normal(size=30))))
    assert "with 30 pairs, equals pass in 2.1% of cases, and a true P(A>B) of 0.75 in 80%" in text


@pytest.mark.slow
def test_one_that_is_worse_by_the_margin_rarely_passes():
    rng = np.random.default_rng(3)
    passed = sum(
        decide_gate(compare(rng.normal(-0.5, 1, 15), np.zeros(15), margin=0.5), "not-worse").outcome
        == "shown"
        for _ in range(2000)
    )
    assert passed <= 75  # P(Bin(2000, .025) > 75) < .001


def test_what_a_gate_cannot_be_asked():
    with pytest.raises(InvalidInput) as caught:
        decide_gate(shifted(0), "not-worse")
    assert str(caught.value) == (
        "a gate for not being worse needs runs, and a margin to be worse by. Pass runs, and "
        "--margin (margin in Python) in the unit of the metric."
    )
    with pytest.raises(InvalidInput) as caught:
        decide_gate(shifted(0), scope="population")
    assert str(caught.value) == (
        "how the data were divided is not known, so nothing is known of other data like them. Pass "
        "--train-size and --test-size (train_size and test_size in Python)."
    )
