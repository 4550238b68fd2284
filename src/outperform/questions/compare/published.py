"""Does A outperform B, from published means: of one dataset, or of a table with several."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from outperform.errors import InvalidInput, InvalidScores, UnknownDirection
from outperform.questions.compare.doubts import doubt_metric
from outperform.questions.compare.result import (
    Comparison,
    OfTwo,
    Size,
    Verdict,
    Winner,
    describe,
    describe_test,
    entitle,
    judge,
    judge_size,
    name_chance,
    name_level,
)
from outperform.questions.compare.task_results import OnTasks, describe_better
from outperform.questions.result import Result, Table, join_caveats
from outperform.runs import Goal
from outperform.runs.metrics import find_limits, is_bare_score, is_share, known_goal, resolve_goal
from outperform.runs.published_tables import PublishedCell, PublishedTable, read_published_table
from outperform.runs.scope import RUNS, THESE_TASKS, UNKNOWN, Scope
from outperform.runs.suspicions import mixes_scales
from outperform.stats import (
    HypothesisTest,
    Interval,
    Summary,
    probability_from_summary,
    welch_from_summary,
)
from outperform.stats.checks import check_choice, check_count, check_gamma
from outperform.wording import describe_goal, enumerate_names, format_spread, join_words

_ASSUMPTIONS = (
    "from a published table: the scores are taken as normal and the runs as independent; with "
    "the runs themselves nothing need be assumed",
    "papers often print standard errors: if ± is one, multiply it by √n first",
)
_NO_SPREAD = "the standard deviation of {} is 0, which training with several seeds rarely gives"
_LEAST_PERCENT = 10  # below it, two numbers may be a hundredfold apart by chance
_SMALL = 0.1  # a standard deviation that any shares may have, of which means are rounded
_TRIED = (3, 5, 10)  # numbers of runs behind most tables


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
    return _compare(
        summary_a,
        summary_b,
        names=names,
        goal=goal,
        gamma=gamma,
        confidence_level=confidence_level,
        metric=metric,
    )


def _compare(
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


@dataclass(frozen=True, slots=True)
class PublishedTasks(OnTasks[PublishedComparison]):
    """Whether `a` outperforms `b` on each dataset of a published table, and on how many."""

    JSON = (
        "a b metric goal verdict winner winner_name n_tasks_better better gamma scope "
        "tasks=comparisons caveats"
    )
    ADVICE = PublishedComparison.ADVICE
    scope: ClassVar[Scope] = Scope((RUNS,), THESE_TASKS)

    if_errors: Mapping[Winner, int]  # tasks on which either is better if ± are standard errors
    notes: tuple[str, ...] = ()

    @property
    def metric(self) -> str:
        """Name of the metric."""
        return self.comparisons[0].metric

    @property
    def goal(self) -> Goal:
        """Whether higher or lower is better."""
        return self.comparisons[0].goal

    @property
    def gamma(self) -> float:
        """Smallest chance to win that matters."""
        return self.comparisons[0].gamma

    @property
    def caveats(self) -> tuple[str, ...]:
        """What the numbers rest on, and doubts about single datasets."""
        joined = join_caveats({each.task: each.caveats for each in self.comparisons})
        return (
            joined[0],
            _doubt_errors([self]),
            *self.notes,
            *joined[2:],
            *doubt_metric(self.metric, self.goal),
        )

    @property
    def tables(self) -> list[Table | str]:
        """A row per dataset."""
        first, better = self.comparisons[0], self.better
        header = ["dataset", self.a, self.b, name_chance(first), "p", "Holm", "better"]
        rows = [
            [
                *_list_means(each),
                f"{each.probability:.3g} {each.interval}",
                f"{each.test.pvalue:.2g}",
                f"{min(side.pvalues[row] for side in better.values()):.2g}",
                self.name_better(each.task),
            ]
            for row, each in enumerate(self.comparisons)
        ]
        holm = "Holm: corrected for the datasets, by which those that differ are named"
        return [Table(header, rows, entitle(first), f"  p: Welch's t; {holm}")]

    def name_better(self, task: str) -> str:
        """Name of who may be called better on a dataset, or a dash."""
        names = {"a": self.a, "b": self.b}
        return next((names[side] for side, on in self.better.items() if task in on.tasks), "–")

    def describe_better(self) -> str:
        """Say on how many datasets either is better, as the beginning of a sentence."""
        claim = describe_better({"a": self.a, "b": self.b}, self.better, "datasets")
        return claim[0].upper() + claim[1:] if claim.startswith("no ") else claim

    def __str__(self) -> str:
        runs = sorted({s.n for c in self.comparisons for s in (c.summary_a, c.summary_b)})
        n = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
        return (
            f"{self.describe_better()}, if scores are normal ({n} runs each; Welch's t with Holm's "
            "correction)."
        )


@dataclass(frozen=True, slots=True)
class PublishedTasksTried(Result):
    """Whether `a` outperforms `b` on each dataset of a table that does not say n, for several n."""

    JSON = "a b metric goal n_tried hangs_on_n scope answers caveats"
    ADVICE = "look up the number of runs behind each mean, and pass it with --n."
    scope: ClassVar[Scope] = PublishedTasks.scope

    answers: tuple[PublishedTasks, ...]

    @property
    def a(self) -> str:
        """Name of the first method."""
        return self.answers[0].a

    @property
    def b(self) -> str:
        """Name of the second method."""
        return self.answers[0].b

    @property
    def metric(self) -> str:
        """Name of the metric."""
        return self.answers[0].metric

    @property
    def goal(self) -> Goal:
        """Whether higher or lower is better."""
        return self.answers[0].goal

    @property
    def n_tried(self) -> tuple[int, ...]:
        """Numbers of runs that the answers are for."""
        return tuple(answer.comparisons[0].summary_a.n for answer in self.answers)

    @property
    def hangs_on_n(self) -> bool:
        """Whether either is better on more datasets with one number of runs than with another."""
        return len({tuple(answer.n_tasks_better.values()) for answer in self.answers}) > 1

    @property
    def caveats(self) -> tuple[str, ...]:
        """What all answers rest on."""
        first = self.answers[0].caveats
        return (first[0], _doubt_errors(self.answers), *first[2:])

    @property
    def tables(self) -> list[Table | str]:
        """A row per dataset, a column per number of runs."""
        first = self.answers[0].comparisons
        header = ["dataset", self.a, self.b, name_chance(first[0])]
        header += [f"n = {n}" for n in self.n_tried]
        rows = []
        for row, each in enumerate(first):
            cells = [*_list_means(each), f"{each.probability:.3g}"]
            for answer in self.answers:
                pvalue = min(side.pvalues[row] for side in answer.better.values())
                named = answer.name_better(each.task)
                cells.append(f"{pvalue:.2g}" + ("" if named == "–" else f" {named}"))
            rows.append(cells)
        note = "  n = …: p of Welch's t by Holm's correction, and who is better by it"
        return [Table(header, rows, f"{self.metric}, {describe_goal(self.goal)}", note)]

    def __str__(self) -> str:
        tried, answers = _list_choices(self.n_tried), self.answers
        if not self.hangs_on_n:
            claim = answers[0].describe_better()
            return f"{claim}, whether n is {tried}, if scores are normal."
        sides: tuple[tuple[Winner, str, str], ...] = (("a", self.a, self.b), ("b", self.b, self.a))
        counts = {side: [each.n_tasks_better[side] for each in answers] for side, _, _ in sides}
        claims = [
            f"{name} is better than {other} on at least {_list_choices(counts[side])} of "
            f"{len(answers[0].comparisons)} datasets"
            for side, name, other in sides
            if any(counts[side])
        ]
        return (
            f"It depends on the number of runs, which the table does not say: with n = {tried}, "
            f"{join_words(claims)}, if scores are normal."
        )


def _list_means(result: PublishedComparison) -> list[str]:
    means = ((s.mean, s.sd) for s in (result.summary_a, result.summary_b))
    return [result.task, *(format_spread(*each) for each in means)]


def _list_choices(numbers: Sequence[int]) -> str:
    *others, last = map(str, numbers if len(set(numbers)) > 1 else numbers[:1])
    return f"{', '.join(others)} or {last}" if others else last


def _doubt_errors(answers: Sequence[PublishedTasks]) -> str:
    """What would be left if ± were standard errors, as they often are."""
    doubt = (
        "papers often print standard errors, or intervals, without saying so: look up what ± is, "
        "and multiply a standard error by √n first"
    )
    if not any(any(answer.n_tasks_better.values()) for answer in answers):
        return doubt
    sides: tuple[tuple[Winner, str], ...] = (("a", answers[0].a), ("b", answers[0].b))
    counts = [(name, [answer.if_errors[side] for answer in answers]) for side, name in sides]
    left = [
        f"{name} on at least {_list_choices(choices)}" for name, choices in counts if any(choices)
    ]
    then = f"only {' and '.join(left)} of the datasets would be better" if left else ""
    return f"{doubt}; were all of them standard errors, {then or 'nothing would be shown'}"


def compare_published_table(
    table: Any,
    a: str,
    b: str,
    *,
    n: int | None = None,
    metric: str | None = None,
    goal: Goal | None = None,
    drop_incomplete: bool = False,
    gamma: float = 0.75,
    confidence_level: float = 0.95,
) -> PublishedTasks | PublishedTasksTried:
    """Compare two methods of a published table on each of its datasets.

    Parameters
    ----------
    table
        A path, a data frame, a list of records or a dict of columns: long, with the columns method,
        dataset, mean, sd and maybe n; or wide, with cells such as ``91.2 ± 0.4``.
    n
        Runs behind each mean; without it, and where no column says it, 3, 5 and 10 are tried.
    metric, goal
        What the scores are, and whether higher is better; one of the two must tell.
    drop_incomplete
        Leave out datasets on which a mean or a standard deviation is missing.

    Returns
    -------
    `PublishedTasks`, or `PublishedTasksTried` where the number of runs is not known.

    Examples
    --------
    >>> table = {"method": ["new", "old"], "cifar": ["95.1 ± 0.2", "94.2 ± 0.3"],
    ...          "svhn": ["97.0 ± 0.1", "96.9 ± 0.2"]}
    >>> print(compare_published_table(table, "new", "old", n=5, goal="maximize"))
    new is better than old on at least 1 of 2 datasets, if scores are normal (5 runs each; \
Welch's t with Holm's correction).
    """
    if n is not None:
        check_count("n", n, at_least=2)
    read = read_published_table(table, a, b, drop_incomplete=drop_incomplete)
    if metric is None and goal is None:
        raise UnknownDirection(
            f"{read.source} does not say whether higher is better",
            "Pass --maximize or --minimize, or the metric with --metric NAME (from Python: goal= "
            "or metric=)",
        )
    options = {
        "names": (a, b),
        "goal": _agree_on_goal(read, resolve_goal(metric or "score", goal)),
        "gamma": gamma,
        "confidence_level": confidence_level,
        "metric": metric or "score",
    }
    known = {cell.n for cell in (*read.a, *read.b)}
    if None not in known and n is not None:
        raise InvalidInput(f"{read.source} says the number of runs itself", "Leave out --n")
    if n is None and known == {None}:
        tried = tuple(_compare_tasks(read, each, options) for each in _TRIED)
        return PublishedTasksTried(tried)
    return _compare_tasks(read, n, options)


def _agree_on_goal(read: PublishedTable, goal: Goal) -> Goal:
    """Take one way for all columns of a table, and refuse those whose names say the other."""
    contrary = [task for task in read.tasks if known_goal(task) not in (goal, None)]
    if contrary:
        raise UnknownDirection(
            f"{describe_goal(goal)} on all datasets of {read.source}, but not by the name of "
            f"{enumerate_names(contrary)}",
            "Compare on these apart, in a table of their own; if they are datasets, rename them",
        )
    return goal


def _compare_tasks(read: PublishedTable, n: int | None, options: dict[str, Any]) -> PublishedTasks:
    """Compare on each dataset; then with what stands behind ± taken as standard errors."""
    results: dict[bool, list[PublishedComparison]] = {False: [], True: []}
    for task, a, b in zip(read.tasks, read.a, read.b, strict=True):
        if a.sd == b.sd == 0:
            raise InvalidInput(
                f"both standard deviations on {task!r} are 0 in {read.source}",
                "Write them with more digits, or leave out that dataset",
            )
        for errors, comparisons in results.items():
            sides = (_summarise(cell, n, errors=errors) for cell in (a, b))
            compared = (_compare if errors else compare_published)(*sides, **options)
            comparisons.append(replace(compared, task=task))
    widened = PublishedTasks(tuple(results[True]), {"a": 0, "b": 0})
    return PublishedTasks(tuple(results[False]), widened.n_tasks_better, read.notes)


def _summarise(cell: PublishedCell, n: int | None, *, errors: bool) -> Summary:
    runs = cell.n if n is None else n
    assert runs is not None  # one of the two is known
    return Summary(cell.mean, cell.sd * runs**0.5 if errors else cell.sd, runs)
