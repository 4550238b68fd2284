"""What differs between the runs of two algorithms besides, by what a column says of them."""

import numpy as np
import pytest

from outperform import audit, compare_runs, rank_runs, read_runs
from outperform.errors import InvalidScores
from outperform.runs.confounders import find_confounders

N = 12
ASKED = (
    "{} differs between runs of the same seed in the dict ({}): they were not tested on the same "
    "examples, so they are no pairs. Test all on the same, or pass --unpaired; if they are pairs "
    'all the same, pass --accept examples (from Python: read_runs(..., accept="examples")).'
)


def make_runs(column, of_a, of_b, **options):
    scores = np.random.default_rng(0).normal(0.9, 0.01, 2 * N).round(4)
    table = {
        "algorithm": ["a"] * N + ["b"] * N,
        "seed": [*range(N)] * 2,
        column: [*of_a, *of_b],
        "accuracy": scores,
    }
    return read_runs(table, **options)


def compare(runs, **options):
    return compare_runs(runs, "a", "b", **options)


def find_notes(runs, words, **options):
    answers = compare(runs, **options), rank_runs(runs, **options)
    return [[each for each in answer.caveats if words in each] for answer in answers]


@pytest.mark.parametrize("answer", [compare, rank_runs])
@pytest.mark.parametrize("column", ["n_test", "test_size", "Test Examples", "params.n_eval"])
def test_sizes_that_differ_are_asked_about(column, answer):
    with pytest.raises(InvalidScores) as caught:
        answer(make_runs(column, [500] * N, [1000] * N))
    assert str(caught.value) == ASKED.format(column, "500, 1000")


@pytest.mark.parametrize("answer", [compare, rank_runs])
def test_one_other_fold_is_enough(answer):
    folds = [i % 3 for i in range(N)]
    with pytest.raises(InvalidScores) as caught:
        answer(make_runs("fold", folds, [*folds[:-1], 0]))
    assert str(caught.value) == ASKED.format("fold", "0, 1, 2")


def test_an_answer_is_kept():
    runs = make_runs("n_test", [500] * N, [1000] * N, accept="examples")
    said = "n_test differs between runs of the same seed in the dict (500, 1000), which was "
    said += "accepted as right"
    assert find_notes(runs, "n_test") == [[said], [said]]


@pytest.mark.parametrize(
    ("column", "of_b"),
    [
        ("n_test", [500 + i for i in range(N)]),
        ("n_test", [f"{500 + i}.0" for i in range(N)]),
        ("n_test", [""] * N),
        ("n_tested", [7] * N),
        ("n_train", [7] * N),
    ],
    ids=["the same", "the same numbers", "not known", "another word", "trained on"],
)
def test_nothing_else_is_asked_about(column, of_b):
    runs = make_runs(column, [500 + i for i in range(N)], of_b)
    assert find_notes(runs, column) == [[], []]


def test_names_may_hold_it():
    runs = make_runs("test_set", ["clean"] * N, ["noisy"] * N, algorithm="algorithm,test_set")
    assert not [note for note in compare_runs(runs, "a,clean", "b,noisy").caveats if "same" in note]


def test_unpaired_runs_have_test_sets_of_their_own():
    said = "test_set differs by algorithm (clean, noisy): they were not tested on the same "
    said += "examples, and what differs may be the examples"
    runs = make_runs("test_set", ["clean"] * N, ["noisy"] * N)
    assert find_notes(runs, "same examples", paired=False) == [[said], [said]]
    runs = make_runs("fold", range(N), range(1, N + 1))
    assert find_notes(runs, "same examples", paired=False) == [[], []]


