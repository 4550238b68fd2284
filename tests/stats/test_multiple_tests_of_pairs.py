"""All pairs of competitors at once, and who may be the best of them."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats as scipy_stats

from outperform.errors import InvalidInput, InvalidScores
from outperform.stats import count_all_pairs, maybe_best, paired_t_test, t_test_all_pairs
from outperform.stats.intervals import sign_tail

NAN = math.nan
# Eighths are exact floats, so that sums and multiples of them stay as tied as they are.
cell = st.one_of(st.integers(-8, 8).map(lambda x: x / 8), st.just(NAN))
shapes = st.tuples(st.integers(1, 6), st.integers(1, 9))
grids = arrays(float, shapes, elements=cell)
FUNCTIONS = [count_all_pairs, t_test_all_pairs]


def ask(function, scores):
    """Whatever a function says of all pairs, as one array with the two axes of pairs last."""
    return np.array(function(scores))


# By hand


def test_counts_by_hand():
    wins, ties, n = count_all_pairs([[3, 2, 5, NAN], [1, 2, NAN, 4], [4, 1, 5, 4]])
    assert wins.tolist() == [[0, 1, 1], [0, 0, 1], [1, 1, 0]]
    assert ties.tolist() == [[3, 1, 1], [1, 3, 1], [1, 1, 4]]
    assert n.tolist() == [[3, 2, 3], [2, 3, 3], [3, 3, 4]]


def test_t_by_hand():
    # Differences 1, 2, 3: t = 2√3; with 2 degrees of freedom P(T > t) = (1 - t / √(2 + t²)) / 2.
    t = 2 * math.sqrt(3)
    tail = (1 - t / math.sqrt(2 + t**2)) / 2
    found = t_test_all_pairs([[2, 4, 6], [1, 2, 3]])
    assert found == pytest.approx(np.array([[1, tail], [1 - tail, 1]]), rel=1e-12)


@pytest.mark.parametrize(
    ("differences", "greater", "less"),
    [
        ([1, 1, 1, 1, 1], 2**-5, 1.0),  # no spread, and yet no certainty
        ([1, 1, 1, 1, 0], 2**-5, scipy_stats.t.sf(-4, 4)),  # two values: t = 0.8 / 0.2
        ([3, 1], 2**-2, scipy_stats.t.sf(-2, 1)),
        ([0, 0, 0], 1.0, 1.0),
        ([5], 1.0, 1.0),
        ([5, NAN, NAN], 1.0, 1.0),
        ([NAN], 1.0, 1.0),
    ],
)
def test_t_of_coarse_and_few_differences_is_no_surer_than_signs(differences, greater, less):
    found = t_test_all_pairs([differences, [0] * len(differences)])
    assert (found[0, 1], found[1, 0]) == (pytest.approx(greater), pytest.approx(less))


def test_maybe_best_by_hand():
    # alpha / 2 = .025 rules out; .03 does not, nor does anything on the diagonal.
    pvalues = [[0, 0.025, 0.03], [0.9, 0, 0.9], [0.9, 0.9, 0]]
    assert maybe_best(pvalues).tolist() == [True, False, True]
    assert maybe_best(pvalues, alpha=0.07).tolist() == [True, False, False]
    assert maybe_best([[1.0]]).tolist() == [True]


def test_five_wins_of_eight_competitors_rule_out_nobody_and_eight_do():
    # 2^-5 > .05 / 7 >= 2^-8.
    for n, ruled_out in ((5, False), (8, True)):
        wins, _, _ = count_all_pairs(np.outer(np.arange(8), np.ones(n)))
        may = maybe_best(sign_tail(wins.astype(float), wins.T.astype(float)))
        assert may.tolist() == [not ruled_out] * 7 + [True]


# References


def test_all_pairs_match_r(reference):
    case = reference("all_pairs")
    scores = np.array(case["scores"])
    scores[scores == -99] = NAN
    (wins, _, n), pvalues = count_all_pairs(scores), t_test_all_pairs(scores)
    for pair in case["pairs"]:
        i, j = pair["i"], pair["j"]
        assert (wins[i, j], n[i, j]) == (pair["wins"], pair["n"])
        assert pvalues[i, j] == pytest.approx(pair["pvalue"], rel=1e-9)


@pytest.mark.parametrize("n", [3, 5, 30])
def test_t_matches_scipy_and_the_test_of_one_pair(n):
    scores = np.random.default_rng(n).standard_t(3, size=(7, n)) + np.arange(7)[:, None] / 5
    pvalues = t_test_all_pairs(scores)
    for i, j in itertools.permutations(range(7), 2):
        theirs = scipy_stats.ttest_rel(scores[i], scores[j], alternative="greater").pvalue
        one = paired_t_test(scores[i], scores[j], alternative="greater").pvalue
        assert pvalues[i, j] == pytest.approx(theirs, rel=1e-9)
        assert pvalues[i, j] == pytest.approx(one, rel=1e-9)


@given(grids)
def test_counts_are_those_of_a_loop(scores):
    wins, ties, n = count_all_pairs(scores)
    for i, j in np.ndindex(wins.shape):
        both = [(x, y) for x, y in zip(scores[i], scores[j], strict=True) if x == x and y == y]
        assert wins[i, j] == sum(x > y for x, y in both)
        assert ties[i, j] == sum(x == y for x, y in both)
        assert n[i, j] == len(both)


# Properties


@pytest.mark.parametrize("function", FUNCTIONS)
@given(scores=grids, data=st.data())
def test_a_pair_knows_of_nobody_else(function, scores, data):
    k = len(scores)
    kept = data.draw(st.lists(st.integers(0, k - 1), min_size=1, max_size=k, unique=True))
    assert ask(function, scores[kept]).tolist() == (
        ask(function, scores)[..., kept, :][..., kept].tolist()
    )


@pytest.mark.parametrize("function", FUNCTIONS)
def test_one_who_diverges_moves_nobody_else(function):
    scores = np.random.default_rng(3).normal(size=(4, 6)).round(2)
    joined = np.vstack([scores, scores[0] + 1e-14, np.full(6, 1e14)])
    assert ask(function, joined)[..., :4, :4].tolist() == ask(function, scores).tolist()


@pytest.mark.parametrize("function", FUNCTIONS)
@given(scores=grids, random=st.randoms(use_true_random=False))
def test_order_of_replicates_does_not_matter(function, scores, random):
    columns = random.sample(range(scores.shape[1]), scores.shape[1])
    assert ask(function, scores[:, columns]) == pytest.approx(ask(function, scores), rel=1e-9)


@pytest.mark.parametrize("function", FUNCTIONS)
@given(scores=grids)
def test_a_gap_is_as_if_the_replicate_were_left_out(function, scores):
    found = ask(function, scores)
    for i, j in itertools.combinations(range(len(scores)), 2):
        two = scores[[i, j]]
        shared = two[:, ~np.isnan(two).any(axis=0)]
        if shared.size:
            alone = ask(function, shared)
            assert found[..., i, j] == pytest.approx(alone[..., 0, 1], rel=1e-9)
            assert found[..., j, i] == pytest.approx(alone[..., 1, 0], rel=1e-9)


@example(np.array([[0.25, 1.0], [0.25, 0.5]]))
@given(grids)
def test_scores_equal_up_to_rounding_are_tied(scores):
    shape = scores.shape
    noise = 1 + np.random.default_rng(0).choice([-1, 0, 1], size=shape) * 2e-13
    exact, rounded = (t_test_all_pairs(each) for each in (scores, scores * noise))
    for whole, near in zip(count_all_pairs(scores), count_all_pairs(scores * noise), strict=True):
        assert near.tolist() == whole.tolist()
    assert rounded == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("unit", [1.0, 100.0, 1e-6])
def test_a_difference_that_never_varies_but_by_rounding_is_no_certainty(unit):
    # Always 0.00001, but in floats 0.91235 - 0.91234 is not 0.10102 - 0.10101.
    b = np.array([0.91234, 0.10101, 0.45678, 0.73001, 0.25999])
    a = (b + 1e-5).round(5)
    assert len(set((a - b) * unit)) > 2
    assert t_test_all_pairs([a * unit, b * unit])[0, 1] == 2**-5


def test_equals_that_were_added_up_in_another_order_are_no_evidence():
    a = np.array([0.1, 0.2, 0.3, 0.7, 0.9])
    b = a + 0.3 - 0.3
    assert (a != b).any()
    assert t_test_all_pairs([a, b])[0, 1] == 1
    assert count_all_pairs([a, b])[1][0, 1] == 5
    # What is left of 0 among scores near 1 is 0.
    assert count_all_pairs([[0.1 + 0.2 - 0.3, 1, 1], [0, 1, 1]])[1][0, 1] == 3


@given(grids)
def test_counts_depend_on_order_alone(scores):
    expected = ask(count_all_pairs, scores).tolist()
    for transform in (np.exp, np.cbrt, lambda x: 1e6 * x - 3):
        assert ask(count_all_pairs, transform(scores)).tolist() == expected
    wins, ties, n = count_all_pairs(-scores)
    assert [wins.T.tolist(), ties.tolist(), n.tolist()] == expected


@given(grids)
def test_t_mirrors_shifts_and_scales(scores):
    found = t_test_all_pairs(scores)
    mirrored = t_test_all_pairs(-scores).T
    assert mirrored == pytest.approx(found, rel=1e-9)
    assert t_test_all_pairs(4 * scores + 1) == pytest.approx(found, rel=1e-9)


@given(arrays(float, (3, 5, 5), elements=st.floats(0, 1)), st.randoms(use_true_random=False))
def test_maybe_best_follows_its_competitors(pvalues, random):
    may = maybe_best(pvalues)
    order = random.sample(range(5), 5)
    assert maybe_best(pvalues[:, order][:, :, order]).tolist() == may[:, order].tolist()
    assert [maybe_best(each).tolist() for each in pvalues] == may.tolist()
    # Less doubt never lets anybody in again.
    assert not (maybe_best(pvalues / 2) & ~may).any()
    assert not (maybe_best(pvalues, alpha=0.2) & ~may).any()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_many_competitors_are_compared_in_parts(function, monkeypatch):
    scores = np.random.default_rng(5).normal(size=(23, 7)).round(1)
    scores[1::2] = scores[1::2] * 3 / 3  # which rounds some
    assert (scores != scores.round(1)).any()
    whole = ask(function, scores)
    assert whole == pytest.approx(ask(function, scores.round(1)), rel=1e-9)
    monkeypatch.setattr("outperform.stats.multiple_tests._BLOCK", 23 * 7 * 4)
    assert ask(function, scores).tolist() == whole.tolist()


# Calibration


def draw_sets(*, k, n, n_studies, method, seed=0, draw=None, rule=maybe_best):
    """Who may be the best of k equals by n runs each, of many studies."""
    rng = np.random.default_rng(seed)
    sets = []
    for _ in range(n_studies):
        scores = rng.normal(size=(k, n)) if draw is None else draw(rng, (k, n))
        wins, _, _ = (each.astype(float) for each in count_all_pairs(scores))
        by_wins = method == "wins"
        sets.append(rule(sign_tail(wins, wins.T) if by_wins else t_test_all_pairs(scores)))
    return np.array(sets)


def draw_gaps(rng, shape):
    return np.where(rng.uniform(size=shape) < 0.1, NAN, rng.normal(size=shape))


DATA = {
    "normal": None,
    "heavy tails": lambda rng, shape: rng.standard_t(3, size=shape),
    "coarse": lambda rng, shape: rng.normal(size=shape).round(),
    "unequal variances": lambda rng, shape: (
        rng.normal(size=shape) * np.geomspace(0.2, 5, shape[0])[:, None]
    ),
    "one bad": lambda rng, shape: rng.normal(size=shape) - 9 * (np.arange(shape[0]) == 1)[:, None],
    "crashes": draw_gaps,
}


@pytest.mark.slow
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("method", ["wins", "paired-t"])
@pytest.mark.parametrize(("k", "n"), [(3, 5), (8, 10)])
def test_the_set_holds_the_best(data, method, k, n):
    # The first of them is the best, by a hair: nobody else is better, so this is as hard as it is.
    sets = draw_sets(k=k, n=n, n_studies=2000, method=method, draw=DATA[data])
    missed = int((~sets[:, 0]).sum())
    assert scipy_stats.binomtest(missed, 2000, 0.05, "greater").pvalue > 0.001


@pytest.mark.slow
def test_t_has_the_level_that_it_says():
    rng = np.random.default_rng(11)
    pvalues = np.array([t_test_all_pairs(rng.normal(size=(2, 6)))[0, 1] for _ in range(5000)])
    assert scipy_stats.kstest(pvalues, "uniform").pvalue > 0.001


@pytest.mark.slow
def test_wins_of_equals_are_half_of_all():
    rng = np.random.default_rng(12)
    wins = sum(count_all_pairs(rng.standard_t(3, size=(2, 10)))[0][0, 1] for _ in range(2000))
    assert scipy_stats.binomtest(int(wins), 20_000).pvalue > 0.001


# Negative controls


def test_the_check_of_sets_can_fail():
    # Without a correction, 1 of 7 others beats the best at 5% far more often than that.
    def uncorrected(pvalues):
        return ~((pvalues <= 0.05) & ~np.eye(8, dtype=bool)).any(axis=0)

    sets = draw_sets(k=8, n=10, n_studies=300, method="paired-t", rule=uncorrected)
    missed = int((~sets[:, 0]).sum())
    assert scipy_stats.binomtest(missed, 300, 0.05, "greater").pvalue < 0.001


def test_the_check_of_levels_can_fail():
    # Half a standard deviation better, and p-values are not uniform.
    rng = np.random.default_rng(11)
    better = np.array([[0.5], [0.0]])
    pvalues = [t_test_all_pairs(rng.normal(size=(2, 6)) + better)[0, 1] for _ in range(500)]
    assert scipy_stats.kstest(pvalues, "uniform").pvalue < 0.001


def test_ranks_would_know_of_others():
    # What a pair must not do: with a third, the mean rank of two turns around.
    scores = np.array([[3.0, 3, 1], [2, 2, 3]])
    third = np.array([0.0, 0, 2])
    two = scipy_stats.rankdata(scores, axis=0).mean(axis=1)
    three = scipy_stats.rankdata(np.vstack([scores, third]), axis=0).mean(axis=1)
    assert two[0] > two[1]
    assert three[0] == three[1]
    joined = count_all_pairs(np.vstack([scores, third]))[0][:2, :2]
    assert joined.tolist() == count_all_pairs(scores)[0].tolist()


# Refusals


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (
            [1, 2],
            "scores has shape (2,). Pass one row per competitor, and one column per replicate",
        ),
        (
            np.zeros((2, 0)),
            "scores has shape (2, 0). Pass one row per competitor, and one column per replicate",
        ),
        (
            [["high"]],
            "scores holds something that is not a number. Pass scores as floats, one per run",
        ),
        (
            [[1, math.inf], [NAN, 2]],
            "scores has 1 score that is NaN or infinite, at position (0, 1) (first: inf). "
            "Find out why these runs failed; to leave them out, remove them, and their partners if "
            "paired",
        ),
        (
            [[1, -1e200], [NAN, 2]],
            "scores reaches -1e+200, too large to take means and variances of. If that run "
            "diverged, treat it as failed; otherwise pass logarithms, which keep every win a win",
        ),
    ],
)
def test_what_is_no_grid_of_scores_is_refused(function, scores, message):
    with pytest.raises(InvalidScores) as caught:
        function(scores)
    assert str(caught.value) == f"{message}."


@pytest.mark.parametrize(
    ("pvalues", "options", "message"),
    [
        ([0.1, 0.2], {}, "pvalues has shape (2,). Pass one row and one column per competitor."),
        (
            [[0.1, 0.2]],
            {},
            "pvalues has shape (1, 2). Pass one row and one column per competitor.",
        ),
        ([[0.1]], {"alpha": 5}, "alpha is 5. Pass a value between 0 and 1 (5% is 0.05)."),
    ],
)
def test_what_is_no_matrix_of_pvalues_is_refused(pvalues, options, message):
    with pytest.raises(InvalidInput) as caught:
        maybe_best(pvalues, **options)
    assert str(caught.value) == message
