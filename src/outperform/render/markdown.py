"""A table for papers in GitHub's Markdown."""

import re
from collections.abc import Sequence

from outperform.questions.result import PaperTable
from outperform.wording import make_line, measure

_MARKUP = re.compile(r"[\\`*_\[\]|~$]")
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_BLOCK = re.compile(r"^(\d*)([-+=#.)])")  # what makes a list or a title of a line


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
    lines = [_join(row, widths) for row in (header, rule, *grid)]
    caption = _BLOCK.sub(r"\1\\\2", escape_markdown(table.caption))
    return "\n".join([*lines, "", caption])


def escape_markdown(text: str) -> str:
    r"""Write text so that Markdown shows it as it is.

    Examples
    --------
    >>> escape_markdown("a|b <i>_c_")
    'a\\|b &lt;i&gt;\\_c\\_'
    """
    escaped = _MARKUP.sub(r"\\\g<0>", make_line(text))
    return re.sub("[&<>]", lambda sign: _HTML[sign[0]], escaped)


def _join(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Fill cells up to their widths, so that the source can be read too."""
    blanks = [" " * (width - measure(cell)) for cell, width in zip(cells, widths, strict=True)]
    first, *others = zip(cells, blanks, strict=True)
    return "| " + " | ".join(["".join(first), *(blank + cell for cell, blank in others)]) + " |"
