"""Confidence sets of ranks."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, ttest_1samp, ttest_ind
from scipy.stats import t as student

from outperform.errors import InvalidInput
from outperform.stats import rank_confidence_sets
from outperform.stats.rank_sets import _SHARE_OF_DF
from outperform.stats.task_ranks import average_ranks

# A second pair would be told apart, if the first that is not did not end it.
ENDED = np.array([[4, 6, 6], [3, 6, 7], [1, 6, 8], [1, 2, 7], [2, 6, 7], [3, 2, 8], [2, 5, 8]])
KINDS = ["simultaneous", "marginal"]
kinds = st.sampled_from(KINDS)


def sets_of(values, **options):
    return rank_confidence_sets(values, rng=np.random.default_rng(3), **options)


def bounds(found):
    """Both ends of all sets."""
    return list(zip(found.low.tolist(), found.high.tolist(), strict=True))


@st.composite
def tables(draw):
    """Whole values of 6 to 8 units and 2 to 4 competitors, some of which are better."""
    k = draw(st.integers(2, 4))
    row = st.lists(st.integers(0, 4), min_size=k, max_size=k)
    values = np.array(draw(st.lists(row, min_size=6, max_size=8)), dtype=float)
    return values + draw(st.integers(0, 3)) * np.arange(k)


# By hand


def test_six_wins_are_sure_and_five_are_not():
    # Of 2^n flips two are as extreme: 2/64 = 0.031, and 2/32 = 0.0625.
    for difference in ([1] * 6, [0.1, 0.2, 0.3, 0.1, 0.5, 9]):
        values = np.column_stack([np.zeros(6), difference])
        assert bounds(sets_of(values)) == [(2, 2), (1, 1)]
        assert bounds(sets_of(values[:5])) == [(1, 2), (1, 2)]
        assert bounds(sets_of(values[:5], confidence_level=0.93)) == [(2, 2), (1, 1)]


def test_one_small_loss_by_hand():
    # Sum 19 of 21: only 21 and 19, and their negatives, are as extreme, 4 of 64 flips: 0.0625.
    values = np.column_stack([[6, 5, 4, 3, 2, 0], [0, 0, 0, 0, 0, 1]])
    assert bounds(sets_of(values)) == [(1, 2), (1, 2)]
    assert bounds(sets_of(values, confidence_level=0.93)) == [(1, 1), (2, 2)]


def test_estimates_and_ranks_by_hand():
    found = sets_of([[3, 1, 1], [5, 2, 2]])
    assert found.estimates.tolist() == [4, 1.5, 1.5]
    assert found.ranks.tolist() == [1, 2.5, 2.5]
    # Means of strata are 2, 1 and 5, 6: a plain mean would be (2 + 2 + 2 + 5 + 5) / 5.
    values = [[2, 1], [2, 1], [2, 1], [5, 6], [5, 6]]
    assert sets_of(values, strata=list("aaabb")).estimates.tolist() == [3.5, 3.5]
    assert sets_of(values, clusters=list("aaabb")).estimates.tolist() == [3.2, 3]


def test_the_top_are_those_that_may_rank_as_high():
    # The first beats all others on all of 8 units, and so do the others the last.
    noise = np.array([1, -1, 1, -1, 1, -1, 1, -1])
    values = np.column_stack([10 + noise, 5 + noise[::-1], 5 - noise[::-1], 0 * noise])
    found = sets_of(values)
    assert bounds(found) == [(1, 1), (2, 3), (2, 3), (4, 4)]
    assert found.may_be_top(1).tolist() == [True, False, False, False]
    assert found.may_be_top(2).tolist() == [True, True, True, False]
    assert found.may_be_top(4).all()


def test_strata_that_never_vary_are_as_sure_as_their_signs():
    # 2 units of each of n strata: n signs that are free, so 2^-n in both directions: 0.0625, 0.03.
    for n_strata, sets in ((4, [(1, 2), (1, 2)]), (5, [(1, 1), (2, 2)])):
        values = np.tile([[1.0, 0.0]], (2 * n_strata, 1))
        assert bounds(sets_of(values, strata=np.repeat(np.arange(n_strata), 2))) == sets


# References


def students(differences):
    """Student's t, as textbooks have it; 0 without any difference."""
    n, mean = len(differences), sum(differences) / len(differences)
    spread = sum((x - mean) ** 2 for x in differences)
    if spread <= 1e-12 * n * mean**2:
        return math.copysign(math.inf, mean) if mean else 0.0
    return mean / math.sqrt(spread / (n - 1) / n)


