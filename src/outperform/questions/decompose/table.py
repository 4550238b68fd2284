"""What the runs of a study show, as tables of text."""

from typing import TYPE_CHECKING

from outperform.questions.result import Table
from outperform.stats import Estimate
from outperform.study.sources import ALL

if TYPE_CHECKING:
    from outperform.questions.decompose.result import CrossedDecomposition, Decomposition
    from outperform.questions.decompose.search_curves import SearchCurves


def tabulate_sources(result: "Decomposition") -> Table:
    """Single sources, largest first, then all together."""
    together = [each for each in result.sources if each.source == ALL and each not in result.ranked]
    rows = [
        [
            each.source,
            str(each.n),
            f"{each.mean:.4g}",
            str(each.sd),
            str(each.share),
            f"{each.normality_pvalue:.2g}",
            "" if each.binomial_sd is None else f"{each.binomial_sd:.3g}",
        ]
        for each in (*result.ranked, *together)
    ]
    share = f"share of {result.reference}'s"
    header = [
        "source",
        "runs",
        "mean",
        f"sd of {result.metric}",
        share,
        "normal? p",
        "binomial sd",
    ]
    if all(each.binomial_sd is None for each in result.sources):
        return Table(header[:-1], [row[:-1] for row in rows])
    return Table(header, rows)


def tabulate_components(result: "CrossedDecomposition") -> Table:
    """Components of variance, and their sum."""
    rows = [
        [
            " × ".join(each.names),
            str(each.df),
            *_tabulate_variance(each.variance),
            f"{each.share:.1%}",
        ]
        for each in result.parts.components
    ]
    rows.append(["all", "", *_tabulate_variance(result.parts.total), ""])
    return Table(["component", "df", "variance", "sd", "share"], rows)


def _tabulate_variance(variance: Estimate) -> list[str]:
    """A variance and its root, each with its interval."""
    roots = [
        max(0.0, x) ** 0.5 for x in (variance.value, variance.interval.low, variance.interval.high)
    ]
    return [str(variance), "{:.3g} [{:.3g}, {:.3g}]".format(*roots)]


def tabulate_curves(result: "SearchCurves") -> Table:
    """The best so far after 1, 2, 5, 10, ... trials and at the end, on each set."""
    longest = max(curve.n_trials for curve in result.curves)
    steps = [step for step in (1, 2, 5, 10, 20, 50, 100, 200) if step < longest] + [longest]
    rows = []
    for curve in result.curves:
        final = f"{curve.final.mean():.4g} ± {curve.final_sd:.2g}"
        for name, course in (("validation", curve.valid), ("test", curve.test)):
            if course is None:
                reached = ["–"] * len(steps)
            else:
                reached = [f"{course.mean[n - 1]:.4g} ± {course.sd[n - 1]:.2g}" for n in steps]
            names = [curve.pipeline, curve.task, curve.redrawn, str(curve.n_searches), name]
            rows.append([*names, *reached, final if name == "test" else ""])
    trials = [f"{step} trial{'s' if step > 1 else ''}" for step in steps]
    header = ["pipeline", "task", "redrawn", "searches", "data", *trials, "final fits"]
    return Table(header, rows)
