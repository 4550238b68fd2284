"""The numbers behind a comparison, as text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from outperform.questions.result import Table
from outperform.stats import EquivalenceTest, HypothesisTest
from outperform.wording import describe_goal, format_spread, make_line

if TYPE_CHECKING:
    from outperform.questions.compare.published import PublishedComparison
    from outperform.questions.compare.result import Comparison

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
        rows.append(("  for data like these", f"{interval}, p = {population.pvalue:.2g}"))
    rows += [_describe_chance(result), *map(_describe_test, result.tests)]
    return Table((), rows, title=_entitle(result))


def tabulate_tasks(results: "Sequence[Comparison]") -> list[Table | str]:
    """One row a task, and below it the tests asked for."""
    first = results[0]
    header = ["task", "pairs" if first.paired else "runs", first.a, first.b, _name_chance(first)]
    rows = [_tabulate_task(result) for result in results]
    header.append("verdict")
    title = _entitle(first)
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
    note = "\n".join(f"  {make_line(task)}: {name}: {value}" for task, name, value in tests)
    return [Table(header, rows, title=title, note=note)]


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
