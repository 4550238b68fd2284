"""Wald's sequential test between one half and gamma, and pairs followed by it as they come in."""

import math
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from outperform.errors import InvalidInput, OutperformError
from outperform.stats import SequentialTest, plan_sequential_test, required_pairs, trace_path

TEST = plan_sequential_test()


def follow_by_hand(test, outcomes):
    """The plain loop: 1 is a win of a, 0 a loss, ½ a tie."""
    for_a = for_b = 0.0
    for n, x in enumerate(outcomes, 1):
        for_a += x * math.log(2 * test.gamma) + (1 - x) * math.log(2 - 2 * test.gamma)
        for_b += (1 - x) * math.log(2 * test.gamma) + x * math.log(2 - 2 * test.gamma)
        if for_a >= test.upper - 1e-9:
            return "a", n
        if for_b >= test.upper - 1e-9:
            return "b", n
        if n == test.n_max or max(for_a, for_b) <= test.lower + 1e-9:
            return "neither", n
    return "go on", len(outcomes)


def follow(test, outcomes):
    calls, ends = test.follow(np.asarray(outcomes, float), np.full(np.shape(outcomes), 0.5))
    return list(zip(calls.tolist(), ends.tolist(), strict=True))


def draw(rng, shape, probability, tie_share=0.0):
    place = rng.random(shape)
    win = probability - tie_share / 2
    return np.where(place < win, 1.0, np.where(place < win + tie_share, 0.5, 0.0))


# By hand


def test_wins_in_a_row_by_hand():
    # Each win adds ln 1.5 = .4055: nine make 3.649, the first above 3.638.
    assert TEST.decide([8, 9], 0).tolist() == ["go on", "a"]
    assert TEST.decide(0, [8, 9]).tolist() == ["go on", "b"]
    assert TEST.operating(1.0).worst_pairs == 9


def test_ties_by_hand():
    # Each takes ½ ln(1.5 · .5) = -.1438 from both: 21 make -3.02, the first below -2.970.
    assert TEST.decide(0, 0, [20, 21]).tolist() == ["go on", "neither"]
    # A win and a loss do what two ties do: 10 of each and one tie.
    assert TEST.decide([10, 10], 10, [0, 1]).tolist() == ["go on", "neither"]
    equals = TEST.operating(0.5, tie_share=1.0)
    assert (equals.chance_neither, equals.expected_pairs, equals.worst_pairs) == (1, 21, 21)


def test_three_pairs_by_hand():
    # At γ = .75, two wins are .811 and three 1.216; a win and a loss are -.288 for both.
    test = SequentialTest(0.75, upper=0.8, lower=-0.2, n_max=3)
    found = test.operating(0.6)
    assert (found.chance_a, found.chance_b) == pytest.approx((0.36, 0.16))
    assert (found.expected_pairs, found.worst_pairs) == pytest.approx((2, 2))


def test_the_end_is_neither():
    open_until = SequentialTest(0.75, upper=TEST.upper, lower=-50, n_max=20)
    assert open_until.decide([9, 10, 19], [10, 10, 1]).tolist() == ["go on", "neither", "a"]


def test_one_path_and_scores_tied_but_for_rounding():
    call, end = TEST.follow([0.1 + 0.2] * 30, [0.3] * 30)
    assert (call.item(), end.item()) == ("neither", 21)


# Reference: METHODS' figures, and the plain loop


def test_figures_of_the_method():
    assert (TEST.upper, TEST.lower) == pytest.approx((3.64, -2.97), abs=0.005)
    assert TEST.n_max == 80
    equals, better, best = (TEST.operating(p) for p in (0.5, 0.75, 0.9))
    assert equals.chance_either == pytest.approx(0.0425, abs=5e-5)
    assert better.chance_a == pytest.approx(0.961, abs=5e-4)
    pairs = [point.expected_pairs for point in (better, best, equals)]
    assert pairs == pytest.approx([27.6, 12.7, 34.3], abs=0.05)
    assert better.worst_pairs == 80


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.floats(0.3, 0.7),
    st.sampled_from([0.0, 0.2, 0.6]),
    st.sampled_from([0.6, 0.75, 0.9]),
)
def test_paths_end_as_in_the_plain_loop(seed, probability, tie_share, gamma):
    test = SequentialTest(gamma, TEST.upper, TEST.lower, 60)
    outcomes = draw(np.random.default_rng(seed), (5, 60), probability, tie_share)
    assert follow(test, outcomes) == [follow_by_hand(test, path) for path in outcomes]
    short = outcomes[:, :7]
    assert follow(test, short) == [follow_by_hand(test, path) for path in short]


