"""Scores that raise a question are refused until it is answered; harmless ones never are."""

from dataclasses import replace
from itertools import permutations
from math import exp, factorial, lgamma

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from outperform import audit, best_of_runs, compare_runs, rank_runs, read_runs
from outperform.errors import InvalidInput, InvalidScores
from outperform.runs import suspicions
from outperform.runs.suspicions import DOUBTS, Sides, find_suspicions

SEED = np.random.default_rng(12)
NOISE = np.round(SEED.normal(0.9, 0.01, size=(2, 40)), 6)
OR_ACCEPT = 'pass --accept {0} (from Python: read_runs(..., accept="{0}")).'


def ask(a, b, *, metric="accuracy", order="seed"):
    scores = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return Sides(("new", "old"), scores, metric, "runs.csv", order)


def minimized(a, b):
    return replace(ask(a, b, metric="loss"), goal="minimize")


def doubts(a, b, **options):
    return [each.doubt for each in find_suspicions(ask(a, b, **options))]


def with_value(scores, *values):
    return np.concatenate((scores[: len(scores) - len(values)], values))


SUSPICIOUS = {
    "percent against fraction": (
        "scale",
        ask([0.91, 0.93, 0.92], [91.5, 90, 93]),
        "the scores of 'new' lie between 0.91 and 0.93 in runs.csv, the others between 90 and 93: "
        "these look like fractions and per cent. Give all in one unit; if they are right as they "
        "are, ",
    ),
    "fraction against percent, unpaired": (
        "scale",
        ask([91.5, 90, 93], [0.91, 0.93, 0.92], metric="score", order=""),
        "the scores of 'old' lie between 0.91 and 0.93 in runs.csv, the others between 90 and 93: "
        "these look like fractions and per cent. Give all in one unit; if they are right as they "
        "are, ",
    ),
    "one score in per cent": (
        "scale",
        ask([0.91, 0.93, 0.92], [0.88, 89.5, 0.87]),
        "5 of 6 scores of 'new' and 'old' lie between 0.87 and 0.93 in runs.csv, the other between "
        "89.5 and 89.5: these look like fractions and per cent. Give all in one unit; if they are "
        "right as they are, ",
    ),
    "an accuracy whose decimal point is lost": (
        "scale",
        ask([92.3, 93.1, 92.9], [90.1, 9012, 9031]),
        "2 of 6 scores of 'new' and 'old' in runs.csv are above 100 (up to 9031): no accuracy is, "
        "so a decimal point may be lost, or these are numbers of answers. Give all as shares or "
        "in per cent, or call the column what they are; if they are right as they are, ",
    ),
    "a loss of 0 that stands for failures": (
        "outlier",
        minimized(with_value(NOISE[0], 0, 0, 0), NOISE[1]),
        "3 of 40 scores of 'new' in runs.csv are 0, better than all others by more than these "
        f"differ (the best of them is {NOISE[0][:37].min():g}): a number that stands for a run "
        "that failed. Leave it empty; if it is a score like the others, ",
    ),
    "a return of -1 among lower ones": (
        "outlier",
        Sides(("a",), (np.array([-200.0, -1, -210, -190]),), "return", "x", "", "maximize"),
        "1 of 4 scores of 'a' in x is -1, better than all others by more than these differ (the "
        "best of them is -190): a number that stands for a run that failed. Leave it empty; if it "
        "is a score like the others, ",
    ),
    "a run at 1e13": (
        "outlier",
        ask(with_value(NOISE[0], 1e13), NOISE[1]),
        f"1 of 40 scores of 'new' in runs.csv is more than 100 times as large as all others (1e+13 "
        f"against {NOISE[0][:39].max():g} at most): a run that failed, or a number that stands for "
        "one. Repair or remove it; if it is a score like the others, ",
    ),
    "two losses that are none": (
        "outlier",
        ask(NOISE[0], with_value(NOISE[1], -1e6, 2e6), metric="loss"),
        f"2 of 40 scores of 'old' in runs.csv are more than 10,000 times as large as all others "
        f"(-1e+06, 2e+06 against {NOISE[1][:38].max():g} at most): a run that failed, or a number "
        "that stands for one. Repair or remove it; if it is a score like the others, ",
    ),
    "one constant": (
        "constant",
        ask([0.5, 0.5, 0.5], [0.4, 0.6, 0.7]),
        "all 3 runs of 'new' have the same score 0.5 in runs.csv: either the seed does not reach "
        "the training, or the metric cannot tell runs apart. See which it is; if the algorithm is "
        "deterministic, ",
    ),
    "two constants": (
        "constant",
        ask([0.5] * 4, [1.0] * 3, order=""),
        "all 4 runs of 'new' have the same score 0.5 and all 3 runs of 'old' have the same score 1 "
        "in runs.csv: either the seed does not reach the training, or the metric cannot tell runs "
        "apart. See which it is; if the algorithm is deterministic, ",
    ),
    "right or wrong": (
        "binary",
        ask(SEED.integers(0, 2, 50), SEED.integers(0, 2, 21), order=""),
        "all 50 scores of 'new' and 21 scores of 'old' in runs.csv are 0 or 1: these look like "
        "answers to test examples, not like runs. Give the mean over the examples of every run, "
        "with its seed (comparing given models example by example is coming); if each is a run "
        "that succeeds or fails, ",
    ),
    "sorted": (
        "sorted",
        ask(np.sort(NOISE[0])[:8], np.sort(NOISE[1])[7::-1]),
        "the scores of both 'new' and 'old' are sorted in the order of seed in runs.csv: sorting "
        "has torn the pairs apart, as chance hardly ever does. Give every score its own seed, or "
        "pass --unpaired; if this order is real, ",
    ),
    "sorted rows": (
        "sorted",
        ask(np.sort(NOISE[0]), np.sort(NOISE[1]), order="rows"),
        "the scores of both 'new' and 'old' are sorted in the order of rows in runs.csv: sorting "
        "has torn the pairs apart, as chance hardly ever does. Give every score its seed, or pass "
        "--unpaired; if this order is real, ",
    ),
    "five seeds, three times": (
        "repeated",
        ask(np.tile([0.91, 0.93, 0.9, 0.94, 0.92], 3), NOISE[1][:15]),
        "5 scores of 'new' in runs.csv stand twice in the same order (0.91, 0.93, 0.9 and 2 more): "
        "these look like copied rows, or like runs that the seed does not reach. Remove the "
        "copies; if they are runs of their own, ",
    ),
    "three pairs, twice": (
        "repeated",
        ask(np.tile([0.91, 0.93, 0.9], 2), np.tile([0.8, 0.95, 0.9], 2)),
        "3 scores of both 'new' and 'old' in runs.csv stand twice in the same order (0.91, 0.93, "
        "0.9): these look like copied rows, or like runs that the seed does not reach. Remove the "
        "copies; if they are runs of their own, ",
    ),
    "some rows, copied to the end": (
        "repeated",
        ask(NOISE[0], np.concatenate((NOISE[1], NOISE[1][5:9])), order=""),
        f"4 scores of 'old' in runs.csv stand twice in the same order ({NOISE[1][5]:g}, "
        f"{NOISE[1][6]:g}, {NOISE[1][7]:g} and 1 more): these look like copied rows, or like runs "
        "that the seed does not reach. Remove the copies; if they are runs of their own, ",
    ),
}


