"""What becomes of a result at the command line: text or JSON, and a figure if one was asked for."""

import json
from dataclasses import dataclass
from typing import Any

import click

from outperform.questions.result import Answer
from outperform.render.paper import PaperFormat, find_formulas, render_paper
from outperform.render.terminal import print_beside, print_result, say
from outperform.wording import STEERING, enumerate_names


@dataclass(frozen=True, slots=True)
class Output:
    """How a person wants to see a result.

    Attributes
    ----------
    paper
        Print its table in this form, for a paper, in place of all.
    figure
        File to draw it into.
    view, width, title
        What is drawn, as `outperform.render.figures.figure` takes it.
    """

    as_json: bool = False
    paper: PaperFormat | None = None
    figure: str | None = None
    view: str | None = None
    width: float | None = None
    title: bool = True

    def __post_init__(self) -> None:
        settings = {"--view": self.view, "--width": self.width, "--no-title": not self.title}
        idle = [name for name, value in settings.items() if value]
        if idle and not self.figure:
            raise click.UsageError(f"{', '.join(idle)} says how to draw: add --plot FILE.")
        if self.paper and self.as_json:
            raise click.UsageError(
                f"--format {self.paper} and --json both say what to print: leave one out."
            )

    def show(self, result: Answer, **more: Any) -> None:
        """Print a result, for a person or as JSON with what more there is, and draw it."""
        if self.as_json:
            print_json(result.to_dict() | more)
        elif self.paper:
            _print_paper(result, self.paper)
        else:
            print_result(result)
        self.draw(result)

    def draw(self, result: Any, file: str | None = None) -> None:
        """Draw a result into the file asked for, or into another, and say so on standard error."""
        path = self.figure if file is None else file
        if path:
            from outperform.render.figures import save_figure  # matplotlib is slow to import

            save_figure(result, path, view=self.view, width=self.width, title=self.title)
            say(f"Figure written to {path}", err=True)


def _print_paper(result: Answer, form: PaperFormat) -> None:
    """Print the table alone, so that it can be piped; the rest goes to standard error."""
    say(*render_paper(result, form).split("\n"))
    print_beside(result)
    if form == "csv" and (names := find_formulas(result)):
        say(
            f"A spreadsheet takes what begins with = + - @ for a formula: import as text "
            f"{enumerate_names(names, limit=3)}",
            err=True,
        )


def print_json(values: dict[str, Any], *, kind: str | None = None) -> None:
    """Print strict JSON, with what would steer a terminal in JSON's own escapes.

    With a kind, it begins with that and the version, as that of results.
    """
    if kind is not None:
        from importlib.metadata import version  # slow to import, and needed here only

        values = {"kind": kind, "version": version("outperform"), **values}
    text = json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False)
    shown = STEERING.sub(lambda letter: json.dumps(letter[0])[1:-1], text)
    say(*shown.split("\n"))
