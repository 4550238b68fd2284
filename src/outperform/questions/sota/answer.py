"""How much of a top score is luck: of equals, of a leaderboard, of one with all predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outperform.errors import InvalidInput, InvalidScores, TooFewRuns
from outperform.questions.sota.doubts import doubt_leaderboard, doubt_predictions, doubt_turned
from outperform.questions.sota.result import (
    BestOfEquals,
    LeaderboardAssessment,
    PredictionAssessment,
)
from outperform.questions.sota.score_models import AccuracyModel, AreaModel, ScoreModel
from outperform.runs.leaderboards import (
    check_shares,
    read_leaderboard,
    read_predictions,
    standardise,
)
from outperform.stats import (
    BestOfDistribution,
    best_of_agreeing,
    best_of_correlated,
    bootstrap_winner,
    clopper_pearson_interval,
    prepare_accuracy,
    prepare_auc,
    prepare_balanced_accuracy,
    prepare_f1,
)
from outperform.stats.alignment import align_series
from outperform.stats.checks import (
    FloatArray,
    as_generator,
    as_scores,
    check_choice,
    check_count,
    check_open_unit,
    merge_ties,
)
from outperform.stats.winner_bootstrap import Scorer
from outperform.wording import enumerate_names

PredictedMetric = Literal["accuracy", "balanced accuracy", "f1", "auc"]
_NAMES = {"f1": "F1", "auc": "AUC"}


def best_of_equals(
    n_classifiers: int,
    *,
    test_size: int,
    accuracy: float,
    dependence: float = 0.0,
    agreement: float | None = None,
    better: float | None = None,
    confidence_level: float = 0.95,
) -> BestOfEquals:
    """Compute what the best of equally good classifiers shows on one test set.

    Parameters
    ----------
    accuracy
        True accuracy of every one of them.
    dependence
        Correlation of each one's successes with those of a reference as good as they are.
    agreement
        Instead of a correlation: chance of each to be right where a reference is right, which is
        right on exactly `accuracy` of the examples.
    better
        True accuracy of a better one; by default the upper end of the interval of one alone.

    Examples
    --------
    >>> print(best_of_equals(1000, test_size=3000, accuracy=0.9))
    The best of 1,000 classifiers of accuracy 0.9 shows 0.9173 on 3,000 examples (95% between \
0.9143 and 0.9213); one of true accuracy 0.9105 shows as much with a chance of 10.0%.
    """
    check_count("n_classifiers", n_classifiers, at_least=1)
    check_count("test_size", test_size, at_least=1)
    check_open_unit("accuracy", accuracy)
    check_open_unit("confidence_level", confidence_level)
    if better is not None:
        check_open_unit("better", better)
        if better <= accuracy:
            raise InvalidInput(
                f"better is {better:g}, which is not above the accuracy {accuracy:g}",
                "Pass the true accuracy of one that is better than the others",
            )
    right = round(accuracy * test_size)
    alone = clopper_pearson_interval(right, test_size, confidence_level=confidence_level)
    best = _distribute(n_classifiers, test_size, accuracy, dependence, agreement)
    doubts = ["all classifiers are taken to be equally good"]
    if dependence == 0 and agreement is None and n_classifiers > 1:
        doubts.append(
            "they are taken as independent; the more alike they are, the less the best exceeds "
            "their accuracy"
        )
    return BestOfEquals(
        accuracy=accuracy,
        distribution=best,
        alone=alone,
        interval=best.interval(confidence_level),
        better=alone.high if better is None else better,
        caveats=tuple(doubts),
    )


def _distribute(
    m: int, n: int, accuracy: float, dependence: float, agreement: float | None
) -> BestOfDistribution:
    if agreement is None:
        return best_of_correlated(m, n, accuracy, dependence)
    if dependence:
        raise InvalidInput(
            f"dependence is {dependence:g} and agreement {agreement:g}", "Pass one of the two"
        )
    n_right = round(accuracy * n)
    if abs(n_right - accuracy * n) > 1e-6:
        raise InvalidInput(
            f"no reference is right on exactly {accuracy:g} of {n} examples",
            f"Pass an accuracy such as {min(max(n_right, 1), n - 1) / n:.6g}, or a dependence "
            "instead of an agreement",
        )
    return best_of_agreeing(m, n, n_right, agreement)


def assess_leaderboard(
    scores: ArrayLike | Mapping[str, float] | Path,
    *,
    test_size: int,
    n_entries: int | None = None,
    n_positives: int | None = None,
    dependence: float = 0.0,
    confidence_level: float = 0.95,
    entries: Sequence[str] | str | None = None,
    metric: str | None = None,
    percent: bool = False,
) -> LeaderboardAssessment:
    """Assess how much of a leaderboard's top score is luck.

    Parameters
    ----------
    scores
        Accuracies between 0 and 1, one per entry or by their names, all on the same examples; areas
        under the ROC curve if `n_positives` is given. Or the path of a file with a row per entry,
        which may have errors in place of accuracies.
    test_size
        Number of examples that the scores come from.
    n_entries
        How many took part, if the scores are only those of the top.
    n_positives
        How many of them are positive; then the scores are AUC.
    dependence
        Correlation of each entry's successes with those of a common reference. Two entries then
        correlate by its square. 0: independent, which makes luck look largest.
    entries
        Their names; by default numbers. Of a file, the column that has them.
    metric
        What messages call the scores. Of a file, the column that has them.
    percent
        Whether the scores are per cent.

    Examples
    --------
    >>> result = assess_leaderboard([0.93, 0.9, 0.9, 0.89, 0.88], test_size=500)
    >>> print(result)
    The best accuracy of 5 entries, 0.9300, is partly luck: a sober estimate is 0.9158 if all \
