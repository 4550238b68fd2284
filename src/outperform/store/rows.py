"""How a measurement becomes a row of text and numbers, and comes back the same or not at all."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from math import isfinite
from types import NoneType
from typing import Any
from zlib import crc32

from outperform.errors import InvalidInput
from outperform.store.damage import DamagedFit, name_fit, report_damage
from outperform.store.measurement import Added, Measurement, RunLabel, compare_scores
from outperform.store.meta import find_meta_problem
from outperform.wording import cut_middle

Rows = list[tuple[Any, ...]]

COLUMNS = {
    "key": "TEXT NOT NULL",
    "pipeline": "TEXT NOT NULL",
    "task": "TEXT NOT NULL",
    "params": "TEXT NOT NULL",
    "seeds": "TEXT NOT NULL",
    "fold": "INTEGER NOT NULL",
    "refit": "INTEGER NOT NULL",
    "status": "TEXT NOT NULL CHECK (status IN ('done', 'failed'))",
    "scores": "TEXT NOT NULL",
    "seconds": "REAL NOT NULL",
    "error": "TEXT",
    "started": "REAL NOT NULL",
    "versions": "TEXT NOT NULL",
}
SET_META = """INSERT INTO meta VALUES (?, ?, ?)
ON CONFLICT (name) DO UPDATE SET value = excluded.value, checksum = excluded.checksum"""
# Scores have one of their own, so that they can be trusted without a look at the rest.
CHECKSUMS = {"score_checksum": "INTEGER NOT NULL", "checksum": "INTEGER NOT NULL"}
_N_COLUMNS = len(COLUMNS)
_OBJECTS = [list(COLUMNS).index(name) for name in ("params", "seeds", "scores", "versions")]
_SCORES = _OBJECTS[2]
_TEXT, _WHOLE, _REAL = (str,), (int,), (float,)
_KINDS: tuple[tuple[type, ...], ...] = (
    *[_TEXT] * 5, _WHOLE, _WHOLE, _TEXT, _TEXT, _REAL, (str, NoneType), _REAL, _TEXT
)  # fmt: skip
_LABEL_KINDS = (_TEXT, _TEXT, _WHOLE, _TEXT, _TEXT, _TEXT)
_LONGEST_ERROR = 1_000_000  # characters: a program may print without end before it fails
_MISMATCH = "does not match its checksum"
# What Python raises where a row is not what it should be; too deep a JSON is the last.
NONSENSE = (ValueError, TypeError, LookupError, OverflowError, RecursionError)


def find_checksum(*values: Any) -> int:
    r"""CRC-32 of the text of values, with zeros between: finds every damage of up to 32 bits.

    It tells damage from what was written, not a forger from its author.

    Examples
    --------
    >>> find_checksum("k0", 1, None) == crc32(b"k0\0001\0None")
    True
    """
    return crc32("\0".join(map(str, values)).encode())


def find_checksums(*columns: Sequence[Any]) -> list[int]:
    """The same of every row of some columns, several times faster than one by one.

    Examples
    --------
    >>> find_checksums(["k0", "k1"], [1, 2]) == [find_checksum("k0", 1), find_checksum("k1", 2)]
    True
    """
    are_texts = ({*map(type, column)} == {str} for column in columns)
    parts = [c if is_text else map(str, c) for c, is_text in zip(columns, are_texts, strict=True)]
    return [*map(crc32, map(str.encode, map("\0".join, zip(*parts, strict=True))))]


def encode_row(new: Measurement) -> tuple[Any, ...]:
    """Values of the columns, in their order, and their checksums."""
    error = new.error
    if error is not None:
        # Lone surrogates, no text to SQLite, come from undecodable bytes in a file name.
        error = cut_middle(error, _LONGEST_ERROR).encode(errors="backslashreplace").decode()
    row = (
        new.key,
        new.pipeline,
        new.task,
        encode_json(new.params),
        encode_json(new.seeds),
        int(new.fold),
        int(new.refit),
        new.status,
        encode_json({name: float(score) for name, score in new.scores.items()}),
        float(new.seconds) + 0.0,  # SQLite keeps no sign of zero
        error,
        float(new.started) + 0.0,
        encode_json(new.versions),
    )
    return _add_checksums(row)


def _add_checksums(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Values of the columns and the checksums of the scores and of all."""
    return (*row, find_checksum(row[0], row[_SCORES]), find_checksum(*row))


