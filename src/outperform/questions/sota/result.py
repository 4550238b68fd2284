"""What a top score is worth: of equals, of a leaderboard, and of one with all predictions."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from outperform.questions.result import Result, Table
from outperform.runs.scope import EXAMPLES, THESE_MODELS, Scope
from outperform.stats import (
    BestOfDistribution,
    Interval,
    WinnerBootstrap,
    chance_needed,
    chance_to_reach,
)
from outperform.stats.checks import FloatArray

_N_ENTRIES = 10  # in a table
_SPREAD = 1.5  # times the spread by chance from which entries are not equally good
_CONTENDERS = "all entries that may be the best; only a fresh test set tells them apart."


@dataclass(frozen=True, slots=True)
class BestOfEquals(Result):
    """The state of the art among m classifiers of one true accuracy."""

    JSON = (
        "n_classifiers=distribution.m test_size=distribution.n accuracy scope mean "
        "sd=distribution.sd interval alone better chance_to_reach_mean chance_to_reach_upper "
        "chance_to_exceed_upper needed power caveats"
    )
    ADVICE = (
        "compare with the accuracy you expect of the classifiers, not with the best score that "
        "one of them showed."
    )
    power: ClassVar[float] = 0.8  # the chance to look better that `needed` gives

    accuracy: float  # the true one, of all
    distribution: BestOfDistribution  # of the best
    alone: Interval  # Clopper and Pearson's, of one classifier that shows the true accuracy
    interval: Interval  # that the best lies in
    better: float  # true accuracy of a classifier that is better
    caveats: tuple[str, ...] = ()

    @property
    def scope(self) -> Scope:
        """What varies from one test set to the next, and what this is about for that reason."""
        size = f"test sets of {self.distribution.n:,} examples"
        return Scope((EXAMPLES,), f"equally good classifiers on {size}", how="vary")

    @property
    def mean(self) -> float:
        """Expected accuracy of the best."""
        return self.distribution.mean

    @property
    def upper(self) -> float:
        """Accuracy that the best reaches with a chance of α/2, at least."""
        return self.interval.high

    @property
    def chance_to_reach_mean(self) -> float:
        """That the better one shows at least what the best of the others is expected to."""
        return chance_to_reach(self.mean, self.distribution.n, self.better)

    @property
    def chance_to_reach_upper(self) -> float:
        """That the better one shows at least the upper bound of the best."""
        return chance_to_reach(self.upper, self.distribution.n, self.better)

    @property
    def chance_to_exceed_upper(self) -> float:
        """That the better one shows more than the upper bound of the best."""
        return chance_to_reach(self.upper, self.distribution.n, self.better, strictly=True)

    @property
    def needed(self) -> float:
        """True accuracy that reaches the expected best with the power asked for."""
        return chance_needed(self.mean, self.distribution.n, self.power)

    def __str__(self) -> str:
        best = self.distribution
        return (
            f"The best of {best.m:,} classifiers of accuracy {self.accuracy:g} shows "
            f"{self.mean:.4f} on {best.n:,} examples ({self.interval.level} between "
            f"{self.interval.low:.4f} and {self.upper:.4f}); one of true accuracy "
            f"{self.better:.4f} shows as much with a chance of {self.chance_to_reach_mean:.1%}."
        )

    @property
    def tables(self) -> list[Table | str]:
        """What the best shows, and a better one's chances to show more."""
        level, alone, upper = self.interval.level, self.alone, f"{self.upper:.4f}"
        best = [
            ("expected best", f"{self.mean:.4f} ± {self.distribution.sd:.6f}"),
            (f"{level} of the best", f"{self.interval.low:.4f} to {upper}"),
            (f"{level} of one alone", f"{alone.low:.4f} to {alone.high:.4f}"),
        ]
        chances = [
            ("at least the expected best", f"{self.chance_to_reach_mean:.2%}"),
            (f"at least {upper}", f"{self.chance_to_reach_upper:.2%}"),
            (f"more than {upper}", f"{self.chance_to_exceed_upper:.2%}"),
        ]
        better = f"A truly better classifier, of accuracy {self.better:.4f}, has a chance to show"
        needed = (
            f"To show at least the expected best with a chance of {self.power:.0%}, its true "
            f"accuracy must be {self.needed:.4f}."
        )
        return [Table((), best), Table((), chances, title=better), needed]


