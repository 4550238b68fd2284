"""How often the rule of the verdict finds a winner among equals, ties given."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from outperform.errors import InvalidInput
from outperform.stats import VerdictRule, verdict_size

INTERVALS = ["percentile", "wilson", "exact"]


def wins_among_equals(n_untied):
    wins = np.arange(n_untied + 1)
    return wins, binom.pmf(wins, n_untied, 0.5)


def test_size_by_hand():
    # Of 8 pairs 1 is tied; of the other 7, all must be won, since 2 · (7 + 1) / 2⁷ is .125. For
    # the bootstrap 6 wins of them are enough and 5 are not.
    exact, percentile = VerdictRule(), VerdictRule(interval="percentile")
    assert (exact.holds(7, 1, 8), exact.holds(6, 1, 8)) == (True, False)
    assert exact.size(8, 1) == pytest.approx(2 / 128)
    assert (percentile.holds(6, 1, 8), percentile.holds(5, 1, 8)) == (True, False)
    assert percentile.size(8, 1) == pytest.approx(2 * 8 / 128)
    for rule in (exact, percentile):
        assert rule.size(8, 3) == rule.size(8, 8) == 0  # 5 untied pairs are never enough


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("n", [5, 6, 29, 100])
def test_size_without_ties_is_that_of_the_verdict(n, interval):
    expected = verdict_size(n, interval=interval)
    assert VerdictRule(interval=interval).size(n, 0) == pytest.approx(expected, rel=1e-12)


@given(st.integers(1, 30), st.integers(0, 30), st.sampled_from([*INTERVALS, "anytime"]))
def test_size_adds_up_every_outcome_that_has_a_winner(n, ties, interval):
    ties, rule = min(ties, n), VerdictRule(interval=interval)
    wins, chance = wins_among_equals(n - ties)
    won = [rule.holds(w, ties, n) or rule.holds(n - ties - w, ties, n) for w in wins.tolist()]
    assert rule.size(n, ties) == pytest.approx(chance @ won, abs=1e-12)


@pytest.mark.slow
def test_simulated_equals_differ_as_often():
    rng, rule, n, ties = np.random.default_rng(29), VerdictRule(), 20, 5
    wins = rng.integers(0, 2, size=(20_000, n - ties)).sum(axis=1).tolist()
    hits = sum(rule.holds(w, ties, n) or rule.holds(n - ties - w, ties, n) for w in wins)
    assert binomtest(hits, 20_000, rule.size(n, ties)).pvalue > 0.001


def test_percentile_verdict_breaks_its_level_with_ties_too_and_the_exact_one_keeps_it():
    percentile, exact = VerdictRule(interval="percentile"), VerdictRule()
    assert max(percentile.size(n, 2) for n in range(8, 40)) > 0.1
    assert max(exact.size(n, ties) for n in range(6, 40) for ties in range(n)) <= 0.05


def test_impossible_numbers_are_refused():
    with pytest.raises(InvalidInput, match="n is 0"):
        VerdictRule().size(0, 0)
