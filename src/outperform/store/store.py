"""What every store promises, which one an address means, and runs from there or from a table."""

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, Self

from outperform.errors import InvalidInput, MissingExtra, NewerStore, StoreError, StoreInUse
from outperform.runs import Runs, join_runs
from outperform.runs import read_runs as read_table
from outperform.runs.suspicions import Doubt, check_doubts
from outperform.store.damage import Verification
from outperform.store.measurement import Added, Measurement, RunLabel, Status
from outperform.wording import hide_passwords

_HEADER = b"SQLite format 3\0"  # that every SQLite database begins with
_SUFFIXES = (".db", ".sqlite", ".sqlite3")
_POSTGRES = ("postgresql", "postgres")
_MISWRITTEN = re.compile(r"postgres(ql)?:|(.*\s)?\w*password\s*=", re.DOTALL)  # as libpq's words
_KNOWN = "Name a file, such as study.db, or a database, as in postgresql://HOST/DATABASE"


class Store(Protocol):
    """Keeps measurements durably: many may read while one coordinator writes.

    Reading needs a store that is there and takes no lock. The first write, or `lock`, makes one
    where there is none and keeps all other writers out until `close`. What was written is safe
    when the call returns. What is read is what was written: where it is damaged, `DamagedStore` is
    raised and names it.
    """

    address: str  # where it is, as messages and results name it

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def exists(self) -> bool:
        """Whether there is a store at its address, of whatever content."""

    def lock(self) -> None:
        """Become the only writer, or raise StoreInUse, which says who is."""

    def find_writer(self) -> str | None:
        """Who writes at the moment, since when and on which host; None where nobody does."""

    def close(self) -> None:
        """Let others write; it may be read and written again afterwards."""

    def add(
        self, measurements: Sequence[Measurement], labels: Iterable[RunLabel] = ()
    ) -> list[Added]:
        """Record measurements, and which fits are runs, in one durable commit: all or none.

        Trials of searches have labels where they failed, so that failures tell whether they count.

        The first result of a fit wins: a second one is compared with it and not recorded. A failure
        is replaced by whatever comes later. A commit waits for the disk, however many it holds, so
        results that came in together are best recorded together.
        """

    def get(self, keys: Iterable[str]) -> dict[str, Measurement]:
        """Measurements by key; keys of which nothing is recorded are left out."""

    def measurements(self, status: Status | None = None) -> Iterator[Measurement]:
        """Every measurement, or those of one status, in order of recording."""

    def scores(self) -> dict[str, dict[str, float]]:
        """Scores of every recorded fit by key, in order of recording; empty where it failed."""

    def counts(self) -> dict[tuple[str, str, Status], int]:
        """Number of measurements by pipeline, task and status."""

    def mean_seconds(self) -> dict[tuple[str, str], float]:
        """Mean seconds of the latest fits of each pipeline on each task, failed ones too."""

    def versions(self) -> list[tuple[str, dict[str, str], int]]:
        """What the runs that are done ran on: pipeline, versions, and how many of its fits.

        Fits that are no runs, such as those of code of before, do not count.
        """

    def run_labels(self) -> list[RunLabel]:
        """Which fits are the runs of which design, whether they are recorded yet or not."""

    def failed_trials(self) -> list[RunLabel]:
        """Which trials of searches have failed."""

    def keep_labels(self, of: Collection[tuple[str, str]]) -> None:
        """Forget which fits are runs or failed trials, but for these pairs of pipeline and task."""

    def get_meta(self, name: str) -> Any:
        """What was kept under a name; None where there is nothing."""

    def meta_names(self) -> list[str]:
        """Under which names something is kept, sorted."""

    def set_meta(self, name: str, value: Any) -> None:
        """Keep something JSON can hold under a name, in place of what was there."""

    def snapshot(self) -> AbstractContextManager["Store"]:
        """A store to read everything from as it is at one moment, whoever writes meanwhile."""

    def verify(self) -> Verification:
        """Look at everything, and say what is damaged and what to do."""

    def backup(self, file: str | Path) -> Verification:
        """Copy everything as it is at one moment into an SQLite file that is a store of its own.

        A run may go on meanwhile. No file is overwritten, and the copy is looked at when it is
        whole.
        """


def open_store(address: str | Path) -> Store:
    """Open the store at an address: a path, `sqlite:///path`, or `postgresql://HOST/DATABASE`.

    Nothing is read or made before it is asked for.

    Examples
    --------
    >>> open_store("sqlite:///study.db").address
    'study.db'
    """
    from outperform.store.sqlite import SqliteStore

    scheme, path = _split_address(address)
    if scheme is None:
        return SqliteStore(path)
    if scheme == "sqlite" and path.startswith("/") and path != "/":
        return SqliteStore(path[1:])
    if scheme == "sqlite":
        raise InvalidInput(
            f"'{address}' names no file", "Write sqlite:/// and the path, as in sqlite:///study.db"
        )
    if scheme not in _POSTGRES:
        raise InvalidInput(
            f"there is no kind of store called '{scheme}' ('{hide_passwords(str(address))}')",
            _KNOWN,
        )
    from outperform.store.postgres_address import read_address

    read_address(str(address))  # what is none is refused, whatever is installed
    try:
        import psycopg  # noqa: F401
    except ImportError:  # it, or PostgreSQL's own library
        raise MissingExtra(
            "stores in PostgreSQL need psycopg, which is not installed",
            "Run: pip install 'outperform[postgres]'",
        ) from None
    from outperform.store.postgres import PostgresStore

    return PostgresStore(str(address))


def use_store(store: str | Path | Store) -> AbstractContextManager[Store]:
    """Open a store that is named by its address, until the block ends; an open one stays open."""
    if not (isinstance(store, str | Path) or hasattr(store, "measurements")):
        raise InvalidInput(f"the store is {store!r}", _KNOWN)
    return open_store(store) if isinstance(store, str | Path) else nullcontext(store)


