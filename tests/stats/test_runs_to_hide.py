"""How few runs must be hidden: against every subset there is."""

import math
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, ttest_1samp

from outperform.errors import InvalidInput
from outperform.questions.compare.answer import compare
from outperform.stats import (
    VerdictRule,
    hide_runs_to_show,
    hide_runs_to_undo,
    hide_to_show,
    hide_to_show_by_t,
    hide_to_undo,
    hide_to_undo_by_t,
    verdict_size,
)
from outperform.stats.runs_to_hide import _outlasts

INTERVALS = ["percentile", "wilson", "exact", "anytime"]
rules = st.builds(
    VerdictRule,
    confidence_level=st.sampled_from([0.7, 0.8, 0.9, 0.95, 0.97]),
    gamma=st.sampled_from([0.5, 0.6, 0.75]),
    interval=st.sampled_from(INTERVALS),
)
outcomes = st.lists(st.sampled_from([-1, 0, 1]), min_size=2, max_size=10)


def fewest_by_brute_force(n, done, *, at_least=1):
    """Try every kept set, from the largest down."""
    for hidden in range(n - at_least + 1):
        if any(done(list(kept)) for kept in combinations(range(n), n - hidden)):
            return hidden
    return None


@cache  # most subsets of ten pairs differ in order only
def shown(differences, rule):
    """As `compare` says it, from scores."""
    if len(differences) < 2:
        return False
    result = compare(
        differences,
        np.zeros(len(differences)),
        gamma=rule.gamma,
        confidence_level=rule.confidence_level,
        interval=rule.interval,
    )
    return result.winner == "a" and result.interval.high > rule.gamma


def counts(differences):
    differences = np.asarray(differences)
    return (
        int((differences > 0).sum()),
        int((differences == 0).sum()),
        int((differences < 0).sum()),
    )


# By hand


def test_hidden_wins_undo_a_verdict_by_hand():
    # P(W ≥ 21 of 29) = .012 and P(W ≥ 20) = .031, so 21 is the least that is significant at
    # α/2 = .025, and by the bootstrap 20 (test_power); 6 of 6 is, 5 of 5 are too few.
    assert hide_to_undo(20, 0, 9, rule=VerdictRule()) == 0
    # 20 of 28 still are significant (.018), 19 of 27 are not (.026).
    assert hide_to_undo(21, 0, 8, rule=VerdictRule()) == 2
    assert hide_to_undo(20, 0, 9, rule=VerdictRule(interval="percentile")) == 1
    assert hide_to_undo(6, 0, 0, rule=VerdictRule()) == 1
    assert hide_to_undo(8, 5, 0, rule=VerdictRule()) == 3


def test_hidden_losses_make_a_verdict_by_hand():
    percentile = VerdictRule(interval="percentile")
    assert hide_to_show(21, 0, 8, rule=VerdictRule()) == 0
    # Six of six and, with the bootstrap, six of seven are significant; six of eight are not.
    assert hide_to_show(6, 0, 2, rule=percentile) == 1
    assert hide_to_show(6, 0, 2, rule=VerdictRule()) == 2
    assert hide_to_show(5, 4, 2, rule=VerdictRule()) is None
    # At α = 0.03 seven untied pairs are needed, and for the bootstrap six wins of seven are
    # enough: hide the tie.
    strict = VerdictRule(confidence_level=0.97, interval="percentile")
    assert hide_to_show(6, 1, 1, rule=strict) == 1
    assert hide_to_show(0, 9, 0, rule=VerdictRule()) is None


def test_hidden_differences_of_a_t_test_by_hand():
    # 2, 3, 4: t = 3/(1/√3) = 5.2, p = .035; with -9 the mean is 0.
    assert hide_to_show_by_t([-9, 2, 3, 4]) == 1
    # 1 … 5: t = 4.24, p = .013; 1 … 4: t = 3.87, p = .03; without 3: t = 3.29, p = .046. Without
    # 3 and 4, 1 2 5: t = 2.2, p = .16.
    assert hide_to_undo_by_t([1, 2, 3, 4, 5]) == (2, 2)
    assert hide_to_undo_by_t([1, 1, 1, 1]) is None
    assert hide_to_undo_by_t([0, 0, 0]) == (0, 0)
    assert hide_to_show_by_t([0, 0, 0, 1]) is None
    assert hide_to_show_by_t([1, 1, 0]) == 1
    # One run diverged: the others are 3 ± 1, whatever it lost.
    assert hide_to_show_by_t([-1e12, 2, 3, 4]) == 1
    assert hide_to_show_by_t([-1e12, -2, -3, -4]) is None
    # Nothing but ties and losses: rounding must not make a win of nine ties.
    assert hide_to_show_by_t([0.0] * 9 + [-0.5, -0.5]) is None