@pytest.mark.parametrize("tie_share", [0.0, 0.3])
def test_operating_counts_every_path(tie_share):
    test, values = SequentialTest(0.75, 1.5, -0.5, 7), (1.0, 0.5, 0.0)
    paths = np.array(np.meshgrid(*[values] * 7)).reshape(7, -1).T
    chance_of = {1.0: 0.65 - tie_share / 2, 0.5: tie_share, 0.0: 0.35 - tie_share / 2}
    weights = np.prod(np.vectorize(chance_of.get)(paths), axis=1)
    calls, ends = test.follow(paths, np.full_like(paths, 0.5))
    found = test.operating(0.65, tie_share=tie_share)
    expected = (weights[calls == "a"].sum(), weights[calls == "b"].sum(), weights @ ends)
    assert (found.chance_a, found.chance_b, found.expected_pairs) == pytest.approx(expected)
    assert found.worst_pairs == ends[weights > 0].max()


@pytest.mark.parametrize(("probability", "tie_share"), [(0.5, 0), (0.75, 0), (0.75, 0.3)])
def test_simulated_paths_end_as_often_as_computed(probability, tie_share):
    outcomes = draw(np.random.default_rng(11), (20_000, 80), probability, tie_share)
    calls, ends = TEST.follow(outcomes, np.full_like(outcomes, 0.5))
    found = TEST.operating(probability, tie_share=tie_share)
    for side, chance in (("a", found.chance_a), ("b", found.chance_b)):
        assert binomtest(int((calls == side).sum()), 20_000, chance).pvalue > 0.001
    assert abs(ends.mean() - found.expected_pairs) < 4 * ends.std() / math.sqrt(20_000)


# Properties


@settings(max_examples=30, deadline=None)
@given(st.floats(0.3, 0.7), st.floats(0, 0.6), st.sampled_from([0.6, 0.75, 0.9]))
def test_both_sides_are_treated_alike(probability, tie_share, gamma):
    test = SequentialTest(gamma, TEST.upper, TEST.lower, 40)
    one, other = (test.operating(p, tie_share=tie_share) for p in (probability, 1 - probability))
    assert one.chance_a == pytest.approx(other.chance_b)
    assert one.expected_pairs == pytest.approx(other.expected_pairs)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 20))
def test_swapping_sides_swaps_the_call(wins, losses, ties):
    swapped = {"a": "b", "b": "a"}
    call = TEST.decide(wins, losses, ties).item()
    assert TEST.decide(losses, wins, ties).item() == swapped.get(call, call)


def test_smaller_errors_cost_more_pairs():
    levels = (0.2, 0.1, 0.05, 0.01)
    for tests in (
        [plan_sequential_test(0.75, alpha, 0.05) for alpha in levels],
        [plan_sequential_test(0.75, 0.05, beta) for beta in levels],
    ):
        for cheap, dear in pairwise(tests):
            assert dear.upper >= cheap.upper
            assert dear.lower <= cheap.lower
            assert dear.n_max >= cheap.n_max


@pytest.mark.parametrize("gamma", [0.6, 0.75, 0.9])
def test_ties_lower_the_size_and_raise_the_power(gamma):
    test = plan_sequential_test(gamma)
    shares = np.linspace(0, 2 * (1 - gamma), 6)  # the most that P(A>B) = gamma leaves room for
    sizes = [test.operating(0.5, tie_share=share).chance_either for share in shares]
    powers = [test.operating(gamma, tie_share=share).chance_a for share in shares]
    assert sizes == sorted(sizes, reverse=True)
    assert powers == sorted(powers)


# Calibration, exact


@pytest.mark.parametrize("gamma", [0.6, 0.7, 0.75, 0.85, 0.95, 0.999])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2, 0.5])
@pytest.mark.parametrize("beta", [0.01, 0.05, 0.2])
def test_plans_keep_both_errors(gamma, alpha, beta):
    test = plan_sequential_test(gamma, alpha, beta)
    assert test.operating(0.5).chance_either <= alpha
    assert test.operating(gamma).chance_a >= 1 - beta
    if test.n_max > 10:  # and no multiple of ten would do that is smaller
        shorter = SequentialTest(gamma, test.upper, test.lower, test.n_max - 10)
        assert shorter.operating(gamma).chance_a < 1 - beta