def report_writer(address: str, writer: str) -> StoreInUse:
    """Refuse to write what another run is writing, and say how to watch it."""
    return StoreInUse(
        f"'{address}' is being written by {writer}",
        "Wait for that run to end, or stop it; "
        f"`outperform status {shlex.quote(address)} --watch` shows how far it is",
    )


def check_version(address: str, version: int, own: int) -> None:
    """Refuse a store of another format than our own."""
    if version > own:
        raise NewerStore(
            f"'{address}' has format {version}, and this outperform knows {own} at most",
            "Upgrade with `pip install --upgrade outperform`",
        )
    if version < own:
        raise StoreError(
            f"'{address}' has format {version}, and this outperform reads {own}",
            "Use the outperform that made it, or run the study into another store",
        )


def show_address(source: str) -> str:
    """What a person has named, as messages may show it: without a password.

    Examples
    --------
    >>> show_address("postgresql://me:secret@lab/study"), show_address("runs.csv")
    ('postgresql://me@lab/study', 'runs.csv')
    """
    scheme, _ = _split_address(source)
    if scheme not in _POSTGRES:
        return source
    from outperform.store.postgres_address import read_address

    return read_address(source).shown


def is_store(source: object) -> bool:
    """Whether this is the address of a store rather than a table, whatever its name.

    What is not there yet goes by its suffix.
    """
    if not isinstance(source, str | Path):
        return False
    scheme, path = _split_address(source)
    if scheme is not None:
        # One that is misspelt may hold a password, which readers of tables would show.
        return scheme == "sqlite" or scheme.startswith("postgres")
    begin = b""
    if Path(path).is_file():  # what is read from a pipe would be lost
        with suppress(OSError), Path(path).open("rb") as file:
            begin = file.read(len(_HEADER))
    return begin == _HEADER or (not begin and Path(path).suffix.casefold() in _SUFFIXES)


def _split_address(address: str | Path) -> tuple[str | None, str]:
    """Scheme, None of a path, and what follows it."""
    scheme, separator, rest = str(address).partition("://")
    if not separator and _MISWRITTEN.match(str(address)):
        return _POSTGRES[0], str(address)  # to be refused: a path would be shown
    return (scheme, rest) if separator and isinstance(address, str) else (None, str(address))


def read_runs(
    source: object,
    *,
    accept: Doubt | Sequence[Doubt] = (),
    design: str | None = None,
    **columns: Any,
) -> Runs:
    """Read the runs of a study from its store, or a table of scores.

    Parameters
    ----------
    source
        The address of a store: a path, or `sqlite:///path`. Or a table: a file (CSV, TSV, JSON
        Lines, Parquet), a pandas or polars data frame, a list of dicts, a dict of columns, or
        a dict of scores by algorithm.
    accept
        What is right although it looks wrong, so that it is no reason to refuse a comparison:
        `"binary"`, `"constant"`, `"examples"`, `"nested"`, `"outlier"`, `"pooled"`, `"repeated"`,
        `"scale"`, `"settings"` or `"sorted"`.
    design
        Of a store, the design whose runs are wanted, such as `"resampled-hopt"`; by default the
        best that it has.
    columns
        How to read a table, which a store knows: `algorithm`, `task`, `replicate`, `metric`,
        `validation`, `goal`, `wide`, `rows` and `at`, as `outperform.runs.read_runs` takes them.

    Examples
    --------
    >>> runs = read_runs({"resnet": [0.9, 0.8], "vgg": [0.7, 0.8]}, metric="accuracy")
    >>> print(runs)
    4 runs of 2 algorithms (maximize accuracy, from the dict)
    """
    if not is_store(source):
        if design is not None:
            raise InvalidInput(
                f"design is {design!r}, but only the store of a study has designs",
                "Leave it out, or name a store such as study.db",
            )
        return read_table(source, accept=accept, **columns)
    from outperform.store.stored_runs import load_runs

    assert isinstance(source, str | Path)
    with open_store(source) as store:
        runs = replace(load_runs(store, design), accepted=check_doubts(accept))
    _refuse_columns(runs, columns)
    return runs


def _refuse_columns(runs: Runs, columns: Mapping[str, Any]) -> None:
    """Refuse what was meant for a table, or contradicts the store: it would change nothing."""
    metrics, goals = (
        {each(task) for task in runs.tasks} for each in (runs.metric_on, runs.goal_on)
    )
    known = {"metric": metrics, "validation": metrics, "goal": goals}
    for name in ("wide", "task", "algorithm", "replicate", "at", *known):
        value = columns.get(name)
        if value and value not in known.get(name, ()):
            raise InvalidInput(
                f"{name} is {value!r}, but a store knows what its runs are",
                "Leave it out; `outperform compare` looks at one task with --on TASK",
            )


def open_runs(source: object, reading: Mapping[str, Any], names: Sequence[str] = ()) -> Runs:
    """Read runs, and join those of others with them.

    Parameters
    ----------
    reading
        Options of `read_runs`, and `others`: tables that are read and joined likewise.
    names
        Of the only algorithms that are looked at.
    """
    options = dict(reading)
    others = options.pop("others", ())
    # Columns of a wide file that nobody looks at may hold anything.
    if names and options.get("wide") and not options.get("algorithm") and not others:
        options["algorithm"] = tuple(names)
    if not others:
        return read_runs(source, **options)
    # A store takes no columns, which are those of the other files then.
    own = options
    if is_store(source):
        own = {name: options[name] for name in ("accept", "design") if name in options}
    return join_runs(read_runs(source, **own), *(read_runs(each, **options) for each in others))
