"""The page: a summary for everyone, then a table for each group of methods."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from calibration.cells import ALPHA, SLACK, Cell
from calibration.introductions import GROUPS, INTRODUCTION, SUMMARY
from calibration.marks import N_ERRORS, badness, is_off

RESPLITS = "re-splits"  # how rows about data like these begin
Key = TypeVar("Key")
_WORDS = {"size": "false alarms", "coverage": "coverage", "power": "power"}


def render(cells: Sequence[Cell]) -> str:
    """Markdown of the whole page."""
    grouped = {group: [cell for cell in cells if cell.group == group] for group in GROUPS}
    slack = f"{ALPHA * (1 + SLACK):.1%}"
    parts = [INTRODUCTION.format(n_errors=N_ERRORS, slack=slack), _summarise(grouped)]
    for group, (title, text) in GROUPS.items():
        parts.append(f"## {title}\n\n{text}\n\n{_tabulate(grouped[group])}")
    return "\n\n".join(parts) + "\n"


def _summarise(grouped: dict[str, list[Cell]]) -> str:
    """One line per method: its claim, its worst cell, and whether it keeps the claim."""
    lines = []
    for group, cells in grouped.items():
        for method, own in _by(cells, lambda cell: cell.method.split(",")[0]):
            claimed = [cell for cell in own if cell.alpha is not None]
            if claimed:
                lines.append(_summarise_method(group, method, claimed))
    header = ["method", "claims", "worst", "of re-splits", "verdict"]
    return f"{SUMMARY}\n\n{_join_table(header, lines)}"


def _summarise_method(group: str, method: str, cells: list[Cell]) -> list[str]:
    resplits = [cell for cell in cells if _is_about_resplits(cell)]
    others = [cell for cell in cells if not _is_about_resplits(cell)]
    worst = max(others, key=badness)
    shown = f"{_format(worst)} ({_WORDS[worst.measure]}, {_place(worst)})"
    of_resplits = _format(max(resplits, key=badness)) if resplits else ""
    n_off = sum(map(is_off, others))
    verdict = f"off in {n_off} of {len(others)} cells" if n_off else "holds"
    if not n_off and any(map(is_off, resplits)):
        verdict += ", about this dataset only"
    title = GROUPS[group][0]
    return [f"`{method}`, [{title}](#{_anchor(title)})", _claim(cells), shown, of_resplits, verdict]


def _claim(cells: list[Cell]) -> str:
    claims = {}
    for cell in cells:
        allowed = 100 * (cell.alpha or 0)
        claims[cell.measure] = (
            f"≤ {allowed:g}" if cell.measure == "size" else f"≥ {100 - allowed:g}"
        )
    return ", ".join(f"{_WORDS[measure]} {claim}" for measure, claim in claims.items())


def _is_about_resplits(cell: Cell) -> bool:
    return any(text.startswith(RESPLITS) for text in (cell.data, cell.column))


def _place(cell: Cell) -> str:
    data = "" if cell.data.endswith("others") else cell.data
    column = f"n = {cell.column}" if cell.column.isdigit() else cell.column
    return ", ".join(text for text in (data, cell.detail, column) if text)


def _tabulate(cells: list[Cell]) -> str:
    """Rows of methods and data, columns of sizes, with the Monte-Carlo error of each row."""
    columns = sorted(dict.fromkeys(cell.column for cell in cells), key=_order_of_column)
    lines = []
    methods = [method for method, _ in _by(cells, lambda cell: cell.method)]
    ordered = sorted(
        cells,
        key=lambda cell: (
            methods.index(cell.method),
            list(_WORDS).index(cell.measure),
            _is_about_resplits(cell),
        ),
    )
    for (method, measure, data), row in _by(ordered, lambda c: (c.method, c.measure, c.data)):
        shown = {
            column: max(same, key=badness) for column, same in _by(row, lambda cell: cell.column)
        }
        texts = [_format(shown[column]) if column in shown else "" for column in columns]
        error = max(cell.error for cell in shown.values())
        told = f"±{100 * error:.1f}" if error else "exact"
        lines.append([f"`{method}`", _WORDS[measure], data, *texts, told])
    return _join_table(["method", "what", "data", *columns, "error"], lines)


def _order_of_column(column: str) -> tuple[int, int]:
    """By number of runs, then by budget; kinds of data stay in their order."""
    numbers = [int(word) for word in column.split() if word.isdigit()]
    return (numbers[-1], numbers[0]) if numbers else (0, 0)


def _format(cell: Cell) -> str:
    text = f"{100 * cell.value:.1f}"
    return f"**{text}**" if is_off(cell) else text


def _by(cells: Iterable[Cell], key: Callable[[Cell], Key]) -> list[tuple[Key, list[Cell]]]:
    """Cells with the same key together, keys in the order in which they first occur."""
    groups: dict[Key, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(key(cell), []).append(cell)
    return list(groups.items())


def _join_table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _anchor(title: str) -> str:
    kept = "".join(c for c in title.lower() if c.isalnum() or c in " -")
    return kept.replace(" ", "-")
