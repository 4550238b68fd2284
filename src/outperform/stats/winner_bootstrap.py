"""The winner among many scored on the same examples, by a bootstrap that redraws it.

Each `prepare` function makes a scorer from predictions of shape (n, m), one column for each that is
scored, and labels of shape (n,). A scorer takes weights of shape (n, b), how often each of b
resamples holds each example, and gives scores of shape (b, m), higher is better. Where a resample
holds no example that a score needs, the score is NaN.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from outperform.errors import InvalidInput
from outperform.stats.checks import ROUNDING, FloatArray, check_count, check_open_unit
from outperform.stats.intervals import Interval
from outperform.stats.numerics import divide_rows

_BLOCK_CELLS = 1 << 17  # weights held at once: 1 MB, which a cache holds
Scorer: TypeAlias = Callable[[FloatArray], FloatArray]
Codes: TypeAlias = NDArray[np.int64]  # of the class of each example


@dataclass(frozen=True, slots=True)
class WinnerBootstrap:
    """What the score of a winner is worth, and who else could have won."""

    scores: FloatArray = field(compare=False, repr=False)  # shape (m,)
    winner: int  # its place in scores
    bias: float  # by how much the winner's score is expected to be too high
    interval: Interval  # of the true score of the winner
    win_shares: FloatArray = field(compare=False, repr=False)  # of resamples won, shape (m,)
    # Whether each may be the truly best, shape (m,).
    contends: NDArray[np.bool_] = field(compare=False, repr=False)
    n_resamples: int

    @property
    def sober(self) -> float:
        """The winner's score without what choosing it has added."""
        return float(self.scores[self.winner]) - self.bias


def bootstrap_winner(
    scorer: Scorer,
    n: int,
    *,
    rng: np.random.Generator,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
) -> WinnerBootstrap:
    """Redraw the examples, and with them the winner.

    In each resample the winner beats its own score on all examples by some amount; the mean of
    that is the bias of a winner's score. Examples are shared, so dependence is respected.

    Parameters
    ----------
    scorer
        As `prepare_accuracy` and its like make it.
    n
        Number of examples.

    Returns
    -------
    `contends` marks all whose lag behind the winner is no larger than chance makes the lag of the
    truly best, with this confidence. The interval's lower end is what is left if these are
    equally good, and the winner the luckiest; its upper end is that of the winner had it not been
    chosen.

    Examples
    --------
    >>> from outperform.stats import prepare_accuracy
    >>> predictions = np.array([[1, 0], [1, 1], [0, 0], [1, 1]])
    >>> scorer = prepare_accuracy(predictions, np.array([1, 1, 0, 0]))
    >>> result = bootstrap_winner(scorer, 4, rng=np.random.default_rng(0))
    >>> result.winner, float(result.scores[0]), result.bias > 0
    (0, 0.75, True)
    """
    check_count("n", n, at_least=2)
    check_count("n_resamples", n_resamples, at_least=100)
    check_open_unit("confidence_level", confidence_level)
    scores = scorer(np.ones((n, 1)))[0]
    resampled = _resample(scorer, n, n_resamples, rng)
    winner, tail = int(np.argmax(_find_best(scores))), (1 - confidence_level) / 2
    wins = _find_best(resampled)
    chosen = np.argmax(wins, axis=1)
    errors = resampled - scores
    excess = errors[np.arange(len(errors)), chosen]
    lags = errors.max(axis=1, keepdims=True) - errors
    reach = np.quantile(lags, confidence_level, axis=0) + ROUNDING
    contends = np.asarray(scores.max() - scores <= reach)
    low = float(scores[winner] - np.quantile(errors[:, contends].max(axis=1), 1 - tail))
    high = float(scores[winner] - np.quantile(errors[:, winner], tail))
    return WinnerBootstrap(
        scores=scores,
        winner=winner,
        bias=float(excess.mean()),
        interval=Interval(low, min(high, 1.0), confidence_level, "bootstrap"),
        win_shares=(wins / wins.sum(axis=1, keepdims=True)).mean(axis=0),  # a tie is shared
        contends=contends,
        n_resamples=len(resampled),
    )


