"""Published tables: long and wide, with cells as papers print them and as nobody does."""

from pathlib import Path
from typing import NamedTuple

from hypothesis import strategies as st

from tests.fuzz.harness import Target, is_answered
from tests.fuzz.nasty import damage
from tests.fuzz.runs_files import Rows, change_rows, write_rows

CELLS = (
    *("91.2 ± 0.4", "91.2±0", "91.2 (0.4)", "91.2 (4)", r"$91.2_{\pm 0.4}$", "**1e9 +/- 1e-9**"),
    *(r"\textbf{91.2} $\pm$ 0.4", "91.2% ± 0.4%", "91.2", "–", "", "OOM", "91,2 ± 0,4", "± 1"),
    *("1e400 ± 1", "1 ± 1e400", "-0 ± 0", "9" * 400 + " ± 1", "(" * 50 + "1 ± 1" + ")" * 50),
)
OPTIONS = (
    *(["--n", "5"], ["--n", "1"], ["--n", "1000000000000"], ["--maximize"], ["--minimize"]),
    *(["--metric", "foo"], ["--drop-incomplete"], ["--json"], ["--gate"], ["--alpha", "1e-9"]),
)


class Published(NamedTuple):
    name: str
    content: bytes
    words: tuple[str, ...]


def make_table(kind: str) -> Rows:
    """Two methods on three datasets that nothing is wrong with."""
    if kind == "long":
        rows = [[m, f"t{i}", 90 + i, 0.5, 5] for m in "ab" for i in range(3)]
        return [["method", "dataset", "mean", "sd", "n"], *rows]
    if kind == "columns":
        return [["dataset", "a", "b"], *([f"t{i}", f"9{i} ± 1", "92 ± 1"] for i in range(3))]
    return [["method", "t0", "t1", "Avg."], *([m, "91 ± 1", "92 ± 1", "91 ± 1"] for m in "ab")]


@st.composite
def tables(draw: st.DrawFn) -> Published:
    rows = make_table(draw(st.sampled_from(["long", "wide", "columns"])))
    for _ in range(draw(st.integers(0, 3))):
        at, place = draw(st.integers(1, len(rows) - 1)), draw(st.integers(1, 2))
        rows[at][place] = draw(st.sampled_from(CELLS))
    if draw(st.integers(0, 3)) == 0:
        rows = draw(change_rows(rows))
    suffix, content = write_rows(draw(st.sampled_from(["csv", "tsv", "quoted", "json"])), rows)
    if draw(st.integers(0, 3)) == 0:
        content = draw(damage(content))
    options = draw(st.lists(st.sampled_from(OPTIONS), max_size=3))
    words = ["--metric", "accuracy", *(word for option in options for word in option)]
    return Published(f"table{suffix}", content, tuple(words))


def attempt(case: Published, folder: Path) -> bool:
    path = folder / case.name
    path.write_bytes(case.content)
    gates = (1, 3) if "--gate" in case.words else ()
    return is_answered(["compare", "--summary", str(path), "a", "b", *case.words], statuses=gates)


TARGET = Target("published tables", tables(), attempt)
