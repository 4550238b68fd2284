"""Replicates that do not match: repeated ones, other spellings, those that only one side has."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from outperform.errors import DuplicateRuns, UnpairedScores
from outperform.runs.columns import kind_of
from outperform.runs.labels import (
    BoolArray,
    IntArray,
    Labels,
    Numerals,
    differ_within,
    label_rows,
    split_groups,
)
from outperform.runs.metrics import known_goal
from outperform.wording import enumerate_names, enumerate_rows

if TYPE_CHECKING:
    from outperform.runs.pairing import Cell
    from outperform.runs.table import Runs

_DECIMAL = re.compile(r"([+-]?)(0|[1-9]\d*)(?:\.(\d*?)0*)?")
_PADDED = re.compile(r"([+-]?)0+(?=\d)")


def explain_duplicates(runs: "Runs", cell: "Cell") -> DuplicateRuns:
    """Say which runs of one algorithm on one task share their replicate, and what to do."""
    codes = runs.replicate[cell.rows]
    counts = np.bincount(codes)
    repeated = np.flatnonzero(counts > 1)
    is_first = codes == repeated[0]
    used = runs.replicate_name
    more = f"; {len(repeated) - 1} more repeat too" if len(repeated) > 1 else ""
    label = (runs.replicates or ())[int(repeated[0])]
    problem = (
        f"{cell.algorithm!r} has {counts[repeated[0]]} runs with {used} {label!r} in {cell.place} "
        f"({enumerate_rows(runs.row[cell.rows[is_first]])}{more})"
    )
    if _are_told_apart(runs, cell):
        columns = ",".join((*runs.replicate_columns, *runs.spare_columns))
        return DuplicateRuns(
            problem, f"If these columns tell the runs apart, pass --replicate {columns}"
        )
    if settings := _find_settings(runs, cell):
        values = enumerate_names(_list_values(runs, settings[0], cell.rows[is_first]), limit=3)
        differences = f"{settings[0]} ({values})" + "".join(f" and {n}" for n in settings[1:])
        named = ",".join((*runs.algorithm_columns, *settings))
        return DuplicateRuns(
            f"{problem} that differ in {differences}: they are settings of a search, not "
            "replicates of one",
            f"Keep the rows of one setting, make it part of the name with --algorithm {named}, or "
            "ask what the best setting reaches: `outperform best-of` with "
            f"--replicate {used},{','.join(settings)}",
        )
    return DuplicateRuns(
        problem,
        f"Remove the copies, or name all columns that tell runs apart: --replicate {used},COLUMN",
    )


def _are_told_apart(runs: "Runs", cell: "Cell") -> bool:
    """Whether columns of replicates that are not used tell all runs apart."""
    if not runs.spare_columns or runs.others is None:
        return False
    group = runs.replicate[cell.rows]
    for name in runs.spare_columns:
        group = split_groups(group, runs.others.label(name, cell.rows))
    return len(np.unique(group)) == len(group)


def _find_settings(runs: "Runs", cell: "Cell") -> list[str]:
    """Find the hyperparameters that runs of one replicate differ in, by their name or their use."""
    if runs.others is None:
        return []
    used = {*runs.algorithm_columns, *runs.replicate_columns, runs.metric, runs.validation_metric}
    free = [name for name in runs.others.names if name not in used]
    named = [name for name in free if kind_of(name) == "setting" and _differs(runs, cell, name)]
    return named or [name for name in free if _looks_like_setting(runs, cell, name)][:1]


def _differs(runs: "Runs", cell: "Cell", name: str) -> bool:
    """Whether runs of one replicate differ in a column."""
    assert runs.others is not None
    labels = runs.others.label(name, cell.rows)
    return bool(differ_within(runs.replicate[cell.rows], labels).any())


def _looks_like_setting(runs: "Runs", cell: "Cell", name: str) -> bool:
    """Whether a column tells all runs of one replicate apart, and its values recur in others."""
    if known_goal(name):
        return False
    assert runs.others is not None
    labels = runs.others.label(name, cell.rows)
    n_runs, n_values = len(labels.codes), len(np.unique(labels.codes))
    group = split_groups(runs.replicate[cell.rows], labels)
    # What was measured, or notes of when and where, hardly recur.
    return len(np.unique(group)) == n_runs and n_values <= n_runs / 2


def _list_values(runs: "Runs", name: str, rows: IntArray) -> Iterable[str]:
    assert runs.others is not None
    return dict.fromkeys(runs.others.label(name, rows).spell())


def ask_for_one_spelling(algorithms: Sequence[str], compared: Sequence[str]) -> str:
    """What to do where runs that one of two lacks may stand under another spelling of its name."""
    for name in compared:
        for other in algorithms:
            if other not in compared and _spell_plainly(other) == _spell_plainly(name):
                return (
                    f"There are runs of {other!r} too: if that is the same algorithm, give both "
                    "one name; if not, add the missing runs, or pass --drop-incomplete"
                )
    return ""


def _spell_plainly(name: str) -> str:
    """Leave out what people do not mean by a name: ResNet-50 is resnet50."""
    return re.sub(r"[\W_]+", "", name.casefold()) or name


def explain_no_match(
    runs: "Runs", a: "Cell", b: "Cell", labels: tuple[Sequence[str], Sequence[str]]
) -> UnpairedScores:
    """Say that two algorithms share no replicate of these, and what might pair them."""
    shown = [enumerate_names(names, limit=3) for names in labels]
    remedy = "Run both with the same seeds, or pass --unpaired"
    if column := _find_pairing_column(runs, a, b):
        remedy = (
            f"Pass --replicate {column}, which pairs all {len(a.rows)} of them, or pass --unpaired"
        )
    elif may_be_padded(*labels):
        remedy = "Write them alike if they are the same but for zeros, or pass --unpaired"
    return UnpairedScores(
        f"the seeds of {a.algorithm!r} and {b.algorithm!r} do not match: no {runs.replicate_name} "
        f"is shared in {a.place} ({shown[0]} against {shown[1]})",
        remedy,
    )


def _find_pairing_column(runs: "Runs", a: "Cell", b: "Cell") -> str | None:
    """Find another column of replicates, of which both algorithms have the same."""
    for name in runs.spare_columns if runs.others else ():
        assert runs.others is not None
        labels = runs.others.label(name, np.concatenate((a.rows, b.rows)))
        codes_a, codes_b = (
            np.sort(labels.codes[: len(a.rows)]),
            np.sort(labels.codes[len(a.rows) :]),
        )
        if np.array_equal(codes_a, codes_b) and len(np.unique(codes_a)) == len(codes_a):
            return name
    return None


def pair_equal_numbers(runs: "Runs", a: "Cell", b: "Cell") -> tuple["Runs", tuple[str, ...]]:
    """Take 0.0 of one algorithm and 0 of the other as one replicate, with a note, if nothing else.

    Only where it makes more pairs, and no algorithm has both.
    """
    if runs.replicates is None or isinstance(runs.replicates, Numerals):
        return runs, ()
    codes_a, codes_b = runs.replicate[a.rows], runs.replicate[b.rows]
    if np.array_equal(codes_a, codes_b):  # nearly always, and far cheaper to see
        return runs, ()
    codes_a, codes_b = np.unique(codes_a), np.unique(codes_b)
    if np.array_equal(codes_a, codes_b) or (alike := write_alike(runs.replicates)) is None:
        return runs, ()
    new_a, new_b = np.unique(alike.codes[codes_a]), np.unique(alike.codes[codes_b])
    is_clear = len(new_a) == len(codes_a) and len(new_b) == len(codes_b)
    n_joined = len(np.intersect1d(new_a, new_b)) - len(np.intersect1d(codes_a, codes_b))
    if not is_clear or not n_joined:
        return runs, ()
    first = next(c for c in codes_a.tolist() if c not in codes_b and alike.codes[c] in new_b)
    second = next(c for c in codes_b.tolist() if alike.codes[c] == alike.codes[first])
    more = f", and {n_joined - 1} more likewise" if n_joined > 1 else ""
    note = (
        f"{runs.replicate_name} {runs.replicates[first]!r} of {a.algorithm} and "
        f"{runs.replicates[second]!r} of {b.algorithm} were paired as the same number{more}"
    )
    return replace(runs, replicates=alike.names, replicate=alike.codes[runs.replicate]), (note,)


def join_equal_numbers(runs: "Runs") -> tuple["Runs", tuple[str, ...]]:
    """Take 0.0 and 0 as one replicate, with a note, unless an algorithm has both on a task."""
    names = runs.replicates
    if names is None or isinstance(names, Numerals) or (alike := write_alike(names)) is None:
        return runs, ()
    cell = runs.algorithm.astype(np.int64) * len(runs.tasks) + runs.task
    runs_of = [
        len(np.unique(np.stack((cell, codes)), axis=1)[0])
        for codes in (runs.replicate, alike.codes[runs.replicate])
    ]
    if runs_of[0] > runs_of[1]:
        return runs, ()
    twice = int(np.flatnonzero(np.bincount(alike.codes) > 1)[0])
    spellings = [repr(names[code]) for code in np.flatnonzero(alike.codes == twice).tolist()]
    more = len(names) - len(alike.names) - 1
    note = (
        f"{runs.replicate_name} {' and '.join(spellings)} were taken as the same number"
        f"{f', and {more} more likewise' if more > 0 else ''}"
    )
    return replace(runs, replicates=alike.names, replicate=alike.codes[runs.replicate]), (note,)


def write_alike(names: Sequence[str]) -> Labels | None:
    """Write equal numbers alike, such as 0.0 and 0; None if that joins none.

    Returns
    -------
    The names so written, and for each of the names the index of its own.

    Examples
    --------
    >>> write_alike(("0", "1", "0.0", "7.50")).names
    ('0', '1', '7.5')
    """
    labels = label_rows([",".join(map(_write_number, name.split(","))) for name in names])
    return labels if len(labels.names) < len(names) else None


def _write_number(label: str) -> str:
    number = _DECIMAL.fullmatch(label.strip())
    if number is None:
        return label
    sign, whole, fraction = number.groups(default="")
    if not fraction and whole == "0":
        sign = ""
    sign = sign.replace("+", "")
    return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}"


def may_be_padded(names_a: Sequence[str], names_b: Sequence[str]) -> bool:
    """Whether labels of two algorithms match but for zeros at their beginning: 007 and 7."""
    bare_a, bare_b = ({_PADDED.sub(r"\1", name) for name in some} for some in (names_a, names_b))
    return len(bare_a) == len(names_a) and bare_a == bare_b


def count_gaps(runs: "Runs", a: "Cell", b: "Cell") -> tuple[int, int]:
    """Count the replicates, or rows where there are none, that each has no complete run of."""
    complete_a, complete_b = (c.rows[np.isfinite(runs.score[c.rows])] for c in (a, b))
    has_a, has_b = _mark_replicates(runs, complete_a), _mark_replicates(runs, complete_b)
    if runs.replicates is None or not (has_a & has_b).any():  # they have replicates of their own
        return len(a.rows) - len(complete_a), len(b.rows) - len(complete_b)
    is_any = _mark_replicates(runs, np.concatenate((a.rows, b.rows)))
    return int(np.count_nonzero(is_any & ~has_a)), int(np.count_nonzero(is_any & ~has_b))


def note_gaps(runs: "Runs", a: "Cell", b: "Cell", lacking: tuple[int, int]) -> tuple[str, ...]:
    """Say whose complete runs are missing, if one lacks more of them than the other."""
    if lacking[0] == lacking[1] or runs.replicates is None:
        return ()
    names = (a.algorithm, b.algorithm)
    (fewest, other), (most, name) = sorted(zip(lacking, names, strict=True))
    n_replicates = len(np.unique(runs.replicate[np.concatenate((a.rows, b.rows))]))
    return (
        f"{name} lacks a complete run for {most} of {n_replicates} "
        f"{runs.replicate_name}s, {other} for {fewest}: if those went badly, leaving them out "
        f"flatters {name}",
    )


def _mark_replicates(runs: "Runs", rows: IntArray) -> BoolArray:
    """Whether some of these rows are of a replicate."""
    is_marked = np.zeros(len(runs.replicates or ("",)), dtype=bool)
    is_marked[runs.replicate[rows]] = True
    return is_marked
