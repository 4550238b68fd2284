"""Published means: of one algorithm, or tables of methods and datasets.

Tables are either long, with columns for method, dataset, mean, sd and maybe n; or wide, as papers
print them, with methods as rows or as columns, and cells such as ``91.2 ± 0.4``.
"""

import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from outperform.errors import (
    InvalidInput,
    InvalidScores,
    TooFewRuns,
    UnknownColumn,
    UnknownName,
    UnreadableRuns,
)
from outperform.runs.columns import ALGORITHM, MEAN, METRIC, SD, TASK, normalise, recognise
from outperform.runs.files import open_source
from outperform.runs.formats import tabulate_columns
from outperform.runs.metrics import looks_like_score
from outperform.runs.row_kinds import sums_up_tasks
from outperform.runs.source_table import SourceTable
from outperform.stats import Summary
from outperform.wording import count, cut_to, enumerate_names, suggest_names

COLUMNS = {
    "algorithm": ALGORITHM,
    "mean": MEAN,
    "sd": SD,
    "n": ("n", "runs", "seeds", "count", "n_runs", "n_seeds", "num_runs", "num_seeds"),
}
# As pandas names what it sums up: accuracy_std.
_SD_OF = re.compile(rf".+[_ .(]({'|'.join(SD)})\)?|({'|'.join(SD)})[_ .(].+")
_N_OF = re.compile(r".+[_ .(]count\)?")

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
# As papers print it: 76.3±0.4, 76.3 +/- 0.4 or 76.3 (0.4), then 10, n=10 or (n = 10).
_PRINTED = re.compile(
    rf"(?P<name>.+?)=\s*(?P<mean>{_NUMBER})\s*%?\s*(?:,|±|\+/?-|\()\s*(?P<sd>{_NUMBER})\s*%?\s*\)?"
    rf"(?:\s*[,;]\s*|\s+)\(?\s*(?:n\s*=\s*)?(?P<n>{_NUMBER})\s*\)?\s*"
)
_ERRORS = ("se", "sem", "stderr", "standard error")
_CELL = re.compile(
    rf"(?P<mean>{_NUMBER})\s*(?P<percent>%)?\s*"
    rf"(?:(?:±|\+/?-)\s*(?P<sd>{_NUMBER})\s*%?|\(\s*±?\s*(?P<bracketed>{_NUMBER})\s*%?\s*\))"
)
_MEAN = re.compile(rf"{_NUMBER}\s*%?")
# What typesets a cell without saying anything: commands with their braces, marks of footnotes.
_TYPESETTING = re.compile(
    r"\\(?:textbf|mathbf|textit|underline|bm|boldsymbol|bfseries|bf|text|mathrm|scriptstyle|"
    r"scriptsize|footnotesize|small|tiny|hspace|phantom|[,;:! ])|_(?=\s*[{\\±])|\^\{?[*†‡]+\}?|"
    r"[${}*†‡~]"
)
_MISSING = frozenset(("", "-", "–", "—", "−", "--", "n/a", "na", "nan", "none", "null", "?"))


def parse_summary(text: str) -> tuple[str, Summary]:
    """Name and summary from ``NAME=MEAN,SD,N`` or as papers print it, such as ``NAME=MEAN±SD,N``.

    Examples
    --------
    >>> parse_summary("resnet=76.3,0.4,10")
    ('resnet', Summary(mean=76.3, sd=0.4, n=10))
    """
    printed = _PRINTED.fullmatch(text)
    if printed is None:
        raise InvalidInput(
            f"cannot read the summary {text!r}",
            "Write NAME=MEAN,SD,N, for example resnet=76.3,0.4,10",
        )
    mean, sd, n = (float(printed[part]) for part in ("mean", "sd", "n"))
    return printed["name"].strip(), Summary(mean, sd, as_count(n))


def read_summary(table: SourceTable, algorithm: str, n_runs: int | None = None) -> Summary:
    """Summary of one algorithm from a table with the columns algorithm, mean, sd and n.

    The number of runs, where it is given, stands for a column that the table must not have.
    """
    keys = [key for key in COLUMNS if key != "n" or n_runs is None]
    name, *numbers = (_find_column(table, key) for key in keys)
    columns, names = table.parse(numbers), table.label_runs(name).spell()
    places = [place for place, name in enumerate(names) if name == algorithm]
    if len(places) != 1:
        raise UnknownName(
            f"{table.source} has {len(places) or 'no'} rows for {algorithm!r}",
            "Keep one of them" if places else suggest_names(algorithm, [*dict.fromkeys(names)]),
        )
    mean, sd, *n = (float(column[places[0]]) for column in columns)
    return Summary(mean, sd, as_count(n[0]) if n else n_runs)  # type: ignore[arg-type]


