"""How results are printed."""

import json
import math
import sys
import textwrap
from collections.abc import Callable, Collection, Iterable, Sequence
from shutil import get_terminal_size
from typing import Any

import click

from outperform.wording import measure

_WIDEST = 96  # columns of what is wrapped


def print_json(result: dict[str, Any]) -> None:
    """Print strict JSON: what is not finite becomes null."""
    click.echo(json.dumps(_finite(result), indent=2, ensure_ascii=False, allow_nan=False))


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print aligned columns, the first one to the left."""
    table = [header, *rows]
    widths = [max(map(measure, column)) for column in zip(*table, strict=True)]
    for number, row in enumerate(table):
        gaps = [" " * (width - measure(cell)) for cell, width in zip(row, widths, strict=True)]
        cells = [
            cell + gap if column == 0 else gap + cell
            for column, (cell, gap) in enumerate(zip(row, gaps, strict=True))
        ]
        click.secho("  " + "  ".join(cells).rstrip(), bold=number == 0)


def print_lines(lines: Collection[tuple[str, str]]) -> None:
    """Print a value per line behind its name."""
    width = max(measure(name) for name, _ in lines)
    for name, value in lines:
        click.echo(f"  {name}{' ' * (width - measure(name))}  {value}")


def format_spread(mean: float, sd: float) -> str:
    """Mean ± standard deviation, to as many places as the latter is known to.

    Examples
    --------
    >>> format_spread(0.8, 0.00071), format_spread(93.1, 0.25), format_spread(1234.5, 12)
    ('0.80000 ± 0.00071', '93.10 ± 0.25', '1234 ± 12')
    """
    places = 1 - math.floor(math.log10(sd)) if sd > 0 else 0
    if sd == 0 or places > 6 or mean >= 1e6:
        return f"{mean:.4g} ± {sd:.2g}"
    return f"{mean:.{max(0, places)}f} ± {sd:.{max(0, places)}f}"


def print_headline(result: Any, *, hint: str = "", **style: Any) -> None:
    """Print what all results begin with: the sentence, and what it is about.

    Parameters
    ----------
    hint
        How to learn more of that, added to the second line.
    """
    click.secho(str(result), bold=True, **style)
    click.echo(f"{result.scope}{hint}.")


def print_end(caveats: Sequence[str], advice: str) -> None:
    """Print what all results end with: reasons for doubt, and what to do next."""
    print_caveats(caveats)
    click.echo(f"\nNext: {advice}")


def print_caveats(caveats: Sequence[str]) -> None:
    """Print each reason for doubt as a point of a list."""
    if caveats:
        click.secho("\nCaveats", bold=True)
    # Where nobody sees the output, it is always the same.
    columns = get_terminal_size().columns if sys.stdout.isatty() else _WIDEST
    width = min(_WIDEST, columns)
    for caveat in caveats:
        click.echo(textwrap.fill(caveat, width, initial_indent="  - ", subsequent_indent="    "))


def format_duration(seconds: float) -> str:
    """Seconds in a unit that a person would choose."""
    for unit, length in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.0f} s"


def check_figure_path(path: str) -> None:
    """Refuse a figure that cannot be written before anything is computed for it."""
    from outperform.plots import check_path  # imports no matplotlib yet

    check_path(path)


def save_plot(result: Any, path: str) -> None:
    """Draw a result into a file and say so, without disturbing JSON on standard output."""
    from outperform.plots import save_figure  # matplotlib is slow to import

    save_figure(result, path)
    click.echo(f"Figure written to {path}", err=True)


def present(
    result: Any,
    show: Callable[[Any], None],
    *,
    as_json: bool,
    figure: str | None,
    gate: Any = None,
) -> None:
    """Print a result, for a person or as JSON, and draw it where that was asked for."""
    if as_json:
        print_json(result.to_dict() | ({"gate": gate.to_dict()} if gate else {}))
    else:
        show(result)
    if figure:
        save_plot(result, figure)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
