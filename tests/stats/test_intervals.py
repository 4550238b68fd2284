"""Intervals for a share of wins, from the counts alone."""

import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from outperform.errors import InvalidInput
from outperform.stats import (
    Interval,
    anytime_interval,
    clopper_pearson_interval,
    percentile_interval,
    smallest_conclusive,
    wilson_interval,
)


def percentile_without_ties(wins, n, **options):
    return percentile_interval(wins, 0, n, **options)


INTERVALS = {
    "percentile": percentile_without_ties,
    "wilson": wilson_interval,
    "clopper-pearson": clopper_pearson_interval,
    "anytime": anytime_interval,
}
LEVELS = st.floats(0.5, 0.999)
Z = 1.959963984540054  # the normal quantile of .975


@st.composite
def counts(draw, max_n=60):
    n = draw(st.integers(1, max_n))
    return draw(st.integers(0, n)), n


@st.composite
def counts_with_ties(draw, max_n=40):
    wins, at_least_tied = sorted(draw(st.tuples(st.integers(0, max_n), st.integers(0, max_n))))
    return wins, at_least_tied - wins, draw(st.integers(max(at_least_tied, 1), max_n + 1))


# Interval


def test_an_interval_contains_its_ends_and_nothing_beyond():
    interval = Interval(0.25, 0.75, 0.95, "wilson")
    assert all(value in interval for value in (0.25, 0.5, 0.75))
    assert not any(value in interval for value in (0.2499, 0.7501, math.nan))


def test_a_mirrored_interval_is_not_a_bit_too_long():
    assert 1 - 0.42 > 0.58
    assert Interval(0.1, 0.42, 0.95, "wilson").mirrored().low == 0.58


def test_a_mirrored_interval_is_about_the_other_side():
    interval = Interval(0.25, 0.875, 0.9, "wilson")
    assert interval.mirrored() == Interval(0.125, 0.75, 0.9, "wilson")
    assert interval.mirrored().mirrored() == interval


def test_an_interval_is_frozen_and_becomes_plain_json():
    interval = Interval(0.25, 0.75, 0.9, "wilson")
    with pytest.raises(dataclasses.FrozenInstanceError):
        interval.low = 0.0
    assert interval.to_dict() == {
        "low": 0.25,
        "high": 0.75,
        "confidence_level": 0.9,
        "method": "wilson",
    }


# By hand


@pytest.mark.parametrize(
    ("wins", "ties", "n", "level", "low", "high"),
    [
        # X ~ Bin(2, 1/2) puts exactly 1/4 on 0: P(X <= 0) >= 1/4, so both ends are reached.
        (1, 0, 2, 0.5, 0.0, 1.0),
        (1, 0, 2, 0.49, 0.5, 0.5),  # asking for .255 in each tail, they are not
        # X ~ Bin(6, 5/6): P(X <= 2) = .0087 < .025 <= P(X <= 3) = .0623.
        (5, 0, 6, 0.95, 3 / 6, 1.0),
        (1, 0, 6, 0.95, 0.0, 3 / 6),
        # All alike: every resample is the same.
        (6, 0, 6, 0.95, 1.0, 1.0),
        (0, 0, 6, 0.95, 0.0, 0.0),
        (0, 6, 6, 0.95, 0.5, 0.5),
        # One win, one tie: the mean of two draws from {1, 1/2} is 1/2 with chance 1/4.
        (1, 1, 2, 0.5, 0.5, 1.0),
        (1, 1, 2, 0.49, 0.75, 0.75),
        # One of each: three draws of {1, 1/2, 0}; the sum is 0 in 1 of 27 and 1/2 in 3 of 27.
        (1, 1, 3, 0.95, 0.0, 1.0),  # 1/27 = .037 >= .025
        (1, 1, 3, 0.90, 1 / 6, 5 / 6),  # 1/27 < .05 <= 4/27
        (1, 1, 3, 0.70, 1 / 3, 2 / 3),  # 4/27 = .148 < .15 <= 10/27
    ],
)
def test_percentile_interval_by_hand(wins, ties, n, level, low, high):
    interval = percentile_interval(wins, ties, n, confidence_level=level)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-12)


