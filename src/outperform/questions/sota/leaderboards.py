"""A sober reading of a leaderboard: how much of its top is luck."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outperform.errors import InvalidInput, InvalidScores, TooFewRuns
from outperform.questions.simulate.score_models import AccuracyModel, AreaModel, ScoreModel
from outperform.questions.sota.doubts import list_doubts
from outperform.runs.leaderboards import check_shares
from outperform.runs.scope import EXAMPLES, THESE_MODELS, Scope
from outperform.stats import Interval
from outperform.stats.checks import FloatArray, as_scores, check_count, check_open_unit
from outperform.stats.ties import merge_ties


@dataclass(frozen=True, slots=True)
class LeaderboardAssessment:
    """What the best of many scores on one test set is worth."""

    entries: tuple[str, ...]
    scores: FloatArray = field(compare=False, repr=False)
    metric: str
    n_entries: int  # of which the scores may show only the top
    test_size: int
    dependence: float  # correlation of each entry with what all have in common
    sober: float  # true score of equals whose best is expected to show the top score
    interval: Interval  # of that true score
    sober_if_different: float  # of the best, if each entry is about as good as its score
    gap: float  # how far below the top the truly best may be
    lead_chance: float  # that equals lead the second by as much as the best does
    caveats: tuple[str, ...] = ()

    @property
    def scope(self) -> Scope:
        """What would vary on a fresh test set, and what this is about for that reason."""
        return Scope((EXAMPLES,), THESE_MODELS, how="vary")

    @property
    def top(self) -> float:
        """The best score, taken at face value."""
        return float(self.scores.max())

    @property
    def best(self) -> str:
        """The entry with the best score."""
        return self.entries[int(self.scores.argmax())]

    @property
    def median(self) -> float:
        """Score of the middle entry."""
        return float(np.median(self.scores))

    @property
    def lead(self) -> float:
        """By how much the best leads the second."""
        return _measure_lead(self.scores)

    @property
    def luck(self) -> float:
        """How much of the top score is luck if all entries are equally good."""
        return self.top - self.sober

    @property
    def luck_share(self) -> float:
        """Share of the best's lead over the median that equals would have by luck."""
        ahead = self.top - self.median
        return 1.0 if ahead <= self.luck else self.luck / ahead

    @property
    def contends(self) -> NDArray[np.bool_]:
        """Whether each entry may be the truly best, at the confidence level of the interval."""
        # 1e-12: a score that lags by exactly the gap is within it.
        return np.asarray(self.top - self.scores <= self.gap + 1e-12)

    @property
    def indistinguishable(self) -> tuple[str, ...]:
        """The entries that cannot be told from the best, in their order on the leaderboard."""
        return tuple(n for n, c in zip(self.entries, self.contends, strict=True) if c)

    @property
    def is_cut_off(self) -> bool:
        """Whether there are entries whose scores are not shown."""
        return self.n_entries > len(self.entries)

    def __str__(self) -> str:
        percent = f"{100 * self.interval.confidence_level:g}%"
        at_least = "at least " if self.is_cut_off and self.contends.all() else ""
        return (
            f"The best {self.metric} of {self.n_entries:,} entries, {self.top:.4f}, is what luck "
            f"makes of a true {self.sober:.4f} if all are equally good ({percent} interval "
            f"{format_range(self)}); {at_least}{describe_contenders(int(self.contends.sum()))}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "n_entries": self.n_entries,
            "n_shown": len(self.entries),
            "metric": self.metric,
            "test_size": self.test_size,
            "dependence": self.dependence,
            "best": self.best,
            "scope": self.scope.to_dict(),
            "top": self.top,
            "median": self.median,
            "lead": self.lead,
            "lead_chance": self.lead_chance,
            "sober": self.sober,
            "interval": self.interval.to_dict(),
            "sober_if_different": self.sober_if_different,
            "luck": self.luck,
            "luck_share": self.luck_share,
            "gap": self.gap,
            "indistinguishable": list(self.indistinguishable),
            "caveats": list(self.caveats),
        }


def assess_leaderboard(
    scores: ArrayLike,
    *,
    test_size: int,
    n_entries: int | None = None,
    n_positives: int | None = None,
    dependence: float = 0.0,
    confidence_level: float = 0.95,
    entries: Sequence[str] | None = None,
    metric: str | None = None,
) -> LeaderboardAssessment:
    """Assess how much of a leaderboard's top score is luck.

    Parameters
    ----------
    scores
        Accuracies between 0 and 1, one per entry, all on the same examples; areas under the ROC
        curve if `n_positives` is given.
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
        Their names; by default numbers.
    metric
        What messages call the scores.

    Examples
    --------
    >>> found = assess_leaderboard([0.93, 0.9, 0.9, 0.89, 0.88], test_size=500)
    >>> print(found)
    The best accuracy of 5 entries, 0.9300, is what luck makes of a true 0.9158 if all are equally \
good (95% interval [0.8954, 0.9313]); 3 entries cannot be told from the best.
    >>> round(found.luck, 4), round(found.luck_share, 2)
    (0.0142, 0.47)
    """
    array = _check_scores(scores, test_size)
    check_open_unit("confidence_level", confidence_level)
    model = _choose_model(test_size, n_positives, dependence)
    top, m = float(array.max()), _count_entries(array.size, n_entries)
    sober, interval = model.estimate(m, top), model.limit(m, top, confidence_level)
    # Equals that never fail would not differ at all; no finite test set shows that they never do.
    typical = sober if 0 < sober < 1 else (interval.low + interval.high) / 2
    found = LeaderboardAssessment(
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
        lead_chance=model.lead_chance(m, typical, _measure_lead(array)),
    )
    return replace(found, caveats=list_doubts(found, model))


def format_range(assessed: LeaderboardAssessment) -> str:
    """Interval with as many digits as scores have."""
    return f"[{assessed.interval.low:.4f}, {assessed.interval.high:.4f}]"


def describe_contenders(n_contenders: int) -> str:
    """Say how many may be the best."""
    if n_contenders == 1:
        return "no other can be taken for the best"
    return f"{n_contenders:,} entries cannot be told from the best"


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


def _measure_lead(scores: FloatArray) -> float:
    first, second = np.sort(scores)[:-3:-1]
    return float(first - second)


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