@pytest.mark.parametrize(("doubt", "sides", "message"), SUSPICIOUS.values(), ids=SUSPICIOUS.keys())
def test_scores_that_raise_a_question_are_refused_until_it_is_answered(doubt, sides, message):
    with pytest.raises(InvalidScores) as caught:
        suspicions.ask(find_suspicions(sides), [other for other in DOUBTS if other != doubt])
    assert str(caught.value) == message + OR_ACCEPT.format(doubt)
    notes = suspicions.ask(find_suspicions(sides), [doubt])
    fact = caught.value.problem.rpartition(": ")[0]
    # That scores are constant is a caveat of every comparison.
    assert notes == (() if doubt == "constant" else (f"{fact}, which was accepted as right",))


LADDER = 0.8 + np.arange(30) / 1000
HARMLESS = {
    "ordinary accuracies": ask(*NOISE),
    "accuracies in per cent": ask(*(100 * NOISE)),
    "errors of about one per cent, in per cent": ask(
        [0.9, 1.1, 1.3], [0.7, 1.2, 0.8], metric="err"
    ),
    "one learner at chance": ask([0.51, 0.49, 0.5], [0.99, 0.98, 1.0]),
    "losses, one a hundred times the other": ask(
        [0.02, 0.03, 0.01], [2.1, 3.5, 1.2], metric="loss"
    ),
    "a loss that diverges": ask(
        with_value(NOISE[0], 412.0), with_value(NOISE[1], 37.0), metric="loss"
    ),
    "rewards that span decades": ask(
        10 ** SEED.uniform(-1, 5, 40), -(10 ** SEED.uniform(0, 6, 40)), metric="return"
    ),
    "sparse rewards": ask([0, 0, 0, 2500, 0], [0, 400, 0, 1, 0], metric="reward"),
    "regret near zero": ask([1e-12, 3e-12, 1e-3, 2e-12], [1e-9, 2e-9, 1e-8, 3e-9], metric="regret"),
    "heavy tails": ask(*SEED.standard_cauchy((2, 200)), metric="return"),
    "two equal runs": ask([0.5, 0.5], [0.5, 0.6]),
    "some runs that succeed or fail": ask(
        SEED.permutation([0, 1] * 10), SEED.permutation([0, 1] * 10), metric="success"
    ),
    "zeros and ones among others": ask(with_value(NOISE[0], 0, 1), with_value(NOISE[1], 1, 0)),
    "seven that are sorted": ask(np.sort(NOISE[0][:7]), np.sort(NOISE[1][:7])),
    "one side that is sorted": ask(np.sort(NOISE[0]), NOISE[1]),
    "sorted runs that are not paired": ask(np.sort(NOISE[0]), np.sort(NOISE[1]), order=""),
    "sorted, but most are tied": ask([0.1] * 9 + [0.2], [0.3] * 8 + [0.4, 0.5]),
    "made from their seeds": ask(LADDER, LADDER + 0.0005),
    "a coarse metric": ask(*SEED.integers(90, 96, (2, 200)) / 100),
    "a very coarse metric": ask(*SEED.integers(0, 3, (2, 30)) / 10),
    "a score that recurs": ask(with_value(NOISE[0], 0.9, 0.9, 0.91, 0.9), NOISE[1]),
}


