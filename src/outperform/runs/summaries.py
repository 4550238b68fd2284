"""Published summaries: mean, standard deviation and number of runs per algorithm."""

import re

from outperform.errors import InvalidInput, UnknownColumn, UnknownName
from outperform.runs.columns import ALGORITHM, recognise
from outperform.runs.source_table import SourceTable
from outperform.stats import Summary
from outperform.wording import enumerate_names, suggest_names

COLUMNS = {
    "algorithm": ALGORITHM,
    "mean": ("mean", "average", "score"),
    "sd": ("sd", "std", "stdev", "standard deviation"),
    "n": ("n", "runs", "seeds"),
}

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
# As papers print it: 76.3±0.4, 76.3 +/- 0.4 or 76.3 (0.4), then 10, n=10 or (n = 10).
_PRINTED = re.compile(
    rf"(?P<name>.+?)=\s*(?P<mean>{_NUMBER})\s*%?\s*(?:,|±|\+/?-|\()\s*(?P<sd>{_NUMBER})\s*%?\s*\)?"
    rf"(?:\s*[,;]\s*|\s+)\(?\s*(?:n\s*=\s*)?(?P<n>{_NUMBER})\s*\)?\s*"
)


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