@pytest.mark.parametrize("column", ["lang", "corpus", "config.env_name", "data"])
def test_data_that_each_algorithm_has_for_itself_is_noted(column):
    said = f"{column} differs by algorithm (x, y): what differs may be the data, not the algorithm"
    assert find_notes(make_runs(column, ["x"] * N, ["y"] * N), "may be the") == [[said], [said]]
    both = make_runs(column, ["x", "y"] * (N // 2), ["x", "y"] * (N // 2))
    assert find_notes(both, "may be the") == [[], []]


@pytest.mark.parametrize("column", ["gpu", "hostname", "device_type"])
def test_machines_matter_to_times_only(column):
    of_each = ["A100"] * N, ["V100"] * N
    assert find_notes(make_runs(column, *of_each), "machine") == [[], []]
    table = {
        "algorithm": ["a"] * N + ["b"] * N,
        "seed": [*range(N)] * 2,
        column: [*of_each[0], *of_each[1]],
        "latency_ms": np.random.default_rng(0).normal(20, 1, 2 * N),
    }
    said = f"{column} differs by algorithm (A100, V100): what differs may be the machine, not the "
    said += "algorithm"
    runs = read_runs(table, metric="latency_ms")
    assert find_notes(runs, "machine") == [[said], [said]]


@pytest.mark.parametrize(
    "column", ["epochs", "n_train", "Train Size", "train_frac", "params.max_steps"]
)
def test_unequal_training_is_noted_with_its_amounts(column):
    said = f"{column} is 500 for a and 1,000 for b: they are compared as they were trained, not "
    said += "trained alike"
    runs = make_runs(column, [500] * N, [1000] * N)
    assert find_notes(runs, "trained") == [[said], [said]]
    assert find_notes(runs, "trained", paired=False) == [[said], [said]]


def test_training_is_that_of_each_task():
    table = {
        "algorithm": [*"abc"] * 2 * N,
        "task": (["iris"] * 3 + ["wine"] * 3) * N,
        "seed": np.repeat(np.arange(N), 6),
        "n_train": [75, 75, 75, 90, 45, 90] * N,
        "accuracy": np.random.default_rng(0).normal(0.9, 0.01, 6 * N).round(4),
    }
    said = "n_train is 90 for a, c and 45 for b on wine: they are compared as they were trained, "
    said += "not trained alike"
    ranking = rank_runs(read_runs(table))
    assert [each for each in ranking.caveats if "trained" in each] == [said]
    assert not [each for each in compare_runs(table, "a", "c").caveats if "trained" in each]


@pytest.mark.parametrize(
    ("column", "of_a", "of_b"),
    [
        ("epochs", [10] * N, [10] * N),
        ("epochs", [*range(N)], [*range(5, N + 5)]),
        ("epochs", [10] * N, [""] * N),
        ("checkpoint", ["a.ckpt"] * N, ["b.ckpt"] * N),
        ("train_loss", [0.5] * N, [0.25] * N),
    ],
    ids=["the same", "stopped early", "not known", "no amount", "another word"],
)
def test_other_training_is_not(column, of_a, of_b):
    assert find_notes(make_runs(column, of_a, of_b), "trained") == [[], []]


LEVELS = {"easy": 0.95, "hard": 0.6}


def pool(of_a, of_b, column="corpus", **columns):
    """Runs of which b is better on every corpus, by 0.02."""
    labels = [*of_a, *of_b]
    means = np.array([LEVELS[label] for label in labels])
    means[len(of_a) :] += 0.02
    return {
        "algorithm": ["a"] * len(of_a) + ["b"] * len(of_b),
        column: labels,
        "accuracy": np.random.default_rng(0).normal(means, 0.005).round(4),
        **columns,
    }


MOSTLY_EASY, MOSTLY_HARD = ["easy"] * 10 + ["hard"] * 2, ["easy"] * 2 + ["hard"] * 10


@pytest.mark.parametrize("answer", [compare, rank_runs])
def test_scores_that_depend_on_a_label_are_not_pooled(answer):
    table = pool(MOSTLY_EASY, MOSTLY_HARD)
    with pytest.raises(InvalidScores) as caught:
        answer(table)
    assert str(caught.value) == (
        "scores in the dict depend on corpus (of a, 0.95 on easy, 0.599 on hard on average), of "
        "which nothing is known: whoever has more runs where scores are high looks better than it "
        "is. Pass --task corpus to compare on each, or make it part of the name with --algorithm "
        "algorithm,corpus; if runs may be pooled, pass --accept pooled (from Python: "
        'read_runs(..., accept="pooled")).'
    )
    notes = [n for n in answer(read_runs(table, accept="pooled")).caveats if "corpus" in n]
    assert len(notes) == 1
    assert notes[0].endswith("of which nothing is known, which was accepted as right")


def test_labels_that_are_tasks_are_compared_on_each():
    result = compare(read_runs(pool(MOSTLY_EASY, MOSTLY_HARD), task="corpus"))
    assert [each.difference.value < 0 for each in result.comparisons] == [True, True]


def test_pairs_of_other_labels_are_asked_about():
    seeds = {"seed": [*range(12)] * 2}
    with pytest.raises(InvalidScores, match="depend on corpus"):
        compare(pool(MOSTLY_EASY, MOSTLY_HARD, **seeds))
    assert compare(pool(MOSTLY_EASY, MOSTLY_EASY, **seeds)).winner_name == "b"


@pytest.mark.parametrize(
    ("column", "of_a", "of_b"),
    [
        ("host", ["gpu1", "gpu2"] * 6, ["gpu1"] * 10 + ["gpu2"] * 2),
        ("family", ["kernel"] * 12, ["lazy"] * 12),
        ("note", [f"run {i}" for i in range(12)], [f"run {i}" for i in range(12, 24)]),
    ],
)
@pytest.mark.parametrize("answer", [compare, rank_runs])
def test_labels_that_scores_do_not_depend_on_may_be_any(column, of_a, of_b, answer):
    table = pool(["easy"] * 12, ["easy"] * 12, "corpus", **{column: [*of_a, *of_b]})
    assert not [each for each in answer(table).caveats if column in each]


def test_numbers_of_datasets_are_labels():
    table = pool(MOSTLY_EASY, MOSTLY_HARD, "dataset_id")
    table["dataset_id"] = [{"easy": 3, "hard": 31}[label] for label in table["dataset_id"]]
    with pytest.raises(
        InvalidScores, match=r"depend on dataset_id \(of a, 0\.95 on 3, 0\.599 on 31"
    ):
        compare(table)


@pytest.mark.parametrize("words", [("yes", "no"), ("True", "False"), ("1", "0"), ("0.1", "0.2")])
def test_outcomes_and_numbers_are_no_labels(words):
    table = pool(MOSTLY_EASY, MOSTLY_HARD, "converged")
    table["converged"] = [words[label == "hard"] for label in table["converged"]]
    assert not [each for each in compare(table).caveats if "converged" in each]


def test_one_run_that_went_badly_makes_no_label():
    table = pool(["easy"] * 12, ["easy"] * 11 + ["hard"])
    assert not [each for each in compare(table).caveats if "corpus" in each]
    table["corpus"][-2:], table["accuracy"][-2] = ["hard", "hard"], 0.62
    with pytest.raises(InvalidScores, match="depend on corpus"):
        compare(table)


def test_labels_are_asked_about_as_rarely_as_is_said():
    rng, n_asked = np.random.default_rng(5), 0
    for _ in range(300):
        table = {
            "algorithm": ["a", "b"] * 12,
            "host": rng.choice(["gpu1", "gpu2", "gpu3"], 24),
            "reward": rng.normal(size=24),
        }
        runs = read_runs(table)
        n_asked += len([*find_confounders(runs, np.arange(24), "it", paired=False)])
    assert n_asked <= 2  # chance exceeds it in less than one of 250 cases


def test_labels_that_pair_all_runs_are_proposed():
    corpora = [f"corpus {i}" for i in range(12)]
    table = pool(["easy"] * 12, ["easy"] * 12, "level", corpus=corpora * 2)
    said = "corpus has the same 12 values for each algorithm: if it names tasks or tells pairs, "
    said += "--task corpus or --replicate corpus shows more"
    assert find_notes(read_runs(table), "corpus") == [[said], [said]]
    states = {"random_state": [*range(12)] * 2}
    said = said.replace("corpus", "random_state")
    runs = read_runs(pool(["easy"] * 12, ["easy"] * 12, "level", **states))
    assert find_notes(runs, "random_state") == [[said], [said]]
    table["corpus"][0] = "corpus 1"
    assert find_notes(read_runs(table), "corpus") == [[], []]


def count(of_a, of_b, totals_a, totals_b, *, metric="correct", total="total", **options):
    table = {
        "algorithm": ["a"] * N + ["b"] * N,
        "seed": [*range(N)] * 2,
        metric: [*of_a, *of_b],
        total: [*totals_a, *totals_b],
    }
    return read_runs(table, metric=metric, **options)


# Of the same quality, or better where fewer were asked.
MANY, FEW = [160 + i * 5 % 13 for i in range(N)], [126 + i * 3 % 13 for i in range(N)]


@pytest.mark.parametrize("answer", [compare, rank_runs])
@pytest.mark.parametrize("metric", ["correct", "n_correct", "hits"])
@pytest.mark.parametrize("total", ["total", "n", "n_examples", "n_test", "num_questions"])
def test_answers_counted_out_of_more_are_asked_about(metric, total, answer):
    with pytest.raises(InvalidScores) as caught:
        answer(count(MANY, FEW, [200] * N, [150] * N, metric=metric, total=total))
    assert str(caught.value) == (
        f"{metric} counts answers out of {total}, which differs between runs of the same seed in "
        "the dict (150, 200): a run that was asked more has more of them, however good it is. "
        f"Give every run its share, {metric} / {total}, in a column accuracy, which --metric "
        "names; if the counts can be compared as they are, pass --accept counts (from Python: "
        'read_runs(..., accept="counts")).'
    )


@pytest.mark.parametrize("metric", ["score", "points"])
@pytest.mark.parametrize("total", ["total", "out_of", "max_score", "possible_points"])
def test_whole_points_out_of_more_are_asked_about(metric, total):
    with pytest.raises(InvalidScores, match=f"^{metric} counts answers out of {total}, which"):
        compare(count(MANY, FEW, [200] * N, [150] * N, metric=metric, total=total, goal="maximize"))


def test_the_best_episode_of_each_run_is_no_number_of_points():
    best = [score + 7 * i for i, score in enumerate(MANY)], [score + 5 for score in FEW]
    runs = count(MANY, FEW, *best, metric="score", total="max_score", goal="maximize")
    assert compare(runs).winner_name == "a"


@pytest.mark.parametrize("metric", ["errors", "failures", "n_errors"])
def test_errors_are_counted_likewise(metric):
    with pytest.raises(InvalidScores, match=f"{metric} / attempts, in a column error_rate"):
        compare(count(MANY, FEW, [200] * N, [150] * N, metric=metric, total="attempts"))


@pytest.mark.parametrize(("goal", "share"), [("maximize", "accuracy"), ("minimize", "error_rate")])
@pytest.mark.parametrize("total", ["out_of", "support", "possible"])
def test_the_share_of_counts_is_better_in_the_way_they_are(goal, share, total):
    with pytest.raises(InvalidScores, match=f"resolved / {total}, in a column {share}, which"):
        compare(
            count(MANY, FEW, [200] * N, [150] * N, metric="resolved", total=total, goal=goal),
        )


def test_counts_of_unpaired_runs_and_of_one_algorithm_are_asked_about():
    totals = [200 + 10 * (i % 2) for i in range(N)]
    runs = count(MANY, FEW, totals, totals)
    assert compare(runs).winner_name == "a"  # each pair was asked the same
    for ask in (lambda: compare(runs, paired=False), lambda: audit(runs, "a")):
        with pytest.raises(InvalidScores, match=r"differs between runs in the dict \(200, 210\)"):
            ask()


def test_counts_that_were_accepted_are_noted():
    runs = count(MANY, FEW, [200] * N, [150] * N, accept="counts")
    said = "correct counts answers out of total, which differs between runs of the same seed in "
    said += "the dict (150, 200), which was accepted as right"
    assert find_notes(runs, "counts answers") == [[said], [said]]


@pytest.mark.parametrize(
    ("of_a", "totals_b", "names"),
    [
        (MANY, [200] * N, {}),
        ([each / 200 for each in MANY], [150] * N, {}),
        (MANY, [100] * N, {}),
        (MANY, ["many"] * N, {}),
        (MANY, [150] * N, {"total": "n_train"}),
        (MANY, [150] * N, {"metric": "percent correct"}),
        (MANY, [150] * N, {"metric": "reward"}),
        (MANY, [150] * N, {"metric": "score", "total": "episodes"}),
    ],
    ids=[
        *("equal", "shares", "fewer than counted", "words", "trained on", "per cent", "no count"),
        "score of episodes",
    ],
)
def test_other_numbers_count_no_answers(of_a, totals_b, names):
    runs = count(of_a, FEW, [200] * N, totals_b, **names)
    assert not [each for each in compare(runs).caveats if "counts answers" in each]


def test_a_failed_run_does_not_hide_a_count():
    runs = count([float("nan"), *MANY[1:]], FEW, [200] * N, [150] * N)
    with pytest.raises(InvalidScores, match="counts answers"):
        compare(runs, drop_incomplete=True)
