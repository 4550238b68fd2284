"""Series are paired by their index, whatever function they are given to."""

import numpy as np
import pytest

from outperform import compare, compare_runs
from outperform.errors import DuplicateRuns, UnpairedScores
from outperform.stats import (
    equivalence_test,
    expected_best_of,
    mean_difference,
    nadeau_bengio_test,
    outperforming_pvalue,
    paired_d,
    paired_t_test,
    plan_sequential_test,
    probability_of_outperforming,
    rank_correlation,
    sign_flip_test,
    wilcoxon_pvalues,
    wilcoxon_test,
)

pandas = pytest.importorskip("pandas")

PAIRED = {
    "compare": lambda a, b: compare(a, b).probability,
    "equivalence": lambda a, b: equivalence_test(a, b, margin=0.1).pvalue,
    "expected best of": lambda a, b: expected_best_of(5, a, b),
    "follow": lambda a, b: plan_sequential_test().follow(a, b)[1].tolist(),
    "mean difference": lambda a, b: mean_difference(a, b).interval.low,
    "nadeau-bengio": lambda a, b: nadeau_bengio_test(a, b, n_train=90, n_test=10).pvalue,
    "p-value": outperforming_pvalue,
    "paired d": paired_d,
    "paired t": lambda a, b: paired_t_test(a, b).pvalue,
    "probability": probability_of_outperforming,
    "rank correlation": rank_correlation,
    "sign flip": lambda a, b: sign_flip_test(a, b).pvalue,
    "wilcoxon": lambda a, b: wilcoxon_test(a, b).pvalue,
    "wilcoxon of many": lambda a, b: float(wilcoxon_pvalues(a, b)),
}


@pytest.fixture
def scores():
    rng = np.random.default_rng(0)
    a = pandas.Series(rng.normal(size=20), index=[f"seed {k}" for k in range(20)])
    return a, a - 0.3 + 0.1 * rng.normal(size=20)


@pytest.mark.parametrize("name", PAIRED)
def test_the_order_of_an_index_changes_nothing(name, scores):
    (a, b), function = scores, PAIRED[name]
    assert function(a, b[::-1]) == function(a, b) == function(a.to_numpy(), b.to_numpy())
    # Negative control: by position it would.
    assert function(a.to_numpy(), b.to_numpy()[::-1]) != function(a, b)


@pytest.mark.parametrize("name", [name for name in PAIRED if name != "compare"])
def test_other_entries_are_refused(name, scores):
    a, b = scores
    where = "in validation or in test" if name == "expected best of" else "in a or in b"
    with pytest.raises(UnpairedScores) as caught:
        PAIRED[name](a, b.rename({"seed 3": "seed 30"}))
    assert str(caught.value) == (
        f"2 entries of the index have a score {where} only (first: seed 3, seed 30). Pass those "
        "that both have, or plain arrays (.to_numpy()) in the same order."
    )
    with pytest.raises(UnpairedScores) as caught:
        PAIRED[name](a, b.rename({"seed 3": "seed 4"}))
    assert str(caught.value) == (
        "some entries of the index stand more than once, so scores cannot be paired by them. Pass "
        "one score for each, or plain arrays (.to_numpy()) in the same order."
    )


def test_entries_that_repeat_in_the_same_order_are_pairs(scores):
    a, b = (each.set_axis([0, 1] * 10) for each in scores)
    assert wilcoxon_test(a, b).pvalue == wilcoxon_test(*scores).pvalue


def test_a_seed_that_stands_twice_is_no_run_less(scores):
    """The last of each was taken, and two pairs were left of twenty."""
    a, b = (each.set_axis([0, 1] * 10) for each in scores)
    with pytest.raises(DuplicateRuns, match=r"'a' has 10 runs with replicate '0' in the dict"):
        compare_runs({"a": a, "b": b}, "a", "b")