@pytest.mark.parametrize("n", [1, 5, 6, 29])
def test_intervals_of_all_wins_have_closed_forms(n):
    # Wilson: p̂ = 1 gives (1 + z²/2n - z²/2n) / (1 + z²/n).
    assert wilson_interval(n, n).low == pytest.approx(n / (n + Z**2), rel=1e-12)
    # Clopper–Pearson: P(all wins) = p^n = α/2.
    assert clopper_pearson_interval(n, n).low == pytest.approx(0.025 ** (1 / n), rel=1e-12)
    # Beta(½, ½) mixture: B(n + ½, ½) / B(½, ½) = C(2n, n) / 4^n, divided by p^n reaches 1/α.
    mixture = math.comb(2 * n, n) / 4**n
    assert anytime_interval(n, n).low == pytest.approx((0.05 * mixture) ** (1 / n), rel=1e-9)
    for function in (wilson_interval, clopper_pearson_interval, anytime_interval):
        assert function(n, n).high == pytest.approx(1, abs=1e-12)


def test_anytime_interval_of_one_tie_by_hand():
    # B(1, 1) / B(½, ½) = 1/π, divided by √(p(1-p)), reaches 20 where p(1-p) = 1/(20π)².
    half_width = math.sqrt(1 / 4 - 1 / (20 * math.pi) ** 2)
    interval = anytime_interval(0.5, 1)
    assert interval.low == pytest.approx(0.5 - half_width, rel=1e-6)
    assert interval.high == pytest.approx(0.5 + half_width, rel=1e-9)


def test_wilson_and_clopper_pearson_take_half_wins():
    # Wilson with 1½ wins of 3: p̂ = ½, so ½ ± z√(1/12 + z²/36) / (1 + z²/3).
    half_width = Z * math.sqrt(1 / 12 + Z**2 / 36) / (1 + Z**2 / 3)
    assert wilson_interval(1.5, 3).low == pytest.approx(0.5 - half_width, rel=1e-12)
    # Clopper–Pearson with ½ a win of 1: Beta(½, 3/2) has cdf (θ + sinθ cosθ)·2/π at sin²θ.
    angle = math.asin(math.sqrt(clopper_pearson_interval(0.5, 1, confidence_level=0.9).low))
    cdf = (angle + math.sin(angle) * math.cos(angle)) * 2 / math.pi
    assert cdf == pytest.approx(0.05, rel=1e-9)


# Reference


@pytest.mark.parametrize("method", ["percentile", "wilson", "clopper-pearson"])
def test_intervals_match_r(reference, method):
    for case in reference("intervals"):
        interval = INTERVALS[method](
            case["wins"], case["n"], confidence_level=case["confidence_level"]
        )
        expected = case[method.replace("-", "_")]
        assert (interval.low, interval.high) == pytest.approx(expected, rel=1e-9, abs=1e-12), case


def test_clopper_pearson_matches_the_sota_paper():
    interval = clopper_pearson_interval(2700, 3000)  # METHODS.md §5
    assert (round(interval.low, 4), round(interval.high, 4)) == (0.8887, 0.9105)


