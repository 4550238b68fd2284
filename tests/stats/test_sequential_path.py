"""Pairs followed by a sequential test as they come in, incomplete ones among them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from outperform.errors import InvalidInput
from outperform.stats import SequentialTest, plan_sequential_test, trace_path

TEST = plan_sequential_test()
GAP = np.nan


def follow(test, outcomes):
    """The reference, which knows no gaps."""
    call, end = test.follow(np.asarray(outcomes, float), np.full(len(outcomes), 0.5))
    return call.item(), end.item()


# By hand


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


# Properties

OUTCOMES = st.lists(st.sampled_from([1.0, 0.0, 0.5]), min_size=1, max_size=30)


@settings(max_examples=80, deadline=None)
@given(OUTCOMES, st.sampled_from([0.6, 0.75, 0.9]))
def test_without_gaps_it_is_the_test_itself(outcomes, gamma):
    test = SequentialTest(gamma, 1.5, -1.0, 25)
    path = trace_path(test, outcomes)
    assert (path.call, path.n_pairs) == follow(test, outcomes)


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


# Calibration, and a negative control


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
