"""Nadeau and Bengio's test as a rule: on re-splits of one dataset it keeps its level."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, t

from outperform.errors import InvalidInput
from outperform.stats import (
    Criteria,
    NormalScores,
    decide,
    detection_rate,
    nadeau_bengio_test,
    resampled_power,
)

RULE = "nadeau-bengio"
overlaps = st.floats(0.01, 2)
sizes = st.integers(2, 60)


def on_resplits(overlap):
    """Scores of which two runs correlate by ρ = overlap / (1 + overlap)."""
    rho = overlap / (1 + overlap)
    return NormalScores(math.sqrt(1 - rho), math.sqrt(rho))


def judge(a, b, **criteria):
    return decide(np.atleast_2d(a), np.atleast_2d(b), [RULE], Criteria(**criteria)).for_a[RULE]


def test_decision_by_hand():
    # Differences 1, 2, 3: mean 2, s = 1; with an overlap of 1/4 the error is √(1/3 + 1/4) = 0.764
    # and t = 2.62. With 2 degrees of freedom 4.30 is needed at 0.05, and 1.89 at 0.2.
    a, b = np.array([5.0, 7.0, 9.0]), np.array([4.0, 5.0, 6.0])
    assert not judge(a, b, alpha=0.05, overlap=0.25)[0]
    assert judge(a, b, alpha=0.2, overlap=0.25)[0]
    assert not judge(b, a, alpha=0.2, overlap=0.25)[0]
    # Alone, 2 / √(1/3) = 3.46 would be enough at 0.1, where 2.92 is needed.
    assert judge(a, b, alpha=0.1)[0]
    assert not judge(a, b, alpha=0.1, overlap=0.25)[0]


def test_differences_that_do_not_vary_tell_nothing():
    assert not judge([0.3, 0.4, 0.5], [0.2, 0.3, 0.4], overlap=0.25)[0]


def test_rate_by_hand():
    # Independent equals: t of pairs must beat its quantile times √(1 + n·overlap).
    needed = t.ppf(0.975, 9) * math.sqrt(1 + 10 * 0.25)
    found = detection_rate(RULE, 10, 0.5, criteria=Criteria(overlap=0.25))
    assert found == pytest.approx(t.sf(needed, 9), rel=1e-6)


@given(sizes, overlaps, st.sampled_from([0.01, 0.05, 0.3]))
def test_the_level_is_kept_on_resplits_whatever_their_number(n, overlap, alpha):
    criteria = Criteria(alpha=alpha, overlap=overlap)
    found = detection_rate(RULE, n, 0.5, scores=on_resplits(overlap), criteria=criteria)
    assert found == pytest.approx(alpha / 2, rel=1e-6)


@given(st.integers(2, 40), overlaps, st.floats(0.5, 0.95))
def test_the_rate_is_the_power_of_the_test(n, overlap, probability):
    scores = on_resplits(overlap)
    found = detection_rate(RULE, n, probability, scores=scores, criteria=Criteria(overlap=overlap))
    # P(A>B) = Φ(d/√2) over all data; in units of √2·spread, what differences vary by here.
    effect = float(np.sqrt(2)) * _quantile(probability) / (math.sqrt(2) * scores.spread)
    power = resampled_power(n, effect, n_train=1, n_test=overlap)
    assert found == pytest.approx(power, abs=1e-6)


def _quantile(probability):
    from scipy.special import ndtri

    return float(ndtri(probability))


@given(st.integers(0, 10_000), sizes, overlaps)
def test_the_rule_is_the_test(seed, n, overlap):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(0.5, 1, (5, n)), rng.normal(0, 1, (5, n))
    decided = judge(a, b, overlap=overlap)
    for first, second, found in zip(a, b, decided, strict=True):
        test = nadeau_bengio_test(first, second, n_train=1, n_test=overlap)
        assert found == (test.pvalue <= 0.05 and test.statistic > 0)


@given(sizes, st.floats(0, 1))
def test_without_overlap_it_is_the_paired_t_test(n, probability):
    corrected, plain = (detection_rate(rule, n, probability) for rule in (RULE, "paired-t"))
    assert corrected == plain


@given(st.integers(0, 10_000), sizes, overlaps)
def test_more_overlap_never_decides_more(seed, n, overlap):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(1, 1, (20, n)), rng.normal(0, 1, (20, n))
    assert (judge(a, b, overlap=2 * overlap) <= judge(a, b, overlap=overlap)).all()


@pytest.mark.slow
def test_drawn_resplits_of_equals_pass_as_often_as_it_says():
    rng, n_draws, overlap = np.random.default_rng(8128), 40_000, 0.25
    scores = on_resplits(overlap)
    a, b = (
        scores.spread * rng.normal(size=(n_draws, 15)) + scores.bias * rng.normal(size=(n_draws, 1))
        for _ in range(2)
    )
    hits = int(judge(a, b, overlap=overlap).sum())
    assert binomtest(hits, n_draws, 0.025).pvalue > 0.001


def test_without_the_correction_more_resplits_err_ever_more_often():
    scores = on_resplits(0.25)
    rates = [detection_rate("paired-t", n, 0.5, scores=scores) for n in (8, 29, 51, 500)]
    assert rates == sorted(rates)
    assert rates[0] > 0.1
    assert rates[-1] > 0.4


def test_an_overlap_that_is_none_is_refused():
    with pytest.raises(InvalidInput, match=r"^the overlap is -1\. Pass 0 or a positive number\.$"):
        Criteria(overlap=-1)