def step_down(values, families, n_steps=99, alpha=0.05):
    """Pairs (better, worse) that are told apart in each family, one flip and one t at a time."""
    n = len(values)
    flips = list(itertools.product([1, -1], repeat=n))
    found = []
    for family in families:
        differences = {(i, j): [row[i] - row[j] for row in values] for i, j in family}
        null = {
            pair: [students([s * x for s, x in zip(flip, d, strict=True)]) for flip in flips]
            for pair, d in differences.items()
        }
        left, rejected = set(family), set()
        for _ in range(n_steps):
            highest = [max(null[pair][f] for pair in left) for f in range(len(flips))]
            new = {
                pair
                for pair in left
                if (t := students(differences[pair])) > 0
                and sum(h >= t * (1 - 1e-9) for h in highest) <= alpha * len(flips)
            }
            left, rejected = left - new, rejected | new
            if not new or not left:
                break
        found.append(rejected)
    return found


@settings(max_examples=25)
@given(tables().filter(lambda values: len(values) < 8), kinds)
@example(ENDED, "simultaneous")
def test_sets_match_a_plain_loop_over_all_flips(values, kind):
    k = values.shape[1]
    ordered = list(itertools.permutations(range(k), 2))
    families = [ordered]
    if kind == "marginal":
        families = [[pair for pair in ordered if j in pair] for j in range(k)]
    found = step_down(values.tolist(), families)
    of_each = found * k if kind == "simultaneous" else found
    expected = [
        (1 + sum(worse == j for _, worse in pairs), k - sum(better == j for better, _ in pairs))
        for j, pairs in enumerate(of_each)
    ]
    assert bounds(sets_of(values, kind=kind)) == expected


def test_two_strata_are_welchs_test():
    # The mean of two means differs from 0 as the one does from minus the other.
    rng = np.random.default_rng(8)
    for shift, n_first, n_second in [(0.6, 5, 9), (0.9, 4, 12), (1.0, 7, 2)]:
        strata = np.repeat(["a", "b"], [n_first, n_second])
        values = rng.normal(size=(strata.size, 2)) * np.where(strata == "a", 2, 0.5)[:, None]
        values[:, 1] += shift
        gap = values[:, 1] - values[:, 0]
        test = ttest_ind(gap[strata == "a"], -gap[strata == "b"], equal_var=False)
        df = max(min(n_first, n_second) - 1, _SHARE_OF_DF * test.df)
        pvalue = 2 * student.sf(abs(test.statistic), df)
        assert 0.001 < pvalue < 0.99
        for level, sure in ((1 - 1.001 * pvalue, True), (1 - 0.999 * pvalue, False)):
            found = sets_of(values, strata=strata, confidence_level=level)
            assert (bounds(found) != [(1, 2), (1, 2)]) == sure


def test_stepping_down_finds_more_than_one_step():
    # The last differs from all others beyond doubt; without it the bar for the others is lower.
    values = np.random.default_rng(3).normal(size=(8, 4)) + np.array([1.5, 0, 0, -9])
    ordered = list(itertools.permutations(range(4), 2))
    [at_once] = step_down(values.tolist(), [ordered], n_steps=1)
    [stepwise] = step_down(values.tolist(), [ordered])
    assert at_once < stepwise
    assert sum(sets_of(values).low - 1) == len(stepwise)


# Properties


