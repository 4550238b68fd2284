"""P(A>B) averaged over tasks: by hand, reference, property, calibration, negative control."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from outperform.errors import InvalidInput
from outperform.stats import average_probability, exact_interval
from outperform.stats.intervals import sign_tail


def test_by_hand():
    average = average_probability([3, 0], [1, 2], [4, 4])
    assert average.probability == pytest.approx((3.5 / 4 + 1 / 4) / 2)
    # Untied pairs: 3 won, 2 lost; the sign test has p = 2 P(Bin(5, 1/2) >= 3) = 1.
    assert average.pvalue == 1


def test_all_pairs_of_three_tasks_won():
    average = average_probability([5, 5, 5], [0, 0, 0], [5, 5, 5])
    assert average.pvalue == pytest.approx(2 / 2**15)
    assert (average.low, average.high) == (pytest.approx(0.025 ** (1 / 15)), 1.0)


@pytest.mark.parametrize(
    ("wins", "ties", "n"),
    [(20, 0, 29), (8, 6, 14), (29, 0, 29), (0, 29, 29), (0, 3, 10), (28, 1, 29), (1, 27, 29)],
)
def test_one_task_has_the_interval_of_compare(wins, ties, n):
    expected = exact_interval(wins, ties, n)
    average = average_probability([wins], [ties], [n])
    assert average.low == pytest.approx(expected.low, abs=1e-12)
    assert average.high == pytest.approx(expected.high, abs=1e-12)


def test_reference_of_equal_sizes_is_the_pooled_sign_test():
    wins, n = np.array([7, 9, 4, 8]), 10
    pooled = scipy_stats.binomtest(int(wins.sum()), 4 * n)
    average = average_probability(wins, np.zeros(4), np.full(4, n))
    exact = pooled.proportion_ci(0.95, "exact")
    assert average.pvalue == pytest.approx(pooled.pvalue)
    assert (average.low, average.high) == (pytest.approx(exact.low), pytest.approx(exact.high))


def test_reference_of_sampled_tasks_is_student():
    shares = np.array([0.7, 0.8, 0.9, 0.2, 0.3, 0.95, 0.6])
    average = average_probability(shares * 100, np.zeros(7), np.full(7, 100), tasks="sampled")
    mean, error = shares.mean(), scipy_stats.sem(shares)
    low, high = scipy_stats.t.interval(0.95, 6, mean, error)
    assert (average.low, average.high) == (pytest.approx(low), pytest.approx(high))
    assert average.pvalue == pytest.approx(scipy_stats.ttest_1samp(shares, 0.5).pvalue)


@pytest.mark.parametrize("most", [0, 3, 12])
def test_many_sign_tests_are_as_many_single_ones(most):
    wins, losses = np.random.default_rng(most).integers(0, most + 1, size=(2, 900)).astype(float)
    single = [
        scipy_stats.binomtest(int(w), int(w + n), 0.5, "greater").pvalue if w else 1.0
        for w, n in zip(wins, losses, strict=True)
    ]
    assert sign_tail(wins, losses) == pytest.approx(single, rel=1e-12)
    # Part wins are not looked up among whole ones.
    assert (sign_tail(wins + 0.5, losses) < sign_tail(wins, losses)).all()


def test_every_task_counts_the_same():
    average = average_probability([100, 0], [0, 0], [100, 1])
    assert average.probability == 0.5
    few, many = (average_probability([3, 3], [0, 0], [4, n]) for n in (4, 400))
    assert many.probability < few.probability


counts = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 6), st.integers(0, 12)).filter(sum),
    min_size=1,
    max_size=9,
)


@given(counts, st.sampled_from(["fixed", "sampled"]))
def test_both_sides_mirror_each_other(tasks, how):
    wins, ties, losses = np.array(tasks).T
    n = wins + ties + losses
    forward = average_probability(wins, ties, n, tasks=how)
    backward = average_probability(losses, ties, n, tasks=how)
    assert forward.probability == pytest.approx(1 - backward.probability)
    assert forward.low == pytest.approx(1 - backward.high)
    assert forward.pvalue == pytest.approx(backward.pvalue)
    assert forward.low <= forward.probability + 1e-9
    assert forward.high >= forward.probability - 1e-9


@given(counts)
def test_tasks_like_these_are_never_known_better_than_these(tasks):
    wins, ties, losses = np.array(tasks).T
    n = wins + ties + losses
    these = average_probability(wins, ties, n)
    like = average_probability(wins, ties, n, tasks="sampled")
    assert like.low <= these.low
    assert like.high >= these.high


@given(counts, st.sampled_from(["fixed", "sampled"]))
def test_the_interval_leaves_out_one_half_where_the_test_rejects(tasks, how):
    wins, ties, losses = np.array(tasks).T
    average = average_probability(wins, ties, wins + ties + losses, tasks=how)
    if abs(average.pvalue - 0.05) > 1e-6:
        assert (average.low > 0.5 or average.high < 0.5) == (average.pvalue < 0.05)


def test_leading_axes_are_single_calls():
    wins = np.array([[3, 4, 5], [1, 0, 2]])
    many = average_probability(wins, 0 * wins, np.full((2, 3), 6), confidence_level=[0.9, 0.99])
    for row, level, low in zip(wins, (0.9, 0.99), many.low, strict=True):
        one = average_probability(row, 0 * row, np.full(3, 6), confidence_level=level)
        assert one.low == low


def test_three_tasks_never_conclude_about_tasks_like_these():
    average = average_probability([99] * 3, [0] * 3, [99] * 3, tasks="sampled")
    assert average.low < 0.5


def test_families_are_no_more_tasks_than_there_are_families():
    wins, n, family = [9, 9, 9, 8, 8, 8], [10] * 6, [0, 0, 0, 1, 1, 1]
    average = average_probability(wins, [0] * 6, n, tasks="sampled", families=family)
    assert average.low < 0.5 < average_probability(wins, [0] * 6, n, tasks="sampled").low


def _cover(chances, sizes, *, n_studies, tasks, rng):
    """Share of studies whose interval holds the average of the chances of winning."""
    wins = rng.binomial(sizes, chances, size=(n_studies, len(sizes)))
    n = np.broadcast_to(sizes, wins.shape)
    average = average_probability(wins, 0 * wins, n, tasks=tasks)
    return np.mean((average.low <= chances.mean()) & (chances.mean() <= average.high))


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [np.full(6, 5), np.full(20, 10), np.array([3, 30, 5, 50])])
@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_calibration_of_these_tasks(sizes, spread):
    rng = np.random.default_rng(7)
    chances = np.clip(0.65 + spread * np.linspace(-1, 1, len(sizes)), 0, 1)
    assert _cover(chances, sizes, n_studies=20_000, tasks="fixed", rng=rng) >= 0.945


def test_negative_control_tasks_that_vary_are_not_covered_by_fixed_ones():
    rng = np.random.default_rng(7)
    chances = rng.choice([0.2, 0.9], size=(4_000, 12))
    wins = rng.binomial(50, chances)
    covered = {}
    for how in ("fixed", "sampled"):
        average = average_probability(wins, 0 * wins, np.full(wins.shape, 50), tasks=how)
        covered[how] = np.mean((average.low <= 0.55) & (average.high >= 0.55))
    assert covered["fixed"] < 0.5
    assert covered["sampled"] > 0.93


@pytest.mark.parametrize(
    ("wins", "n", "problem"),
    [([5], [4], "wins and ties do not add up to n at most"), ([0], [0], "there is no pair on any")],
)
def test_impossible_counts_are_refused(wins, n, problem):
    with pytest.raises(InvalidInput, match=problem):
        average_probability(wins, [0], n)
