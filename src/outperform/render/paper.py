"""The table of a result as papers, pages and programs take it: Markdown, LaTeX or CSV."""

import csv
import re
from collections.abc import Iterator, Sequence
from html import escape
from io import StringIO
from itertools import pairwise
from types import ModuleType
from typing import Any, Literal, get_args

from outperform.errors import InvalidInput
from outperform.questions import find_room
from outperform.questions.result import PaperTable, Table
from outperform.stats.checks import check_choice
from outperform.wording import enumerate_names, make_line, measure

PaperFormat = Literal["markdown", "latex", "csv"]
_FORMULA = ("=", "+", "-", "@")  # how what spreadsheets compute begins
_NUMBER = re.compile(r"-?[\d.]+(e[-+]?\d+)?|-inf")
_TEXT_WIDTH = 345  # points, of the class `article`: what fits there fits elsewhere
_DIGIT, _GAP = 4.9, 8  # points: a digit in \small, were it bold, and what is between two columns
# A bracket or star after the end of a row would be an option of it; < and > are other signs in
# LaTeX's first encoding, and ` makes one with what stands before it.
_LATEX_SIGNS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": r"\textbar{}",
    '"': "{''}",
    "`": "{}`{}",
    "[": "{[}",
    "*": "{*}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "±": r"$\pm$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "−": "$-$",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "–": r"\textendash{}",
    "—": r"\textemdash{}",
    "…": r"\ldots{}",
    **{sign: rf"\textsuperscript{{{digit}}}" for sign, digit in zip("¹²³", "123", strict=True)},
}
_GREEK = (
    "α alpha β beta γ gamma δ delta ε varepsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu "
    "ν nu ξ xi π pi ρ rho σ sigma τ tau υ upsilon φ varphi χ chi ψ psi ω omega Γ Gamma Δ Delta "
    "Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Φ Phi Ψ Psi Ω Omega"
)
_LATEX_LETTERS = {letter: rf"$\{name}$" for letter, name in re.findall(r"(\w) (\w+)", _GREEK)}
_LATEX = str.maketrans(_LATEX_SIGNS | _LATEX_LETTERS)
_LIGATURE = re.compile("(?<=-)(?=-)|(?<=,)(?=,)|(?<=')(?=')")  # two make another sign
_FOREIGN = re.compile(r"[^\x00-\x7fÀ-ÏÑ-ÖØ-Ýßà-ïñ-öø-ýÿ]")  # without what only other fonts have
_MARKDOWN = re.compile(r"[\\`*_\[\]|~$]")
_MARKDOWN_BLOCK = re.compile(r"^(\d*)([-+=#.)])")  # what makes a list or a title of a line


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
    table: PaperTable = room.make_paper_table(result)
    return render_markdown(table) if form == "markdown" else render_latex(table)


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


def render_latex(table: PaperTable) -> str:
    """Render a table with bold marks and its caption; what is too wide is folded into blocks."""
    lines = [
        r"% Needs \usepackage{booktabs}. Where text is in two columns, make it a table*.",
        *_name_foreign(table),
        r"\begin{table}",
        r"  \centering",
        r"  \small",
        f"  \\setlength{{\\tabcolsep}}{{{_GAP // 2}pt}}",
        f"  \\caption{{{escape_latex(table.caption)}}}",
        f"  \\label{{tab:{table.label}}}",
    ]
    for columns in _fold(table):
        lines += [r"  \par\medskip", *_render_block(table, columns)]
    return "\n".join([*lines, r"\end{table}"])


def escape_latex(text: str) -> str:
    r"""Write text so that LaTeX prints it as it is; letters that it may lack are left alone.

    Examples
    --------
    >>> print(escape_latex("resnet_50 & 0.9 ± 0.1"))
    resnet\_50 \& 0.9 $\pm$ 0.1
    """
    return "{}".join(part.translate(_LATEX) for part in _LIGATURE.split(make_line(text)))


def _name_foreign(table: PaperTable) -> Iterator[str]:
    """Say which letters pdflatex may lack."""
    text = "".join([*table.header, table.caption, *(cell for row in table.rows for cell in row)])
    letters = sorted(set(_FOREIGN.findall(escape_latex(text))))
    if letters:
        named = enumerate_names(letters, limit=20)
        yield f"% pdflatex may lack {named}: take xelatex or lualatex and a font that has them."


def _fold(table: PaperTable) -> list[range]:
    """Divide the columns after the first into as few blocks of like size as are narrow enough."""
    widths = [
        _GAP + _DIGIT * max(map(measure, column))
        for column in zip(table.header, *table.rows, strict=True)
    ]
    n = len(widths) - 1
    for n_blocks in range(1, n + 1):
        ends = [1 + n * number // n_blocks for number in range(n_blocks + 1)]
        blocks = [range(*pair) for pair in pairwise(ends)]
        if all(widths[0] + sum(widths[j] for j in block) <= _TEXT_WIDTH for block in blocks):
            break
    return blocks


def _render_block(table: PaperTable, columns: Sequence[int]) -> Iterator[str]:
    yield f"  \\begin{{tabular}}{{l{'r' * len(columns)}}}"
    yield r"    \toprule"
    yield _join_latex(escape_latex(table.header[j]) for j in (0, *columns))
    yield r"    \midrule"
    for i, row in enumerate(table.rows):
        cells = ((escape_latex(row[j]), (i, j) in table.bold) for j in (0, *columns))
        yield _join_latex(f"\\textbf{{{cell}}}" if bold else cell for cell, bold in cells)
    yield r"    \bottomrule"
    yield r"  \end{tabular}"


def _join_latex(cells: Iterator[str]) -> str:
    return f"    {' & '.join(cells)} \\\\"


def render_markdown(table: PaperTable) -> str:
    """Render a table with bold marks, and its caption below."""
    grid = [
        [
            f"**{escape_markdown(cell)}**" if (i, j) in table.bold else escape_markdown(cell)
            for j, cell in enumerate(row)
        ]
        for i, row in enumerate(table.rows)
    ]
    header = [escape_markdown(cell) for cell in table.header]
    widths = [max(3, *map(measure, column)) for column in zip(header, *grid, strict=True)]
    rule = [":" + "-" * (widths[0] - 1), *("-" * (width - 1) + ":" for width in widths[1:])]
    lines = [_join_markdown(row, widths) for row in (header, rule, *grid)]
    caption = _MARKDOWN_BLOCK.sub(r"\1\\\2", escape_markdown(table.caption))
    return "\n".join([*lines, "", caption])


def escape_markdown(text: str) -> str:
    r"""Write text so that Markdown shows it as it is.

    Examples
    --------
    >>> escape_markdown("a|b <i>_c_")
    'a\\|b &lt;i&gt;\\_c\\_'
    """
    return escape(_MARKDOWN.sub(r"\\\g<0>", make_line(text)), quote=False)


def _join_markdown(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Fill cells up to their widths, so that the source can be read too."""
    blanks = [" " * (width - measure(cell)) for cell, width in zip(cells, widths, strict=True)]
    first, *others = zip(cells, blanks, strict=True)
    return "| " + " | ".join(["".join(first), *(blank + cell for cell, blank in others)]) + " |"