@settings(max_examples=30)
@given(tables(), kinds, st.randoms())
def test_sets_follow_the_competitors_and_only_differences_count(values, kind, random):
    n, k = values.shape
    found = sets_of(values, kind=kind)
    order = random.sample(range(k), k)
    permuted = sets_of(values[:, order], kind=kind)
    assert bounds(permuted) == [bounds(found)[j] for j in order]
    # Units in another order and in another measure, each with a constant of its own.
    moved = (values + np.arange(n)[:, None])[::-1] * 4
    assert bounds(sets_of(moved, kind=kind)) == bounds(found)
    # Lower is better.
    mirrored = [(k + 1 - high, k + 1 - low) for low, high in bounds(found)]
    assert bounds(sets_of(-values, kind=kind)) == mirrored
    assert bounds(sets_of(values, kind=kind, clusters=random.sample(range(n), n))) == bounds(found)


@settings(max_examples=30)
@given(tables(), st.sampled_from(["strata", "clusters"]), st.randoms())
def test_units_of_a_group_may_lie_anywhere(values, name, random):
    groups, order = np.arange(len(values)) // 2, random.sample(range(len(values)), len(values))
    groups[-1] = groups[-2]
    together, apart = (
        sets_of(values[units], **{name: groups[units]}, confidence_level=0.5)
        for units in (range(len(values)), order)
    )
    assert bounds(together) == bounds(apart)
    assert together.estimates == pytest.approx(apart.estimates)


@settings(max_examples=30)
@given(tables(), st.booleans(), kinds)
def test_sets_hold_the_estimate_and_grow_with_the_level(values, stratified, kind):
    strata = np.arange(len(values)) // 2 % 3 if stratified else None
    narrow = wide = None
    for level in (0.5, 0.8, 0.95, 0.99):
        wide = sets_of(values, confidence_level=level, strata=strata, kind=kind)
        assert (wide.low <= wide.ranks).all()
        assert (wide.ranks <= wide.high).all()
        if narrow is not None:
            assert (wide.low <= narrow.low).all()
            assert (wide.high >= narrow.high).all()
        narrow = wide


@settings(max_examples=30)
@given(tables(), st.booleans(), st.sampled_from([0.8, 0.95]))
def test_marginal_sets_are_no_larger(values, stratified, level):
    strata = np.arange(len(values)) // 2 % 3 if stratified else None
    together, alone = (
        sets_of(values, kind=kind, strata=strata, confidence_level=level) for kind in KINDS
    )
    assert (alone.low >= together.low).all()
    assert (alone.high <= together.high).all()
    if values.shape[1] == 2:
        assert bounds(alone) == bounds(together)


@settings(max_examples=25)
@given(tables(), st.booleans())
def test_identical_competitors_are_never_told_apart(values, stratified):
    strata = np.arange(len(values)) // 2 % 3 if stratified else None
    twins = np.column_stack([values, values[:, 0] * (1 + 1e-14)])
    for kind in KINDS:
        found = sets_of(twins, strata=strata, kind=kind)
        assert bounds(found)[0] == bounds(found)[-1]
        assert found.low[0] < found.high[0]


@settings(max_examples=30)
@given(tables())
def test_copies_of_a_task_are_one_task_if_they_are_a_cluster(values):
    names = np.arange(len(values))
    copies = np.repeat(values, 3, axis=0)
    assert bounds(sets_of(copies, clusters=np.repeat(names, 3))) == bounds(sets_of(values))


def test_draws_repeat_with_their_seed_and_differ_with_another():
    values = np.random.default_rng(4).normal(size=(20, 6)) + 0.3 * np.arange(6)
    seeds = list(range(12))
    first, second = (
        [
            bounds(rank_confidence_sets(values, n_resamples=100, rng=np.random.default_rng(seed)))
            for seed in seeds
        ]
        for _ in range(2)
    )
    assert first == second
    assert any(found != first[0] for found in first)


