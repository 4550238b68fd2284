"""Comparisons and plans as tables of text."""

from collections.abc import Callable, Sequence
from typing import Any

from outperform.questions.compare.published import PublishedComparison
from outperform.questions.compare.result import Comparison
from outperform.questions.compare.task_results import TaskComparisons
from outperform.questions.tabulated import Tabulated


def tabulate_comparisons(comparisons: Sequence[Comparison]) -> Tabulated:
    """The verdict on every task."""
    a, b = comparisons[0].a, comparisons[0].b
    header = ["task", "runs", a, b, f"{a} − {b}", f"P({a} > {b})", "verdict"]
    rows = []
    for each in comparisons:
        n_a, n_b = each.scores_a.size, each.scores_b.size
        rows.append(
            [
                each.task or "–",
                f"{each.n_pairs} pairs" if each.paired else f"{n_a} and {n_b}",
                f"{each.scores_a.mean():.4g} ± {each.scores_a.std(ddof=1):.2g}",
                f"{each.scores_b.mean():.4g} ± {each.scores_b.std(ddof=1):.2g}",
                f"{each.difference.value:+.3g} {each.difference.interval}",
                f"{each.probability:.3g} {each.interval}",
                each.verdict,
            ]
        )
    if any(each.population for each in comparisons):
        header.append("p for other data like it")
        for row, each in zip(rows, comparisons, strict=True):
            row.append(format_population(each))
    return Tabulated(header, rows)


def format_population(comparison: Comparison) -> str:
    """P-value of the difference for data like these, if it is known."""
    return "–" if comparison.population is None else f"{comparison.population.pvalue:.2g}"


def tabulate_published(result: PublishedComparison) -> Tabulated:
    """What was published."""
    rows = [
        [name, f"{summary.mean:.4g}", f"{summary.sd:.2g}", str(summary.n)]
        for name, summary in ((result.a, result.summary_a), (result.b, result.summary_b))
    ]
    return Tabulated(["algorithm", "mean", "sd", "runs"], rows)


TABLES: dict[type, Callable[[Any], Tabulated]] = {
    Comparison: lambda result: tabulate_comparisons([result]),
    TaskComparisons: lambda result: tabulate_comparisons(result.comparisons),
    PublishedComparison: tabulate_published,
}
