"""The page of a report, as text."""

import re
from collections.abc import Sequence
from html import escape
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from typing import Any

from outperform.plots import figure
from outperform.plots.style import freeze_layout, house_style
from outperform.questions.audit.result import Audit
from outperform.questions.best_of.result import BestOf, BestOfComparison, BestOfEach, list_results
from outperform.questions.compare.published import PublishedComparison
from outperform.questions.compare.result import Comparison
from outperform.questions.compare.task_results import TaskComparisons
from outperform.questions.simulate.result import ErrorRates
from outperform.questions.tabulated import Tabulated, tabulate

_TAG = re.compile(r"<[^>]*>")
_REM_PER_INCH = 8.5  # figures are drawn for paper, and read from farther away on a screen
_DECIDING = Comparison | TaskComparisons | PublishedComparison | BestOfComparison
_STYLE = Path(__file__).with_name("page.css")


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


def _render_result(result: Any, number: int) -> str:
    table = tabulate(result)
    drawn = _render_figure(result, number)
    notes = "".join(f"<p>{escape(note)}</p>\n" for note in _list_notes(result))
    doubts = "".join(f"<li>{escape(caveat)}</li>\n" for caveat in result.caveats)
    caveats = f"<h3>Caveats</h3>\n<ul>\n{doubts}</ul>" if doubts else ""
    return f"""<section>
<h2 class="{_choose_mood(result)}">{escape(str(result))}</h2>
<p>{escape(str(result.scope))}.</p>
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
