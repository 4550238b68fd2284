"""A sober reading of a leaderboard of which every prediction is known."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outperform.errors import InvalidInput, InvalidScores, TooFewRuns
from outperform.questions.sota.doubts import doubt_predictions
from outperform.questions.sota.result import PredictionAssessment
from outperform.runs.leaderboards import read_predictions
from outperform.stats import (
    bootstrap_winner,
    prepare_accuracy,
    prepare_auc,
    prepare_balanced_accuracy,
    prepare_f1,
)
from outperform.stats.checks import as_generator, as_scores, check_choice
from outperform.stats.winner_bootstrap import Scorer
from outperform.wording import enumerate_names

PredictedMetric = Literal["accuracy", "balanced accuracy", "f1", "auc"]
_NAMES = {"f1": "F1", "auc": "AUC"}


def assess_predictions(
    predictions: Mapping[str, ArrayLike] | str | Path,
    labels: ArrayLike | None = None,
    *,
    metric: PredictedMetric = "accuracy",
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    rng: np.random.Generator | None = None,
) -> PredictionAssessment:
    """Assess how much of a leaderboard's top score is luck, from every entry's predictions.

    Parameters
    ----------
    predictions
        By entry, one prediction per example: classes, or for AUC a score that is higher for
        positives. Or the path of a file with a row per example and a column per entry.
    labels
        The true class of each example. Of two classes, the later one in their order is positive.
        Of a file, the column that has them, if it is not called so.
    metric
        ``"accuracy"``, ``"balanced accuracy"``, ``"f1"`` (of the positives; of more than two
        classes the mean) or ``"auc"``.

    Examples
    --------
    >>> labels = [0, 1] * 50
    >>> predictions = {"always right": labels, "coin": [0, 0, 1, 1] * 25}
    >>> result = assess_predictions(predictions, labels, n_resamples=1000)
    >>> result.best, result.indistinguishable
    ('always right', ('always right',))
    """
    check_choice("metric", metric, get_args(PredictedMetric))
    columns, truth = _open(predictions, labels)
    _check_shapes(columns, truth)
    classes, codes = np.unique(truth, return_inverse=True)
    if classes.size < 2:
        raise InvalidScores(
            f"every label is {_spell(classes[0])}", "Pass labels of two or more classes"
        )
    bootstrap = bootstrap_winner(
        _prepare(columns, codes, classes, metric),
        truth.size,
        rng=as_generator(rng),
        n_resamples=n_resamples,
        confidence_level=confidence_level,
    )
    sizes = np.bincount(codes)
    rarest = _spell(classes[sizes.argmin()]), int(sizes.min())
    doubts = tuple(doubt_predictions(bootstrap, truth.size, rarest=rarest))
    name = _NAMES.get(metric, metric)
    return PredictionAssessment(tuple(columns), name, truth.size, bootstrap, doubts)


def _open(predictions: Any, labels: Any) -> tuple[dict[str, NDArray[Any]], NDArray[Any]]:
    """Columns of predictions by entry, and the labels."""
    if isinstance(predictions, str | Path):
        if labels is not None and not isinstance(labels, str):
            raise InvalidInput(
                "labels are passed with a file of predictions", "Name the column that has them"
            )
        table = read_predictions(predictions, label=labels)
        predictions, labels = table.by_entry, table.labels
    if labels is None:
        raise InvalidInput("predictions come without labels", "Pass the true class of each example")
    columns = {str(name): _as_column(values) for name, values in predictions.items()}
    return columns, _as_column(labels)


def _as_column(values: ArrayLike) -> NDArray[Any]:
    array = np.asarray(values)
    return array.astype(str) if array.dtype.kind == "O" else array


def _check_shapes(columns: dict[str, NDArray[Any]], truth: NDArray[Any]) -> None:
    if len(columns) < 2:
        raise TooFewRuns(
            f"{len(columns)} entry has predictions", "Pass those of two or more: one has no luck"
        )
    if truth.ndim != 1 or truth.size < 2:
        raise InvalidScores(f"labels have shape {truth.shape}", "Pass one label per example")
    if truth.dtype.kind == "f" and np.isnan(truth).any():
        raise InvalidScores(
            f"{int(np.isnan(truth).sum())} labels are missing", "Remove the examples without one"
        )
    for name, values in columns.items():
        if values.shape != truth.shape:
            raise InvalidScores(
                f"{name!r} has predictions of shape {values.shape} for {truth.size} labels",
                "Pass one prediction per example",
            )
        if values.dtype.kind == "f" and np.isnan(values).any():
            raise InvalidScores(
                f"{name!r} lacks {int(np.isnan(values).sum())} of {truth.size} predictions",
                "Leave it out, or the examples that it does not predict",
            )
    if len(columns) > truth.size:
        raise InvalidInput(
            f"{len(columns)} entries predict only {truth.size} examples",
            "Put entries in columns and examples in rows",
        )


def _prepare(
    columns: dict[str, NDArray[Any]],
    codes: NDArray[np.int64],
    classes: NDArray[Any],
    metric: PredictedMetric,
) -> Scorer:
    if metric == "auc":
        if classes.size != 2:
            named = enumerate_names(map(_spell, classes), limit=5)
            raise InvalidScores(
                f"AUC is of two classes, but the labels have {classes.size} ({named})",
                "Use the metric balanced accuracy or f1, or make labels of one class against the "
                "rest",
            )
        scores = [as_scores(column, repr(name)) for name, column in columns.items()]
        return prepare_auc(np.column_stack(scores), codes == 1)
    coded = np.column_stack([_code(name, each, classes) for name, each in columns.items()])
    if metric == "f1":
        counted = np.array([1]) if classes.size == 2 else np.arange(classes.size)
        return prepare_f1(coded, codes, counted)
    return (prepare_accuracy if metric == "accuracy" else prepare_balanced_accuracy)(coded, codes)


def _code(name: str, values: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    """Places of predictions among the classes."""
    comparable = (values.dtype.kind in "US") == (classes.dtype.kind in "US")
    unknown = values[~np.isin(values, classes)] if comparable else values
    if unknown.size:
        known = enumerate_names(map(_spell, classes), limit=5)
        raise InvalidScores(
            f"{name!r} predicts {_spell(unknown[0])}, which is no label (labels: {known})",
            "Predict classes, spelled as the labels are; scores of how likely a class is are for "
            "the metric auc",
        )
    return np.searchsorted(classes, values).astype(np.int64)


def _spell(label: Any) -> str:
    """Whole numbers that a file's reader made floats are written as they were."""
    return f"{label:g}" if isinstance(label, float) else str(label)