@pytest.mark.parametrize("gamma", [0.6, 0.7, 0.8, 0.9])
def test_it_takes_fewer_pairs_than_a_fixed_number(gamma):
    test, fixed = plan_sequential_test(gamma), required_pairs(gamma)
    assert test.operating(gamma).expected_pairs < 0.65 * fixed
    assert test.operating(0.5).expected_pairs < 0.7 * fixed


# Negative control


def test_a_sign_test_after_every_pair_errs_far_more():
    wins = np.cumsum(np.random.default_rng(4).random((2000, 80)) < 0.5, axis=1)
    pairs = np.arange(1, 81)
    pvalues = 2 * binom.cdf(np.minimum(wins, pairs - wins), pairs, 0.5)
    assert (pvalues < 0.05).any(axis=1).mean() > 0.15
    assert TEST.operating(0.5).chance_either < 0.05


# Refusals


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: plan_sequential_test(0.5),
            "gamma is 0.5, which is no difference. Pass a gamma above 0.5.",
        ),
        (
            lambda: plan_sequential_test(0.51),
            "deciding between 0.5 and gamma = 0.51 takes more than 2,000 pairs. Pass a larger "
            "gamma.",
        ),
        (
            lambda: plan_sequential_test(0.75, 0.5, 0.8),
            "alpha/2 + beta is 1.05, which chance alone reaches. Pass a smaller alpha or beta.",
        ),
        (
            lambda: SequentialTest(0.75, -1, -2, 80),
            "upper is -1. Pass a finite number above 0.",
        ),
        (
            lambda: SequentialTest(0.75, 1, math.nan, 80),
            "lower is nan. Pass a finite number below 0.",
        ),
        (
            lambda: TEST.decide(41, 40),
            "81 pairs are more than the 80 after which the test ends. Pass the counts of the first "
            "80, or fewer.",
        ),
        (
            lambda: TEST.follow([0.9, 0.8], [0.7]),
            "cannot pair 2 scores of a with 1 of b. Pass the runs that share their seeds, in the "
            "same order, or paired=False if the runs are independent.",
        ),
        (lambda: TEST.follow([], []), "a has 0 scores. At least 1 are needed."),
        (lambda: TEST.decide(1.5, 2), "wins is 1.5. Pass counts: 0 or more."),
        (lambda: TEST.decide(1, [2, -1]), "losses is [2, -1]. Pass counts: 0 or more."),
        (
            lambda: TEST.operating(0.9, tie_share=0.5),
            "probability is 0.9 with tie_share = 0.5. Pass a value from 0.25 to 0.75.",
        ),
        (
            lambda: TEST.operating(0.5, tie_share=1.5),
            "tie_share is 1.5. Pass a value between 0 and 1.",
        ),
    ],
)
def test_impossible_settings_are_refused(call, message):
    with pytest.raises(OutperformError) as caught:
        call()
    assert str(caught.value) == message


GAP = np.nan


def follow_one(test, outcomes):
    """The reference, which knows no gaps."""
    call, end = test.follow(np.asarray(outcomes, float), np.full(len(outcomes), 0.5))
    return call.item(), end.item()


# Paths with gaps: by hand


def test_a_gap_may_have_been_a_loss():
    # Nine wins make 9 · .4055 = 3.65; a loss takes .693, for which it takes two wins more.
    path = trace_path(TEST, [1, 1, GAP, *[1] * 20])
    assert (path.call, path.n_pairs, path.n_beyond) == ("a", 12, 11)
    assert path.counts[:, -1].tolist() == [11, 0, 0, 1]
    against, favoured = path.log_ratios[0, :, -1]
    assert against == pytest.approx(11 * np.log(1.5) - np.log(2))
    assert favoured == pytest.approx(12 * np.log(1.5))
    assert path.log_ratios[1, 0, -1] == pytest.approx(-12 * np.log(2))


def test_what_hangs_on_gaps_is_unknown():
    # Won by a they would end it after nine; lost, b would win.
    path = trace_path(TEST, [GAP] * 12)
    assert (path.call, path.n_pairs, path.count_needed()) == ("unknown", 9, 0)


