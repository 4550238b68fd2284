"""Any result as text in the terminal."""

import sys
import textwrap
from collections.abc import Sequence
from shutil import get_terminal_size

import click

from outperform.questions.result import Answer, Table

_WIDEST = 96  # columns of what is wrapped
_ENDLESS = 10_000  # columns where nobody sees them, so that nothing is cut off
_COLOURS = {"good": "green", "bad": "red", "open": "yellow", None: None}


def print_result(result: Answer) -> None:
    """Print the sentence, what it is about, the numbers, the doubts, and what to do next."""
    click.secho(str(result), bold=True, fg=_COLOURS[result.mood])
    click.echo(f"{result.scope}{result.scope_hint}.")
    for part in result.tables:
        click.echo()
        if isinstance(part, str):
            click.echo(part)
        else:
            print_table(part)
    _print_caveats(result.caveats)
    if result.advice:
        click.echo(f"\nNext: {result.advice}")


def print_table(table: Table) -> None:
    """Print aligned columns, the first one to the left; what is too wide for a screen is folded."""
    if table.title:
        click.echo(table.title)
    for number, line in enumerate(_lay_out(table)):
        click.secho(line, bold=number == 0 and bool(table.header))
    if table.note:
        click.echo(table.note)


def _lay_out(table: Table) -> list[str]:
    from rich.console import Console  # imported where used, as it takes a while
    from rich.table import Table as Grid
    from rich.text import Text  # not markup: names may hold brackets

    is_seen = sys.stdout.isatty()
    width = get_terminal_size().columns if is_seen else _ENDLESS
    grid = Grid(box=None, show_header=bool(table.header), pad_edge=False, padding=(0, 0, 0, 2))
    for place in range(len(table.header) or 2):
        to_the_left = place == 0 or not table.header
        header = table.header[place] if table.header else ""
        grid.add_column(Text(header), justify="left" if to_the_left else "right", overflow="fold")
    for row in table.rows:
        grid.add_row(*map(Text, row))
    console = Console(width=width - 2, color_system=None, highlight=False)
    with console.capture() as capture:
        console.print(grid)
    return [f"  {line}".rstrip() for line in capture.get().splitlines()]


def _print_caveats(caveats: Sequence[str]) -> None:
    if caveats:
        click.secho("\nCaveats", bold=True)
    # Where nobody sees the output, it is always the same.
    columns = get_terminal_size().columns if sys.stdout.isatty() else _WIDEST
    width = min(_WIDEST, columns)
    for caveat in caveats:
        click.echo(textwrap.fill(caveat, width, initial_indent="  - ", subsequent_indent="    "))
