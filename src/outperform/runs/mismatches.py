"""What is said of replicates that do not match: repeated ones, or those that only one side has."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from shlex import quote
from typing import TYPE_CHECKING

import numpy as np

from outperform.errors import DuplicateRuns, UnpairedScores
from outperform.runs.columns import read_name
from outperform.runs.labels import IntArray, Labels, differ_within, label_rows, split_groups
from outperform.runs.metrics import known_goal
from outperform.runs.redrawn import find_redrawn, suspect_redrawn
from outperform.runs.source_table import parse_number
from outperform.wording import enumerate_names

if TYPE_CHECKING:
    from outperform.runs.pairing import Cell
    from outperform.runs.table import Runs

_PADDED = re.compile(r"([+-]?)0+(?=\d)")
_DECIMAL = re.compile(r"([+-]?)(0|[1-9]\d*)(?:\.(\d*?)0*)?")


def refuse_duplicates(runs: "Runs", cell: "Cell") -> None:
    """Refuse runs of one algorithm on one task that share their replicate."""
    codes = runs.replicate[cell.rows]
    counts = np.bincount(codes)
    if runs.replicates is None or counts.max(initial=0) < 2:
        return
    repeated = np.flatnonzero(counts > 1)
    used = runs.replicate_name
    more = f"; {len(repeated) - 1} more repeat too" if len(repeated) > 1 else ""
    first = cell.rows[codes == repeated[0]]
    problem = (
        f"{cell.algorithm!r} has {len(first)} runs with {used} "
        f"{runs.replicates[int(repeated[0])]!r} in {cell.place} "
        f"({runs.locate(first)}{more})"
    )
    if redrawn := find_redrawn(runs, cell.rows):
        question = suspect_redrawn(*redrawn, cell.place)
        raise DuplicateRuns(
            f"{problem}, and {question.fact}: {question.reading}",
            f"{question.remedy}, pass --replicate {quote(f'{used},{redrawn[0]}')} --accept redrawn",
        )
    if _are_told_apart(runs, cell):
        columns = ",".join((*runs.replicate_columns, *runs.spare_columns))
        raise DuplicateRuns(
            problem, f"If these columns tell the runs apart, pass --replicate {quote(columns)}"
        )
    if settings := _find_settings(runs, cell):
        raise _explain_settings(runs, problem, first, settings)
    raise DuplicateRuns(
        problem,
        f"Remove the copies, or name all columns that tell runs apart: --replicate {used},COLUMN",
    )


def _explain_settings(
    runs: "Runs", problem: str, rows: IntArray, settings: Sequence[str]
) -> DuplicateRuns:
    """Say in which columns runs of the same replicate differ, and what these may be."""
    used = runs.replicate_name
    values = dict.fromkeys(runs.others.label(settings[0], rows).spell())
    differences = f"{settings[0]} ({enumerate_names(values, limit=3)})"
    differences += "".join(f" and {name}" for name in settings[1:])
    named = quote(",".join((*runs.algorithm_columns, *settings)))
    names_tasks = None in map(parse_number, values)
    if read_name(settings[0]).kind != "setting" and (names_tasks or all(map(str.isdigit, values))):
        way = f"--replicate {quote(f'{used},{settings[0]}')} if it tells repetitions apart"
        if names_tasks:
            way = f"--task {quote(settings[0])} if it names tasks"
        return DuplicateRuns(
            f"{problem} that differ in {differences}",
            f"Pass {way}, make it part of the name with --algorithm {named}, or keep the rows "
            "of one",
        )
    return DuplicateRuns(
        f"{problem} that differ in {differences}: they are settings of a search, not "
        "replicates of one",
        f"Keep the rows of one setting, make it part of the name with --algorithm {named}, or "
        "ask what the best setting reaches: `outperform best-of` with "
        f"--replicate {quote(','.join((used, *settings)))}",
    )


def _are_told_apart(runs: "Runs", cell: "Cell") -> bool:
    """Whether columns of replicates that are not used tell all runs apart."""
    if not (spare := _find_spare(runs)):
        return False
    group = runs.replicate[cell.rows]
    for name in spare:
        group = split_groups(group, runs.others.label(name, cell.rows))
    return len(np.unique(group)) == len(group)


def _find_spare(runs: "Runs") -> list[str]:
    """Columns of replicates that are not used, where it is known what they say."""
    return [name for name in runs.spare_columns if name in runs.others.names]


def _find_settings(runs: "Runs", cell: "Cell") -> list[str]:
    """Find the hyperparameters that runs of one replicate differ in, by their name or their use."""
    used = {*runs.algorithm_columns, *runs.replicate_columns, runs.metric, runs.validation_metric}
    free = [name for name in runs.others.names if name not in used]
    replicate, n_runs, settings = runs.replicate[cell.rows], len(cell.rows), []
    for name in free:
        if read_name(name).kind == "setting":
            labels = runs.others.label(name, cell.rows)
            if differ_within(replicate, labels).any():
                settings.append(name)
    for name in free if not settings else ():
        labels = runs.others.label(name, cell.rows)
        tells_apart = len(np.unique(split_groups(replicate, labels))) == n_runs
        # What was measured, or notes of when and where, hardly recur.
        recurs = len(np.unique(labels.codes)) <= n_runs / 2
        if tells_apart and recurs and not known_goal(name):
            return [name]
    return settings


def note_spellings(algorithms: Sequence[str], compared: Sequence[str]) -> Iterator[str]:
    """Say that runs of one of two may stand under another spelling of its name."""
    plain = {_spell_plainly(name) for name in compared}
    for other in algorithms:
        if other not in compared and _spell_plainly(other) in plain:
            yield (
                f"there are runs of {other!r} too: if that is the same algorithm, give both one "
                "name"
            )


def note_task_spellings(tasks: Sequence[str]) -> Iterator[str]:
    """Say which tasks may be one under two spellings.

    >>> [*note_task_spellings(["CIFAR-10", "svhn", "cifar_10"])]
    ["'CIFAR-10' and 'cifar_10' count as two tasks: if they are the same, give both one name"]
    """
    first: dict[str, str] = {}
    for task in tasks:
        other = first.setdefault(_spell_plainly(task), task)
        if other != task:
            yield (
                f"{other!r} and {task!r} count as two tasks: if they are the same, give both one "
                "name"
            )


@cache
def _spell_plainly(name: str) -> str:
    """Leave out what people do not mean by a name: ResNet-50 is resnet50, but 1.0 is not 10.

    >>> [*map(_spell_plainly, ["ResNet-50", "v1.0", "C++", "C#"])]
    ['resnet50', 'v1.0', 'c++', 'c#']
    """
    return re.sub(r"(?<!\d)(?:[^\w+#*]|_)+|(?:[^\w+#*]|_)+(?!\d)", "", name.casefold()) or name


def _find_pairing_column(runs: "Runs", a: "Cell", b: "Cell") -> str | None:
    """Find another column of replicates, of which both algorithms have the same."""
    for name in _find_spare(runs):
        codes = runs.others.label(name, np.concatenate((a.rows, b.rows))).codes
        codes_a, codes_b = np.sort(codes[: len(a.rows)]), np.sort(codes[len(a.rows) :])
        if np.array_equal(codes_a, codes_b) and len(np.unique(codes_a)) == len(codes_a):
            return name
    return None


def may_be_padded(names_a: Sequence[str], names_b: Sequence[str]) -> bool:
    """Whether labels of two algorithms match but for zeros at their beginning: 007 and 7."""
    bare_a, bare_b = ({_PADDED.sub(r"\1", name) for name in some} for some in (names_a, names_b))
    return len(bare_a) == len(names_a) and bare_a == bare_b


def write_alike(names: Sequence[str]) -> Labels | None:
    """Write equal numbers alike, such as 0.0 and 0, one code per name; None if that joins none.

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


