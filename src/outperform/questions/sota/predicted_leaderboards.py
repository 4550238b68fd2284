"""A sober reading of a leaderboard of which every prediction is known."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outperform.errors import InvalidInput, InvalidScores, TooFewRuns
from outperform.plain_values import Plain
from outperform.questions.sota.leaderboards import describe_contenders
from outperform.runs.scope import EXAMPLES, THESE_MODELS, Scope
from outperform.stats import (
    Interval,
    WinnerBootstrap,
    bootstrap_winner,
    clopper_pearson_interval,
    prepare_accuracy,
    prepare_auc,
    prepare_balanced_accuracy,
    prepare_f1,
)
from outperform.stats.checks import as_generator, as_scores, check_choice
from outperform.stats.resampled_scores import Scorer
from outperform.stats.ties import merge_ties
from outperform.wording import enumerate_names

PredictedMetric = Literal["accuracy", "balanced accuracy", "f1", "auc"]
_NAMES = {"f1": "F1", "auc": "AUC"}
_FEW = 30  # examples of a class below which its share of a score hardly varies as it should


@dataclass(frozen=True, slots=True)
class PredictionAssessment(Plain):
    """What the best of many scores is worth, by redrawing the examples and the winner."""

    JSON = (
        "metric test_size best scope top bias=bootstrap.bias sober interval "
        "n_resamples=bootstrap.n_resamples entries=_entries caveats"
    )

    entries: tuple[str, ...]
    metric: str
    test_size: int
    bootstrap: WinnerBootstrap
    caveats: tuple[str, ...] = ()

    @property
    def scope(self) -> Scope:
        """What was redrawn, and what this is about for that reason."""
        return Scope((EXAMPLES,), THESE_MODELS)

    @property
    def n_entries(self) -> int:
        """How many there are."""
        return len(self.entries)

    @property
    def best(self) -> str:
        """The entry with the best score."""
        return self.entries[self.bootstrap.winner]

    @property
    def top(self) -> float:
        """The best score, taken at face value."""
        return float(self.bootstrap.scores[self.bootstrap.winner])

    @property
    def sober(self) -> float:
        """The best score without what choosing it has added."""
        return self.bootstrap.sober

    @property
    def interval(self) -> Interval:
        """Interval of the true score of the best."""
        return self.bootstrap.interval

    @property
    def indistinguishable(self) -> tuple[str, ...]:
        """The entries that may be the truly best."""
        marks = zip(self.entries, self.bootstrap.contends, strict=True)
        return tuple(entry for entry, contends in marks if contends)

    def __str__(self) -> str:
        percent = f"{100 * self.interval.confidence_level:g}%"
        return (
            f"{self.best} is the best of {len(self.entries):,} with {self.metric} {self.top:.4f}; "
            f"without the luck of being chosen it is {self.sober:.4f} ({percent} interval "
            f"[{self.interval.low:.4f}, {self.interval.high:.4f}]), and "
            f"{describe_contenders(len(self.indistinguishable))}."
        )

    @property
    def _entries(self) -> list[dict[str, Any]]:
        found = self.bootstrap
        columns = (self.entries, found.scores, found.win_shares, found.contends)
        names = ("entry", "score", "win_share", "contends")
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def assess_predictions(
    predictions: Mapping[str, ArrayLike],
    labels: ArrayLike,
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
        positives.
    labels
        The true class of each example. Of two classes, the later one in their order is positive.
    metric
        ``"accuracy"``, ``"balanced accuracy"``, ``"f1"`` (of the positives; of more than two
        classes the mean) or ``"auc"``.

    Examples
    --------
    >>> labels = [0, 1] * 50
    >>> predictions = {"always right": labels, "coin": [0, 0, 1, 1] * 25}
    >>> found = assess_predictions(predictions, labels, n_resamples=1000)
    >>> found.best, found.indistinguishable
    ('always right', ('always right',))
    """
    check_choice("metric", metric, get_args(PredictedMetric))
    truth = _as_column(labels)
    columns = {str(name): _as_column(values) for name, values in predictions.items()}
    _check_shapes(columns, truth)
    classes, codes = np.unique(truth, return_inverse=True)
    if classes.size < 2:
        raise InvalidScores(
            f"every label is {_spell(classes[0])}", "Pass labels of two or more classes"
        )
    found = bootstrap_winner(
        _prepare(columns, codes, classes, metric),
        truth.size,
        rng=as_generator(rng),
        n_resamples=n_resamples,
        confidence_level=confidence_level,
    )
    doubts = _list_doubts(codes, classes, found)
    return PredictionAssessment(
        tuple(columns), _NAMES.get(metric, metric), truth.size, found, doubts
    )


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
        return _prepare_ranking(columns, codes, classes)
    return _prepare_classes(columns, codes, classes, metric)


def _prepare_ranking(
    columns: dict[str, NDArray[Any]], codes: NDArray[np.int64], classes: NDArray[Any]
) -> Scorer:
    if classes.size != 2:
        named = enumerate_names(map(_spell, classes), limit=5)
        raise InvalidScores(
            f"AUC is of two classes, but the labels have {classes.size} ({named})",
            "Use the metric balanced accuracy or f1, or make labels of one class against the rest",
        )
    values = np.column_stack([as_scores(column, repr(name)) for name, column in columns.items()])
    return prepare_auc(values, codes == 1)


def _prepare_classes(
    columns: dict[str, NDArray[Any]],
    codes: NDArray[np.int64],
    classes: NDArray[Any],
    metric: PredictedMetric,
) -> Scorer:
    coded = np.column_stack([_code(name, each, classes) for name, each in columns.items()])
    if metric == "accuracy":
        return prepare_accuracy(coded, codes)
    if metric == "balanced accuracy":
        return prepare_balanced_accuracy(coded, codes)
    return prepare_f1(coded, codes, np.array([1]) if classes.size == 2 else np.arange(classes.size))


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


def _list_doubts(
    codes: NDArray[np.int64], classes: NDArray[Any], found: WinnerBootstrap
) -> tuple[str, ...]:
    doubts = _doubt_certainty(found.interval, codes.size)
    sizes = np.bincount(codes)
    if sizes.min() < _FEW:
        have = "1 example has" if sizes.min() == 1 else f"{sizes.min()} examples have"
        doubts.append(
            f"only {have} the label {_spell(classes[sizes.argmin()])}: resampling so few says "
            "little of how much their share of the score varies"
        )
    (scores,) = merge_ties(found.scores)
    rivals = int((scores == scores.max()).sum())
    if rivals > 1:
        doubts.append(f"{rivals} entries share the best score; the first of them is called best")
    doubts.append(
        "where all entries are equally good, a third of the luck is left in, or more if scores are "
        "nearly perfect: then believe the interval rather than the estimate"
    )
    return tuple(doubts)


def _doubt_certainty(interval: Interval, n: int) -> list[str]:
    if interval.low < interval.high:
        return []
    fits = clopper_pearson_interval(n, n, confidence_level=interval.confidence_level)
    return [
        "the best score is the same in every resample, so its interval has no width and is not to "
        f"be believed: even {n:,} of {n:,} right fit a true accuracy of {fits.low:.4f}"
    ]
