"""Any result as HTML: a fragment for a notebook, or a page that needs nothing else."""

import errno
import os
import re
from collections.abc import Sequence
from html import escape as escape_marks
from importlib.metadata import version
from pathlib import Path
from typing import Any
from zlib import crc32

from outperform.errors import InvalidInput
from outperform.questions.reporting import Answers
from outperform.questions.result import Result, Table
from outperform.render.figures import figure, look_up_drawing, render_picture
from outperform.wording import make_visible

_TAG = re.compile(r"<[^>]*>")
_COMMAND = re.compile(r"`([^`]+)`")
_ID = re.compile(r'(\bid="|href="#|url\(#)')
_REM_PER_INCH = 8.5  # figures are drawn for paper, and read from farther away on a screen
_STYLE = Path(__file__).with_name("page.css")
# Nothing runs and nothing is fetched; pictures within figures are part of the page.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
_ENDINGS = (".html", ".htm", "")  # of a page; without any, it is no other kind of file
_CLASSES = {"good": "decided", "bad": "decided", "open": "undecided", None: ""}


def write_report(
    results: Any, path: str | Path, *, title: str | None = None, about: Sequence[str] = ()
) -> None:
    """Write results with all that they say; the same results give the same bytes.

    Parameters
    ----------
    results
        Whatever can be drawn (see `outperform.plot`), one or several, in the order in which they
        are to be read; or all that `outperform.answer_all` found, with its notes.
    path
        The HTML file; it refers to no other file and asks nothing of the network.
    title
        By default the name of what was asked by `answer_all`.
    about
        Paragraphs on how the results came about.
    """
    check_page_path(path)
    path = Path(path)
    if isinstance(results, Answers):
        title = title or results.source
        runs = [f"{results.runs}."] if results.runs else []
        results, about = results.results, [*about, *runs, *results.notes]
    listed = list(results) if isinstance(results, Sequence) else [results]
    if not listed:
        raise InvalidInput("there are no results to report", "Pass at least one")
    if others := [each for each in listed if not isinstance(each, Result)]:
        raise InvalidInput(
            f"there is no report of a {type(others[0]).__name__}",
            "Pass what compare, audit, best_of_runs or any other function that concludes returned",
        )
    page = _render_page(listed, title=title or "Report", about=about)
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(
            f"cannot write '{path}': {error.strerror}", "Choose a path where files may be written"
        ) from None


def check_page_path(path: str | Path) -> None:
    """Refuse a path where no page can be, before answers are waited for in vain."""
    path = Path(path)
    if path.suffix.lower() not in _ENDINGS:
        raise InvalidInput(
            f"cannot write a page as '{path}': it is HTML",
            f"End the path in {_ENDINGS[0]}; a browser prints it as PDF",
        )
    if path.is_dir() or not path.parent.is_dir():
        reason = errno.EISDIR if path.is_dir() else errno.ENOENT
        raise InvalidInput(
            f"cannot write '{path}': {os.strerror(reason)}",
            "Choose a path where files may be written",
        )


def _render_page(results: Sequence[Any], *, title: str, about: Sequence[str]) -> str:
    sections = "\n".join(
        f"<section>\n{_render_result(result, f'figure{n}-')}\n</section>"
        for n, result in enumerate(results, start=1)
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
{_STYLE.read_text(encoding="utf-8")}</style>
</head>
<body>
<main>
<h1>{escape(title)}</h1>
{"".join(_render_paragraph(paragraph) for paragraph in about)}
{sections}
<footer>Made by outperform {escape(version("outperform"))}.</footer>
</main>
</body>
</html>
"""


def render_fragment(result: Result | Answers) -> str:
    """Render a result, or several with notes on them, in a notebook's own style."""
    if isinstance(result, Answers):
        return "\n".join([*map(render_fragment, result), *map(_render_paragraph, result.notes)])
    # Ids of several figures on one page must differ, those of the same figure need not.
    prefix = f"figure{crc32(str(result).encode(errors='surrogatepass'))}-"
    return f"<div>\n{_render_result(result, prefix)}\n</div>"


def _render_result(result: Result, prefix: str) -> str:
    parts = "\n".join(
        _render_paragraph(part) if isinstance(part, str) else _render_table(part)
        for part in result.tables
    )
    doubts = "".join(f"<li>{_write(caveat)}</li>\n" for caveat in result.caveats)
    caveats = f"<h3>Caveats</h3>\n<ul>\n{doubts}</ul>" if doubts else ""
    advice = f"<p><strong>Next:</strong> {_write(result.advice)}</p>" if result.advice else ""
    return f"""<h2 class="{_CLASSES[result.mood]}">{_write(str(result))}</h2>
<p>{escape(str(result.scope))}.</p>
{parts}
{_render_figure(result, prefix)}
{caveats}
{advice}"""


def escape(text: str) -> str:
    """Keep anybody's names from being read as HTML, or from hiding others."""
    return escape_marks(make_visible(text))


def _render_paragraph(text: str) -> str:
    return f"<p>{_write(text)}</p>\n"


def _write(text: str) -> str:
    """Escape a sentence, with the commands in it set as such."""
    return _COMMAND.sub(r"<code>\1</code>", escape(text))


def _render_table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table.header)
    head = f"<thead><tr>{head}</tr></thead>\n" if head else ""
    body = "\n".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in table.rows
    )
    title, note = (_render_paragraph(text) if text else "" for text in (table.title, table.note))
    kind = "" if head else ' class="values"'
    return (
        f'{title}<div class="table"><table{kind}>\n{head}<tbody>\n{body}\n</tbody>\n'
        f"</table></div>\n{note}"
    )


def _render_figure(result: Result, prefix: str) -> str:
    """Inline SVG, with ids that no other figure of the page has; nothing where there is none."""
    if look_up_drawing(result) is None:
        return ""
    made = figure(result)
    svg = render_picture(made, ".svg").decode()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = _TAG.sub(lambda tag: _ID.sub(rf"\g<1>{prefix}", tag[0]), svg)
    width = _REM_PER_INCH * made.get_figwidth()
    label = f'<svg role="img" aria-label="{escape(str(result))}" style="width: {width:.4g}rem"'
    return f"<figure>{svg.replace('<svg', label, 1)}</figure>"
