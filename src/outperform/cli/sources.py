"""Where commands get their runs and studies from; studies are imported where they are used."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from outperform.runs import Runs, join_runs
from outperform.store.reading import read_runs

if TYPE_CHECKING:
    from outperform.study.study import Study


def open_runs(path: str, reading: dict[str, Any], names: Sequence[str] = ()) -> Runs:
    """Runs of a file or of a store, joined with those of the other files.

    Parameters
    ----------
    names
        Algorithms that are looked at: other columns of a wide file may hold anything.
    """
    options = dict(reading)
    others = options.pop("others", ())
    if names and options["wide"] and not options["algorithm"] and not others:
        options["algorithm"] = tuple(names)
    return join_runs(*(read_runs(each, **options) for each in (path, *others)))


def read_study(path: str) -> "Study":
    """Study of a study file, imported when it is asked for: `--help` is quick without."""
    from outperform.study.study_file import read_study

    return read_study(path)