@pytest.mark.parametrize("n", [1, 3, 10, 100, 1000])
def test_anytime_bounds_are_where_the_mixture_reaches_one_over_alpha(n):
    # Robbins (1970): ∫ q^w (1-q)^(n-w) dBeta(½, ½)(q) / (p^w (1-p)^(n-w)), here by quadrature:
    # with q = sin²(θ) the mixing measure is uniform in θ over (0, π/2).
    q = np.sin((np.arange(20_000) + 0.5) / 20_000 * np.pi / 2) ** 2
    for wins in {0, 1, n // 3, n // 2 + 0.5, n}:
        if wins > n:
            continue
        interval = anytime_interval(wins, n, confidence_level=0.9)
        for p in {interval.low, interval.high} - {0.0, 1.0}:
            evidence = np.mean((q / p) ** wins * ((1 - q) / (1 - p)) ** (n - wins))
            assert evidence == pytest.approx(10, rel=1e-4)


# Properties


@given(counts_with_ties(max_n=4), st.sampled_from([0.5, 0.6, 0.7, 0.8, 0.9, 0.95]))
def test_percentile_interval_is_what_all_resamples_give(case, level):
    wins, ties, n = case
    halves = [2] * wins + [1] * ties + [0] * (n - wins - ties)
    sums = sorted(sum(resample) for resample in itertools.product(halves, repeat=n))
    # Ask for 1e-12 less, so that what is a tie in the reals is not decided by rounding.
    tail = (1 - Fraction(level)) / 2 - Fraction(1, 10**12)
    low = next(v for v in sums if Fraction(sum(s <= v for s in sums), n**n) >= tail)
    high = next(v for v in sums[::-1] if Fraction(sum(s >= v for s in sums), n**n) >= tail)
    interval = percentile_interval(wins, ties, n, confidence_level=level)
    assert (interval.low, interval.high) == pytest.approx((low / 2 / n, high / 2 / n), abs=1e-12)


@pytest.mark.parametrize(("wins", "ties"), [(w, t) for w in range(7) for t in range(7 - w)])
def test_percentile_interval_is_what_all_46656_resamples_give(wins, ties):
    halves = np.repeat([2, 1, 0], [wins, ties, 6 - wins - ties])
    resamples = np.indices((6,) * 6).reshape(6, -1)
    sums = np.sort(halves[resamples].sum(axis=0))
    need = math.ceil(0.025 * 6**6)  # 1166.4: no tie in the reals
    interval = percentile_interval(wins, ties, 6)
    expected = (sums[need - 1] / 12, sums[-need] / 12)
    assert (interval.low, interval.high) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("wins", "ties", "n"), [(40, 300, 400), (3, 390, 400), (250, 10, 300)])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.999])
def test_percentile_interval_of_many_pairs_matches_repeated_convolution(wins, ties, n, level):
    mass = np.ones(1)
    for _ in range(n):
        mass = np.convolve(mass, np.array([n - wins - ties, ties, wins]) / n)
    tail = (1 - level) / 2
    low = np.flatnonzero(np.cumsum(mass) >= tail)[0]
    high = np.flatnonzero(np.cumsum(mass[::-1])[::-1] >= tail)[-1]
    interval = percentile_interval(wins, ties, n, confidence_level=level)
    assert (interval.low, interval.high) == pytest.approx((low / 2 / n, high / 2 / n), abs=1e-12)


@pytest.mark.parametrize(
    ("wins", "ties", "n"), [(13, 4, 78), (6, 40, 93), (33, 29, 91), (0, 1, 50)]
)
@pytest.mark.parametrize("alpha", [1e-9, 1e-12, 1e-14])
def test_percentile_interval_is_exact_far_out_in_the_tails(wins, ties, n, alpha):
    ways = np.array([1], dtype=object)  # to draw each number of half wins, as whole numbers
    for _ in range(n):
        ways = np.convolve(ways, np.array([n - wins - ties, ties, wins], dtype=object))
    interval = percentile_interval(wins, ties, n, confidence_level=1 - alpha)
    tail = Fraction((1 - interval.confidence_level) / 2) * n**n
    low = next(i for i, total in enumerate(itertools.accumulate(ways)) if total >= tail)
    lost = next(i for i, total in enumerate(itertools.accumulate(ways[::-1])) if total >= tail)
    assert (interval.low, interval.high) == (low / (2 * n), (2 * n - lost) / (2 * n))


@pytest.mark.parametrize("method", ["wilson", "clopper-pearson"])
def test_bounds_far_out_in_the_tails_mirror(method):
    # 1 - 5e-13 has lost digits that 5e-13 has.
    for level in (1 - 1e-12, 1 - 1e-15, 1 - 2e-16):
        interval = INTERVALS[method](20, 29, confidence_level=level)
        mirrored = INTERVALS[method](9, 29, confidence_level=level).mirrored()
        assert (interval.low, interval.high) == pytest.approx(
            (mirrored.low, mirrored.high), rel=1e-12
        )
        assert 0 < interval.low < interval.high < 1