def test_hidden_independent_runs_by_hand():
    # Separated samples of 6 are the smallest that show a difference.
    rule = VerdictRule()
    assert hide_runs_to_undo(range(6, 12), range(6), rule=rule) == 1
    assert hide_runs_to_undo(range(6), range(6), rule=rule) == 0
    assert hide_runs_to_show(range(6, 12), range(6), rule=rule) == 0
    # An interval of P(A>B) = 40/49, and without the 0 of 40/42.
    assert hide_runs_to_show([0, 5.5, *range(11, 16)], range(1, 8), rule=rule) == 1
    assert hide_runs_to_show(range(5), range(5), rule=rule) is None


def test_the_run_hidden_is_the_one_that_matters():
    # Without 16 the interval of P(A>B) reaches below ½; without 0 it does not.
    a, b = [5, 7, 11, 12, 13, 14, 15, 16], [0, 1, 2, 4, 6, 8, 9, 10]
    assert compare(a, b[1:], paired=False).winner == "a"
    assert compare(a[:-1], b, paired=False).winner is None
    assert hide_runs_to_undo(a, b, rule=VerdictRule()) == 1


# Reference: every subset, judged by `compare` and by scipy


@settings(max_examples=60)
@given(outcomes, rules)
def test_hidden_pairs_match_brute_force_over_all_subsets(differences, rule):
    chosen = np.array(differences, dtype=float)

    def done(kept):
        return shown(tuple(sorted(chosen[kept])), rule)

    show = fewest_by_brute_force(len(chosen), done)
    undo = fewest_by_brute_force(len(chosen), lambda kept: not done(kept))
    assert hide_to_show(*counts(chosen), rule=rule) == show
    assert hide_to_undo(*counts(chosen), rule=rule) == undo


@settings(max_examples=200)
@given(st.tuples(*[st.integers(0, 22)] * 3), rules)
def test_hidden_pairs_match_brute_force_over_all_counts(numbers, rule):
    wins, ties, losses = numbers
    ways = sorted(
        (w + t + x, wins - w, ties - t)
        for w in range(wins + 1)
        for t in range(ties + 1)
        for x in range(losses + 1)
        if w + t + x < sum(numbers) and (w < 3 or t == 0) and (x < 12 or w < 2)
    )
    show = next((k for k, w, t in ways if rule.holds(w, t, sum(numbers) - k)), None)
    assert hide_to_show(*numbers, rule=rule) == show


def finds_by_t(samples, alpha=0.05):
    """Whether each row shows a mean above 0."""
    found = samples[:, 0] > 0
    varied = np.ptp(samples, axis=1) > 0
    if varied.any():
        test = ttest_1samp(samples[varied], 0, axis=1, alternative="greater")
        found[varied] = test.pvalue <= alpha / 2
    return found


def fewest_by_t(differences, *, shown):
    """As `fewest_by_brute_force`, all kept sets of a size at once."""
    n = differences.size
    for hidden in range(n - 1):
        kept = differences[list(combinations(range(n), n - hidden))]
        if (finds_by_t(kept) == shown).any():
            return hidden
    return None


normal_differences = st.builds(
    lambda seed, n, shift: np.random.default_rng(seed).normal(shift, 1, n),
    st.integers(0, 10_000),
    st.integers(3, 11),
    st.sampled_from([0.0, 0.5, 1.0]),
)
whole_differences = st.lists(st.integers(-3, 4), min_size=3, max_size=9).map(np.array)
# Two runs diverged, on either side or on both.
diverged_differences = st.builds(
    lambda some, first, second: np.concatenate([some, [first, second]]),
    normal_differences.map(lambda some: some[:7]),
    *[st.sampled_from([-1e12, 1e12, -1e6, 1e6])] * 2,
)
any_differences = normal_differences | whole_differences | diverged_differences


@settings(max_examples=60)
@given(any_differences)
def test_hiding_to_show_by_t_matches_brute_force(differences):
    assert hide_to_show_by_t(differences) == fewest_by_t(differences, shown=True)


@settings(max_examples=60)
@given(any_differences)
def test_hiding_to_undo_by_t_bounds_the_brute_force(differences):
    found = hide_to_undo_by_t(differences)
    fewest = fewest_by_t(differences, shown=False)
    if found is None:
        assert fewest is None
    else:
        at_least, enough = found
        assert at_least <= fewest <= enough


def test_the_bounds_on_undoing_a_t_test_nearly_always_agree():
    rng = np.random.default_rng(3)
    found = [hide_to_undo_by_t(rng.normal(1, 1, n)) for n in (10, 29, 60) for _ in range(20)]
    assert max(enough for _, enough in found) > 10
    assert np.mean([at_least == enough for at_least, enough in found]) > 0.95