def _recognise(names: Sequence[str], key: str) -> list[str]:
    """Columns of a role; also those of means, deviations and counts of what a metric names."""
    if known := recognise(names, COLUMNS[key]):
        return known
    sd = recognise(names, SD) or [name for name in names if _SD_OF.fullmatch(normalise(name))]
    named = {
        "mean": [*filter(looks_like_score, names)],
        "sd": sd,
        "n": [name for name in names if _N_OF.fullmatch(normalise(name))],
    }[key]
    return named if len(sd) == len(named) == 1 else []


def _find_column(table: SourceTable, key: str) -> str:
    for name in recognise(table.names, COLUMNS[key]):
        return name
    raise UnknownColumn(
        f"{table.source} has no column for {key!r}; it has {enumerate_names(table.names)}",
        f"Name the column one of {', '.join(COLUMNS[key])}{', or pass --n' if key == 'n' else ''}",
    )


def as_count(number: float) -> int:
    """Check that a number of runs is a whole number that somebody may have."""
    if not number.is_integer():
        raise InvalidInput(f"n is {number:g}", "Pass a whole number not less than 2")
    if number > 1e15:  # whole numbers beyond are written out in hundreds of digits
        raise InvalidInput(f"n is {number:g}", "Pass the number of runs")
    return int(number)


@dataclass(frozen=True, slots=True)
class PublishedCell:
    """Mean and standard deviation of the runs of one method on one dataset."""

    mean: float
    sd: float
    n: int | None = None  # runs, where the table says how many
    percent: bool = False  # whether it is written with a percent sign


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """What a published table says of two methods."""

    source: str
    tasks: tuple[str, ...]
    a: tuple[PublishedCell, ...]  # of each task
    b: tuple[PublishedCell, ...]
    notes: tuple[str, ...] = ()
    metric: str | None = None  # where the column of means has its name


def is_published_table(table: SourceTable) -> bool:
    """Whether a table has several datasets: in a column of them, or one each column or row."""
    tasks = recognise(table.names, TASK)
    if all(_recognise(table.names, key) for key in ("mean", "sd")):
        return bool(tasks) and len(table.label(tasks[0]).names) > 1
    return not recognise(table.names, COLUMNS["mean"]) or bool(tasks)


def read_published_table(
    source: Any, a: str, b: str, *, drop_incomplete: bool = False
) -> PublishedTable:
    """Read what a published table, in a file or a Python object, says of two methods.

    Datasets on which a cell of the two is empty or has no standard deviation are refused, or left
    out with a note that names them.
    """
    table = tabulate_columns(source) if isinstance(source, Mapping) else open_source(source)[0]
    mean = _recognise(table.names, "mean")
    long = mean and recognise(table.names, TASK) and recognise(table.names, ALGORITHM)
    cells = _read_long(table, (a, b)) if long else _read_wide(table, (a, b))
    averages = [task for task in cells if sums_up_tasks(task) or normalise(task) == "score"]
    kept = {task: pair for task, pair in cells.items() if task not in averages}
    wrong = _find_incomplete(kept, (a, b), table.source, drop_incomplete=drop_incomplete)
    tasks = tuple(task for task in kept if task not in wrong)
    if len(tasks) < 2:
        words = [
            _write_summary(*each) for task in tasks for each in zip((a, b), kept[task], strict=True)
        ]
        raise TooFewRuns(
            f"{table.source} has {count(len(tasks), 'dataset')} with a mean and a standard "
            f"deviation of both {a!r} and {b!r}",
            f"Compare them on one with --summary {' '.join(words) or 'A=MEAN±SD,N B=MEAN±SD,N'}"
            ", where N is the number of runs",
        )
    parsed = [tuple(_parse(kept[task][side]) for task in tasks) for side in (0, 1)]
    _check_percent(tasks, parsed, table.source)
    return PublishedTable(
        table.source,
        tasks,
        parsed[0],
        parsed[1],
        (*_note_left_out(averages, wrong),),
        mean[0] if long and normalise(mean[0]) not in MEAN else None,
    )