@given(counts_with_ties(), LEVELS)
def test_percentile_interval_mirrors_contains_its_estimate_and_stays_on_the_grid(case, level):
    wins, ties, n = case
    interval = percentile_interval(wins, ties, n, confidence_level=level)
    mirrored = percentile_interval(n - wins - ties, ties, n, confidence_level=level).mirrored()
    assert (mirrored.low, mirrored.high) == pytest.approx((interval.low, interval.high), abs=1e-12)
    assert 0 <= interval.low <= (wins + ties / 2) / n + 1e-12
    assert (wins + ties / 2) / n - 1e-12 <= interval.high <= 1
    assert 2 * n * interval.low == pytest.approx(round(2 * n * interval.low), abs=1e-9)


@pytest.mark.parametrize("method", ["wilson", "clopper-pearson", "anytime"])
@given(case=counts(), tied=st.booleans(), level=LEVELS)
def test_intervals_mirror_and_contain_their_estimate(method, case, tied, level):
    wins, n = case[0] + tied / 2, case[1] + tied
    interval = INTERVALS[method](wins, n, confidence_level=level)
    mirrored = INTERVALS[method](n - wins, n, confidence_level=level).mirrored()
    assert (mirrored.low, mirrored.high) == pytest.approx((interval.low, interval.high), abs=1e-9)
    assert 0 <= interval.low <= wins / n + 1e-12
    assert wins / n - 1e-12 <= interval.high <= 1
    assert interval.confidence_level == level
    assert interval.method == method


@pytest.mark.parametrize("method", INTERVALS)
@given(case=counts(), level=st.floats(0.5, 0.99))
def test_intervals_widen_with_confidence_and_move_up_with_wins(method, case, level):
    wins, n = case
    interval = INTERVALS[method](wins, n, confidence_level=level)
    wider = INTERVALS[method](wins, n, confidence_level=(level + 1) / 2)
    assert wider.low <= interval.low + 1e-12
    assert interval.high <= wider.high + 1e-12
    if wins < n:
        more = INTERVALS[method](wins + 1, n, confidence_level=level)
        assert more.low >= interval.low - 1e-12
        assert more.high >= interval.high - 1e-12


@given(st.integers(1, 200))
def test_intervals_narrow_with_n(n):
    for function in (wilson_interval, clopper_pearson_interval, anytime_interval):
        few, many = function(0.75 * n, n), function(0.75 * 4 * n, 4 * n)
        assert many.high - many.low < few.high - few.low


@pytest.mark.parametrize("n", [1_000, 1_000_000])
def test_large_counts_agree_with_the_normal_approximation(n):
    half_width = Z * math.sqrt(0.75 * 0.25 / n)
    for name in ("percentile", "wilson", "clopper-pearson"):
        interval = INTERVALS[name](0.75 * n, n)
        assert interval.low == pytest.approx(0.75 - half_width, abs=3 / n)
        assert interval.high == pytest.approx(0.75 + half_width, abs=3 / n)


# Calibration: with n pairs there are n + 1 outcomes, so coverage is a finite sum, not a simulation.


def coverage(function, n, level=0.95):
    """Exact coverage at 199 true probabilities."""
    truth = np.arange(1, 200) / 200
    bounds = [function(wins, n, confidence_level=level) for wins in range(n + 1)]
    low = np.array([b.low for b in bounds])[:, None]
    high = np.array([b.high for b in bounds])[:, None]
    inside = (low <= truth) & (truth <= high)
    return truth, (binom.pmf(np.arange(n + 1)[:, None], n, truth) * inside).sum(axis=0)


@pytest.mark.parametrize("n", [1, 6, 10, 29, 100])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_clopper_pearson_never_covers_less_than_it_claims(n, level):
    assert coverage(clopper_pearson_interval, n, level)[1].min() >= level - 1e-12


def test_wilson_covers_what_it_claims_on_average_but_not_everywhere():
    covered = coverage(wilson_interval, 29)[1]
    assert covered.mean() == pytest.approx(0.95, abs=0.005)
    assert 0.83 < covered.min() < 0.95  # near 0 and 1, the known weakness


@pytest.mark.parametrize("n", [10, 20, 50, 200])
@pytest.mark.parametrize(("losses", "covered"), [(1, 0.64), (2, 0.87), (3, 0.955)])
def test_percentile_interval_covers_by_the_losses_to_expect_whatever_n(n, losses, covered):
    truth = 1 - losses / n
    hits = (binom.pmf(w, n, truth) for w in range(n + 1) if truth in percentile_interval(w, 0, n))
    assert sum(hits) == pytest.approx(covered, abs=0.02)