@cache  # only the order counts, and most subsets have that of another
def outranks(sides):
    """Whether a outperforms b where the runs, from the lowest up, are of these sides."""
    first, second = ([i for i, each in enumerate(sides) if each == side] for side in "ab")
    if min(len(first), len(second)) < 3:  # log2(2 / 0.3) = 2.7
        return False
    return compare(first, second, paired=False, confidence_level=0.7).winner == "a"


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from([0.0, 1.0, 2.0]))
def test_hidden_independent_runs_are_a_bound(seed, shift):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(shift, 1, 6), rng.normal(0, 1, 6)
    rule = VerdictRule(confidence_level=0.7)
    sides = np.repeat(["a", "b"], 6)[np.argsort([*a, *b])]

    def holds(kept):
        return outranks(tuple(sides[kept]))

    fewest = fewest_by_brute_force(12, holds, at_least=6)
    found = hide_runs_to_show(a, b, rule=rule)
    assert fewest is None or found is None or found >= fewest
    undo = fewest_by_brute_force(12, lambda kept: not holds(kept), at_least=6)
    assert hide_runs_to_undo(a, b, rule=rule) >= undo


def holds_unpaired(a, b, rule):
    if min(len(a), len(b)) < rule.n_conclusive:
        return False
    level, gamma = rule.confidence_level, rule.gamma
    result = compare(a, b, paired=False, confidence_level=level, gamma=gamma)
    return result.winner == "a" and result.interval.high > gamma


@settings(max_examples=40)
@given(
    st.lists(st.integers(0, 12), min_size=3, max_size=14).map(sorted),
    st.lists(st.integers(0, 12), min_size=3, max_size=14).map(sorted),
    st.sampled_from([0.5, 0.8, 0.95]),
    st.sampled_from([0.5, 0.75, 0.9]),
)
def test_hidden_independent_runs_match_every_number_hidden_from_the_ends(a, b, level, gamma):
    rule = VerdictRule(level, gamma)
    ways = sorted(product(range(len(a) - 1), range(len(b) - 1)), key=sum)
    show = (i + j for i, j in ways if holds_unpaired(a[i:], b[: len(b) - j], rule))
    undo = (i + j for i, j in ways if not holds_unpaired(a[: len(a) - i], b[j:], rule))
    assert hide_runs_to_show(a, b, rule=rule) == next(show, None)
    if rule.n_conclusive > 2:  # else hiding all but one of a sample may be what undoes it
        assert hide_runs_to_undo(a, b, rule=rule) == next(undo)


def test_runs_are_hidden_where_no_single_one_lifts_the_interval():
    # The interval of P(A>B) = 0 stays at 0 for a while: hiding one by one went astray here.
    a, b = np.arange(10) + 0.5, np.arange(30)[::-1] - 4.0
    assert hide_runs_to_show(a, b, rule=VerdictRule()) == min(
        i + j
        for i in range(5)
        for j in range(25)
        if holds_unpaired(np.sort(a)[i:], np.sort(b)[: 30 - j], VerdictRule())
    )


# Properties


@given(st.tuples(*[st.integers(0, 40)] * 3), rules)
def test_what_is_shown_needs_hiding_to_be_undone(numbers, rule):
    holds = rule.holds(numbers[0], numbers[1], sum(numbers)) if sum(numbers) else False
    assert (hide_to_undo(*numbers, rule=rule) > 0) == holds
    assert (hide_to_show(*numbers, rule=rule) == 0) == holds


@given(st.tuples(*[st.integers(0, 40)] * 3), rules)
def test_one_more_win_never_makes_it_easier_to_undo(numbers, rule):
    wins, ties, losses = numbers
    more = hide_to_undo(wins + 1, ties, losses, rule=rule)
    assert more >= hide_to_undo(wins, ties, losses, rule=rule)


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("gamma", [0.5, 0.75])
def test_fewest_wins_are_where_the_rule_begins_to_hold(interval, gamma):
    rule = VerdictRule(gamma=gamma, interval=interval)
    for n in (1, 6, 7, 23, 24):
        for ties, needed in enumerate(rule.fewest_wins(n, range(n + 1))):
            holding = [w for w in range(n - ties + 1) if rule.holds(w, ties, n)]
            assert needed == (holding[0] if holding else n + 1)
            # Once it holds, more wins never end it: what every counting argument rests on.
            assert holding == list(range(needed, n - ties + 1))


# Calibration


