"""A sober reading of a leaderboard: how much of its top is luck."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from outperform.errors import InvalidInput, InvalidScores, TooFewRuns
from outperform.questions.sota.doubts import doubt_leaderboard
from outperform.questions.sota.result import LeaderboardAssessment, measure_lead
from outperform.questions.sota.score_models import AccuracyModel, AreaModel, ScoreModel
from outperform.runs.leaderboards import check_shares, read_leaderboard, standardise
from outperform.stats.checks import FloatArray, as_scores, check_count, check_open_unit, merge_ties


def assess_leaderboard(
    scores: ArrayLike | Path,
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
        Accuracies between 0 and 1, one per entry, all on the same examples; areas under the ROC
        curve if `n_positives` is given. Or the path of a file with a row per entry, which may
        have errors in place of accuracies.
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
    The best accuracy of 5 entries, 0.9300, is what luck makes of a true 0.9158 if all are equally \
good (95% interval [0.8954, 0.9313]); 3 entries cannot be told from the best.
    >>> round(result.luck, 4), round(result.luck_share, 2)
    (0.0142, 0.47)
    """
    if isinstance(scores, str | Path):
        board = read_leaderboard(scores, metric=metric, entry=_check_column(entries))
        board = standardise(board, percent=percent, is_auc=n_positives is not None)
        scores, entries, metric = board.scores, board.entries, board.metric
    elif percent:
        scores = as_scores(scores, "scores") / 100
    array = _check_scores(scores, test_size)
    check_open_unit("confidence_level", confidence_level)
    model = _choose_model(test_size, n_positives, dependence)
    top, m = float(array.max()), _count_entries(array.size, n_entries)
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
        gap=model.gap(m, typical, confidence_level),
        lead_chance=model.lead_chance(m, typical, measure_lead(array)),
    )
    return replace(result, caveats=tuple(doubt_leaderboard(result, model)))


def _check_column(entries: Any) -> str | None:
    if entries is not None and not isinstance(entries, str):
        raise InvalidInput(
            f"{len(entries)} names are passed with a file", "Name the column that has them"
        )
    return entries


def _check_scores(scores: ArrayLike, test_size: int) -> FloatArray:
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
    return array


def _count_entries(n_shown: int, n_entries: int | None) -> int:
    if n_entries is None:
        return n_shown
    check_count("n_entries", n_entries, at_least=1)
    if n_entries < n_shown:
        raise InvalidInput(
            f"{n_shown:,} scores are given, of {n_entries:,} entries",
            "Say how many took part, those without a score here included",
        )
    return n_entries


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