def test_percentile_interval_covers_well_in_the_middle_and_badly_at_the_ends():
    truth, covered = coverage(percentile_without_ties, 29)
    middle = (truth >= 0.25) & (truth <= 0.75)
    assert covered[middle].min() > 0.9
    assert covered[truth > 0.95].max() < 0.8  # Bouthillier et al. (2021)


# Looking after every pair: the walk over win counts is a Markov chain, so the chance that an
# interval ever misses the truth is computed exactly, too.


def ever_misses(function, probability, n_max, chance_of_tie=0.0, level=0.95):
    """Chance that the interval misses the mean at some n up to n_max."""
    mean = probability + chance_of_tie / 2
    step = np.array([1 - probability - chance_of_tie, chance_of_tie, probability])
    alive = np.array([1.0])  # by half wins
    first = last = 0  # half wins between which the interval contains the truth
    for n in range(1, n_max + 1):
        alive = np.convolve(alive, step)
        first, last = first, last + 2
        while function(first / 2, n, confidence_level=level).high < mean:
            first += 1
        while function(last / 2, n, confidence_level=level).low > mean:
            last -= 1
        # Both bounds grow with wins, and the window was too wide by one win at most.
        alive[:first] = alive[last + 1 :] = 0.0
    return 1 - alive.sum()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("probability", "chance_of_tie", "level"),
    [(0.5, 0.0, 0.95), (0.75, 0.0, 0.95), (0.97, 0.0, 0.95), (0.5, 0.0, 0.5), (0.4, 0.2, 0.95)],
)
def test_anytime_interval_rarely_ever_misses_the_truth(probability, chance_of_tie, level):
    missed = ever_misses(anytime_interval, probability, 1000, chance_of_tie, level)
    assert missed <= 1 - level
    assert missed >= (1 - level) / 10  # and is not valid merely by saying nothing


@pytest.mark.parametrize("method", ["wilson", "clopper-pearson"])
def test_other_intervals_do_not_survive_peeking(method):
    # Negative control: the same computation finds what peeking costs an interval for one look.
    assert ever_misses(INTERVALS[method], 0.5, 200) > 0.15


def test_percentile_interval_does_not_survive_peeking():
    # From the tenth pair on only, since after the first it is always [0, 0] or [1, 1].
    rng = np.random.default_rng(496)
    wins = (rng.random((4000, 100)) < 0.5).cumsum(axis=1)
    misses = np.zeros(len(wins), dtype=bool)
    for n in range(10, 101):
        bounds = [percentile_interval(w, 0, n) for w in range(n + 1)]
        missed = np.array([0.5 not in interval for interval in bounds])
        misses |= missed[wins[:, n - 1]]
    assert misses.mean() > 0.2


# Refusals


@pytest.mark.parametrize("method", INTERVALS)
@pytest.mark.parametrize(("wins", "n"), [(-1, 5), (6, 5), (0, 0), (0, -1), (math.nan, 5)])
def test_impossible_counts_are_refused(method, wins, n):
    with pytest.raises(InvalidInput):
        INTERVALS[method](wins, n)


@pytest.mark.parametrize(("wins", "ties", "n"), [(3, 3, 5), (0, -1, 5), (2.5, 0, 5), (2, 0.5, 5)])
def test_impossible_ties_are_refused(wins, ties, n):
    with pytest.raises(InvalidInput):
        percentile_interval(wins, ties, n)


@pytest.mark.parametrize("method", INTERVALS)
@pytest.mark.parametrize("level", [0, 1, -0.1, 95, math.nan])
def test_impossible_confidence_is_refused(method, level):
    with pytest.raises(InvalidInput, match="confidence_level"):
        INTERVALS[method](3, 5, confidence_level=level)


def test_fewest_conclusive_pairs_by_hand():
    # ½⁵ is 1/32: below 0.05 / 2 it is not, and not below 2⁻⁴ / 2 either, which it equals.
    assert [smallest_conclusive(alpha) for alpha in (0.05, 2**-4, 0.07, 0.5)] == [6, 6, 5, 3]
