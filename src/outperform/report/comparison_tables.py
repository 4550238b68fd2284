"""Comparisons and plans as tables of text."""

from collections.abc import Sequence

from outperform.analysis.comparison import Comparison
from outperform.analysis.planning import Plan, tabulate_gammas
from outperform.analysis.published import PublishedComparison
from outperform.report.tabulated import Tabulated


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
    return Tabulated(header, rows)


def tabulate_published(result: PublishedComparison) -> Tabulated:
    """What was published."""
    rows = [
        [name, f"{summary.mean:.4g}", f"{summary.sd:.2g}", str(summary.n)]
        for name, summary in ((result.a, result.summary_a), (result.b, result.summary_b))
    ]
    return Tabulated(["algorithm", "mean", "sd", "runs"], rows)


def tabulate_plan(result: Plan) -> Tabulated:
    """Pairs needed for the power and level of a plan, by gamma."""
    rows = [
        [f"{row.gamma:g}", str(row.n_noether), f"{row.power_noether:.0%}", str(row.n_required)]
        for row in tabulate_gammas(result.alpha, result.beta, interval=result.interval)
    ]
    return Tabulated(["γ", "Noether", "power of the verdict there", "pairs needed"], rows)
