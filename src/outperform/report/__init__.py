"""Results as one plain HTML file that needs nothing else: to read, to send, to print."""

import re
from collections.abc import Callable, Sequence
from html import escape
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from typing import Any

from outperform.analysis.audits import Audit, SelfAudit
from outperform.analysis.best_of_n import BestOf, BestOfComparison, BestOfEach, list_results
from outperform.analysis.comparison import Comparison, TaskComparisons
from outperform.analysis.crossed_decomposition import CrossedDecomposition
from outperform.analysis.decomposition import Decomposition
from outperform.analysis.error_rates import ErrorRates
from outperform.analysis.expected_best import ExpectedBest
from outperform.analysis.leaderboards import LeaderboardAssessment
from outperform.analysis.planning import Plan
from outperform.analysis.predicted_leaderboards import PredictionAssessment
from outperform.analysis.published import PublishedComparison
from outperform.analysis.search_curves import SearchCurves
from outperform.analysis.seeds_curve import SeedsCurve
from outperform.errors import InvalidInput
from outperform.plots import figure
from outperform.plots.style import freeze_layout, house_style
from outperform.report.luck_tables import (
    tabulate_best_of,
    tabulate_best_of_each,
    tabulate_best_of_two,
    tabulate_board,
    tabulate_expected,
    tabulate_hidden,
    tabulate_picked,
    tabulate_plan,
    tabulate_predictions,
    tabulate_rates,
    tabulate_seeds,
)
from outperform.report.tables import (
    Tabulated,
    tabulate_comparisons,
    tabulate_components,
    tabulate_curves,
    tabulate_published,
    tabulate_sources,
)

_TAG = re.compile(r"<[^>]*>")
_REM_PER_INCH = 8.5  # figures are drawn for paper, and read from farther away on a screen
_DECIDING = Comparison | TaskComparisons | PublishedComparison | BestOfComparison
_STYLE = Path(__file__).with_name("page.css")

_TABLES: dict[type, Callable[[Any], Tabulated]] = {
    Comparison: lambda result: tabulate_comparisons([result]),
    TaskComparisons: lambda result: tabulate_comparisons(result.comparisons),
    PublishedComparison: tabulate_published,
    Plan: tabulate_plan,
    Decomposition: tabulate_sources,
    CrossedDecomposition: tabulate_components,
    SearchCurves: tabulate_curves,
    Audit: tabulate_hidden,
    SelfAudit: tabulate_picked,
    BestOf: tabulate_best_of,
    BestOfComparison: tabulate_best_of_two,
    BestOfEach: tabulate_best_of_each,
    ExpectedBest: tabulate_expected,
    LeaderboardAssessment: tabulate_board,
    PredictionAssessment: tabulate_predictions,
    ErrorRates: lambda result: tabulate_rates((*result.curves, *result.means)),
    SeedsCurve: tabulate_seeds,
}


def write_report(
    results: Any,
    path: str | Path,
    *,
    title: str = "Report",
    about: Sequence[str] = (),
) -> None:
    """Write results with their tables, caveats and figures; the same results give the same bytes.

    Parameters
    ----------
    results
        Whatever can be drawn (see `outperform.plot`), one or several, in the order in which they
        are to be read.
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


def render_report(results: Sequence[Any], *, title: str, about: Sequence[str]) -> str:
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


def tabulate(result: Any) -> Tabulated:
    """The numbers of a result, as text in a table."""
    if type(result) not in _TABLES:
        raise InvalidInput(
            f"there is no report of a {type(result).__name__}",
            "Pass what compare, audit, best_of_runs or any other function that concludes returned",
        )
    return _TABLES[type(result)](result)


def _render_result(result: Any, number: int) -> str:
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


def _render_figure(result: Any, number: int) -> str:
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


def _choose_mood(result: Any) -> str:
    if isinstance(result, Audit):
        result = result.comparison
    if isinstance(result, _DECIDING):
        return "undecided" if result.winner is None else "decided"
    return ""


def _list_notes(result: Any) -> list[str]:
    """What a table has no column for."""
    if isinstance(result, Audit):
        return [str(result.comparison)]
    if isinstance(result, BestOf | BestOfComparison | BestOfEach):
        first = list_results(result)[0]
        return [f"{_direct(first)}; {100 * first.interval.confidence_level:g}% intervals."]
    if isinstance(result, ErrorRates) and not all(curve.exact for curve in result.curves):
        return [f"± is the Monte-Carlo standard error of {result.n_draws:,} draws."]
    if not isinstance(result, Comparison | TaskComparisons):
        return []
    comparisons = result.comparisons if isinstance(result, TaskComparisons) else (result,)
    notes = [f"{_direct(comparisons[0])}; means ± standard deviations of runs."]
    for each in comparisons:
        notes += [f"{each.task + ': ' if each.task else ''}{test}" for test in each.tests]
    return notes


def _direct(result: Comparison | BestOf) -> str:
    """Which way its metric is better."""
    return f"{result.metric}, {'higher' if result.goal == 'maximize' else 'lower'} is better"
