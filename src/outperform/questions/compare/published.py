"""Does A outperform B, from published means of one dataset."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from outperform.errors import InvalidInput, InvalidScores
from outperform.questions.compare.conclusion import (
    OfTwo,
    Size,
    Verdict,
    Winner,
    describe,
    judge,
    judge_size,
    name_level,
)
from outperform.questions.compare.result import Comparison
from outperform.questions.compare.table import describe_test, entitle, name_chance
from outperform.questions.result import Table
from outperform.runs import Goal
from outperform.runs.metrics import find_limits, is_bare_score, is_share
from outperform.runs.scope import UNKNOWN, Scope
from outperform.runs.suspicions import mixes_scales
from outperform.stats import (
    HypothesisTest,
    Interval,
    Summary,
    probability_from_summary,
    welch_from_summary,
)
from outperform.stats.checks import check_choice, check_gamma
from outperform.wording import format_spread

_ASSUMPTIONS = (
    "from a published table: the scores are taken as normal and the runs as independent; with "
    "the runs themselves nothing need be assumed",
    "papers often print standard errors: if ± is one, multiply it by √n first",
)
_NO_SPREAD = "the standard deviation of {} is 0, which training with several seeds rarely gives"
_LEAST_PERCENT = 10  # below it, two numbers may be a hundredfold apart by chance
_SMALL = 0.1  # a standard deviation that any shares may have, of which means are rounded


@dataclass(frozen=True, slots=True)
class PublishedComparison(OfTwo):
    """Whether `a` outperforms `b`, as far as means and standard deviations tell."""

    JSON = (
        "a b task metric goal verdict winner winner_name size scope probability interval gamma "
        "n_a=summary_a.n n_b=summary_b.n mean_a=summary_a.mean mean_b=summary_b.mean "
        "sd_a=summary_a.sd sd_b=summary_b.sd tests caveats"
    )
    ADVICE = "ask the authors for their runs: with them no distribution need be assumed."
    scope: ClassVar[Scope] = UNKNOWN

    a: str
    b: str
    summary_a: Summary
    summary_b: Summary
    goal: Goal
    probability: float  # estimate of P(a > b) under normality
    interval: Interval
    test: HypothesisTest  # Welch's t
    gamma: float
    metric: str = "score"
    task: str = ""
    caveats: tuple[str, ...] = _ASSUMPTIONS

    @property
    def winner(self) -> Winner | None:
        """Who is significantly better, if anyone."""
        if self.interval.low > 0.5:
            return "a"
        return "b" if self.interval.mirrored().low > 0.5 else None

    @property
    def verdict(self) -> Verdict:
        """What may be concluded."""
        return judge(self.size)

    @property
    def size(self) -> Size | None:
        """Whether the advantage is shown to matter."""
        if self.winner is None:
            return None
        winning = self.interval if self.winner == "a" else self.interval.mirrored()
        return judge_size(winning, self.gamma)

    @property
    def alpha(self) -> float:
        """Chance of a false alarm that the interval was made for."""
        return 1 - self.interval.confidence_level

    @property
    def pvalues(self) -> dict[Winner, float]:
        """One-sided p-value of either side, of Welch's t."""
        pvalue: float = self.test.pvalue / 2
        of_a = pvalue if self.test.statistic > 0 else 1 - pvalue
        return {"a": of_a, "b": 1 - of_a}

    def __str__(self) -> str:
        chance = f"P({self.a} > {self.b}) = {self.probability:.3g} {self.interval}"
        if self.winner == "b":
            mirrored = self.interval.mirrored()
            chance = f"P({self.b} > {self.a}) = {1 - self.probability:.3g} {mirrored}"
        return (
            f"{describe(self.a, self.b, self.winner, self.verdict)}: {chance} if scores are "
            f"normal, {self.verdict} "
            f"({self.summary_a.n} and {self.summary_b.n} runs, γ = {self.gamma:g}; Welch's t: "
            f"p = {self.test.pvalue:.2g}{name_level(self.alpha)})."
        )

    @property
    def tables(self) -> list[Table | str]:
        """What was published, and what it tells."""
        sides = ((self.a, self.summary_a), (self.b, self.summary_b))
        means = [(name, f"{format_spread(s.mean, s.sd)} ({s.n} runs)") for name, s in sides]
        chance = f"{self.probability:.3g} {self.interval} ({self.interval.method})"
        rows = [*means, (name_chance(self), chance), describe_test(self.test)]
        return [Table((), rows, title=entitle(self))]

    @property
    def tests(self) -> tuple[HypothesisTest]:
        """The test of the means, as in comparisons of runs."""
        return (self.test,)


