"""Results as one plain HTML file that needs nothing else: to read, to send, to print."""

import re
from collections.abc import Sequence
from html import escape
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from typing import NamedTuple, TypeAlias

from outperform.analysis.comparison import Comparison, TaskComparisons
from outperform.analysis.crossed_decomposition import CrossedDecomposition, join_sources
from outperform.analysis.decomposition import Decomposition
from outperform.analysis.search_curves import SearchCurves
from outperform.errors import InvalidInput
from outperform.plots import figure
from outperform.plots.style import freeze_layout, house_style
from outperform.stats import Estimate
from outperform.study.sources import ALL

Result: TypeAlias = (
    Comparison | TaskComparisons | Decomposition | CrossedDecomposition | SearchCurves
)

_TAG = re.compile(r"<[^>]*>")
_REM_PER_INCH = 8.5  # figures are drawn for paper, and read from farther away on a screen
_STYLE = Path(__file__).with_name("report.css")


class Tabulated(NamedTuple):
    """A table of text."""

    header: list[str]
    rows: list[list[str]]


def write_report(
    results: Result | Sequence[Result],
    path: str | Path,
    *,
    title: str = "Report",
    about: Sequence[str] = (),
) -> None:
    """Write results with their tables, caveats and figures; the same results give the same bytes.

    Parameters
    ----------
    results
        In the order in which they are to be read.
    path
        The HTML file; it refers to no other file and asks nothing of the network.
    about
        Paragraphs on how the results came about.
    """
    path = Path(path)
    listed = list(results) if isinstance(results, Sequence) else [results]
    if not listed:
        raise InvalidInput("there are no results to report", "Pass at least one")
    page = render_report(listed, title=title, about=about)
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(
            f"cannot write '{path}': {error.strerror}", "Choose a path where files may be written"
        ) from None


def render_report(results: Sequence[Result], *, title: str, about: Sequence[str]) -> str:
    """The page as text."""
    sections = "\n".join(_render_result(result, n) for n, result in enumerate(results, start=1))
    paragraphs = "\n".join(f"<p>{escape(paragraph)}</p>" for paragraph in about)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
{_STYLE.read_text(encoding="utf-8")}</style>
</head>
<body>
<main>
<h1>{escape(title)}</h1>
{paragraphs}
{sections}
<footer>Made by outperform {escape(version("outperform"))}.</footer>
</main>
</body>
</html>
"""


def tabulate(result: Result) -> Tabulated:
    """The numbers of a result, as text in a table."""
    if isinstance(result, Comparison):
        return _tabulate_comparisons([result])
    if isinstance(result, TaskComparisons):
        return _tabulate_comparisons(result.comparisons)
    if isinstance(result, Decomposition):
        return _tabulate_sources(result)
    if isinstance(result, CrossedDecomposition):
        return _tabulate_components(result)
    if isinstance(result, SearchCurves):
        return _tabulate_curves(result)
    raise InvalidInput(
        f"there is no report of a {type(result).__name__}",
        "Pass what compare, compare_runs or decompose returned",
    )


def _render_result(result: Result, number: int) -> str:
    table = tabulate(result)
    drawn = _render_figure(result, number)
    notes = "".join(f"<p>{escape(note)}</p>\n" for note in _list_notes(result))
    doubts = "".join(f"<li>{escape(caveat)}</li>\n" for caveat in result.caveats)
    caveats = f"<h3>Caveats</h3>\n<ul>\n{doubts}</ul>" if doubts else ""
    return f"""<section>
<h2 class="{_choose_mood(result)}">{escape(str(result))}</h2>
{_render_table(table)}
{notes}{drawn}
{caveats}
</section>"""


def _render_table(table: Tabulated) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table.header)
    body = "\n".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in table.rows
    )
    return (
        f'<div class="table"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n'
        "</table></div>"
    )


def _render_figure(result: Result, number: int) -> str:
    """Inline SVG, with ids that no other figure of the page has."""
    made, text = figure(result), StringIO()
    freeze_layout(made)
    with house_style():
        made.savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = _TAG.sub(lambda tag: _rename_ids(tag[0], f"figure{number}-"), svg)
    width = _REM_PER_INCH * made.get_figwidth()
    label = f'<svg role="img" aria-label="{escape(str(result))}" style="width: {width:.4g}rem"'
    return f"<figure>{svg.replace('<svg', label, 1)}</figure>"


def _rename_ids(tag: str, prefix: str) -> str:
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}", tag)


def _choose_mood(result: Result) -> str:
    if isinstance(result, Comparison | TaskComparisons):
        return "undecided" if result.winner is None else "decided"
    return ""


def _list_notes(result: Result) -> list[str]:
    """What a table has no column for."""
    if not isinstance(result, Comparison | TaskComparisons):
        return []
    comparisons = result.comparisons if isinstance(result, TaskComparisons) else (result,)
    better = "higher" if comparisons[0].goal == "maximize" else "lower"
    notes = [f"{comparisons[0].metric}, {better} is better; means ± standard deviations of runs."]
    for each in comparisons:
        notes += [f"{each.task + ': ' if each.task else ''}{test}" for test in each.tests]
    return notes


def _tabulate_comparisons(comparisons: Sequence[Comparison]) -> Tabulated:
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
                f"{each.probability:.2f} {each.interval}",
                each.verdict,
            ]
        )
    return Tabulated(header, rows)


def _tabulate_sources(found: Decomposition) -> Tabulated:
    """Single sources, largest first, then all together."""
    together = [each for each in found.sources if each.source == ALL and each not in found.ranked]
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
        for each in (*found.ranked, *together)
    ]
    share = f"share of {found.reference}'s"
    header = ["source", "runs", "mean", f"sd of {found.metric}", share, "normal? p", "binomial sd"]
    if all(each.binomial_sd is None for each in found.sources):
        return Tabulated(header[:-1], [row[:-1] for row in rows])
    return Tabulated(header, rows)


def _tabulate_components(found: CrossedDecomposition) -> Tabulated:
    rows = [
        [
            join_sources(each.names),
            str(each.df),
            *_tabulate_variance(each.variance),
            f"{each.share:.1%}",
        ]
        for each in found.parts.components
    ]
    rows.append(["all", "", *_tabulate_variance(found.parts.total), ""])
    return Tabulated(["component", "df", "variance", "sd", "share"], rows)


def _tabulate_variance(variance: Estimate) -> list[str]:
    """A variance and its root, each with its interval."""
    roots = [
        max(0.0, x) ** 0.5 for x in (variance.value, variance.interval.low, variance.interval.high)
    ]
    return [str(variance), "{:.3g} [{:.3g}, {:.3g}]".format(*roots)]


def _tabulate_curves(result: SearchCurves) -> Tabulated:
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
    return Tabulated(header, rows)
