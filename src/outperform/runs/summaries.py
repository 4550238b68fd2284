"""Published summaries: mean, standard deviation and number of runs per algorithm."""

import csv
from difflib import get_close_matches
from pathlib import Path

from outperform.errors import InvalidInput, UnknownColumn, UnknownName, UnreadableRuns
from outperform.stats import Summary

_COLUMNS = {
    "algorithm": ("algorithm", "model", "method", "pipeline", "framework"),
    "mean": ("mean", "average", "score"),
    "sd": ("sd", "std", "stdev", "standard deviation"),
    "n": ("n", "runs", "seeds"),
}


def parse_summary(text: str) -> tuple[str, Summary]:
    """Name and summary from ``NAME=MEAN,SD,N``.

    Examples
    --------
    >>> parse_summary("resnet=76.3,0.4,10")
    ('resnet', Summary(mean=76.3, sd=0.4, n=10))
    """
    name, _, numbers = text.rpartition("=")
    try:
        mean, sd, n = numbers.split(",")
        if not name:
            raise ValueError
        return name, Summary(float(mean), float(sd), _as_count(n))
    except InvalidInput:
        raise
    except (OverflowError, ValueError):
        raise InvalidInput(
            f"cannot read the summary {text!r}",
            "Write NAME=MEAN,SD,N, for example resnet=76.3,0.4,10",
        ) from None


def read_summary(path: str | Path, algorithm: str) -> Summary:
    """Summary of one algorithm from a CSV table with the columns algorithm, mean, sd and n."""
    rows = _read_rows(Path(path))
    columns = {key: _find_column(list(rows[0]), key, path) for key in _COLUMNS}
    found = [row for row in rows if row[columns["algorithm"]].strip() == algorithm]
    if len(found) != 1:
        names = [row[columns["algorithm"]].strip() for row in rows]
        near = get_close_matches(algorithm, names, n=1, cutoff=0.5)
        raise UnknownName(
            f"{path} has {len(found)} rows for {algorithm!r}",
            (f"Did you mean {near[0]!r}? " if near and not found else "")
            + f"It needs exactly one row each; it has {', '.join(names)}",
        )
    return parse_summary(
        f"{algorithm}=" + ",".join(found[0][columns[key]].strip() for key in ("mean", "sd", "n"))
    )[1]


def _read_rows(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.DictReader(file, restval="") if any(row.values())]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UnreadableRuns(
            f"cannot read {path} ({error})", "Pass a CSV file with a header"
        ) from None
    if not rows:
        raise UnreadableRuns(f"{path} has no rows", "Pass a CSV file with a header and rows")
    return rows


def _find_column(header: list[str], key: str, path: str | Path) -> str:
    for column in header:
        if column.strip().lower() in _COLUMNS[key]:
            return column
    raise UnknownColumn(
        f"{path} has no column for {key!r}; it has {', '.join(header)}",
        f"Name the column one of {', '.join(_COLUMNS[key])}",
    )


def _as_count(text: str) -> int:
    number = float(text)
    if number != int(number):
        raise ValueError
    return int(number)
