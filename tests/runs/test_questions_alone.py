"""What one algorithm is asked by whoever looks at its runs alone, as by whoever compares it."""

import numpy as np
import pytest

from outperform import audit, best_of_runs, read_runs, trace_run_seeds
from outperform.errors import InvalidScores

N = 24
ANSWERS = {
    "best of": lambda runs: best_of_runs(runs, "net", n=3),
    "best of each": lambda runs: best_of_runs(runs, n=3),
    "best of two": lambda runs: best_of_runs(runs, "other", "net", n=3, n_resamples=50),
    "audit": lambda runs: audit(runs, "net"),
    "simulate": lambda runs: trace_run_seeds(
        runs, "net", alphas=[0.05], n_draws=100, rng=np.random.default_rng(0)
    ),
}
EVERY = pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)


def make_table(**columns):
    """Runs of net, of which these columns tell, and of another of which nothing is odd."""
    rng = np.random.default_rng(2)
    table = {
        "algorithm": ["net"] * N + ["other"] * N,
        "seed": [*range(N)] * 2,
        "reward": rng.normal(0.7, 0.01, 2 * N),
    }
    for name, values in columns.items():
        usual = table.get(name, [values[0]] * 2 * N)
        table[name] = [*values, *usual[N:]]
    return table


@EVERY
def test_runs_pooled_over_labels_are_asked_about(answer):
    scores = np.add.outer([0.7, 0.8], np.linspace(-0.01, 0.01, N // 2)).ravel()
    table = make_table(corpus=np.repeat(["law", "web"], N // 2), reward=scores)
    with pytest.raises(InvalidScores) as caught:
        answer(table)
    assert str(caught.value) == (
        "scores in the dict depend on corpus (of net, 0.7 on law, 0.8 on web on average), of "
        "which nothing is known: runs that differ in it are no replicates of one another. Pass "
        "--task corpus to look at each, or make it part of the name with --algorithm "
        "algorithm,corpus; if it is a setting that was searched, or runs may be pooled, pass "
        '--accept pooled (from Python: read_runs(..., accept="pooled")).'
    )
    notes = [n for n in answer(read_runs(table, accept="pooled")).caveats if "corpus" in n]
    assert len(notes) == 1
    assert notes[0].endswith("of which nothing is known, which was accepted as right")


def test_labels_are_taken_for_settings_where_trials_of_a_search_differ_in_others():
    scores = np.add.outer([0.7, 0.8], np.linspace(-0.01, 0.01, N // 2)).ravel()
    encoders = np.repeat(["cnn", "lstm"], N // 2)
    table = make_table(encoder=encoders, lr=np.geomspace(1e-4, 1e-1, N), reward=scores)
    caveats = best_of_runs(table, "net", n=3).caveats
    assert [note for note in caveats if "encoder" in note] == [
        "scores in the dict depend on encoder (of net, 0.7 on cnn, 0.8 on lstm on average), of "
        "which nothing is known: it is taken for a setting that was searched; if it names data, "
        "look at each with --task"
    ]
    with pytest.raises(InvalidScores, match="--accept pooled "):
        audit(table, "net")  # whose runs should be replicates


def test_trials_of_a_grid_may_repeat_where_a_setting_changes_nothing():
    scores = [*np.linspace(0.6, 0.8, 8) ** 2] * 3
    table = make_table(reward=scores, wd=np.repeat([0, 0.01, 0.1], 8))
    notes = [note for note in best_of_runs(table, "net", n=3).caveats if "stand twice" in note]
    assert len(notes) == 1
    assert notes[0].endswith(
        "settings are taken to change nothing there; if rows are copies, remove them"
    )


USUAL = [*np.linspace(0.6, 0.8, N - 2)]
LOSSES = [*USUAL, 3e9, 1e13]
LR = np.geomspace(1e-4, 1e-1, N)


def make_losses(losses, metric="loss", **columns):
    table = make_table(reward=losses, **columns)
    table[metric] = table.pop("reward")
    return table


def test_trials_of_a_search_may_diverge():
    result = best_of_runs(make_losses(LOSSES, lr=LR), "net", n=30)
    assert [note for note in result.caveats if "as large" in note] == [
        "2 of 24 scores of 'net' in the dict are more than 10,000 times as large as all others "
        "(3e+09, 1e+13 against 0.8 at most): they are taken for trials that diverged, as some "
        "settings do, and the mean is mostly theirs; if the number stands for a trial without a "
        "score, leave it empty"
    ]


def test_diverged_trials_make_no_headline():
    table = make_losses([*USUAL, 3e9, 1e30], lr=LR)
    with pytest.raises(InvalidScores) as caught:
        best_of_runs(table, "net", n=3)
    assert str(caught.value) == (
        "the best of 3 would be expected to reach 7.234e+25, and all scores of 'net' but those "
        "that diverged lie within 0.8: how large a number stands for diverged decides, not how "
        "often one diverges. Give each that diverged the score of one that has learnt nothing, or "
        "ask for the best of more (--n); if these are scores like the others, pass --accept "
        'outlier (from Python: read_runs(..., accept="outlier")).'
    )
    accepted = best_of_runs(read_runs(table, accept="outlier"), "net", n=3)
    assert accepted.value > 1e25
    assert best_of_runs(table, "net", n=30).value < 1


def test_a_validation_score_that_stands_for_a_failure_chooses_nothing():
    table = make_losses(np.linspace(0.6, 0.8, N), lr=LR)
    table["valid_loss"] = [0.0, *table["loss"][1:]]
    with pytest.raises(
        InvalidScores, match=r"'net' in column 'valid_loss' of .* is 0, better than"
    ):
        best_of_runs(table, "net", n=3)


@pytest.mark.parametrize(
    "table",
    [
        make_losses(LOSSES),  # no search
        make_losses([*USUAL, -3e9, -1e13], lr=LR),
        make_losses(LOSSES, metric="reward", lr=LR),
        make_losses([*USUAL, 1e13, -1e13], lr=LR),
        make_losses(LOSSES, metric="error_rate", lr=LR),
    ],
    ids=["replicates", "better losses", "better rewards", "both ways", "shares"],
)
def test_what_does_not_look_diverged_is_asked_about_in_a_search_too(table):
    with pytest.raises(InvalidScores, match="--accept outlier "):
        best_of_runs(table, "net", n=3)


@EVERY
def test_folds_are_no_independent_runs(answer):
    table = make_table()
    said = [note for note in answer(table).caveats if "folds" in note]
    assert not said
    table["fold"] = table.pop("seed")
    said = [note for note in answer(table).caveats if "folds" in note]
    assert said == [
        "folds share most of their training data, and some are easier than others: runs are not "
        "independent, and their luck is that of the folds too; for the luck of training, give one "
        "row per seed, its mean over all folds"
    ]


@EVERY
@pytest.mark.parametrize(
    ("doubt", "scores"),
    [
        ("outlier", [*np.linspace(0.6, 0.8, N - 1), 1e13]),
        ("binary", [0, 1] * (N // 2)),
        ("repeated", [*np.linspace(0.6, 0.8, 8) ** 2] * 3),
        ("scale", [*np.linspace(0.6, 0.8, N // 2), *np.linspace(60, 80, N // 2) + 0.1]),
    ],
)
def test_odd_scores_are_asked_about(doubt, scores, answer):
    table = make_table(reward=scores)
    table["score"] = table.pop("reward")
    with pytest.raises(InvalidScores, match=f"--accept {doubt} "):
        answer(table)
    notes = answer(read_runs(table, accept=doubt)).caveats
    assert [note for note in notes if note.endswith("which was accepted as right")]


@EVERY
def test_nothing_is_asked_of_runs_that_are_alike(answer):
    hosts = np.random.default_rng(3).choice(["gpu1", "gpu2"], N)
    assert not [note for note in answer(make_table(host=hosts)).caveats if "host" in note]


def test_settings_are_noted_where_runs_should_be_replicates():
    table = make_table(lr=[0.1, 0.01] * (N // 2))
    said = "runs of net differ in lr (2 values): they are trials of a search, not replicates of "
    said += "one setting, unless each was tuned anew"
    for name, answer in ANSWERS.items():
        is_noted = said in answer(table).caveats
        assert is_noted == (name in ("audit", "simulate")), name


def test_another_spelling_of_its_name_is_noted():
    table = make_table()
    table["algorithm"] = ["net-50"] * N + ["Net50"] * N
    said = "there are runs of 'Net50' too: if that is the same algorithm, give both one name"
    assert said in audit(table, "net-50").caveats
