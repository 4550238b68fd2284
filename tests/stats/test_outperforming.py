"""P(A > B) and its interval, from scores."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import binom, binomtest, mannwhitneyu, norm, t

from outperform.errors import InvalidInput, UnpairedScores
from outperform.stats import (
    anytime_interval,
    brunner_munzel,
    exact_interval,
    outperforming_interval,
    percentile_interval,
    probability_of_outperforming,
    wilson_interval,
)

PAIRED = ["percentile", "wilson", "exact", "anytime"]
# Pain scores of Brunner and Munzel (2000): the second treatment scores higher.
PAIN_X = [1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 1, 1]
PAIN_Y = [3, 3, 4, 3, 1, 2, 3, 1, 1, 5, 4]

whole = st.integers(-4, 4).map(float)
pairs = st.lists(st.tuples(whole, whole), min_size=1, max_size=12)
sample = st.lists(whole, min_size=2, max_size=12)


RNG = np.random.default_rng(0)


def ends(interval):
    return interval.low, interval.high


# By hand


@pytest.mark.parametrize(
    ("a", "b", "options", "expected"),
    [
        ([3, 1, 2], [1, 2, 2], {}, 0.5),  # a win, a loss, a tie
        ([3, 1, 2], [1, 2, 2], {"ties": "strict"}, 1 / 3),
        ([2, 2], [1, 2], {}, 0.75),
        ([2, 2], [1, 2], {"ties": "strict"}, 0.5),
        ([1, 1], [1, 1], {}, 0.5),
        ([1, 1], [1, 1], {"ties": "strict"}, 0.0),
        ([0.1], [0.2], {}, 0.0),
        # All six pairs: 3 > 1, 3 > 2, 3 > 2; 1 = 1, 1 < 2, 1 < 2.
        ([3, 1], [1, 2, 2], {"paired": False}, 3.5 / 6),
        ([3, 1], [1, 2, 2], {"paired": False, "ties": "strict"}, 3 / 6),
        # Pairing matters: every pair is won, yet of all four, one is lost.
        ([2, 4], [1, 3], {}, 1.0),
        ([2, 4], [1, 3], {"paired": False}, 0.75),
    ],
)
def test_probability_by_hand(a, b, options, expected):
    assert probability_of_outperforming(a, b, **options) == pytest.approx(expected, abs=1e-12)


def test_probability_is_a_plain_float():
    assert type(probability_of_outperforming([1, 2], [0, 1])) is float
    assert type(probability_of_outperforming([1, 2], [0], paired=False)) is float


A, B = [3, 1, 2, 5, 4, 7], [1, 2, 2, 1, 1, 3]  # 4 wins, 1 loss, 1 tie


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, exact_interval(4, 1, 6)),
        ({"ties": "strict"}, exact_interval(4, 0, 6)),
        ({"method": "percentile"}, percentile_interval(4, 1, 6)),
        ({"method": "percentile", "ties": "strict"}, percentile_interval(4, 0, 6)),
        ({"method": "wilson"}, wilson_interval(4.5, 6)),
        ({"method": "wilson", "ties": "strict"}, wilson_interval(4, 6)),
        ({"method": "anytime"}, anytime_interval(4.5, 6)),
        ({"method": "anytime", "ties": "strict"}, anytime_interval(4, 6)),
        ({"confidence_level": 0.8}, exact_interval(4, 1, 6, confidence_level=0.8)),
        (
            {"method": "wilson", "confidence_level": 0.8},
            wilson_interval(4.5, 6, confidence_level=0.8),
        ),
    ],
)
def test_paired_interval_is_that_of_the_counts(options, expected):
    assert outperforming_interval(A, B, **options) == expected


# a = 2, 4 beat 1 and 2 of b; b = 1, 3 beat 0 and 1 of a: placements have variance ½ each, so
# P = ¾, se² = ½/(2·2²) + ½/(2·2²) = 1/8 and (S_a + S_b)²/(S_a² + S_b²) = 2 degrees of freedom,
# where the quantile is known: t = (2q - 1)·√(2 / (4q(1 - q))). The odds of ¾ are 3, and the
# standard error of their logarithm is √(1/8) / (¾·¼).


def test_unpaired_interval_by_hand():
    q = 0.7
    t_quantile = (2 * q - 1) * math.sqrt(2 / (4 * q * (1 - q)))
    odds_ratio = math.exp(t_quantile * math.sqrt(1 / 8) * 16 / 3)
    low, high = 3 / odds_ratio / (1 + 3 / odds_ratio), 3 * odds_ratio / (1 + 3 * odds_ratio)
    interval = outperforming_interval([2, 4], [1, 3], paired=False, confidence_level=2 * q - 1)
    assert ends(interval) == pytest.approx((low, high), rel=1e-12)
    mirrored = outperforming_interval([1, 3], [2, 4], paired=False, confidence_level=2 * q - 1)
    assert ends(mirrored) == pytest.approx((1 - high, 1 - low), rel=1e-12)


def test_unpaired_interval_never_says_more_than_separation_by_hand():
    # At 20% the lower end would be 0.635; two separated pairs leave √0.4 = 0.632 open.
    interval = outperforming_interval([2, 4], [1, 3], paired=False, confidence_level=0.2)
    assert interval.low == pytest.approx(math.sqrt(0.4), rel=1e-12)
    interval = outperforming_interval([1, 3], [2, 4], paired=False, confidence_level=0.2)
    assert interval.high == pytest.approx(1 - math.sqrt(0.4), rel=1e-12)
    # Twenty against twenty with one adjacent swap: 399 of 400 won, and no surer than 400 of 400.
    a, b = [18.5, *range(20, 39)], range(20)
    assert outperforming_interval(a, b, paired=False).low == pytest.approx(0.025 ** (1 / 20))


def test_unpaired_interval_at_complete_separation_counts_disjoint_pairs():
    interval = outperforming_interval([5, 6, 7], [1, 2, 3, 4], paired=False)
    assert ends(interval) == pytest.approx((0.025 ** (1 / 3), 1))
    interval = outperforming_interval([1, 2, 3, 4], [5, 6, 7], paired=False, confidence_level=0.9)
    assert ends(interval) == pytest.approx((0, 1 - 0.05 ** (1 / 3)))


@pytest.mark.parametrize(
    ("options", "method"),
    [
        ({}, "exact"),
        *(({"method": word}, word) for word in PAIRED),
        ({"paired": False}, "brunner-munzel"),
        ({"paired": False, "method": "exact"}, "brunner-munzel"),
        ({"paired": False, "method": "brunner-munzel"}, "brunner-munzel"),
        (
            {"paired": False, "method": "bootstrap", "rng": np.random.default_rng(6)},
            "bootstrap",
        ),
    ],
)
def test_interval_says_how_it_was_made(options, method):
    interval = outperforming_interval(A, B, confidence_level=0.9, **options)
    assert (interval.method, interval.confidence_level) == (method, 0.9)


# Reference


def test_probability_matches_r(reference):
    case = reference("rank_tests")["mann_whitney"]
    probability = probability_of_outperforming(case["a"], case["b"], paired=False)
    assert probability == pytest.approx(case["probability"], rel=1e-12)


def test_unpaired_interval_matches_the_published_example():
    # The R packages lawstat and brunnermunzel print 0.788961 and the interval 0.5952169 to
    # 0.9827052 for these data, on P's own scale: t·se = 0.19374415, which is carried to the logit.
    published, reach = 0.788961, (0.9827052 - 0.5952169) / 2
    odds = reach / (published * (1 - published))
    expected = expit(logit(published) - odds), expit(logit(published) + odds)
    interval = outperforming_interval(PAIN_Y, PAIN_X, paired=False)
    assert ends(interval) == pytest.approx(expected, abs=1e-6)
    assert probability_of_outperforming(PAIN_Y, PAIN_X, paired=False) == pytest.approx(
        published, abs=5e-7
    )


@given(sample, sample)
def test_probability_matches_scipy(a, b):
    expected = mannwhitneyu(a, b).statistic / len(a) / len(b)
    probability = probability_of_outperforming(a, b, paired=False)
    assert probability == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("a", "b"), [([4, 2, 5, 1], [3, 0, 1, 2]), ([1, 2, 2, 3], [2, 2, 1, 0]), ([5, 1, 4], [3, 2, 0])]
)
def test_bootstrap_interval_matches_all_resamples(a, b):
    a_all = np.array(list(itertools.product(a, repeat=len(a))))[:, None, :, None]
    b_all = np.array(list(itertools.product(b, repeat=len(b))))[None, :, None, :]
    probabilities = ((a_all > b_all) + (a_all == b_all) / 2).mean(axis=(-1, -2))
    interval = outperforming_interval(
        a,
        b,
        paired=False,
        method="bootstrap",
        n_resamples=100_000,
        confidence_level=0.8,
        rng=np.random.default_rng(28),
    )
    assert ends(interval) == pytest.approx(np.quantile(probabilities, [0.1, 0.9]), abs=1e-9)


# Properties


@pytest.mark.parametrize("paired", [True, False])
@given(pairs)
def test_chances_of_a_and_b_sum_to_one(paired, scores):
    a, b = np.transpose(scores)
    there = probability_of_outperforming(a, b, paired=paired)
    back = probability_of_outperforming(b, a, paired=paired)
    assert there + back == pytest.approx(1, abs=1e-12)
    assert 0 <= there <= 1


@pytest.mark.parametrize("paired", [True, False])
@given(pairs)
def test_strict_chances_leave_out_the_ties(paired, scores):
    a, b = np.transpose(scores)
    there = probability_of_outperforming(a, b, paired=paired, ties="strict")
    back = probability_of_outperforming(b, a, paired=paired, ties="strict")
    tied = np.mean(a == b) if paired else np.mean(a[:, None] == b)
    assert there + back + tied == pytest.approx(1, abs=1e-12)
    half = probability_of_outperforming(a, b, paired=paired)
    assert half == pytest.approx(there + tied / 2, abs=1e-12)


@given(sample, sample)
def test_unpaired_probability_is_the_share_of_all_pairs_rounded_once(a, b):
    wins = sum((x > y) + (x == y) / 2 for x in a for y in b)
    assert probability_of_outperforming(a, b, paired=False) == wins / (len(a) * len(b))


@pytest.mark.parametrize("method", PAIRED)
@given(scores=pairs, seed=st.integers(0, 99))
def test_paired_answers_ignore_scale_and_order(method, scores, seed):
    a, b = np.transpose(scores)
    order = np.random.default_rng(seed).permutation(len(a))
    original = outperforming_interval(a, b, method=method)
    assert outperforming_interval(a[order], b[order], method=method) == original
    assert outperforming_interval(a**3 + 7, b**3 + 7, method=method) == original
    assert probability_of_outperforming(a, b) in original


@given(sample, sample, st.integers(0, 99))
def test_unpaired_answers_ignore_scale_and_order(a, b, seed):
    rng = np.random.default_rng(seed)
    original = ends(outperforming_interval(a, b, paired=False))
    shuffled = outperforming_interval(rng.permutation(a), rng.permutation(b), paired=False)
    cubed = outperforming_interval(np.array(a) ** 3, np.array(b) ** 3, paired=False)
    assert ends(shuffled) == pytest.approx(original, abs=1e-9)
    assert ends(cubed) == pytest.approx(original, abs=1e-9)


@pytest.mark.parametrize("method", [*PAIRED, "brunner-munzel"])
@given(scores=st.lists(st.tuples(whole, whole), min_size=2, max_size=12))
def test_interval_mirrors_when_sides_are_swapped(method, scores):
    a, b = np.transpose(scores)
    options = {"method": method, "paired": method in PAIRED}
    interval = outperforming_interval(a, b, **options)
    swapped = outperforming_interval(b, a, **options)
    assert ends(swapped.mirrored()) == pytest.approx(ends(interval), abs=1e-9)
    probability = probability_of_outperforming(a, b, paired=method in PAIRED)
    assert 0 <= interval.low <= probability + 1e-12
    assert probability - 1e-12 <= interval.high <= 1


@pytest.mark.parametrize("paired", [True, False])
def test_inputs_may_be_lists_tuples_or_arrays_and_are_left_alone(paired):
    a, b = np.array(A, dtype=float), np.array(B, dtype=float)
    expected = outperforming_interval(A, B, paired=paired)
    assert outperforming_interval(a, tuple(B), paired=paired) == expected
    assert a.tolist() == A
    assert b.tolist() == B


def test_bootstrap_of_large_samples_agrees_with_brunner_munzel():
    rng = np.random.default_rng(12)  # so large that they are resampled in blocks
    a, b = rng.normal(0.3, size=1500), rng.normal(size=1200)
    bootstrap = outperforming_interval(
        a, b, paired=False, method="bootstrap", n_resamples=2000, rng=rng
    )
    expected = ends(outperforming_interval(a, b, paired=False))
    assert ends(bootstrap) == pytest.approx(expected, abs=0.004)


def test_strict_unpaired_intervals_leave_out_the_ties():
    # Scores 0 and 1 at random: P(A > B) is 1/4, not 1/2, and both intervals say so.
    rng = np.random.default_rng(13)
    a, b = rng.integers(0, 2, size=(2, 200))
    for method in ("brunner-munzel", "bootstrap"):
        interval = outperforming_interval(a, b, paired=False, ties="strict", method=method, rng=rng)
        assert 0.25 in interval
        assert 0.5 not in interval
        assert interval.high - interval.low < 0.15


@given(st.lists(whole, min_size=3, max_size=9), st.lists(whole, min_size=3, max_size=9))
def test_unpaired_interval_is_that_of_the_table_of_all_comparisons(a, b):
    a, b = np.array(a), np.array(b)
    for ties, value in (("half", 0.5), ("strict", 0.0)):
        table = (a[:, None] > b) + value * (a[:, None] == b)
        variances = np.array([table.mean(axis=1).var(ddof=1), table.mean(axis=0).var(ddof=1)])
        variances /= table.shape
        if variances.sum() < 1e-12:  # complete separation, or all tied
            continue
        df = variances.sum() ** 2 / (variances**2 / (np.array(table.shape) - 1)).sum()
        mean, separated = table.mean(), 0.025 ** (1 / min(table.shape))
        reach = t.ppf(0.975, df) * np.sqrt(variances.sum()) / (mean * (1 - mean))
        low = min(expit(logit(mean) - reach), separated)
        high = max(expit(logit(mean) + reach), 1 - separated)
        interval = outperforming_interval(a, b, paired=False, ties=ties)
        assert ends(interval) == pytest.approx((low, high), abs=1e-9)


def test_numbers_kept_as_objects_are_numbers():
    assert probability_of_outperforming(np.array([2, 1.5], dtype=object), [1, 2]) == 0.5


def test_bootstrap_without_a_generator_repeats():
    options = {"paired": False, "method": "bootstrap", "n_resamples": 99}
    a, b = RNG.normal(size=(2, 20))
    seeded = outperforming_interval(a, b, **options, rng=np.random.default_rng(0))
    assert outperforming_interval(a, b, **options) == seeded
    assert outperforming_interval(a, b, **options) == seeded


def test_bootstrap_repeats_with_its_seed_only():
    def interval(seed):
        rng = np.random.default_rng(seed)
        return outperforming_interval(
            np.arange(30) ** 1.1, np.arange(25) ** 1.2, paired=False, method="bootstrap",
            n_resamples=99, rng=rng,
        )  # fmt: skip

    assert interval(1) == interval(1)
    assert interval(1) != interval(2)


# Calibration


@pytest.mark.slow
@pytest.mark.parametrize("paired", [True, False])
def test_probability_is_unbiased(paired):
    rng = np.random.default_rng(33)
    a, b = rng.normal(0.7, size=(4000, 9)), rng.normal(size=(4000, 9))
    estimates = [
        probability_of_outperforming(x, y, paired=paired) for x, y in zip(a, b, strict=True)
    ]
    error = np.mean(estimates) - norm.cdf(0.7 / math.sqrt(2))
    assert abs(error) < 3.3 * np.std(estimates) / math.sqrt(len(estimates))


def unpaired_coverage(n_a, n_b, shift, sd, n_studies=2000, **options):
    rng = np.random.default_rng(8128)
    truth = norm.cdf(shift / math.hypot(sd, 1))
    a, b = rng.normal(shift, sd, size=(n_studies, n_a)), rng.normal(size=(n_studies, n_b))
    return sum(
        truth in outperforming_interval(x, y, paired=False, **options)
        for x, y in zip(a, b, strict=True)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_a", "n_b", "probability", "sd"),
    [
        *((n, n, p, 1.0) for n in (6, 10, 20, 50) for p in (0.5, 0.9, 0.97)),
        *((n, n, p, 3.0) for n in (20, 50) for p in (0.75, 0.9, 0.97)),
        *((6, 50, p, sd) for p in (0.5, 0.9) for sd in (1.0, 3.0)),
    ],
)
def test_brunner_munzel_interval_covers_what_it_claims(n_a, n_b, probability, sd):
    covered = unpaired_coverage(n_a, n_b, norm.ppf(probability) * math.hypot(sd, 1), sd)
    assert binomtest(covered, 2000, 0.95, alternative="less").pvalue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize(("probability", "sd"), [(0.5, 1.0), (0.75, 3.0), (0.9, 1.0)])
def test_brunner_munzel_interval_is_no_wider_than_needed_with_many_runs(probability, sd):
    covered = unpaired_coverage(50, 50, norm.ppf(probability) * math.hypot(sd, 1), sd)
    assert binomtest(covered, 2000, 0.965, alternative="greater").pvalue > 0.001


@pytest.mark.slow
def test_bootstrap_interval_covers_about_what_it_claims():
    covered = unpaired_coverage(
        25, 25, 0.95, 1.0, n_studies=1000, method="bootstrap", n_resamples=999,
        rng=np.random.default_rng(1),
    )  # fmt: skip
    assert binomtest(covered, 1000, 0.92, alternative="less").pvalue > 0.001
    assert binomtest(covered, 1000, 0.97, alternative="greater").pvalue > 0.001


@pytest.mark.slow
def test_paired_intervals_cover_as_often_as_the_binomial_says():
    rng = np.random.default_rng(28)
    n, n_studies, truth = 29, 2000, norm.cdf(0.95 / math.sqrt(2))
    a, b = rng.normal(0.95, size=(n_studies, n)), rng.normal(size=(n_studies, n))
    for method, function in [
        ("wilson", wilson_interval),
        ("exact", lambda wins, n: exact_interval(wins, 0, n)),
        ("percentile", lambda wins, n: percentile_interval(wins, 0, n)),
    ]:
        hits = sum(
            truth in outperforming_interval(x, y, method=method) for x, y in zip(a, b, strict=True)
        )
        exact = sum(binom.pmf(w, n, truth) for w in range(n + 1) if truth in function(w, n))
        assert binomtest(hits, n_studies, exact).pvalue > 0.001


# Negative controls


def test_coverage_check_can_fail():
    # Calling an 80% interval a 95% one is noticed.
    covered = unpaired_coverage(25, 25, 0.0, 1.0, n_studies=400, confidence_level=0.8)
    assert binomtest(covered, 400, 0.935, alternative="less").pvalue < 0.001


def test_ignoring_the_pairs_loses_what_pairing_shows():
    # Strongly correlated scores: A wins every pair by a little, hidden by the spread of seeds.
    seed_effect = np.random.default_rng(5).normal(size=29)
    a, b = seed_effect + 0.01, seed_effect
    assert outperforming_interval(a, b, method="exact").low > 0.5
    assert outperforming_interval(a, b, paired=False).low < 0.5


def test_a_normal_quantile_would_be_too_short():
    a, b = np.array([3, 1, 6, 2, 8]), np.array([2, 5, 1, 4, 0])
    beaten = (a[:, None] > b) + (a[:, None] == b) / 2
    parts = np.array([beaten.sum(axis=1 - side).var(ddof=1) for side in (0, 1)]) / 5**3
    mean, df = beaten.mean(), parts.sum() ** 2 / (parts**2 / 4).sum()
    se = math.sqrt(parts.sum()) / (mean * (1 - mean))
    interval = outperforming_interval(a, b, paired=False)
    assert interval.low == pytest.approx(expit(logit(mean) - t.ppf(0.975, df) * se), rel=1e-9)
    assert interval.low < expit(logit(mean) - 1.96 * se) - 0.01


def test_the_scale_of_probability_itself_misses_the_truth_near_one():
    # What the interval was before: p ± t·se. At P = 0.97 with 20 runs it covers 84%, not 95%.
    rng = np.random.default_rng(8128)
    shift = norm.ppf(0.97) * math.sqrt(2)
    a, b = rng.normal(shift, size=(400, 20)), rng.normal(size=(400, 20))
    tests = brunner_munzel(a, b)
    shares = np.array(
        [probability_of_outperforming(x, y, paired=False) for x, y in zip(a, b, strict=True)]
    )
    # Where 0.5 is what is tested, the statistic is (p - ½)/se, so (p - 0.97)/se follows.
    errors = (shares - 0.5) / tests.statistic
    with np.errstate(invalid="ignore"):
        missed = (shares < 1) & ((shares - 0.97) / errors > 2.03)  # t with about 35 df
    assert binomtest(int(missed.sum()), 400, 0.05, alternative="greater").pvalue < 0.001
    assert unpaired_coverage(20, 20, shift, 1.0, n_studies=400) >= 0.95 * 400


# Refusals


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("function", [probability_of_outperforming, outperforming_interval])
def test_bad_scores_are_refused(function, paired, refuses):
    refuses(lambda a, b: function(a, b, paired=paired))


@pytest.mark.parametrize("function", [probability_of_outperforming, outperforming_interval])
def test_scores_that_cannot_be_paired_are_refused(function):
    with pytest.raises(UnpairedScores, match=r"\b29\b.*\b30\b"):
        function(np.arange(29), np.arange(30))


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"method": "magic"}, r"exact.*percentile.*wilson.*anytime"),
        ({"method": "bootstrap"}, r"percentile"),
        ({"method": "brunner-munzel"}, r"percentile"),
        ({"paired": False, "method": "wilson"}, r"brunner-munzel.*bootstrap"),
        ({"paired": False, "method": "bootstrap", "rng": 7}, r"rng is 7"),
        ({"ties": "drop"}, r"half.*strict"),
        (
            {"paired": False, "method": "bootstrap", "n_resamples": 0, "rng": RNG},
            r"n_resamples",
        ),
        ({"confidence_level": 1.0}, r"confidence_level"),
        ({"confidence_level": 95}, r"confidence_level"),
        ({"paired": False, "confidence_level": math.nan}, r"confidence_level"),
    ],
)
def test_unknown_options_are_refused(options, names):
    with pytest.raises(InvalidInput, match=names):
        outperforming_interval(A, B, **options)


def test_unknown_ties_are_refused():
    with pytest.raises(InvalidInput, match=r"half.*strict"):
        probability_of_outperforming(A, B, ties="drop")
