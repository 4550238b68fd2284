"""The command `outperform init`."""

import shutil
import sys
from pathlib import Path

import click

from outperform.cli.options import debug_option
from outperform.errors import InvalidInput
from outperform.render.terminal import say

TEMPLATES = Path(__file__).parent / "templates"
_FILES = ("study.toml", "train.py")


@click.command()
@click.argument("folder", default=".", metavar="[FOLDER]")
@debug_option
def command(folder: str) -> None:
    """Write a study file and a training script to start from.

    \b
        outperform init my-study

    The study compares a scikit-learn estimator with the script; it runs as it is, in seconds.
    """
    place = Path(folder)
    there = [name for name in _FILES if (place / name).exists()]
    if there:
        raise InvalidInput(
            f"{place / there[0]} is there already, and init overwrites nothing",
            "Name another folder, or move the file away",
        )
    texts = {name: (TEMPLATES / name).read_text(encoding="utf-8") for name in _FILES}
    texts["study.toml"] = texts["study.toml"].replace("@PYTHON@", _name_python())
    make_folder(place)
    for name, text in texts.items():
        (place / name).write_text(text, encoding="utf-8")
        say(f"Wrote {place / name}")
    enter = "" if place == Path() else f"cd {place} && "
    say("", f"Next: {enter}outperform run study.toml")


def make_folder(place: Path) -> None:
    """Make a folder, unless it is there."""
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(
            f"cannot make the folder '{place}': {error.strerror}", "Name another"
        ) from None


def _name_python() -> str:
    """`python` where that is the one running now, as in an active environment; else its path."""
    program = shutil.which("python")
    same = program is not None and Path(program).absolute() == Path(sys.executable).absolute()
    return "python" if same else sys.executable