def _resample(scorer: Scorer, n: int, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Scores in each resample that has any, shape (n_resamples, m)."""
    parts = []
    for n_columns in divide_rows(n_resamples, n, limit=_BLOCK_CELLS):
        drawn = rng.integers(0, n, size=(n, n_columns))
        drawn *= n_columns
        drawn += np.arange(n_columns)
        weights = np.bincount(drawn.ravel(), minlength=n * n_columns).reshape(n, n_columns)
        parts.append(scorer(weights.astype(float)))
    resampled = np.concatenate(parts)
    resampled = resampled[np.isfinite(resampled).all(axis=1)]
    if len(resampled) < n_resamples / 2:
        raise InvalidInput(
            f"{n_resamples - len(resampled)} of {n_resamples} resamples lack one of the classes",
            "Score more examples of the rare class",
        )
    return np.asarray(resampled)


def _find_best(scores: FloatArray) -> NDArray[np.bool_]:
    """Which are tied with the highest along the last axis; scores are shares, sums of examples."""
    return np.asarray(scores >= scores.max(axis=-1, keepdims=True) - ROUNDING)


def prepare_accuracy(predictions: Codes, labels: Codes) -> Scorer:
    """Share of examples predicted right."""
    correct = (predictions == labels[:, None]).astype(float)

    def score(weights: FloatArray) -> FloatArray:
        return np.asarray(weights.T @ correct / weights.sum(axis=0)[:, None])

    return score


def prepare_balanced_accuracy(predictions: Codes, labels: Codes) -> Scorer:
    """Share predicted right of each class, averaged over the classes that are there."""
    of_class = [(labels == code).astype(float) for code in np.unique(labels)]
    correct = (predictions == labels[:, None]).astype(float)

    def score(weights: FloatArray) -> FloatArray:
        total, n_classes = np.zeros((weights.shape[1], correct.shape[1])), 0.0
        for members in of_class:
            size = members @ weights
            right = weights.T @ (correct * members[:, None])
            total += right / np.maximum(size, 1.0)[:, None]
            n_classes = n_classes + (size > 0)
        return np.asarray(total / np.asarray(n_classes)[:, None])

    return score


def prepare_f1(predictions: Codes, labels: Codes, classes: Codes) -> Scorer:
    """Harmonic mean of precision and recall of each of these classes, averaged over them."""
    of_class = [
        ((labels == code).astype(float), (predictions == code).astype(float)) for code in classes
    ]

    def score(weights: FloatArray) -> FloatArray:
        total = np.zeros((weights.shape[1], predictions.shape[1]))
        for members, claimed in of_class:
            hits = weights.T @ (claimed * members[:, None])
            sizes = weights.T @ claimed + (members @ weights)[:, None]
            total += 2 * hits / np.maximum(sizes, 1.0)
        return total / len(of_class)

    return score


def prepare_auc(values: FloatArray, is_positive: NDArray[np.bool_]) -> Scorer:
    """Area under the ROC curve; ties count half.

    Each column is sorted once. For every resample, the weights of the negatives are cumulated in
    that order, and each positive looks up how many negatives it beats.
    """
    positives, negatives = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
    lookups = []
    for column in values.T:
        order = np.argsort(column[negatives], kind="stable")
        ordered = column[negatives][order]
        below = np.searchsorted(ordered, column[positives], side="left")
        upto = np.searchsorted(ordered, column[positives], side="right")
        lookups.append((negatives[order], below, None if (below == upto).all() else upto))

    def score(weights: FloatArray) -> FloatArray:
        of_positives = weights[positives]
        pairs = of_positives.sum(axis=0) * weights[negatives].sum(axis=0)
        beaten = np.zeros((negatives.size + 1, weights.shape[1]))
        result = np.empty((weights.shape[1], len(lookups)))
        for place, (order, below, upto) in enumerate(lookups):
            np.cumsum(weights[order], axis=0, out=beaten[1:])
            wins = np.einsum("ib,ib->b", of_positives, beaten[below])
            if upto is not None:
                wins = (wins + np.einsum("ib,ib->b", of_positives, beaten[upto])) / 2
            result[:, place] = wins
        with np.errstate(invalid="ignore"):  # 0 / 0: a class is missing
            return np.asarray(result / pairs[:, None])

    return score
