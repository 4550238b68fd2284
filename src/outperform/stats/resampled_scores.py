"""Scores of many under weights of the examples: what a bootstrap over examples asks for.

Each function prepares a scorer from predictions of shape (n, m), one column for each that is
scored, and labels of shape (n,). A scorer takes weights of shape (n, b), how often each of b
resamples holds each example, and gives scores of shape (b, m), higher is better. Where a resample
holds no example that a score needs, the score is NaN.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from outperform.stats.checks import FloatArray

Scorer: TypeAlias = Callable[[FloatArray], FloatArray]
Codes: TypeAlias = NDArray[np.int64]  # of the class of each example


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
