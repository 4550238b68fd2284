"""The interval of P(A>B) that agrees with the sign test, ties and all."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln
from scipy.stats import binomtest

from outperform.errors import InvalidInput
from outperform.stats import VerdictRule, clopper_pearson_interval, exact_interval

LEVELS = st.floats(0.5, 0.999)


@st.composite
def outcomes(draw, max_n=40):
    """Wins, ties and losses."""
    n = draw(st.integers(1, max_n))
    wins = draw(st.integers(0, n))
    ties = draw(st.integers(0, n - wins))
    return wins, ties, n - wins - ties


def coverage(n, tied, won, interval=exact_interval):
    """Chance that the interval of n pairs holds P, tied with a chance and else won with another."""
    counts = np.array([(w, t) for w in range(n + 1) for t in range(n + 1 - w)])
    wins, ties = counts.T
    losses = n - wins - ties
    chances = np.array([(1 - tied) * won, tied, (1 - tied) * (1 - won)])
    with np.errstate(divide="ignore", invalid="ignore"):
        powers = np.where(
            np.array([wins, ties, losses]) == 0, 0, [wins, ties, losses] * np.log(chances)[:, None]
        )
    weight = np.exp(
        gammaln(n + 1) - sum(gammaln(k + 1) for k in (wins, ties, losses)) + powers.sum(axis=0)
    )
    truth = tied / 2 + (1 - tied) * won
    holds = [truth in _widened(interval(w, t, n)) for w, t in counts.tolist()]
    return float(weight @ holds)


def _widened(found):
    """Keep rounding from deciding at the very ends."""
    return type(found)(found.low - 1e-12, found.high + 1e-12, found.confidence_level, found.method)


def carry_observed(wins, ties, n):
    """Carry Clopper and Pearson's interval with the share of ties as observed."""
    untied = n - ties
    q = clopper_pearson_interval(wins, untied) if untied else None
    low, high = (q.low, q.high) if q else (0.0, 1.0)
    ends = (0.5 + untied / n * (end - 0.5) for end in (low, high))
    return type(exact_interval(1, 0, 1))(*ends, 0.95, "observed")


# By hand


def test_without_losses_or_ties_by_hand():
    # All n won: q is at least (α/2)^(1/n), and u is 1.
    interval = exact_interval(10, 0, 10)
    assert (interval.low, interval.high) == (pytest.approx(0.025**0.1), 1)


def test_ties_by_hand():
    # 8 wins and 2 ties: q ≥ .025^(1/8) = .6306; the share untied, of 8 of 10, is at least .4439
    # (Clopper–Pearson), so P ≥ ½ + .4439 · .1306.
    interval = exact_interval(8, 2, 10)
    share = clopper_pearson_interval(8, 10).low
    assert interval.low == pytest.approx(0.5 + share * (0.025 ** (1 / 8) - 0.5))
    # Upper end, with none, one or both of the ties traded for losses: ½ + u (q - ½), both at their
    # upper bounds. Without a loss q is 1, without a tie u is.
    of_8, of_9, untied = (clopper_pearson_interval(*n).high for n in ((8, 10), (8, 9), (9, 10)))
    candidates = [0.5 + of_8 * 0.5, 0.5 + untied * (of_9 - 0.5), of_8]
    assert interval.high == pytest.approx(max(candidates))
    assert candidates.index(max(candidates)) == 1


def test_the_issue_by_hand():
    # 8 wins, 6 ties, 0 losses: the sign test has p = 2/2⁸ = .0078, so ½ is left out even at 99 %.
    assert exact_interval(8, 6, 14, confidence_level=0.99).low > 0.5
    assert exact_interval(8, 6, 14, confidence_level=0.993).low <= 0.5


# Reference


@given(outcomes(), LEVELS)
def test_one_half_is_outside_exactly_where_the_sign_test_rejects(counts, level):
    wins, ties, losses = counts
    interval = exact_interval(wins, ties, wins + ties + losses, confidence_level=level)
    pvalue = binomtest(wins, wins + losses, 0.5).pvalue if wins + losses else 1.0
    if abs(pvalue - (1 - level)) > 1e-9:
        assert (0.5 not in interval) == (pvalue < 1 - level)


@given(st.integers(1, 60), st.data(), LEVELS)
def test_without_ties_it_is_clopper_and_pearsons(n, data, level):
    wins = data.draw(st.integers(0, n))
    interval = exact_interval(wins, 0, n, confidence_level=level)
    expected = clopper_pearson_interval(wins, n, confidence_level=level)
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


# Properties


@given(outcomes())
def test_swapping_sides_mirrors_it(counts):
    wins, ties, losses = counts
    n = wins + ties + losses
    forward, backward = exact_interval(wins, ties, n), exact_interval(losses, ties, n)
    assert (forward.low, forward.high) == pytest.approx((1 - backward.high, 1 - backward.low))


@given(outcomes())
def test_it_holds_the_estimate(counts):
    wins, ties, losses = counts
    n = wins + ties + losses
    assert (wins + ties / 2) / n in _widened(exact_interval(wins, ties, n))


@pytest.mark.parametrize("gamma", [0.5, 0.6, 0.75, 0.95])
def test_what_speaks_for_a_winner_never_undoes_the_verdict(gamma):
    rule = VerdictRule(gamma=gamma)
    for n in (8, 15, 23, 30):
        for wins, ties in itertools.product(range(n + 1), repeat=2):
            losses = n - wins - ties
            if losses < 0 or not rule.holds(wins, ties, n):
                continue
            assert not losses or rule.holds(wins, ties + 1, n)
            assert not ties or rule.holds(wins + 1, ties - 1, n)


# Calibration: exact sums, so no tolerance


@pytest.mark.parametrize("n", [6, 10, 29, 60])
@pytest.mark.parametrize("tied", [0.05, 0.3, 0.6, 0.9])
def test_it_covers_at_least_as_often_as_it_claims(n, tied):
    assert all(coverage(n, tied, won) >= 0.95 for won in (0.5, 0.6, 0.75, 0.9, 0.97, 1.0))


# Negative control


def test_with_the_share_of_ties_as_observed_it_would_not():
    assert coverage(30, 0.3, 0.97, carry_observed) < 0.8


def test_impossible_counts_are_refused():
    with pytest.raises(InvalidInput) as caught:
        exact_interval(5, 3, 7)
    assert str(caught.value) == "5 wins and 3 ties of 7. Pass whole counts that add up."