@dataclass(frozen=True, slots=True)
class LeaderboardAssessment(Result):
    """What the best of many scores on one test set is worth."""

    JSON = (
        "n_entries n_shown=scores.size metric test_size dependence best scope top median lead "
        "lead_chance sober interval sober_if_different luck luck_share gap indistinguishable "
        "caveats"
    )
    ADVICE = (
        "report both sober estimates (the best is worth something between them, if entries are "
        f"as independent as assumed) and {_CONTENDERS}"
    )
    scope: ClassVar[Scope] = Scope((EXAMPLES,), THESE_MODELS, how="vary")  # on a fresh test set

    entries: tuple[str, ...]
    scores: FloatArray = field(compare=False, repr=False)
    metric: str
    n_entries: int  # of which the scores may show only the top
    test_size: int
    dependence: float  # correlation of each entry with what all have in common
    sober: float  # true score of equals whose best is expected to show the top score
    interval: Interval  # of that true score
    sober_if_different: float  # of the best, if each entry is about as good as its score
    noise: float  # standard deviation of one score, by chance
    gap: float  # how far below the top the truly best may be
    lead: float  # of the best over the second
    lead_chance: float  # that equals lead the second by as much as the best does
    caveats: tuple[str, ...] = ()

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
    def spread(self) -> float:
        """Standard deviation of the scores."""
        return float(self.scores.std(ddof=1))

    @property
    def are_unequal(self) -> bool:
        """Whether scores spread more than those of equally good entries do."""
        return not self.is_cut_off and self.spread > _SPREAD * self.noise

    @property
    def are_alike(self) -> bool:
        """Whether so many are near the top that independent entries would have gone beyond it."""
        return not self.is_cut_off and self.median > self.interval.high

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
        return tuple(compress(self.entries, self.contends))

    @property
    def is_cut_off(self) -> bool:
        """Whether there are entries whose scores are not shown."""
        return self.n_entries > len(self.entries)

    def __str__(self) -> str:
        at_least = "at least " if self.is_cut_off and self.contends.all() else ""
        worth = f"{self.sober:.4f} if all entries are equally good ({_describe(self.interval)})"
        if self.are_alike:
            worth = f"{self.sober:.4f} or more, since entries are more alike than assumed"
        elif self.are_unequal:
            worth = (
                f"{self.sober:.4f} (if all entries were equally good) to "
                f"{self.sober_if_different:.4f} (if each were as good as its score)"
            )
        return (
            f"The best {self.metric} of {self.n_entries:,} entries, {self.top:.4f}, is partly "
            f"luck: a sober estimate is {worth}; {at_least}{_count_contenders(self.contends)}."
        )

    @property
    def tables(self) -> list[Table | str]:
        """What the top score is worth, and how many may be the truly best."""
        share = "all" if self.luck_share == 1 else f"{self.luck_share:.0%}"
        ahead = f", {share} of the lead over the median ({self.median:.4f})"
        n_shown = f"{len(self.entries):,}"
        if self.is_cut_off:
            ahead, n_shown = "", f"{n_shown} shown"
        values = {
            "top score": f"{self.top:.5g} ({self.best})",
            "sober, if all are equally good": f"{self.sober:.4f}, {_describe(self.interval)}",
            "sober, if each is as good as its score": f"{self.sober_if_different:.4f}",
            "luck, if all are equally good": f"{self.luck:.4f}{ahead}",
            "lead over the second": f"{self.lead:.5f}; if all are equally good, the chance "
            f"of such a lead is {self.lead_chance:.0%}",
            "may be the truly best": f"{int(self.contends.sum()):,} of {n_shown}, at "
            f"{self.interval.level} confidence: scores from "
            f"{max(0.0, self.top - self.gap):.4f} up",
        }
        return [Table((), [*values.items()]), _tabulate_top(self)]


@dataclass(frozen=True, slots=True)
class PredictionAssessment(Result):
    """What the best of many scores is worth, by redrawing the examples and the winner."""

    JSON = (
        "metric test_size best scope top bias=bootstrap.bias sober interval "
        "n_resamples=bootstrap.n_resamples entries=_entries caveats"
    )
    ADVICE = f"report the sober estimate with its interval and {_CONTENDERS}"
    scope: ClassVar[Scope] = Scope((EXAMPLES,), THESE_MODELS)

    entries: tuple[str, ...]
    metric: str
    test_size: int
    bootstrap: WinnerBootstrap
    caveats: tuple[str, ...] = ()

    @property
    def n_entries(self) -> int:
        """How many there are."""
        return len(self.entries)

    @property
    def scores(self) -> FloatArray:
        """Of each entry."""
        return self.bootstrap.scores

    @property
    def contends(self) -> NDArray[np.bool_]:
        """Whether each entry may be the truly best."""
        return self.bootstrap.contends

    @property
    def best(self) -> str:
        """The entry with the best score."""
        return self.entries[self.bootstrap.winner]

    @property
    def top(self) -> float:
        """The best score, taken at face value."""
        return float(self.scores[self.bootstrap.winner])

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
        return tuple(compress(self.entries, self.contends))

    def __str__(self) -> str:
        return (
            f"{self.best} is the best of {self.n_entries:,} with {self.metric} {self.top:.4f}; "
            f"without the luck of being chosen it is {self.sober:.4f} "
            f"({_describe(self.interval)}), and "
            f"{_count_contenders(self.contends)}."
        )

    @property
    def tables(self) -> list[Table | str]:
        """The top entries, how often each wins, and who may be the best."""
        bootstrap = self.bootstrap
        luck = f"luck in the top score: {bootstrap.bias:.4f} ({bootstrap.n_resamples:,} resamples)"
        wins = [f"{share:.1%}" for share in bootstrap.win_shares]
        return [_tabulate_top(self, luck, wins)]

    @property
    def _entries(self) -> list[dict[str, Any]]:
        columns = (self.entries, self.scores, self.bootstrap.win_shares, self.contends)
        names = ("entry", "score", "win_share", "contends")
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _tabulate_top(
    result: LeaderboardAssessment | PredictionAssessment,
    title: str = "",
    wins: Sequence[str] = (),
) -> Table:
    """The first entries, and who may be the truly best."""
    order = np.argsort(-result.scores, kind="stable")[:_N_ENTRIES]
    may = ["yes" if contends else "no" for contends in result.contends]
    rows = [[result.entries[i], f"{result.scores[i]:.4f}", *wins[i : i + 1], may[i]] for i in order]
    n_more = len(result.entries) - len(rows)
    header = ["entry", result.metric, *(["wins"] if wins else []), "may be the best"]
    return Table(header, rows, title=title, note=f"  and {n_more:,} more" if n_more else "")


def _count_contenders(contends: NDArray[np.bool_]) -> str:
    n = int(contends.sum())
    if n == 1:
        return "no other can be taken for the best"
    return f"{n:,} entries cannot be told from the best"


def _describe(interval: Interval) -> str:
    """With as many digits as scores have."""
    return f"{interval.level} interval [{interval.low:.4f}, {interval.high:.4f}]"