def compare_published(
    summary_a: Summary,
    summary_b: Summary,
    *,
    names: tuple[str, str] = ("A", "B"),
    goal: Goal = "maximize",
    gamma: float = 0.75,
    confidence_level: float = 0.95,
    metric: str = "score",
) -> PublishedComparison:
    """Compare two algorithms of which only mean, standard deviation and number of runs are known.

    Parameters
    ----------
    summary_a, summary_b
        In the metric's own sign.
    metric
        What the scores are; a fraction and per cent of an accuracy are refused.

    Examples
    --------
    >>> result = compare_published(Summary(76.3, 0.4, 10), Summary(75.1, 0.5, 10))
    >>> result.verdict
    'significant and meaningful'
    """
    check_choice("goal", goal, ("maximize", "minimize"))
    check_gamma(gamma)
    for name, summary in (("summary_a", summary_a), ("summary_b", summary_b)):
        if not isinstance(summary, Summary):
            raise InvalidInput(
                f"{name} is {summary!r}", "Pass outperform.stats.Summary(mean, sd, n)"
            )
    if not (isinstance(names, Sequence) and len(names) == len(set(names)) == 2):
        raise InvalidInput(f"names is {names!r}", "Pass two different names")
    _check_scales(names, (summary_a.mean, summary_b.mean), metric)
    for name, summary in zip(names, (summary_a, summary_b), strict=True):
        _check_spread(name, summary, metric)
    return compare_summaries(
        summary_a,
        summary_b,
        names=names,
        goal=goal,
        gamma=gamma,
        confidence_level=confidence_level,
        metric=metric,
    )


def compare_summaries(
    summary_a: Summary,
    summary_b: Summary,
    *,
    names: tuple[str, str],
    goal: Goal,
    gamma: float,
    confidence_level: float,
    metric: str,
) -> PublishedComparison:
    """Compare summaries that are known to be possible, or would be if ± were standard errors."""
    first, second = summary_a, summary_b
    if goal == "minimize":
        first, second = (Summary(-s.mean, s.sd, s.n) for s in (summary_a, summary_b))
    estimate = probability_from_summary(first, second, confidence_level=confidence_level)
    constant = [name for name, s in zip(names, (summary_a, summary_b), strict=True) if s.sd == 0]
    return PublishedComparison(
        a=names[0],
        b=names[1],
        summary_a=summary_a,
        summary_b=summary_b,
        goal=goal,
        probability=estimate.value,
        interval=estimate.interval,
        test=welch_from_summary(first, second),
        gamma=gamma,
        metric=metric,
        caveats=_ASSUMPTIONS + tuple(_NO_SPREAD.format(name) for name in constant),
    )


def _check_scales(names: Sequence[str], means: Sequence[float], metric: str) -> None:
    """Refuse a share as a fraction beside one in per cent."""
    if not (is_share(metric) or is_bare_score(metric)) or max(means) < _LEAST_PERCENT:
        return
    if mixes_scales(np.array(means)):
        values = " and ".join(f"{m:g} for {name!r}" for name, m in zip(names, means, strict=True))
        other = (
            "; if they are right as they are, name the metric: --metric NAME (metric= in Python)"
        )
        raise InvalidScores(
            f"the means are {values}: these look like a fraction and per cent",
            f"Give both in one unit{other if is_bare_score(metric) else ''}",
        )


def _check_spread(name: str, summary: Summary, metric: str) -> None:
    """Refuse a standard deviation that no shares with this mean can have."""
    mean, n, (_, high) = summary.mean, summary.n, find_limits(metric, np.array([summary.mean]))
    if not np.isfinite(high):
        return
    # The largest is that of runs in which all or nothing is right; means of such are rounded.
    largest = max((mean * (high - mean) * n / (n - 1)) ** 0.5, _SMALL * high)
    if summary.sd > largest:
        raise InvalidScores(
            f"{metric} between 0 and {high:g} with a mean of {mean:g} cannot have a standard "
            f"deviation of {summary.sd:g}, as {name!r} has",
            "Give both in one unit, fractions or per cent, and the mean first",
        )


PairResult = Comparison | PublishedComparison