def chances_to_survive(n, rule, *numbers_hidden):
    """Chance that the verdict on n pairs of equals outlives so many hidden pairs, exactly."""
    enough = np.array([hide_to_undo(w, 0, n - w, rule=rule) for w in range(n + 1)])
    chances = binom.pmf(range(n + 1), n, 0.5)
    return [2 * chances[enough > hidden].sum() for hidden in numbers_hidden]


@pytest.mark.parametrize("interval", ["wilson", "exact"])
def test_equals_rarely_survive_hiding_a_tenth_of_the_pairs(interval):
    rule = VerdictRule(interval=interval)
    for n in range(2, 121):
        hidden, size = chances_to_survive(n, rule, math.ceil(n / 10), 0)
        assert hidden <= 0.05
        assert size == pytest.approx(verdict_size(n, interval=interval))


@pytest.mark.parametrize("interval", INTERVALS)
def test_equals_with_ties_outperform_each_other_as_often_as_all_outcomes_say(interval):
    rule = VerdictRule(interval=interval)
    for n in (1, 6, 10, 12, 29):
        for ties in range(n + 1):
            untied = n - ties
            won = [w for w in range(untied + 1) if rule.holds(w, ties, n)]
            expected = 2 * binom.pmf(won, untied, 0.5).sum()
            assert rule.size(n, ties) == pytest.approx(expected, abs=1e-12)
    # By hand: 6 of the 7 that are not tied suffice for the bootstrap, 2·(1 + 7)/2⁷ of all
    # outcomes; the sign test wants all 7.
    assert VerdictRule(interval="percentile").size(10, 3) == 0.125
    assert VerdictRule().size(10, 3) == 2 / 128


def test_the_exact_interval_keeps_the_level_with_ties_and_percentiles_do_not():
    worst = {
        interval: max(
            VerdictRule(interval=interval).size(n, ties) for n in range(6, 31) for ties in range(n)
        )
        for interval in ("percentile", "exact")
    }
    assert worst["exact"] <= 0.05 < worst["percentile"] == 0.125


# Negative controls


def test_the_brute_force_would_notice_a_wrong_order():
    """Hiding losses before ties, without regard to how many pairs are untied, is not exact."""
    rule = VerdictRule(confidence_level=0.97, interval="percentile")
    differs = 0
    for wins, ties, losses in np.ndindex(8, 3, 3):
        n = wins + ties + losses
        naive = None
        for hidden in range(n):
            lost, tied = min(losses, hidden), min(ties, hidden - min(losses, hidden))
            if rule.holds(wins - (hidden - lost - tied), ties - tied, n - hidden):
                naive = hidden
                break
        differs += naive != hide_to_show(wins, ties, losses, rule=rule)
    assert differs


def test_the_bound_from_below_does_not_prove_what_is_false():
    """Where some kept set shows nothing, no bound may say that all sets do."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        differences = np.sort(rng.normal(1, 1, 15))
        _, enough = hide_to_undo_by_t(differences)
        assert not _outlasts(differences, 15 - enough, 0.05)


def test_a_liberal_interval_may_survive_it_too_often():
    """Seven of eight wins, then six of seven: the bootstrap finds both significant."""
    percentile = VerdictRule(interval="percentile")
    assert chances_to_survive(8, percentile, 1) == pytest.approx([2 * 9 / 256])


def test_the_largest_differences_are_not_always_the_best_to_keep():
    """Keeping the largest by value is not what maximises t: one of them may be an outlier."""
    differences = np.array([-1.0, 1.0, 1.1, 1.2, 1.3, 30.0])
    assert not finds_by_t(np.sort(differences)[None, -4:])
    assert hide_to_show_by_t(differences) == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: hide_to_show(-1, 0, 3, rule=VerdictRule()),
            "wins is -1. Pass a whole number not less than 0.",
        ),
        (
            lambda: hide_to_undo(3, 0, 2.5, rule=VerdictRule()),
            "losses is 2.5. Pass a whole number not less than 0.",
        ),
        (
            lambda: hide_to_show_by_t([1.0]),
            "differences has 1 score. At least 2 are needed.",
        ),
        (
            lambda: hide_to_undo_by_t([1.0, 2.0], alpha=5),
            "alpha is 5. Pass a value between 0 and 1 (5% is 0.05).",
        ),
        (
            lambda: VerdictRule(gamma=0.3),
            "gamma is 0.3. Pass a value from 0.5 up to, not including, 1.",
        ),
        (
            lambda: VerdictRule(confidence_level=95),
            "confidence_level is 95. Pass a value between 0 and 1 (95% is 0.95).",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(InvalidInput) as caught:
        call()
    assert str(caught.value) == message


def test_bad_scores_are_refused(refuses):
    refuses(lambda a, b: hide_runs_to_show(a, b, rule=VerdictRule()))