_Cell = str | PublishedCell


def _find_incomplete(
    cells: Mapping[str, tuple[_Cell, _Cell]],
    names: tuple[str, str],
    source: str,
    *,
    drop_incomplete: bool,
) -> list[str]:
    """Datasets of which a cell has no mean and standard deviation; refused if they may not go."""
    problems = {task: _find_problem(task, *pair, names) for task, pair in cells.items()}
    wrong = [task for task, problem in problems.items() if problem]
    if wrong and not drop_incomplete:
        problem, remedy = problems[wrong[0]] or ("", "")
        others = f", and {count(len(wrong) - 1, 'more dataset')} like it" if len(wrong) > 1 else ""
        raise InvalidScores(
            f"{problem} in {source}{others}",
            f"{remedy}, or leave out such datasets with --drop-incomplete",
        )
    return wrong


def _read_long(table: SourceTable, names: tuple[str, str]) -> dict[str, tuple[_Cell, _Cell]]:
    """Cells of both methods by dataset, from one row each."""
    method, task = (recognise(table.names, known)[0] for known in (ALGORITHM, TASK))
    mean = _recognise(table.names, "mean")[0]
    methods, tasks = table.label_runs(method).spell(), table.label_runs(task).spell()
    _check_methods(names, list(dict.fromkeys(methods)), table.source)
    for column in recognise(table.names, METRIC):
        metrics = [*dict.fromkeys(filter(None, table.label(column).spell()))]
        if len(metrics) > 1:
            raise UnreadableRuns(
                f"column {column!r} of {table.source} names {count(len(metrics), 'metric')} "
                f"({enumerate_names(metrics, limit=3)})",
                "Compare on each apart, in a table of its own",
            )
    cells: dict[tuple[str, str], _Cell] = {}
    for name, place, cell in zip(methods, tasks, _list_cells(table, mean), strict=True):
        if name in names and (name, place) in cells:
            raise UnreadableRuns(
                f"{table.source} has more than one row of {name!r} on {place!r}",
                "Keep one of them",
            )
        cells[name, place] = cell
    a, b = names
    order = dict.fromkeys(
        place for name, place in zip(methods, tasks, strict=True) if name in names
    )
    return {place: (cells.get((a, place), ""), cells.get((b, place), "")) for place in order}


def _list_cells(table: SourceTable, mean: str) -> Iterator[_Cell]:
    """Every row's mean and standard deviation: in columns of their own, or printed in one."""
    sd, n = (_recognise(table.names, key)[:1] for key in ("sd", "n"))
    if not sd and (errors := recognise(table.names, _ERRORS)):
        raise UnknownColumn(
            f"column {errors[0]!r} of {table.source} holds standard errors, and there is none of "
            "standard deviations",
            "Multiply them by √n, and name the column sd",
        )
    counts = table.parse(n)[0] if n else None
    if not sd:
        yield from table.label(mean).spell()
        return
    for row, (centre, spread) in enumerate(zip(*table.parse([mean, *sd]), strict=True)):
        if math.isnan(centre) or math.isnan(spread):
            yield "" if math.isnan(centre) else f"{centre:g}"
        else:
            runs = None if counts is None else as_count(float(counts[row]))
            yield PublishedCell(float(centre), float(spread), runs)


def _read_wide(table: SourceTable, names: tuple[str, str]) -> dict[str, tuple[_Cell, _Cell]]:
    """Cells of both methods by dataset, where methods are rows or columns."""
    named = [*recognise(table.names, ALGORITHM), *recognise(table.names, TASK), table.names[0]]
    labels, others = table.label(named[0]).spell(), [x for x in table.names if x and x != named[0]]
    n_in_rows, n_in_columns = (sum(name in known for name in names) for known in (labels, others))
    rows_are_methods = n_in_rows >= n_in_columns
    if not n_in_rows and not n_in_columns:
        rows_are_methods = not recognise(table.names, TASK)
    _check_methods(names, labels if rows_are_methods else others, table.source)
    if not rows_are_methods:
        a, b = (table.label(name).spell() for name in names)
        return {task: (x, y) for task, x, y in zip(labels, a, b, strict=True) if task}
    for name in names:
        if (n_rows := labels.count(name)) > 1:
            raise UnreadableRuns(
                f"{table.source} has {n_rows} rows for {name!r}", "Keep one of them"
            )
    first, second = (labels.index(name) for name in names)
    columns = {task: table.label(task).spell() for task in others}
    return {task: (cells[first], cells[second]) for task, cells in columns.items()}