def decode_rows(rows: Sequence[tuple[Any, ...]], address: str) -> Iterator[Measurement]:
    """Measurements from values of the columns, in their order, and their checksums.

    Where a row is not what `encode_row` has made, DamagedStore names the fit.
    """
    together: list[tuple[Any, ...]] | None = None  # params, seeds, scores and versions
    with suppress(*NONSENSE):  # some are damaged
        columns = [decode_json([row[i] for row in rows]) for i in _OBJECTS]
        together = [*zip(*columns, strict=True)] if len(columns[0]) == len(rows) else None
    for i, row in enumerate(rows):
        decoded = _decode_row(row, together[i] if together else None)
        if isinstance(decoded, str):
            raise report_damage(address, f"{name_fit(row[0])} {decoded}")
        yield decoded


def decode_scores(rows: Sequence[tuple[Any, ...]], address: str) -> dict[str, dict[str, float]]:
    """Scores by key, from rows of key, scores and their checksum.

    Where scores are not what was recorded, DamagedStore names the fit.
    """
    if not rows:
        return {}
    keys, texts, checksums = zip(*rows, strict=True)
    if find_checksums(keys, texts) != [*checksums]:
        bad = next(row[0] for row in rows if row[2] != find_checksum(*row[:2]))
        raise report_damage(address, f"{name_fit(bad)} {_MISMATCH}")
    decoded = _decode_score_texts(texts)
    if decoded is None:
        bad = next((row[0] for row in rows if _decode_score_texts(row[1:2]) is None), "")
        raise report_damage(address, f"{name_fit(bad)} has scores that make no sense")
    return dict(zip(keys, decoded, strict=True))


def _decode_score_texts(texts: Sequence[str]) -> list[dict[str, float]] | None:
    """Scores of fits; None where any are none."""
    with suppress(*NONSENSE):
        decoded = decode_json(texts)
        scores = [score for each in decoded for score in dict.values(each)]
        are_numbers = {*map(type, scores)} <= {float, int} and all(map(isfinite, scores))
        if are_numbers and len(decoded) == len(texts):
            return decoded
    return None


def compare_with_recorded(row: tuple[Any, ...] | None, new: Measurement, address: str) -> Added:
    """What becomes of a fit that may be recorded; "new" if not, or if as a failure.

    The row is status, key, scores and their checksum, as they are recorded.
    """
    if row is None or row[0] == "failed":
        return Added("new")
    if new.status == "failed":
        return Added("kept")
    return compare_scores(decode_scores([row[1:]], address)[new.key], new.scores)


def encode_label(label: RunLabel) -> tuple[Any, ...]:
    """Values of a run's columns, in their order, and their checksum."""
    return (*label, find_checksum(*label))


def decode_labels(rows: Sequence[tuple[Any, ...]], address: str) -> list[RunLabel]:
    """Which fits are runs, from values of the columns and their checksum."""
    columns = [*zip(*rows, strict=True)]
    kinds = [{*map(type, column)} for column in columns[:6]]
    right = all(kind == {*right} for kind, right in zip(kinds, _LABEL_KINDS, strict=False))
    if not rows or (right and find_checksums(*columns[:6]) == [*columns[6]]):
        return [*map(RunLabel._make, zip(*columns[:6], strict=True))]
    problem = next(filter(None, map(_find_label_problem, rows)), "its runs make no sense")
    raise report_damage(address, problem)


def _find_label_problem(row: tuple[Any, ...]) -> str | None:
    """What is wrong with the row of a run; None if nothing is."""
    *label, checksum = row
    if checksum != find_checksum(*label):
        return f"replicate {row[2]} of {row[0]} for {row[3]} on {row[4]} {_MISMATCH}"
    if not all(map(isinstance, label, _LABEL_KINDS)):
        return f"replicate {row[2]} of {row[0]} has a value of the wrong type"
    return None


