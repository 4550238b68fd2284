"""Does A outperform B, from a whole published table: methods and datasets, mean ± sd."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from outperform.errors import InvalidInput, UnknownDirection
from outperform.questions.compare.doubts import doubt_metric
from outperform.questions.compare.published import PublishedComparison, compare_published
from outperform.questions.compare.result import Winner, entitle, name_chance
from outperform.questions.compare.task_results import OnTasks, describe_better
from outperform.questions.result import Result, Table, join_caveats
from outperform.runs import Goal
from outperform.runs.metrics import resolve_goal
from outperform.runs.published_tables import PublishedCell, PublishedTable, read_published_table
from outperform.runs.scope import RUNS, THESE_TASKS, Scope
from outperform.stats import Summary
from outperform.stats.checks import check_count
from outperform.wording import describe_goal, format_spread, join_words

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
            _doubt_errors([self], (self.a, self.b)),
            *self.notes,
            *joined[2:],
            *doubt_metric(self.comparisons[0].metric, self.comparisons[0].goal),
        )

    @property
    def tables(self) -> list[Table | str]:
        """A row per dataset."""
        return [tabulate_published_tasks(self)]

    def __str__(self) -> str:
        claim = describe_better({"a": self.a, "b": self.b}, self.better, "datasets")
        runs = sorted({s.n for c in self.comparisons for s in (c.summary_a, c.summary_b)})
        n = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
        return (
            f"{claim[0].upper() if claim.startswith('no ') else claim[0]}{claim[1:]}, if scores "
            f"are normal ({n} runs each; Welch's t with Holm's correction)."
        )


@dataclass(frozen=True, slots=True)
class PublishedTasksTried(Result):
    """Whether `a` outperforms `b` on each dataset of a table that does not say n, for several n."""

    JSON = "a b metric goal n_tried hangs_on_n scope answers caveats"
    ADVICE = "Look up the number of runs behind each mean, and pass it with --n."
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
        return (first[0], _doubt_errors(self.answers, (self.a, self.b)), *first[2:])

    @property
    def tables(self) -> list[Table | str]:
        """A row per dataset, a column per number of runs."""
        return [tabulate_tried(self)]

    def __str__(self) -> str:
        tried = _list_choices(self.n_tried)
        normal = "if scores are normal"
        if not self.hangs_on_n:
            names: dict[Winner, str] = {"a": self.a, "b": self.b}
            claim = describe_better(names, self.answers[0].better, "datasets")
            start = claim[0].upper() if claim.startswith("no ") else claim[0]
            return f"{start}{claim[1:]}, whether n is {tried}, {normal}."
        counts = _describe_counts([answer.n_tasks_better for answer in self.answers], self)
        return (
            f"It hangs on the number of runs, which the table does not say: with n = {tried}, "
            f"{counts}, {normal}."
        )


def _describe_counts(counts: Sequence[Mapping[Winner, int]], result: PublishedTasksTried) -> str:
    """On how many datasets either is better, at least, for each n."""
    n = len(result.answers[0].comparisons)
    sides: tuple[tuple[Winner, str, str], ...] = (
        ("a", result.a, result.b),
        ("b", result.b, result.a),
    )
    found = [
        f"{name} is better than {other} on at least {_list_choices([c[side] for c in counts])} "
        f"of {n} datasets"
        for side, name, other in sides
        if any(count[side] for count in counts)
    ]
    return join_words(found)


def _list_choices(numbers: Sequence[int]) -> str:
    *others, last = map(str, numbers if len(set(numbers)) > 1 else numbers[:1])
    return f"{', '.join(others)} or {last}" if others else last


def _doubt_errors(answers: Sequence[PublishedTasks], names: tuple[str, str]) -> str:
    """What would be left if ± were standard errors, as they often are."""
    doubt = (
        "papers often print standard errors, or intervals, without saying so: look up what ± is, "
        "and multiply a standard error by √n first"
    )
    if not any(any(answer.n_tasks_better.values()) for answer in answers):
        return doubt
    sides: tuple[tuple[Winner, str], ...] = (("a", names[0]), ("b", names[1]))
    counts = [(name, [answer.if_errors[side] for answer in answers]) for side, name in sides]
    left = [f"{name} on at least {_list_choices(found)}" for name, found in counts if any(found)]
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
        "goal": resolve_goal(metric or "score", goal),
        "gamma": gamma,
        "confidence_level": confidence_level,
    }
    known = {cell.n for cell in (*read.a, *read.b)}
    if None not in known and n is not None:
        raise InvalidInput(f"{read.source} says the number of runs itself", "Leave out --n")
    if n is None and known == {None}:
        tried = tuple(_compare_tasks(read, each, metric, options) for each in _TRIED)
        return PublishedTasksTried(tried)
    return _compare_tasks(read, n, metric, options)


def _compare_tasks(
    read: PublishedTable, n: int | None, metric: str | None, options: dict[str, Any]
) -> PublishedTasks:
    comparisons = tuple(_compare_each(read, n, metric, options, errors=False))
    widened = PublishedTasks(
        tuple(_compare_each(read, n, metric, options, errors=True)), {"a": 0, "b": 0}
    )
    return PublishedTasks(comparisons, widened.n_tasks_better, read.notes)


def _compare_each(
    read: PublishedTable,
    n: int | None,
    metric: str | None,
    options: dict[str, Any],
    *,
    errors: bool,
) -> list[PublishedComparison]:
    """Compare on each dataset; `errors` takes what stands behind ± as standard errors."""
    results = []
    for task, a, b in zip(read.tasks, read.a, read.b, strict=True):
        if a.sd == b.sd == 0:
            raise InvalidInput(
                f"both standard deviations on {task!r} are 0 in {read.source}",
                "Write them with more digits, or leave out that dataset",
            )
        sides = (_summarise(cell, n, errors=errors) for cell in (a, b))
        compared = compare_published(*sides, **options)
        results.append(replace(compared, task=task, metric=metric or "score"))
    return results


def _summarise(cell: PublishedCell, n: int | None, *, errors: bool) -> Summary:
    runs = cell.n if n is None else n
    assert runs is not None  # one of the two is known
    return Summary(cell.mean, cell.sd * runs**0.5 if errors else cell.sd, runs)


def tabulate_published_tasks(result: PublishedTasks) -> Table:
    """One row a dataset: what was published, and what it tells if scores are normal."""
    better = result.better
    first = result.comparisons[0]
    header = ["dataset", result.a, result.b, name_chance(first), "p", "Holm", "better"]
    rows = [
        [
            *_tabulate_means(each),
            f"{each.probability:.3g} {each.interval}",
            f"{each.test.pvalue:.2g}",
            f"{min(better[side].pvalues[row] for side in better):.2g}",
            _name_better(each.task, result),
        ]
        for row, each in enumerate(result.comparisons)
    ]
    note = "  p: Welch's t; Holm: corrected for the datasets, by which those that differ are named"
    return Table(header, rows, entitle(first), note)


def tabulate_tried(result: PublishedTasksTried) -> Table:
    """One row a dataset: what was published, and the corrected p-value for each number of runs."""
    first = result.answers[0].comparisons
    header = ["dataset", result.a, result.b, name_chance(first[0])]
    header += [f"n = {n}" for n in result.n_tried]
    rows = []
    for row, each in enumerate(first):
        cells = [*_tabulate_means(each), f"{each.probability:.3g}"]
        for answer in result.answers:
            pvalue = min(found.pvalues[row] for found in answer.better.values())
            named = _name_better(each.task, answer)
            cells.append(f"{pvalue:.2g}" + ("" if named == "–" else f" {named}"))
        rows.append(cells)
    note = "  n = …: p of Welch's t by Holm's correction, and who is better by it"
    return Table(header, rows, f"{result.metric}, {describe_goal(result.goal)}", note)


def _tabulate_means(result: PublishedComparison) -> list[str]:
    means = ((s.mean, s.sd) for s in (result.summary_a, result.summary_b))
    return [result.task, *(format_spread(*each) for each in means)]


def _name_better(task: str, result: PublishedTasks) -> str:
    names = {"a": result.a, "b": result.b}
    return next((names[side] for side, on in result.better.items() if task in on.tasks), "–")