def test_random_flips_are_never_surer_than_their_number():
    # 100 flips and none at all: no p-value is below 1/101 = 0.0099, though 30 wins are rarer.
    values = np.tile([[1.0, 0.0]], (30, 1))
    assert bounds(sets_of(values, n_resamples=100, confidence_level=0.99)) == [(1, 1), (2, 2)]
    assert bounds(sets_of(values, n_resamples=100, confidence_level=0.991)) == [(1, 2), (1, 2)]


def test_blocks_change_nothing(monkeypatch):
    values = np.random.default_rng(4).normal(size=(20, 6)) + 0.5 * np.arange(6)
    strata = np.arange(20) % 4
    found = [sets_of(values), sets_of(values, kind="marginal"), sets_of(values, strata=strata)]
    monkeypatch.setattr("outperform.stats.rank_sets._BLOCK", 40)
    small = [sets_of(values), sets_of(values, kind="marginal"), sets_of(values, strata=strata)]
    assert list(map(bounds, small)) == list(map(bounds, found))


def test_json():
    assert sets_of([[1, 0]] * 6).to_dict() == {
        "estimates": [1, 0],
        "ranks": [1, 2],
        "low": [1, 2],
        "high": [1, 2],
        "kind": "simultaneous",
        "confidence_level": 0.95,
    }


# Calibration


def count_false(tables, n_equal, **options):
    """Number of studies in which two of the first `n_equal` competitors are told apart."""
    found = [sets_of(table, **options) for table in tables]
    return sum(not ((s.low[:n_equal] == 1) & (s.high[:n_equal] >= n_equal)).all() for s in found)


@pytest.mark.slow
@pytest.mark.parametrize("heavy", [False, True])
def test_equals_are_told_apart_exactly_as_often_as_promised(heavy):
    # Exact for symmetric differences: 12 of 256 flips, since they come in pairs.
    rng = np.random.default_rng(21)
    shape = (1500, 8, 4)
    tables = rng.standard_t(2, size=shape) if heavy else rng.normal(size=shape)
    assert binomtest(count_false(tables, 4), 1500, 12 / 256).pvalue > 0.001


@pytest.mark.slow
def test_one_bad_among_equals_and_ties_make_no_false_claims():
    rng = np.random.default_rng(22)
    tables = np.rint(rng.normal(size=(1000, 15, 6)))
    tables[..., -1] -= 4
    hits = count_false(tables, 5, n_resamples=300)
    assert binomtest(hits, 1000, 0.05, alternative="greater").pvalue > 0.001
    found = [sets_of(table, n_resamples=300) for table in tables[:200]]
    assert np.mean([s.low[-1] == 6 for s in found]) > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("n_each", [3, 10])
def test_strata_of_unequal_variances_hold_their_level(n_each):
    rng = np.random.default_rng(23)
    tasks = np.repeat(np.arange(6), n_each)
    deviations = np.exp(rng.normal(size=(1000, 6, 1)))
    tables = rng.normal(size=(1000, tasks.size, 6)) * deviations[:, tasks]
    advantages = rng.normal(size=(1000, 6, 6))
    tables += (advantages - advantages.mean(axis=1, keepdims=True))[:, tasks]
    hits = count_false(tables, 6, strata=tasks)
    assert binomtest(hits, 1000, 0.05, alternative="greater").pvalue > 0.001


@given(values=tables(), kind=kinds)
def test_one_stratum_is_none(values, kind):
    alone = sets_of(values, kind=kind)
    assert bounds(sets_of(values, kind=kind, strata=np.zeros(len(values)))) == bounds(alone)


@pytest.mark.slow
def test_ranks_on_one_task_tell_equals_apart_no_more_often_than_promised():
    rng, n_studies, n = np.random.default_rng(26), 10_000, 10
    tables = -average_ranks(rng.normal(size=(n_studies * n, 1, 5))).reshape(n_studies, n, 5)
    hits = count_false(tables[:2000], 5, strata=np.zeros(n))
    assert binomtest(hits, 2000, 0.05, alternative="greater").pvalue > 0.001
    # Negative control: Student's t of so few ranks, with Holm's correction for both directions.
    first, second = np.triu_indices(5, 1)
    tests = ttest_1samp(tables[..., first] - tables[..., second], 0, axis=1)
    too_often = int((np.nanmin(tests.pvalue, axis=1) <= 0.05 / first.size).sum())
    assert binomtest(too_often, n_studies, 0.05, alternative="greater").pvalue < 0.001


