"""How `outperform compare` prints what it found."""

import shlex
from collections.abc import Iterator, Sequence

import click

from outperform.cli.output import format_spread, print_end, print_headline, print_lines, print_table
from outperform.questions.compare.advice import suggest_next, suggest_sizes
from outperform.questions.compare.published import PublishedComparison
from outperform.questions.compare.result import Comparison
from outperform.questions.compare.table import format_population
from outperform.questions.compare.task_results import TaskComparisons
from outperform.stats import EquivalenceTest, HypothesisTest
from outperform.stats.checks import FloatArray

_LONGEST_HEADER = 40  # characters, beyond which algorithms are called A and B

Compared = Comparison | TaskComparisons | PublishedComparison


def print_compared(result: Compared) -> None:
    """Print the verdict, the numbers behind it, the doubts, and what to do next."""
    colour = {"a": "green", "b": "red", None: "yellow"}[result.winner]
    print_headline(result, hint=suggest_sizes(result), fg=colour)
    first = result.comparisons[0] if isinstance(result, TaskComparisons) else result
    better = "higher" if first.goal == "maximize" else "lower"
    level = f"{100 * first.interval.confidence_level:g}%"
    click.echo(f"\n{first.metric}, {better} is better; {level} intervals")
    if isinstance(result, TaskComparisons):
        _print_tasks(result.comparisons)
    elif isinstance(result, PublishedComparison):
        _print_published(result)
    else:
        _print_one(result)
    print_end(result.caveats, _suggest(result))


def _print_one(comparison: Comparison) -> None:
    difference = comparison.difference
    print_lines(
        [
            (comparison.a, _describe_scores(comparison.scores_a)),
            (comparison.b, _describe_scores(comparison.scores_b)),
            ("difference", f"{difference.value:+.3g} {difference.interval}"),
            *_describe_population(comparison),
            _describe_chance(comparison),
            *map(_describe_test, comparison.tests),
        ]
    )


def _describe_population(comparison: Comparison) -> Iterator[tuple[str, str]]:
    population = comparison.population
    if population is not None:
        interval = f"{population.value:+.3g} {population.interval}"
        yield "  for data like these", f"{interval}, p = {population.pvalue:.2g}"


def _describe_scores(scores: FloatArray) -> str:
    return format_spread(float(scores.mean()), float(scores.std(ddof=1)))


def _print_tasks(comparisons: Sequence[Comparison]) -> None:
    first = comparisons[0]
    header = ["task", "pairs" if first.paired else "runs", first.a, first.b, _name_chance(first)]
    rows = [_row(comparison) for comparison in comparisons]
    header.append("verdict")
    if any(comparison.population for comparison in comparisons):
        header.append("p, other data")
        rows = [[*row, format_population(c)] for row, c in zip(rows, comparisons, strict=True)]
    print_table(header, rows)
    for comparison in comparisons:
        for name, found in map(_describe_test, comparison.tests):
            click.echo(f"  {comparison.task}: {name}: {found}")


def _row(comparison: Comparison) -> list[str]:
    a, b = comparison.scores_a, comparison.scores_b
    verdict: str = comparison.verdict
    if comparison.winner:
        # That a winner is significantly better goes without saying.
        who = comparison.a if comparison.winner == "a" else comparison.b
        verdict = f"{who}, {verdict.removeprefix('significant').lstrip(' ,').removeprefix('and ')}"
    return [
        comparison.task or "-",
        f"{a.size}" if comparison.paired else f"{a.size} and {b.size}",
        *(_describe_scores(scores).partition(" ")[0] for scores in (a, b)),
        f"{comparison.probability:.3g} {comparison.interval}",
        verdict,
    ]


def _print_published(result: PublishedComparison) -> None:
    sides = ((result.a, result.summary_a), (result.b, result.summary_b))
    means = [(name, f"{format_spread(s.mean, s.sd)} ({s.n} runs)") for name, s in sides]
    print_lines([*means, _describe_chance(result), _describe_test(result.test)])


def _describe_chance(result: Comparison | PublishedComparison) -> tuple[str, str]:
    interval = result.interval
    return _name_chance(result), f"{result.probability:.3g} {interval} ({interval.method})"


def _name_chance(result: Comparison | PublishedComparison) -> str:
    named = f"P({result.a} > {result.b})"
    return named if len(named) <= _LONGEST_HEADER else "P(A > B)"


def _describe_test(test: HypothesisTest | EquivalenceTest) -> tuple[str, str]:
    if isinstance(test, EquivalenceTest):
        return "equivalence", str(test)
    return test.name, f"p = {test.pvalue:.2g} ({test.alternative})"


def _suggest(result: Compared) -> str:
    if isinstance(result, Comparison):
        return suggest_next(result)
    if isinstance(result, PublishedComparison):
        return "Ask the authors for their runs: with them no distribution need be assumed."
    if result.winner is not None:
        return "Report every task with its interval; --plot draws them all."
    undecided = [c.task for c in result.comparisons if c.winner is None]
    task = undecided[0] if undecided else result.comparisons[0].task
    return f"Look at one task with --on, for instance --on {shlex.quote(task)}; report all of them."