@pytest.mark.parametrize("sides", HARMLESS.values(), ids=HARMLESS.keys())
def test_harmless_scores_raise_no_question(sides):
    assert suspicions.ask(find_suspicions(sides), ()) == ()


def test_by_hand_eight_sorted_scores_are_once_in_20160():
    # 2 of 8! = 40,320 orders are sorted; of seven, 2 of 5,040, which is more than 1 in 10,000.
    scores = np.array([1.0, 2.5, 3, 4, 5, 6, 7, 8])
    assert doubts(scores, scores**2) == ["sorted"]
    assert doubts(scores[:7], scores[:7] ** 2) == []
    # Two of them tied: 2!·2/8! = 1 in 10,080. Three: 3!·2/8! = 1 in 3,360.
    assert doubts([1, 1, 3, 4, 5.5, 6, 7, 8], scores**2) == ["sorted"]
    assert doubts([1, 1, 1, 4, 5.5, 6, 7, 8], scores**2) == []


@pytest.mark.parametrize("scores", [(1, 2, 3, 5), (1, 1, 2, 3, 4), (1, 1, 2, 2, 3, 3)])
def test_the_chance_of_sorted_scores_is_that_of_all_orders(scores):
    orders = list(permutations(scores))
    n_sorted = sum(list(order) in (sorted(order), sorted(order, reverse=True)) for order in orders)
    _, ties = np.unique(scores, return_counts=True)
    formula = exp(np.log(2) + sum(map(lgamma, ties + 1.0)) - lgamma(len(scores) + 1))
    assert n_sorted / factorial(len(scores)) == pytest.approx(formula)


