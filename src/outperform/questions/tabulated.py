"""Results as tables of text: each question's `table` says how, in `TABLES`."""

from typing import Any, NamedTuple

from outperform.errors import InvalidInput
from outperform.questions.rooms import find_room


class Tabulated(NamedTuple):
    """A table of text."""

    header: list[str]
    rows: list[list[str]]


def tabulate(result: Any) -> Tabulated:
    """The numbers of a result, as text in a table."""
    make = getattr(find_room(type(result), "table"), "TABLES", {}).get(type(result))
    if make is None:
        raise InvalidInput(
            f"there is no report of a {type(result).__name__}",
            "Pass what compare, audit, best_of_runs or any other function that concludes returned",
        )
    table: Tabulated = make(result)
    return table
