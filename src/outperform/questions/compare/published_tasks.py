"""Does A outperform B, from a published table of several datasets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from outperform.errors import InvalidInput, UnknownDirection
from outperform.questions.compare.conclusion import Winner
from outperform.questions.compare.published import (
    PublishedComparison,
    compare_published,
    compare_summaries,
)
from outperform.questions.compare.table import entitle, name_chance
from outperform.questions.compare.task_results import OnTasks, describe_better
from outperform.questions.result import Result, Table, doubt_metric, join_caveats
from outperform.runs import Goal
from outperform.runs.metrics import known_goal, resolve_goal
from outperform.runs.published_tables import PublishedCell, PublishedTable, read_published_table
from outperform.runs.scope import RUNS, THESE_TASKS, Scope
from outperform.stats import Summary
from outperform.stats.checks import check_count
from outperform.wording import describe_goal, enumerate_names, format_spread, join_words

_TRIED = (3, 5, 10)  # numbers of runs behind most tables


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
    metric = read.metric or metric
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
            compared = (compare_summaries if errors else compare_published)(*sides, **options)
            comparisons.append(replace(compared, task=task))
    widened = PublishedTasks(tuple(results[True]), {"a": 0, "b": 0})
    return PublishedTasks(tuple(results[False]), widened.n_tasks_better, read.notes)


def _summarise(cell: PublishedCell, n: int | None, *, errors: bool) -> Summary:
    runs = cell.n if n is None else n
    assert runs is not None  # one of the two is known
    return Summary(cell.mean, cell.sd * runs**0.5 if errors else cell.sd, runs)
