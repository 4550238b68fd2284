"""Rules applied to many samples at once."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from outperform.errors import InvalidInput
from outperform.stats import (
    Criteria,
    brunner_munzel,
    decide,
    outperforming_interval,
    permutation_critical_value,
    smallest_conclusive,
    wilcoxon_test,
)
from outperform.stats.decision_rules import RULES, critical_value, decide_by_signed_ranks

seeds = st.integers(0, 2**32 - 1)


@pytest.fixture(scope="module")
def critical():
    return permutation_critical_value(12, rng=np.random.default_rng(0))


def draw(seed, n=12, n_samples=30, shift=0.8, decimals=1):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n_samples, n))
    return (a + shift).round(decimals), b.round(decimals)


# By hand


def test_thresholds_by_hand():
    a, b = np.array([[3.0, 1.0], [0.0, 6.0]]), np.zeros((2, 2))
    found = decide(a, b, ["single-point", "average"], Criteria(sd=1.0)).for_a
    assert found["single-point"].tolist() == [True, False]  # 3 and 0 against 1.9952
    assert found["average"].tolist() == [True, True]  # 2 and 3
    wider = decide(a, b, ["average"], Criteria(sd=1.5)).for_a["average"]
    assert wider.tolist() == [False, True]  # against 2.9928


def test_oracle_by_hand():
    # Half of Φ⁻¹(.75)·√2 = .9539 is .4769.
    a = np.array([[0.5, 0.45], [0.5, 0.46]])
    found = decide(a, np.zeros((2, 2)), ["oracle"], Criteria()).for_a["oracle"]
    assert found.tolist() == [False, True]


def test_wilcoxon_by_hand():
    # Six positive differences: p = 2/64. With the smallest one negative: p = 4/64 > .05.
    rows = np.array([[1.0, 2, 3, 4, 5, 6], [-1, 2, 3, 4, 5, 6], [-1, -2, -3, -4, -5, -6]])
    assert decide_by_signed_ranks(rows, 0.05).tolist() == [True, False, False]
    # Pairs without a difference are left out: five positive ones are not enough, six are.
    zeros = np.array([[0.0, 0, 1, 2, 3, 4, 5], [0, 6, 1, 2, 3, 4, 5]])
    assert decide_by_signed_ranks(zeros, 0.05).tolist() == [False, True]


def test_critical_value_by_hand():
    # p = (k + 1)/(9 + 1) with k of nine null values at least as large: p ≤ .2 takes k ≤ 1.
    null = np.arange(1.0, 10.0)
    assert 8 < critical_value(null, 0.2) < 8.001
    assert 9 < critical_value(null, 0.1) < 9.001
    assert critical_value(null, 0.05) == math.inf


# Reference


@settings(max_examples=25)
@given(seeds, st.floats(-1, 1.5), st.integers(0, 2), st.sampled_from([0.6, 0.75, 0.9]))
def test_verdict_is_that_of_compare(seed, shift, decimals, gamma):
    from outperform import compare

    a, b = draw(seed, shift=shift, decimals=decimals, n_samples=10)
    found = decide(a, b, ["verdict"], Criteria(gamma=gamma)).for_a["verdict"]
    for row in range(len(a)):
        result = compare(a[row], b[row], gamma=gamma)
        expected = result.winner == "a" and result.verdict == "significant and meaningful"
        assert found[row] == expected


@settings(max_examples=25)
@given(seeds, st.floats(-1, 1.5), st.integers(2, 60))
def test_wilcoxon_is_the_test_itself_without_ties(seed, shift, n):
    a, b = draw(seed, n=n, shift=shift, decimals=12, n_samples=10)
    found = decide(a, b, ["wilcoxon"], Criteria()).for_a["wilcoxon"]
    tests = [wilcoxon_test(x, y) for x, y in zip(a, b, strict=True)]
    ahead = [test.statistic > n * (n + 1) / 4 for test in tests]
    expected = [t.pvalue <= 0.05 and first for t, first in zip(tests, ahead, strict=True)]
    assert found.tolist() == expected


def test_permutation_is_the_test_itself_but_for_its_random_null(critical):
    a, b = draw(1, n_samples=200, decimals=12)
    found = decide(a, b, ["brunner-munzel-permutation"], Criteria(), critical=critical)
    test = brunner_munzel(
        a, b, method="permutation", n_resamples=99_999, rng=np.random.default_rng(9)
    )
    expected = (test.pvalue <= 0.05) & (test.statistic > 0)
    doubtful = np.abs(test.pvalue - 0.05) < 0.003
    assert (found.for_a["brunner-munzel-permutation"] == expected)[~doubtful].all()
    assert doubtful[found.borderline].all()


# Properties


@settings(max_examples=30)
@given(seeds)
def test_no_rule_declares_both_better(critical, seed):
    a, b = draw(seed, shift=0.0)
    there = decide(a, b, RULES, Criteria(), critical=critical).for_a
    back = decide(b, a, RULES, Criteria(), critical=critical).for_a
    for rule in RULES:
        assert not (there[rule] & back[rule]).any(), rule


@settings(max_examples=30)
@given(seeds, st.sampled_from([1.0, 8.0, 0.125]))
def test_the_unit_does_not_matter(critical, seed, unit):
    a, b = draw(seed)
    ours = decide(a, b, RULES, Criteria(), critical=critical).for_a
    other = decide(a * unit, b * unit, RULES, Criteria(sd=unit), critical=critical).for_a
    for rule in RULES:
        assert np.array_equal(ours[rule], other[rule]), rule


def test_the_same_seed_gives_the_same_critical_value():
    first, again, other = (
        permutation_critical_value(9, rng=np.random.default_rng(seed), n_resamples=999)
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other
    assert first.low <= first.value <= first.high


# Calibration


@pytest.mark.slow
@pytest.mark.parametrize("n", [4, 12])
def test_permutation_keeps_its_level(n):
    rng = np.random.default_rng(n)
    a, b = rng.exponential(size=(2, 40_000, n))
    critical = permutation_critical_value(n, rng=rng)
    found = decide(a, b, ["brunner-munzel-permutation"], Criteria(), critical=critical)
    hits = int(found.for_a["brunner-munzel-permutation"].sum())
    assert binomtest(hits, 40_000, 0.025, alternative="greater").pvalue > 0.001


@pytest.mark.slow
def test_wilcoxon_keeps_its_level_with_ties_and_zeros():
    rng = np.random.default_rng(2)
    differences = rng.integers(-3, 4, size=(40_000, 15)).astype(float)
    hits = int(decide_by_signed_ranks(differences, 0.05).sum())
    assert binomtest(hits, 40_000, 0.025, alternative="greater").pvalue > 0.001


# Negative controls


def test_the_t_approximation_does_not_keep_a_small_level():
    rng = np.random.default_rng(7)
    a, b = rng.normal(size=(2, 40_000, 6))
    strict = Criteria(alpha=0.001)
    critical = permutation_critical_value(6, 0.001, rng=rng)
    rules = ("brunner-munzel", "brunner-munzel-permutation")
    found = decide(a, b, rules, strict, critical=critical).for_a
    assert found["brunner-munzel"].mean() > 4 * 0.0005
    assert found["brunner-munzel-permutation"].mean() <= 0.001


def test_the_verdict_is_not_its_interval_alone():
    # Five wins of five: the percentile interval is [1, 1], but five pairs are no evidence.
    a, b = np.ones((1, 5)), np.zeros((1, 5))
    assert outperforming_interval(a[0], b[0], method="percentile").low > 0.5
    assert smallest_conclusive(0.05) == 6
    assert not decide(a, b, ["verdict"], Criteria()).for_a["verdict"].any()


# Refusals


def test_a_permutation_test_without_its_null_is_refused():
    with pytest.raises(InvalidInput) as caught:
        decide(np.ones((1, 5)), np.zeros((1, 5)), ["brunner-munzel-permutation"], Criteria())
    assert str(caught.value) == (
        "the rule 'brunner-munzel-permutation' has no critical value. "
        "Pass critical=permutation_critical_value(n, alpha, rng=rng)."
    )


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"gamma": 0.4}, "gamma"),
        ({"alpha": 0}, "alpha"),
        ({"sd": 0}, "standard deviation is 0"),
        ({"delta": math.nan}, "delta is nan"),
    ],
)
def test_impossible_criteria_are_refused(options, word):
    with pytest.raises(InvalidInput, match=word):
        Criteria(**options)
