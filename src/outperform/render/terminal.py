"""Any result as text in the terminal."""

import sys
import textwrap
from collections.abc import Sequence
from itertools import chain, repeat
from shutil import get_terminal_size
from typing import Any, Literal

import click

from outperform.questions.result import Result, Table
from outperform.wording import make_line, make_printable, measure

_WIDEST = 96  # columns of what is wrapped
_ENDLESS = 10_000  # columns where nobody sees them, so that nothing is cut off
_COLOURS = {"good": "green", "bad": "red", "open": "yellow", None: None}


def say(*lines: str, fg: str | None = None, bold: bool = False, **where: Any) -> None:
    """Print lines that may hold anybody's names; `where` is that of `click.echo`.

    The one place that prints: names stay text here, a line break in one makes no line, and an
    address shows no password, whoever quotes what was typed.
    """
    shown = make_printable(lines)
    click.echo(click.style(shown, fg=fg, bold=bold or None) if fg or bold else shown, **where)


def print_result(result: Result, *, beside: bool = False) -> None:
    """Print the sentence, what it is about, the numbers, the doubts, and what to do next.

    Beside a table that stands alone on standard output, what goes with it: to standard error.
    """
    say(str(result), bold=True, fg=_COLOURS[result.mood], err=beside)
    say(f"{result.scope}{result.scope_hint}.", err=beside)
    for part in () if beside else result.tables:
        if isinstance(part, str):
            say("", part)
        else:
            print_table(part, "")
    if caveats := result.caveats:
        # Where nobody sees the output, it is always the same.
        is_seen = (sys.stderr if beside else sys.stdout).isatty()
        wrapper = textwrap.TextWrapper(
            min(_WIDEST, get_terminal_size().columns) if is_seen else _WIDEST,
            initial_indent="  - ",
            subsequent_indent="    ",
            break_on_hyphens=False,  # an option such as --test-size stays whole, to be copied
        )
        say("", "Caveats", bold=True, err=beside)
        say(*chain.from_iterable(map(wrapper.wrap, map(make_line, caveats))), err=beside)
    if not beside and (advice := result.advice):
        say("", f"Next: {advice}")


def print_table(table: Table, *above: str) -> None:
    """Print aligned columns, the first one to the left; what is too wide for a screen is folded."""
    if title := (*above, *filter(None, [table.title])):
        say(*title)
    if table.header:
        header, *rows = _lay_out(table)
        say(header, bold=True)
    else:
        names = [make_line(name) for name, _ in table.rows]
        width = max(map(measure, names), default=0)
        padded = [name + " " * (width - measure(name)) for name in names]
        rows = [f"  {name}  {value}" for name, (_, value) in zip(padded, table.rows, strict=True)]
    if table.note:
        rows += table.note.split("\n")
    if rows:
        say(*rows)


def _lay_out(table: Table) -> list[str]:
    from rich.console import Console  # imported where used, as it takes a while
    from rich.table import Table as Grid
    from rich.text import Text  # not markup: names may hold brackets

    is_seen = sys.stdout.isatty()
    width = get_terminal_size().columns if is_seen else _ENDLESS
    grid = Grid(box=None, pad_edge=False, padding=(0, 0, 0, table.gap))
    header, *rows = cells = [[*map(make_line, row)] for row in (table.header, *table.rows)]
    room = width - 2 - table.gap * (len(header) - 1)
    widths = _fit_columns([*zip(*cells, strict=True)], room) if is_seen else repeat(None)
    for place, (name, most) in enumerate(zip(header, widths, strict=False)):
        justify: Literal["left", "right"] = "right" if place else "left"
        grid.add_column(Text(name), justify=justify, overflow="fold", max_width=most)
    for row in rows:
        grid.add_row(*map(Text, row))
    console = Console(width=width - 2, color_system=None, highlight=False)
    with console.capture() as capture:
        console.print(grid)
    return [f"  {line}".rstrip() for line in capture.get().splitlines()]


def _fit_columns(columns: Sequence[Sequence[str]], room: int) -> list[int | None]:
    """How wide each column may be at most, so that no word is cut if there is room for all."""
    widths = [max(map(measure, column)) for column in columns]
    words = [
        max(measure(word) for cell in column for word in [*cell.split(), ""]) for column in columns
    ]
    if sum(words) > room:
        return [None] * len(columns)
    while sum(widths) > room:
        widest = max(range(len(widths)), key=lambda i: (widths[i] > words[i], widths[i]))
        widths[widest] -= 1
    return [*widths]