def test_a_plain_bootstrap_of_few_units_errs_too_often():
    # Negative control: the largest |t| of resamples, in units of the observed standard errors.
    rng, n_false = np.random.default_rng(24), 0
    first, second = np.triu_indices(8, 1)
    for _ in range(100):
        values = rng.normal(size=(10, 8))
        gaps = values[:, first] - values[:, second]
        errors = gaps.std(axis=0, ddof=1)
        resampled = gaps[rng.integers(0, 10, size=(200, 10))].mean(axis=1)
        null = np.abs((resampled - gaps.mean(axis=0)) / errors).max(axis=1)
        n_false += np.abs(gaps.mean(axis=0) / errors).max() > np.quantile(null, 0.95)
    assert n_false > 20


def test_seeds_counted_as_tasks_err_too_often():
    # Negative control: equals on tasks like these, 8 tasks and 10 seeds. Tasks are the units.
    rng, tasks = np.random.default_rng(25), np.repeat(np.arange(8), 10)
    tables = rng.normal(size=(200, 8, 3))[:, tasks] + 0.3 * rng.normal(size=(200, 80, 3))
    assert count_false(tables, 3, n_resamples=200) > 60
    assert count_false(tables, 3, strata=tasks) > 60
    hits = count_false(tables, 3, clusters=tasks)
    assert binomtest(hits, 200, 0.05, alternative="greater").pvalue > 0.001


# Refusals


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        (
            [1, 2, 3],
            {},
            "values has shape (3,). Pass one row per unit and one column per competitor, shape "
            "(n_units, n_competitors).",
        ),
        ([[1, 2]], {}, "values has 1 unit. At least 2 are needed."),
        ([[1], [2]], {}, "values has 1 score. At least 2 are needed."),
        (
            [[1, 2]] * 4,
            {"strata": [0, 0, 1, 1], "clusters": [0, 0, 1, 1]},
            "both strata and clusters are given. Pass strata where tasks are fixed, or clusters "
            "where they are a sample.",
        ),
        (
            [[1, 2]] * 4,
            {"strata": [0, 0, 1]},
            "strata has shape (3,), but there are 4 units. Pass one label per unit.",
        ),
        (
            [[1, 2]] * 4,
            {"strata": ["cifar", "mnist", "mnist", "svhn"]},
            "2 of 3 strata have one unit only (first: cifar). Each needs 2 or more; if units are "
            "tasks, pass no strata.",
        ),
        (
            [[1, 2]] * 3,
            {"clusters": ["glue"] * 3},
            "all units are of cluster glue. At least 2 are needed.",
        ),
        (
            [[1, 2]] * 3,
            {"kind": "both"},
            "kind is 'both'. Choose one of 'simultaneous', 'marginal'.",
        ),
        (
            [[1, 2]] * 3,
            {"confidence_level": 95},
            "confidence_level is 95. Pass a value between 0 and 1 (95% is 0.95).",
        ),
        (
            [[1, 2]] * 3,
            {"n_resamples": 10},
            "n_resamples is 10. Pass a whole number not less than 100.",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(values, options, message):
    with pytest.raises(InvalidInput) as caught:
        sets_of(values, **options)
    assert str(caught.value) == message


def test_the_top_is_refused_of_marginal_sets_and_of_more_than_there_are():
    with pytest.raises(InvalidInput) as caught:
        sets_of([[1, 0]] * 6, kind="marginal").may_be_top(1)
    assert str(caught.value) == (
        'marginal sets are about one competitor at a time. Take those of kind="simultaneous".'
    )
    with pytest.raises(InvalidInput, match=r"n_top is 3\. Pass a whole number up to 2"):
        sets_of([[1, 0]] * 6).may_be_top(3)
