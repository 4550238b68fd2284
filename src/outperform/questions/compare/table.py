"""The numbers behind a comparison, as text."""

from typing import TYPE_CHECKING

from outperform.questions.result import Table
from outperform.stats import EquivalenceTest, HypothesisTest
from outperform.stats.resplits import cautious_alpha
from outperform.wording import describe_goal, format_spread, make_line

if TYPE_CHECKING:
    from outperform.questions.compare.published import PublishedComparison
    from outperform.questions.compare.published_table import PublishedTasks, PublishedTasksTried
    from outperform.questions.compare.result import Comparison
    from outperform.questions.compare.task_results import TaskComparisons

_LONGEST_HEADER = 40  # characters, beyond which algorithms are called A and B


def tabulate_comparison(result: "Comparison") -> Table:
    """One value a line: means, their difference, P(A>B), and the tests asked for."""
    difference, population = result.difference, result.population
    rows = [
        (result.a, format_spread(result.mean_a, result.sd_a)),
        (result.b, format_spread(result.mean_b, result.sd_b)),
        ("difference", f"{difference.value:+.3g} {difference.interval}"),
    ]
    if population is not None:
        interval = f"{population.value:+.3g} {population.interval}"
        level = f"{100 * population.interval.confidence_level:g}%"
        value = f"{interval} ({level}), p = {population.pvalue:.2g}"
        rows.append(("  for data like these", value))
    if result.combined is not None:
        combined = result.combined
        interval = f"{combined.value:+.3g} {combined.interval}"
        sds = f"{combined.sd_fixed:.2g} fixed, {combined.sd_redrawn:.2g} simulated"
        rows.append(("  with simulated searches", f"{interval}, sd of {sds}"))
    rows += [_describe_chance(result), *map(_describe_test, result.tests)]
    return Table((), rows, title=_entitle(result))


def tabulate_tasks(tasks: "TaskComparisons") -> list[Table | str]:
    """One row a task, and below it the tests asked for."""
    results, better = tasks.comparisons, tasks.better.values()
    first = results[0]
    header = ["task", "pairs" if first.paired else "runs", first.a, first.b, _name_chance(first)]
    rows = [_tabulate_task(result) for result in results]
    title = _entitle(first)
    header += ["verdict", "Holm"]
    for place, row in enumerate(rows):
        row.append(_shorten_pvalue(min(found.pvalues[place] for found in better)))
    if len({(each.metric, each.goal) for each in results}) > 1:
        title = f"each task by its own metric; {title.rpartition('; ')[2]}"
        header.insert(1, "metric")
        for row, result in zip(rows, results, strict=True):
            row.insert(1, f"{result.metric} {'↑' if result.goal == 'maximize' else '↓'}")
    if any(result.population for result in results):
        header.append("p, other data")
        for row, result in zip(rows, results, strict=True):
            population = result.population
            row.append("–" if population is None else f"{population.pvalue:.2g}")
    tests = [(c.task, *_describe_test(test)) for c in results for test in c.tests]
    explained = (
        "  verdict: each task by itself; Holm: its p corrected for all tasks, up to "
        f"{first.alpha:.2g} where it may be named"
        f"{', or where one wins on all' if tasks.winner else ''}"
    )
    if any(result.population for result in results):
        explained += f"; other data: shown by p < {cautious_alpha(first.alpha):.2g}"
    lines = [f"  {make_line(task)}: {name}: {value}" for task, name, value in tests]
    note = "\n".join([explained, *lines])
    return [Table(header, rows, title=title, note=note)]


def _shorten_pvalue(pvalue: float) -> str:
    """Write a p-value in five letters."""
    if pvalue < 0.01:
        return f"{pvalue:.3f}" if pvalue >= 0.001 else "<.001"
    return f"{pvalue:.2g}"


def _tabulate_task(result: "Comparison") -> list[str]:
    verdict: str = result.verdict
    if result.winner:
        # That a winner is significantly better goes without saying.
        size = verdict.removeprefix("significant").lstrip(" ,").removeprefix("and ")
        verdict = f"{result.winner_name}, {size}"
    n_a, n_b = result.scores_a.size, result.scores_b.size
    means = ((result.mean_a, result.sd_a), (result.mean_b, result.sd_b))
    return [
        result.task or "-",
        f"{n_a}" if result.paired else f"{n_a} and {n_b}",
        *(format_spread(*each).partition(" ")[0] for each in means),
        f"{result.probability:.3g} {result.interval}",
        verdict,
    ]


def tabulate_published(result: "PublishedComparison") -> Table:
    """What was published, and what it tells if scores are normal."""
    sides = ((result.a, result.summary_a), (result.b, result.summary_b))
    means = [(name, f"{format_spread(s.mean, s.sd)} ({s.n} runs)") for name, s in sides]
    rows = [*means, _describe_chance(result), _describe_test(result.test)]
    return Table((), rows, title=_entitle(result))


def tabulate_published_tasks(result: "PublishedTasks") -> Table:
    """One row a dataset: what was published, and what it tells if scores are normal."""
    better = result.better
    first = result.comparisons[0]
    header = ["dataset", result.a, result.b, _name_chance(first), "p", "Holm", "better"]
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
    return Table(header, rows, _entitle(first), note)


def tabulate_tried(result: "PublishedTasksTried") -> Table:
    """One row a dataset: what was published, and the corrected p-value for each number of runs."""
    first = result.answers[0].comparisons
    header = ["dataset", result.a, result.b, _name_chance(first[0])]
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


def _tabulate_means(result: "PublishedComparison") -> list[str]:
    means = ((s.mean, s.sd) for s in (result.summary_a, result.summary_b))
    return [result.task, *(format_spread(*each) for each in means)]


def _name_better(task: str, result: "PublishedTasks") -> str:
    names = {"a": result.a, "b": result.b}
    return next((names[side] for side, on in result.better.items() if task in on.tasks), "–")


def _entitle(result: "Comparison | PublishedComparison") -> str:
    level = f"{100 * result.interval.confidence_level:g}%"
    return f"{result.metric}, {describe_goal(result.goal)}; {level} intervals"


def _describe_chance(result: "Comparison | PublishedComparison") -> tuple[str, str]:
    interval = result.interval
    return _name_chance(result), f"{result.probability:.3g} {interval} ({interval.method})"


def _name_chance(result: "Comparison | PublishedComparison") -> str:
    named = f"P({result.a} > {result.b})"
    return named if len(named) <= _LONGEST_HEADER else "P(A > B)"


def _describe_test(test: HypothesisTest | EquivalenceTest) -> tuple[str, str]:
    if isinstance(test, EquivalenceTest):
        return "equivalence", str(test)
    return test.name, f"p = {test.pvalue:.2g} ({test.alternative})"