VALUES = st.floats(0.01, 1).map(lambda x: round(x, 3))
PAIRS = st.lists(st.tuples(VALUES, VALUES), min_size=3, max_size=30)


@given(PAIRS, st.sampled_from([2, 4, 1 / 8]))
def test_the_unit_of_a_loss_changes_no_question(pairs, factor):
    a, b = np.transpose(pairs)
    scaled = doubts(np.multiply(a, factor), np.multiply(b, factor), metric="loss")
    assert scaled == doubts(a, b, metric="loss")


@given(PAIRS)
def test_the_names_change_no_question(pairs):
    a, b = np.transpose(pairs)
    assert sorted(doubts(a, b)) == sorted(doubts(b, a))


@pytest.mark.slow
@pytest.mark.parametrize("n_levels", [3, 6, 20, 10**6])
@pytest.mark.parametrize("correlated", [False, True])
def test_honest_scores_are_hardly_ever_questioned(n_levels, correlated):
    """Of coarse and of fine scores, independent or driven by the same splits, at most 1 in 200."""
    rng = np.random.default_rng(n_levels)
    n_studies, questioned = 2000, 0
    for _ in range(n_studies):
        a, b = rng.integers(0, n_levels, (2, rng.integers(8, 41))) / n_levels / 2 + 0.3
        questioned += bool(doubts(a, a - (rng.random(a.size) < 0.3) / 10 if correlated else b))
    assert binomtest(questioned, n_studies, 0.005, alternative="greater").pvalue > 0.001


@pytest.mark.slow
def test_negative_control_sorted_and_copied_scores_are_always_questioned():
    rng = np.random.default_rng(3)
    for _ in range(500):
        a, b = rng.normal(0.9, 0.01, (2, rng.integers(8, 41)))
        assert doubts(np.sort(a), np.sort(b)) == ["sorted"]
        assert doubts(np.tile(a, 2), np.tile(b, 2)) == ["repeated"]


def test_many_runs_are_questioned_fast():
    scores = np.random.default_rng(0).normal(0.9, 0.01, (2, 500_000))
    assert doubts(*scores) == []
    assert doubts(*np.sort(scores)) == ["sorted"]


def test_only_what_is_beyond_all_others_is_an_outlier():
    scores = [1e-9, 2e-9, 3e-9, 4e-9, 1e-3, 2e-3, 2e5]
    (outlier,) = find_suspicions(ask(scores, NOISE[1][:7], metric="regret"))
    assert outlier.fact.startswith("1 of 7 scores of 'new'")


def test_scores_that_differ_by_rounding_are_constant():
    assert doubts([0.3, 0.1 + 0.2, 0.3], [0.1, 0.2, 0.4]) == ["constant"]
    result = compare_runs(
        read_runs({"a": [0.3, 0.1 + 0.2, 0.4], "b": [0.1 + 0.2, 0.3, 0.4]}), "a", "b"
    )
    assert result.caveats[0].startswith("all 3 scores of a and b are the same")


def test_perfect_scores_are_constant_not_answers():
    assert doubts([1.0] * 25, [1.0] * 25) == ["constant"]
    assert doubts([1.0] * 25, [0.0] * 24 + [1.0]) == ["constant", "binary"]


# In a comparison


