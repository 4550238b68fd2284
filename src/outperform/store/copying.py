"""Moving a study from one store to another, of whatever kind."""

import os
from collections.abc import Callable
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from outperform.errors import StoreError
from outperform.store.damage import Verification, name_fit, report_damage
from outperform.store.measurement import RunLabel
from outperform.store.meta import ACTIVITY
from outperform.store.sqlite import SqliteStore
from outperform.store.sqlite_file import check_place
from outperform.store.store import Store, use_store

Report = Callable[[int, int], None]  # of fits copied, and all

_CHUNK = 2000
_OF_THE_STORE = {"writer", ACTIVITY}  # of who writes it: nobody writes the copy


def copy_store(
    source: str | Path | Store, target: str | Path | Store, *, report: Report = lambda *_: None
) -> Verification:
    """Copy a study into another store, and look whether both hold the same.

    The source is copied as it is at one moment, while a run may go on. A copy that was interrupted
    is gone on with.

    Parameters
    ----------
    source, target
        Addresses, such as `"study.db"` and `"postgresql://HOST/DATABASE"`, or open stores.
    report
        Called now and then with the number of fits that are copied, and of all.
    """
    with use_store(source) as old, use_store(target) as new, old.snapshot() as moment:
        n_fits = sum(moment.counts().values())
        new.lock()
        _refuse_another_study(moment, new)
        measurements, n_copied = moment.measurements(), 0
        while some := [*islice(measurements, _CHUNK)]:
            new.add(some)
            n_copied += len(some)
            report(n_copied, n_fits)
        # The description comes last: nobody takes a part of a study for the whole.
        new.add([], _read_labels(moment))
        for name, value in _read_meta(moment).items():
            new.set_meta(name, value)
        _compare(moment, new)
        return Verification(new.address, n_fits)


def copy_into_file(source: Store, file: Path) -> Verification:
    """Copy a store into an SQLite file that is not there yet."""
    check_place(file)
    if os.path.lexists(file):
        raise StoreError(f"there is a file '{file}' already", "Name another, or remove it")
    try:
        with SqliteStore(file) as copy:
            return copy_store(source, copy)
    except BaseException:
        file.unlink(missing_ok=True)
        raise


def _refuse_another_study(source: Store, target: Store) -> None:
    """Refuse what holds more than a part of the source that an interrupted copy has left."""
    others = target.scores().keys() - source.scores().keys()
    known, present = _read_meta(source), _read_meta(target)
    if others or (present and not present.items() < known.items()):
        n_fits = sum(target.counts().values())
        raise StoreError(
            f"'{target.address}' holds a study already, with {n_fits} fits",
            "Name a store that is not there yet",
        )


def _compare(source: Store, target: Store) -> None:
    """Make sure that every row, whose checksum is looked at as it is read, is in both."""
    for old, new in zip_longest(source.measurements(), target.measurements()):
        if old != new:
            raise report_damage(target.address, f"{name_fit((old or new).key)} is another")
    if _read_labels(source) != _read_labels(target) or _read_meta(source) != _read_meta(target):
        raise report_damage(target.address, f"its study is not that of '{source.address}'")


def _read_labels(store: Store) -> list[RunLabel]:
    return [*store.run_labels(), *store.failed_trials()]


def _read_meta(store: Store) -> dict[str, Any]:
    """What is kept of the study, its description last."""
    names = [name for name in store.meta_names() if name not in _OF_THE_STORE]
    return {name: store.get_meta(name) for name in sorted(names, key=lambda name: name == "study")}
