"""The winner among many, redrawn with the examples."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from outperform.errors import InvalidInput
from outperform.stats import (
    bootstrap_winner,
    prepare_accuracy,
    prepare_auc,
    prepare_balanced_accuracy,
    prepare_f1,
)

N, M = 120, 4


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, N)
    predictions = np.where(rng.random((N, M)) < 0.6, labels[:, None], rng.integers(0, 3, (N, M)))
    return predictions, labels


def redraw(rng, n, size):
    """Weights of resamples, and the examples that they hold."""
    drawn = rng.integers(0, n, (size, n))
    weights = np.array([np.bincount(row, minlength=n) for row in drawn], dtype=float).T
    return drawn, weights


# By hand


def test_scores_by_hand():
    labels = np.array([0, 0, 0, 1])
    predictions = np.array([[0, 0], [0, 1], [1, 1], [1, 1]])
    once, twice = np.ones((4, 1)), np.array([[1.0], [1], [1], [2]])
    assert prepare_accuracy(predictions, labels)(once).tolist() == [[0.75, 0.5]]
    assert prepare_accuracy(predictions, labels)(twice).tolist() == [[0.8, 0.6]]
    balanced = prepare_balanced_accuracy(predictions, labels)
    assert balanced(once)[0] == pytest.approx([(2 / 3 + 1) / 2, (1 / 3 + 1) / 2])
    f1 = prepare_f1(predictions, labels, np.array([1]))
    assert f1(once)[0] == pytest.approx([2 / 3, 2 / 4])  # 2 TP / (claimed + positives)
    values = np.array([[0.1, 0.5], [0.2, 0.5], [0.9, 0.5], [0.8, 0.5]])
    assert prepare_auc(values, labels == 1)(once)[0] == pytest.approx([2 / 3, 0.5])


def test_a_resample_without_a_class_has_no_area():
    scorer = prepare_auc(np.array([[0.1], [0.9]]), np.array([False, True]))
    assert np.isnan(scorer(np.array([[2.0], [0.0]]))).all()


# Reference


@pytest.mark.parametrize("name", ["accuracy", "balanced", "f1", "auc"])
def test_weighted_scores_are_those_of_the_resample(data, name):
    metrics = pytest.importorskip("sklearn.metrics")
    predictions, labels = data
    rng = np.random.default_rng(1)
    if name == "auc":
        labels = (labels == 1).astype(int)
        predictions = (labels[:, None] + rng.normal(size=(N, M))).round(1)  # with ties
    scorer = {
        "accuracy": partial(prepare_accuracy, predictions, labels),
        "balanced": partial(prepare_balanced_accuracy, predictions, labels),
        "f1": partial(prepare_f1, predictions, labels, np.arange(3)),
        "auc": partial(prepare_auc, predictions, labels == 1),
    }[name]()
    theirs = {
        "accuracy": metrics.accuracy_score,
        "balanced": metrics.balanced_accuracy_score,
        "f1": partial(metrics.f1_score, average="macro"),
        "auc": metrics.roc_auc_score,
    }[name]
    drawn, weights = redraw(rng, N, 5)
    expected = [[theirs(labels[rows], predictions[rows, j]) for j in range(M)] for rows in drawn]
    assert scorer(weights) == pytest.approx(np.array(expected), abs=1e-12)


# Property


@settings(max_examples=30)
@given(hnp.arrays(np.int64, (12, 3), elements=st.integers(0, 1)), st.integers(0, 99))
def test_shares_of_wins_add_up_and_the_winner_contends(predictions, seed):
    labels = np.array([0, 1] * 6)
    rng = np.random.default_rng(seed)
    found = bootstrap_winner(prepare_accuracy(predictions, labels), 12, rng=rng, n_resamples=200)
    assert found.win_shares.sum() == pytest.approx(1)
    assert found.contends[found.winner]
    assert found.scores[found.winner] == found.scores.max()
    assert found.interval.low <= found.interval.high


def test_the_same_seed_repeats_and_another_differs(data):
    draw = partial(bootstrap_winner, prepare_accuracy(*data), N, n_resamples=500)
    first, again, other = (draw(rng=np.random.default_rng(s)) for s in (7, 7, 8))
    assert (first.bias, first.interval) == (again.bias, again.interval)
    assert first.bias != other.bias


def test_blocks_change_nothing_but_the_draw(data, monkeypatch):
    draw = partial(bootstrap_winner, prepare_accuracy(*data), N, n_resamples=20_000)
    whole = draw(rng=np.random.default_rng(0))
    monkeypatch.setattr("outperform.stats.winner_bootstrap._BLOCK_CELLS", 7 * N)
    assert draw(rng=np.random.default_rng(0)).bias == pytest.approx(whole.bias, abs=0.001)


# Calibration


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("shared", [0.0, 0.6])
def test_sober_scores_have_less_bias_and_intervals_cover(spread, shared):
    rng, n, m, n_boards = np.random.default_rng(17), 300, 20, 300
    p = 0.8 - spread * np.linspace(0, 1, m)
    labels, gains, biases, covered, kept = np.zeros(n, dtype=int), [], [], 0, 0
    for _ in range(n_boards):
        # Where the draw is shared by all, entries are right on the same examples.
        luck = np.where(rng.random((n, 1)) < shared, rng.random((n, 1)), rng.random((n, m)))
        predictions = (luck > p).astype(int)
        scorer = prepare_accuracy(predictions, labels)
        found = bootstrap_winner(scorer, n, rng=rng, n_resamples=300)
        gains.append(found.scores[found.winner] - p[found.winner])
        biases.append(found.sober - p[found.winner])
        covered += p[found.winner] in found.interval
        kept += bool(found.contends[0])
    assert abs(np.mean(biases)) < 0.45 * np.mean(gains)  # a third is left where all are equal
    assert covered / n_boards > 0.95 - 0.035
    assert kept / n_boards > 0.95 - 0.035


# Negative control


def test_a_clear_winner_has_no_luck_and_no_rivals():
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 2, 500)
    worse = np.where(rng.random((500, 3)) < 0.6, labels[:, None], 1 - labels[:, None])
    predictions = np.column_stack([labels, worse])
    found = bootstrap_winner(prepare_accuracy(predictions, labels), 500, rng=rng, n_resamples=500)
    assert found.winner == 0
    assert found.bias == 0
    assert found.contends.tolist() == [True, False, False, False]


def test_too_few_of_a_class_are_refused():
    scorer = prepare_auc(np.arange(40.0)[:, None] * [[1, -1]], np.arange(40) == 3)
    with pytest.raises(InvalidInput, match=r"resamples lack one of the classes"):
        bootstrap_winner(
            lambda weights: np.where(weights[:1].T > 1, scorer(weights), np.nan),
            40,
            rng=np.random.default_rng(0),
            n_resamples=200,
        )