entries are equally good (95% interval [0.8954, 0.9313]); 3 entries cannot be told from the best.
    >>> round(result.luck, 4), round(result.luck_share, 2)
    (0.0142, 0.47)
    """
    if isinstance(scores, Mapping):
        scores, entries = [*scores.values()], entries or [*map(str, scores)]
    if isinstance(scores, str | Path):
        if entries is not None and not isinstance(entries, str):
            raise InvalidInput(
                f"{len(entries)} names are passed with a file", "Name the column that has them"
            )
        board = read_leaderboard(scores, metric=metric, entry=entries)
        board = standardise(board, percent=percent, is_auc=n_positives is not None)
        scores, entries, metric = board.scores, board.entries, board.metric
    elif percent:
        scores = as_scores(scores, "scores") / 100
    array, m = _check_scores(scores, test_size, n_entries)
    check_open_unit("confidence_level", confidence_level)
    model = _choose_model(test_size, n_positives, dependence)
    first, second = np.sort(array)[:-3:-1]
    top, lead = float(first), float(first - second)
    sober, interval = model.estimate(m, top), model.limit(m, top, confidence_level)
    # Equals that never fail would not differ at all; no finite test set shows that they never do.
    typical = sober if 0 < sober < 1 else (interval.low + interval.high) / 2
    result = LeaderboardAssessment(
        entries=_name_entries(entries, array.size),
        scores=array,
        metric=metric or ("accuracy" if n_positives is None else "AUC"),
        n_entries=m,
        test_size=test_size,
        dependence=dependence,
        sober=sober,
        interval=interval,
        sober_if_different=top - model.luck(array),
        noise=model.noise((interval.low + interval.high) / 2),
        gap=model.gap(m, _vary_most(model, m, top), confidence_level),
        lead=lead,
        lead_chance=model.lead_chance(m, typical, lead),
    )
    return replace(result, caveats=tuple(doubt_leaderboard(result, model)))


def _vary_most(model: ScoreModel, m: int, top: float) -> float:
    """The score of equals at which they vary most, of those that the top makes likely.

    A lucky top makes entries look as if they varied little just where another lags by luck: with
    the sober score, the truly best would be ruled out in up to 7.6% of leaderboards instead of 5%.
    """
    likely = model.limit(m, top, 0.5)
    return float(np.clip(0.5, likely.low, likely.high))


def _check_scores(
    scores: ArrayLike, test_size: int, n_entries: int | None
) -> tuple[FloatArray, int]:
    """Scores of those shown, and how many took part."""
    (array,) = merge_ties(as_scores(scores, "scores"))
    check_count("test_size", test_size, at_least=2)
    if array.size < 2:
        raise TooFewRuns(
            f"a leaderboard of {array.size} entry has no luck of the draw",
            "Pass the scores of all entries",
        )
    check_shares(array, "scores")
    if not array.any():
        raise InvalidScores("all scores are 0", "Pass accuracies, not errors")
    if n_entries is None:
        return array, array.size
    check_count("n_entries", n_entries, at_least=1)
    if n_entries < array.size:
        raise InvalidInput(
            f"{array.size:,} scores are given, of {n_entries:,} entries",
            "Say how many took part, those without a score here included",
        )
    return array, n_entries


def _choose_model(test_size: int, n_positives: int | None, dependence: float) -> ScoreModel:
    if not 0 <= dependence < 1:
        raise InvalidInput(
            f"dependence is {dependence:g}",
            "Pass a correlation from 0 (independent) up to, not including, 1 (all the same)",
        )
    if n_positives is None:
        return AccuracyModel(test_size, dependence)
    check_count("n_positives", n_positives, at_least=1)
    if n_positives >= test_size:
        raise InvalidInput(
            f"{n_positives} of {test_size} examples are positive",
            "Pass fewer positives than examples: AUC compares both kinds",
        )
    return AreaModel(n_positives, test_size - n_positives, dependence)


def _name_entries(entries: Sequence[str] | None, m: int) -> tuple[str, ...]:
    if entries is None:
        return tuple(f"entry {number}" for number in range(1, m + 1))
    if len(entries) != m:
        raise InvalidInput(f"{len(entries)} names for {m} scores", "Name every entry, or none")
    return tuple(entries)


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
    if metric == "auc":
        doubts = (*doubts, *doubt_turned(tuple(columns), bootstrap.scores))
    name = _NAMES.get(metric, metric)
    return PredictionAssessment(tuple(columns), name, truth.size, bootstrap, doubts)


def _open(predictions: Any, labels: Any) -> tuple[dict[str, NDArray[Any]], NDArray[Any]]:
    """Columns of predictions by entry, and the labels."""
    if isinstance(predictions, str | Path):
        if labels is not None and not isinstance(labels, str):
            raise InvalidInput(
                "labels are passed with a file of predictions", "Name the column that has them"
            )
        predictions, labels = read_predictions(predictions, label=labels)
    if labels is None:
        raise InvalidInput("predictions come without labels", "Pass the true class of each example")
    columns = {
        str(name): _as_column(align_series(labels, values, f"in labels or in {str(name)!r}")[1])
        for name, values in predictions.items()
    }
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