def explain_unmatched(
    runs: "Runs", of_a: tuple["Cell", IntArray], of_b: tuple["Cell", IntArray], *, n_shared: int
) -> UnpairedScores:
    """Say which replicates only one of two algorithms has, if not all, and what might pair them."""
    used, labels, (a, b) = runs.replicate_name, runs.replicates or (), (of_a[0], of_b[0])
    only = [tuple(labels[code] for code in codes.tolist()) for _, codes in (of_a, of_b)]
    shown = [enumerate_names(names, limit=3) for names in only]
    single = next((cell.algorithm for cell in (a, b) if len(cell.rows) == 1), None)
    spellings = [*note_spellings(runs.algorithms, (a.algorithm, b.algorithm))]
    if single is not None and not spellings:
        # Neither pairs nor unpaired runs could tell how much it varies.
        return UnpairedScores(
            f"{single!r} has one run only in {a.place}",
            f"Run it with each {used} of the other; `outperform plan` says how many it takes",
        )
    if n_shared:
        remedy = (
            "Add the missing runs, pass --drop-incomplete to leave them out, or pass --unpaired"
        )
        for spelling in spellings:
            remedy = f"T{spelling[1:]}; if not, add the missing runs, or pass --drop-incomplete"
        parts = [
            f"{len(names)} for {cell.algorithm!r} only ({listed})"
            for cell, names, listed in zip((a, b), only, shown, strict=True)
            if names
        ]
        return UnpairedScores(
            f"not every {used} has a run of both {a.algorithm!r} and {b.algorithm!r} "
            f"in {a.place}: {n_shared} for both, {', '.join(parts)}",
            remedy,
        )
    remedy = "Run both with the same seeds, or pass --unpaired"
    if column := _find_pairing_column(runs, a, b):
        remedy = (
            f"Pass --replicate {column}, which pairs all {len(a.rows)} of them, or pass --unpaired"
        )
    elif may_be_padded(*only):
        remedy = "Write them alike if they are the same but for zeros, or pass --unpaired"
    return UnpairedScores(
        f"the seeds of {a.algorithm!r} and {b.algorithm!r} do not match: no {used} "
        f"is shared in {a.place} ({shown[0]} against {shown[1]})",
        remedy,
    )