def encode_value(name: str, value: Any) -> tuple[Any, ...]:
    """A name, the text of what is kept under it, and their checksum."""
    text = encode_json(value)
    return (name, text, find_checksum(name, text))


def decode_value(row: tuple[Any, ...]) -> tuple[Any, str | None]:
    """What is kept under a name, from name, text and checksum, and what is wrong with it, if so."""
    name, text, checksum = row
    if checksum != find_checksum(name, text):
        return None, f"what it keeps as '{name}' {_MISMATCH}"
    try:
        (value,) = decode_json([text])
    except NONSENSE:
        return None, f"what it keeps as '{name}' is no JSON"
    return value, None


def encode_json(value: Any) -> str:
    """Text of something JSON can hold; numbers of numpy become those of Python."""
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"), default=_plain_number)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"cannot store {value!r}: {error}",
            "Use finite numbers, text, true and false, and lists and tables of them",
        ) from None


def decode_json(texts: Sequence[str]) -> list[Any]:
    """Objects from their texts, in one pass, which is several times faster than one by one."""
    decoded: list[Any] = json.loads(f"[{','.join(texts)}]")
    return decoded


def _decode_row(row: tuple[Any, ...], objects: Sequence[Any] | None = None) -> Measurement | str:
    """A measurement, or what is wrong with its row; objects: its tables, if they are decoded."""
    values = row[:_N_COLUMNS]
    if row != _add_checksums(values):
        return _MISMATCH
    if not all(map(isinstance, values, _KINDS)):
        return "has a value of the wrong type"
    key, pipeline, task, _, _, fold, refit, status, _, seconds, error, started, _ = values
    try:
        objects = objects or [decode_json([row[i]])[0] for i in _OBJECTS]
        params, seeds, scores, versions = objects
        if not all(isinstance(each, dict) for each in objects):
            raise TypeError("hyperparameters, seeds, scores or versions are no table")
        if not all(type(seed) is int for seed in seeds.values()):
            raise TypeError("a seed is no whole number")
        if status not in ("done", "failed"):
            raise ValueError(f"its status is {status!r}")
        return Measurement(
            key, pipeline, task, params, seeds, fold, bool(refit), status, scores, seconds, error,
            started, versions,
        )  # fmt: skip
    except NONSENSE as wrong:
        return f"makes no sense: {getattr(wrong, 'problem', wrong)}"


def _plain_number(value: Any) -> Any:
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not JSON")


def check_rows(
    read: Callable[[str], Iterable[tuple[Any, ...]]], problems: list[str]
) -> tuple[int, tuple[DamagedFit, ...], list[str]]:
    """Look at every row of a store, and add to its problems what is wrong beside the fits.

    Parameters
    ----------
    read
        Gives the rows of a table.

    Returns
    -------
    Number of measurements, those that are damaged, and SQL that takes out what is damaged.
    """
    n_measurements, damaged = 0, {}
    for number, *row in read("measurements"):
        n_measurements += 1
        if isinstance(problem := _decode_row(tuple(row)), str):
            damaged[number] = DamagedFit(str(row[0]), str(row[1]), str(row[2]), problem)

    def find_value_problem(row: tuple[Any, ...]) -> str | None:
        value, problem = decode_value(row)
        return problem or find_meta_problem(row[0], value)

    numbers = ", ".join(map(str, damaged))
    removals = [f"DELETE FROM measurements WHERE id IN ({numbers})"] if damaged else []
    bad_tables = []
    for table, find in (("run_labels", _find_label_problem), ("meta", find_value_problem)):
        wrong = [words for row in read(table) if (words := find(row)) is not None]
        problems += wrong
        bad_tables += [table] if wrong else []
    removals += [f"DELETE FROM {table}" for table in sorted(bad_tables)]
    return n_measurements, tuple(damaged.values()), removals
