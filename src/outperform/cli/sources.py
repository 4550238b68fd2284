"""Where commands get their runs and studies from; studies are imported where they are used."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outperform.errors import InvalidInput
from outperform.runs import Runs, join_runs, read_runs

if TYPE_CHECKING:
    from outperform.study.study import Study

STORE_SUFFIXES = (".db", ".sqlite")


def open_runs(path: str, reading: dict[str, Any]) -> Runs:
    """Runs of a file or, by its suffix, of a store, joined with those of the other files."""
    options = dict(reading)
    others = options.pop("others", ())
    return join_runs(*(_open_one(each, options) for each in (path, *others)))


def _open_one(path: str, reading: dict[str, Any]) -> Runs:
    if Path(path).suffix not in STORE_SUFFIXES:
        return read_runs(path, **reading)
    from outperform.analysis.stored_runs import load_store_runs
    from outperform.store import SqliteStore

    with SqliteStore(path) as store:
        return load_store_runs(store)


def read_study(path: str) -> "Study":
    """Study of a TOML file; modules that lie beside it can be imported, as beside a script."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InvalidInput(
            f"cannot read {path}: {reason}", "Write a study file first: `outperform init`"
        ) from None
    folder = str(file.parent.absolute())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    from outperform.study.files import parse_study

    return parse_study(text, folder=file.parent)
