"""The command `outperform init`."""

import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
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

    The study compares a scikit-learn estimator with the script; it runs as it is, in under a
    minute.
    """
    place = Path(folder)
    there = [name for name in _FILES if (place / name).exists()]
    if there:
        raise InvalidInput(
            f"{place / there[0]} is there already, and init overwrites nothing",
            "Name another folder, or move the file away",
        )
    texts = {name: (TEMPLATES / name).read_text(encoding="utf-8") for name in _FILES}
    # The word `python`, where that is the one running now, as in an active environment.
    program = shutil.which("python")
    same = program is not None and Path(program).absolute() == Path(sys.executable).absolute()
    python = "python" if same else sys.executable
    texts["study.toml"] = texts["study.toml"].replace("@PYTHON@", python)
    make_folder(place)
    write_files(place, texts)
    for name in texts:
        say(f"Wrote {place / name}")
    enter = "" if place == Path() else f"cd {place} && "
    say("", f"Next: {enter}outperform check study.toml")


def make_folder(place: Path) -> None:
    """Make a folder, unless it is there."""
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(
            f"cannot make the folder '{place}': {error.strerror}", "Name another"
        ) from None


def write_files(place: Path, texts: Mapping[str, str]) -> None:
    """Write files by their names; all of them or none, for half a study would be taken for one."""
    begun = []
    try:
        for name, text in texts.items():
            begun.append(place / name)
            begun[-1].write_text(text, encoding="utf-8")
    except OSError as error:
        for file in begun:
            with suppress(OSError):
                file.unlink()
        raise InvalidInput(
            f"cannot write '{begun[-1]}': {error.strerror}",
            "Make room there and check who may write, or name another folder",
        ) from None