def as_runs(a, b, **columns):
    return [
        {"model": name, "seed": seed, "accuracy": float(score)} | columns
        for name, scores in (("new", a), ("old", b))
        for seed, score in enumerate(scores)
    ]


def test_a_comparison_asks_and_takes_the_answer():
    records = as_runs([0.9] * 10, NOISE[1][:10])
    with pytest.raises(InvalidScores, match="pass --accept constant"):
        compare_runs(records, "new", "old")
    accepted = compare_runs(read_runs(records, accept="constant"), "new", "old")
    assert "all 10 runs of new have the same score 0.9" in accepted.caveats[-1]
    records = as_runs(with_value(NOISE[0][:10], 1e13), NOISE[1][:10])
    accepted = compare_runs(read_runs(records, accept=("outlier", "scale")), "new", "old")
    assert accepted.caveats[-1].endswith("which was accepted as right")


def test_rows_sorted_with_their_seeds_stay_pairs():
    records = sorted(as_runs(*NOISE), key=lambda record: record["accuracy"])
    assert compare_runs(records, "new", "old").n_pairs == 40


def test_the_same_runs_under_two_names_are_said_first():
    for paired in (True, False):
        result = compare_runs(as_runs(NOISE[0], NOISE[0]), "new", "old", paired=paired)
        assert result.caveats[0] == (
            "all 40 scores of new and old are the same: these are the same runs under two names, "
            "or the same algorithm"
        )


def test_what_cannot_be_accepted_is_refused():
    with pytest.raises(InvalidInput) as caught:
        read_runs({"a": [1, 2]}, accept="everything")
    assert str(caught.value) == (
        "cannot accept 'everything'. Pass some of: binary, constant, counts, examples, margin, "
        "nested, outlier, pooled, redrawn, repeated, scale, settings, sorted."
    )


@pytest.mark.parametrize(
    ("scores", "goal"),
    [
        ([0.0, 0.1, 0.2, 0.3], "minimize"),  # as near as the others are to each other
        ([0.0, 0.9, 0.91, 0.92], "maximize"),  # the worst: a run that failed, and counts as such
        ([0.0, 0.0, 0.9, 0.91], "minimize"),  # half of them
        ([0.0, 1.0, 1.0, 1.0], "minimize"),  # the others do not vary
        ([0.5, 0.9, 0.91, 0.92], "minimize"),  # nobody writes this for want of a score
        ([0.0, 0.9, 0.91, 0.92], None),
    ],
)
def test_scores_that_stand_for_no_failure_are_not_asked_about(scores, goal):
    sides = replace(ask(scores, [0.9, 0.91, 0.93, 0.92], metric="loss"), goal=goal)
    assert list(find_suspicions(sides)) == []


def test_every_question_asks_about_a_loss_of_0():
    rng = np.random.default_rng(1)
    rows = [
        {"model": name, "seed": seed, "loss": 0.0 if name == "a" and seed == 3 else score}
        for name in "abc"
        for seed, score in enumerate(rng.normal(0.3, 0.01, 20).tolist())
    ]
    for question in (
        lambda: compare_runs(rows, "a", "b"),
        lambda: compare_runs(rows, "b", "a", paired=False),
        lambda: rank_runs(rows),
        lambda: best_of_runs(rows, "a"),
        lambda: audit(rows, "a", "b"),
    ):
        with pytest.raises(InvalidScores, match=r"1 of 20 scores of 'a' in .* is 0, better than"):
            question()
    assert compare_runs(read_runs(rows, accept="outlier"), "a", "b").n_pairs == 20


@pytest.mark.parametrize(
    ("metric", "asked"),
    [("macro F1", True), ("reward", False), ("wer", False), ("relative accuracy", False)],
)
def test_only_shares_cannot_be_above_all(metric, asked):
    scores = NOISE[0] + 150, NOISE[1] + 95
    assert doubts(*scores, metric=metric) == (["scale"] if asked else [])
