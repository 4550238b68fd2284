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


def test_how_often_it_errs_on_several_tasks_is_told_of_all_of_them():
    # The worst case is one task without an advantage: P(W ≥ 21) = .0214 of 30, .0207 of 20. With
    # P(A>B) = .75 on both, both must be found: .8034 · .6172 = .496.
    rng = np.random.default_rng(0)
    rows = [
        {"algorithm": name, "task": task, "seed": seed, "reward": rng.normal()}
        for task, n in (("x", 20), ("y", 30))
        for name in ("new", "old")
        for seed in range(n)
    ]
    assert decide_gate(compare_runs(rows, "new", "old")).errors == (
        "with 20 to 30 pairs, equals on one task pass in 2.1% of cases, and a true P(A>B) of 0.75 "
        "on all in 50%"
    )


def test_how_often_it_errs_claims_no_more_than_is_known():
    # Equals for data like these pass by the corrected t-test, not by the sign test.
    resplit = shifted(0.007, train_size=800, test_size=200)
    assert decide_gate(resplit).errors == "equals pass in at most about 2.5% of cases"
    assert decide_gate(resplit, scope="dataset").errors.startswith("with 40 pairs, equals pass in")
    # Nothing is said of the power where ties, or a margin, lower it.
    tied = compare([1.0] * 10 + [0.0] * 10, [0.0] * 20)
    assert decide_gate(tied).errors == "with 20 pairs, equals pass in 1.1% of cases"  # 11/1024
    assert "true P(A>B)" not in decide_gate(shifted(0, margin=0.01)).errors
    assert decide_gate(shifted(0, margin=0.01), "not-worse").errors == (
        "one that is worse by just the margin passes in about 2.5% of cases"
    )


def test_few_runs_that_do_not_vary_do_not_show_that_one_is_not_worse():
    for by in (0.0, -0.001):
        for n, outcome in ((2, "undecided"), (5, "undecided"), (6, "shown")):
            result = compare(BASE[:n] + by, BASE[:n], margin=0.005)
            assert decide_gate(result, "not-worse").outcome == outcome


def test_what_the_sentence_leaves_open_the_gate_does_not_refute():
    """Too few pairs to tell, or looked at again and again: the means alone refute nothing."""
    few = compare([0.1, 0.11, 0.1, 0.12], [0.2, 0.22, 0.21, 0.2], train_size=900, test_size=100)
    assert few.population.shown
    assert str(few).startswith("No difference shown")
    looks = compare(NOISE[:6] - 0.05, np.zeros(6), interval="anytime", train_size=9, test_size=1)
    assert looks.population.shown
    assert looks.winner is None
    for result in (few, looks):
        assert decide_gate(result).outcome == "undecided"


def test_what_is_too_little_on_this_dataset_is_no_better_for_the_gate():
    # 0.001 ± 0.0004 here, ± 0.004 for data like these: 0.002 is ruled out here.
    rng = np.random.default_rng(1)
    differences = np.repeat([0.002, -0.002], [75, 25]) + rng.normal(0, 1e-4, 100)
    base = 0.9 + 0.01 * rng.normal(size=100)
    result = compare(base + differences, base, margin=0.002, train_size=800, test_size=200)
    assert result.gain_here.high < 0.002 < result.gain.high
    assert (result.verdict, result.size) == ("significant, not meaningful", "ruled out")
    assert decide_gate(result, scope="dataset").outcome == "refuted"


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
    with pytest.raises(InvalidInput) as caught:
        decide_gate(compare(NOISE, NOISE[::-1], paired=False), scope="population")
    assert str(caught.value) == (
        "runs that are not paired tell nothing of other data like these. Pair the runs by their "
        "splits, or ask for the scope dataset."
    )


def test_the_line_of_a_gate_says_what_it_is_about():
    by_split = {
        "algorithm": ["a"] * 8 + ["b"] * 8,
        "split": [*range(8), *range(8)],
        "reward": [*(NOISE[:8] + 0.5), *NOISE[:8]],
    }
    here = decide_gate(compare_runs(by_split, "a", "b"))
    assert here.claim == "a outperforms b, on this dataset only"
    by_seed = {"seed" if name == "split" else name: cells for name, cells in by_split.items()}
    assert decide_gate(compare_runs(by_seed, "a", "b")).claim == "a outperforms b"


def test_sizes_are_refused_where_they_can_tell_nothing():
    with pytest.raises(InvalidInput) as caught:
        compare(NOISE, BASE, paired=False, train_size=100, test_size=20)
    assert str(caught.value) == (
        "the sizes of the sets tell what holds for other data only where runs are paired. Pair the "
        "runs that share a split (without --unpaired, with --replicate), or leave out --train-size "
        "and --test-size (train_size and test_size in Python)."
    )
