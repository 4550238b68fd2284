"""The table of a result as papers, pages and programs take it: Markdown, LaTeX or CSV."""

import csv
import re
from collections.abc import Callable
from io import StringIO
from types import ModuleType
from typing import Any, Literal, get_args

from outperform.errors import InvalidInput
from outperform.questions.result import PaperTable, Table
from outperform.questions.rooms import find_room
from outperform.render.latex import render_latex
from outperform.render.markdown import render_markdown
from outperform.stats.checks import check_choice
from outperform.wording import make_line

PaperFormat = Literal["markdown", "latex", "csv"]
_FORMULA = ("=", "+", "-", "@")  # how what spreadsheets compute begins
_NUMBER = re.compile(r"-?[\d.]+(e[-+]?\d+)?|-inf")
_RENDERERS: dict[str, Callable[[PaperTable], str]] = {
    "markdown": render_markdown,
    "latex": render_latex,
}


def render_paper(result: Any, form: PaperFormat) -> str:
    """Render the table of a result for a paper.

    Parameters
    ----------
    result
        A result that has such a table: a `Ranking`.
    form
        ``"markdown"`` and ``"latex"`` have marks and a caption that says what they mean;
        ``"csv"`` is data only, one row per number with its spread.
    """
    check_choice("form", form, get_args(PaperFormat))
    room = _find_room(result)
    if form == "csv":
        return render_csv(room.list_records(result))
    return _RENDERERS[form](room.make_paper_table(result))


def find_formulas(result: Any) -> list[str]:
    """Names in the CSV of a result that a spreadsheet would take for formulas."""
    records: Table = _find_room(result).list_records(result)
    cells = dict.fromkeys(cell for row in records.rows for cell in row)
    return [cell for cell in cells if cell.startswith(_FORMULA) and not _NUMBER.fullmatch(cell)]


def render_csv(table: Table) -> str:
    """Render a header and rows as CSV; names are as they are, but for what steers a terminal."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in (table.header, *table.rows):
        writer.writerow(map(make_line, row))
    return text.getvalue().removesuffix("\n")


def _find_room(result: Any) -> ModuleType:
    room = find_room(type(result), "paper_table")
    if room is None:
        raise InvalidInput(
            f"there is no table for papers of a {type(result).__name__}",
            "Pass a Ranking, as rank_runs returns it",
        )
    return room