def _check_methods(names: tuple[str, str], known: Sequence[str], source: str) -> None:
    for name in names:
        if name not in known:
            listed = [each for each in dict.fromkeys(known) if each]
            if any(each.endswith(r"\\") for each in listed):
                raise UnreadableRuns(
                    f"{source} is a table of LaTeX, with & between its cells",
                    r"Write ; in place of &, remove \\ and lines such as \hline",
                )
            raise UnknownName(f"no method {name!r} in {source}", suggest_names(name, listed))
    if names[0] == names[1]:
        raise UnknownName(f"cannot compare {names[0]!r} with itself", "Name two methods")


def parse_cell(text: str) -> PublishedCell | None:
    r"""Mean and standard deviation as papers print them, None if it is anything else.

    Examples
    --------
    >>> [parse_cell(text).sd for text in ("91.2±0.4", r"\textbf{91.2} $\pm$ 0.4", "91.2 (0.4)")]
    [0.4, 0.4, 0.4]
    """
    plain = text.replace("\\pm", "±").replace("\\%", "%").replace("−", "-")
    cell = _CELL.fullmatch(_TYPESETTING.sub("", plain).strip())
    if cell is None:
        return None
    sd = float(cell["sd"] or cell["bracketed"])
    return PublishedCell(float(cell["mean"]), sd, percent=cell["percent"] is not None)


def _write_summary(name: str, cell: _Cell) -> str:
    """A cell as `compare --summary` takes it."""
    read = _parse(cell)
    return shlex.quote(f"{name}={read.mean:g}±{read.sd:g},{read.n or 'N'}")


def _parse(cell: _Cell) -> PublishedCell:
    parsed = cell if isinstance(cell, PublishedCell) else parse_cell(cell)
    assert parsed is not None  # what has no problem can be parsed
    return parsed


def _find_problem(task: str, a: _Cell, b: _Cell, names: tuple[str, str]) -> tuple[str, str] | None:
    """What is wrong with the cells of a dataset, and what to do about it; None if nothing is."""
    for name, cell in zip(names, (a, b), strict=True):
        if isinstance(cell, PublishedCell):
            continue
        what = f"the cell of {name!r} on {task!r}"
        plain = _TYPESETTING.sub("", cell).strip()
        if plain.casefold() in _MISSING:
            return f"{what} is empty", "Fill it in"
        if _MEAN.fullmatch(plain):
            return (
                f"{what} is {cell!r}, a mean without its standard deviation",
                f"Write {plain} ± SD, as it was published",
            )
        if parse_cell(cell) is None:
            return (
                f"{what} is {cut_to(cell, 80)!r}, no mean with its standard deviation",
                "Write it like 91.2 ± 0.4, with points for decimals",
            )
        if re.search(r"\.\d.*\(\s*\d+\s*%?\s*\)", plain):
            return (
                f"{what} is {cell!r}, of which (…) may be a standard deviation, its last digits or "
                "a rank",
                "Write it like 91.2 ± 0.4",
            )
    return None


def _check_percent(
    tasks: Sequence[str], parsed: Sequence[Sequence[PublishedCell]], source: str
) -> None:
    """Refuse a dataset of which one cell is in per cent and the other is not."""
    mixed = [task for task, a, b in zip(tasks, *parsed, strict=True) if a.percent != b.percent]
    if mixed:
        raise InvalidScores(
            f"on {enumerate_names(mixed)} of {source}, one of the two is written with a percent "
            "sign and the other is not",
            "Write both in the same unit",
        )


def _note_left_out(averages: Sequence[str], incomplete: Sequence[str]) -> Iterator[str]:
    if averages:
        yield f"{enumerate_names(averages)} was left out: an average over datasets is none of them"
    if incomplete:
        yield (
            f"{enumerate_names(incomplete)} was left out, where a mean or a standard deviation is "
            "missing: nothing is said of it"
        )
