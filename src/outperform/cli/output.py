"""What becomes of a result at the command line: text or JSON, and a figure if one was asked for."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Timer
from time import monotonic
from typing import Any

import click

from outperform.questions.result import Answer
from outperform.render.terminal import print_result


@dataclass(frozen=True, slots=True)
class Output:
    """How a person wants to see a result.

    Attributes
    ----------
    figure
        File to draw it into.
    view, width, title
        What is drawn, as `outperform.render.figures.figure` takes it.
    """

    as_json: bool = False
    figure: str | None = None
    view: str | None = None
    width: float | None = None
    title: bool = True

    def __post_init__(self) -> None:
        settings = {"--view": self.view, "--width": self.width, "--no-title": not self.title}
        idle = [name for name, value in settings.items() if value]
        if idle and not self.figure:
            raise click.UsageError(f"{', '.join(idle)} says how to draw: add --plot FILE.")

    def show(self, result: Answer, **more: Any) -> None:
        """Print a result, for a person or as JSON with what more there is, and draw it."""
        if self.as_json:
            print_json(result.to_dict() | more)
        else:
            print_result(result)
        self.draw(result)

    def draw(self, result: Any, file: str | None = None) -> None:
        """Draw a result into the file asked for, or into another, and say so on standard error."""
        path = self.figure if file is None else file
        if path:
            from outperform.render.figures import save_figure  # matplotlib is slow to import

            save_figure(result, path, view=self.view, width=self.width, title=self.title)
            click.echo(f"Figure written to {path}", err=True)


def print_json(values: dict[str, Any]) -> None:
    """Print strict JSON."""
    click.echo(json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False))


class ProgressLine:
    """Says on standard error how far work has come, if it takes longer than two seconds."""

    def __init__(self, doing: str) -> None:
        self.doing = doing
        self.live = sys.stderr.isatty()
        self.due = monotonic() + 2

    def __enter__(self) -> "ProgressLine":
        return self

    def __call__(self, n_done: int, n_steps: int) -> None:
        """Say it now, if something was not said a moment ago."""
        if monotonic() < self.due:
            return
        self.due = monotonic() + (0.2 if self.live else 10)
        line = f"{self.doing}: {n_done / n_steps:.0%}"
        click.echo(f"\r{line}\x1b[K" if self.live else line, nl=not self.live, err=True)

    def __exit__(self, *_: object) -> None:
        if self.live:
            click.echo("\r\x1b[K", nl=False, err=True)


@contextmanager
def say_if_slow(message: str) -> Iterator[None]:
    """Tell a person who waits for more than two seconds what for."""
    timer = Timer(2.0, click.echo, (message,), {"err": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