def test_no_more_pairs_are_needed_than_could_end_it():
    assert trace_path(TEST, []).count_needed() == 9
    assert trace_path(TEST, [1] * 4).count_needed() == 5
    # After 15 ties, -2.157, six more are enough for neither; a win would take 15.
    assert trace_path(TEST, [0.5] * 15).count_needed() == 6
    assert trace_path(TEST, [1] * 9).count_needed() == 0


def test_a_path_cut_short_goes_on():
    path = trace_path(TEST, [1, 0] * 20, 5)
    assert (path.call, path.n_pairs, path.n_beyond) == ("go on", 5, 35)


# Paths with gaps: properties

OUTCOMES = st.lists(st.sampled_from([1.0, 0.0, 0.5]), min_size=1, max_size=30)


@settings(max_examples=80, deadline=None)
@given(OUTCOMES, st.sampled_from([0.6, 0.75, 0.9]))
def test_without_gaps_it_is_the_test_itself(outcomes, gamma):
    test = SequentialTest(gamma, 1.5, -1.0, 25)
    path = trace_path(test, outcomes)
    assert (path.call, path.n_pairs) == follow_one(test, outcomes)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from([1.0, 0.0, 0.5, GAP]), min_size=1, max_size=12))
def test_what_is_decided_holds_whatever_became_of_gaps(outcomes):
    test, values = SequentialTest(0.75, 1.2, -0.5, 10), np.array(outcomes)
    gaps = np.flatnonzero(np.isnan(values))
    values[gaps[5:]] = 0.5  # of more there would be too many fillings
    path = trace_path(test, values)
    fillings = np.array([*product((1.0, 0.5, 0.0), repeat=len(gaps[:5]))])
    filled = np.tile(values, (len(fillings), 1))
    filled[:, gaps[:5]] = fillings
    calls, ends = test.follow(filled, np.full_like(filled, 0.5))
    if path.call in ("a", "b", "neither"):
        assert (calls == path.call).all()
        assert path.n_pairs == ends.max()
    else:
        assert len(set(calls.tolist())) > 1 or (calls == "go on").all()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([1.0, 0.0, 0.5, GAP]), max_size=15))
def test_the_pairs_needed_are_the_fewest_that_could_end_it(outcomes):
    test = SequentialTest(0.75, 1.5, -1.0, 20)
    path = trace_path(test, outcomes)
    if path.call != "go on":
        return
    needed, ways = path.count_needed(), (1.0, 0.5, 0.0)
    for more in product(ways, repeat=min(needed - 1, 5)):
        assert trace_path(test, [*outcomes, *more]).call == "go on"
    if needed <= 6 and not np.isnan(outcomes).any():
        ends = [trace_path(test, [*outcomes, *more]) for more in product(ways, repeat=needed)]
        assert any(end.call != "go on" for end in ends)


# Paths with gaps: calibration, and a negative control


def test_failures_that_favour_one_side_do_not_make_it_win():
    rng, n_studies, n_wrong, n_without = np.random.default_rng(5), 300, 0, 0
    for _ in range(n_studies):
        outcomes = rng.choice([1.0, 0.0], 80)
        # Of the pairs that a would lose, half fail.
        failing = np.where((outcomes == 0) & (rng.random(80) < 0.5), GAP, outcomes)
        n_wrong += trace_path(TEST, failing).call in ("a", "b")
        left = failing[~np.isnan(failing)]
        n_without += trace_path(TEST, left).call in ("a", "b")
    assert n_wrong <= binom.ppf(0.999, n_studies, 0.05)
    assert n_without > binom.ppf(0.999, n_studies, 0.05)  # who leaves them out is misled


@pytest.mark.parametrize(
    ("outcomes", "n_last", "message"),
    [
        (
            [1, 2],
            None,
            "the outcomes are [1, 2]. Pass a list of 1 (a wins), 0 (b wins), 0.5 (a tie) and NaN "
            "(incomplete).",
        ),
        ([1, 0], 0, "n_last is 0. Pass a whole number not less than 1."),
    ],
)
def test_impossible_paths_are_refused(outcomes, n_last, message):
    with pytest.raises(InvalidInput) as caught:
        trace_path(TEST, outcomes, n_last)
    assert str(caught.value) == message
