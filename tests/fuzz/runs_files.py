"""Runs files: of every format, with cells, headers and bytes that nobody meant."""

import io
import json
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import strategies as st

from outperform import read_runs
from tests.fuzz.harness import Target, is_answered
from tests.fuzz.nasty import cells, damage, texts

Rows = list[list[Any]]
HEADERS = (
    *("algorithm", "model", "task", "dataset", "seed", "split", "fold", "accuracy", "loss", "auc"),
    *("validation accuracy", "val_accuracy", "status", "state", "epoch", "step", "lr", "params.lr"),
    *("metric", "value", "score", "n", "mean", "sd", "entry", "rank", "config.model", "test/acc"),
)
ODD = st.sampled_from([None, True, 10**400, -(10**400), [], {}, [0.5], {"a": 0.5}, [[]], "\ud800"])
OPTIONS = (
    *(["--wide"], ["--drop-incomplete"], ["--unpaired"], ["--paired"], ["--maximize"]),
    *(["--minimize"], ["--json"], ["--metric", "accuracy"], ["--at", "last"], ["--on", "t0"]),
)
DOUBTS = ("binary", "constant", "nested", "outlier", "repeated", "scale", "sorted")
COMMANDS: dict[str, tuple[list[str], ...]] = {
    "compare": (*OPTIONS, ["--test", "wilcoxon"], ["--margin", "0.01"], ["--ties", "strict"]),
    "best-of": (*OPTIONS[:2], *OPTIONS[4:], ["--n", "3"], ["--interval", "percentile"]),
    "audit": (*OPTIONS, ["--draws", "20"], ["--interval", "wilson"]),
    "sota": (["--test-size", "100"], ["--percent"], ["--json"], ["--positives", "20"]),
}


class RunsFile(NamedTuple):
    name: str
    content: bytes
    words: tuple[str, ...]  # the command and its options; none: it is read from Python


def make_rows(kind: str) -> Rows:
    """Sixteen runs of two algorithms that nothing is wrong with."""
    scores = {"a": [71, 74, 69, 75, 70, 73, 72, 78], "b": [66, 75, 61, 72, 64, 69, 70, 67]}
    if kind == "wide":
        pairs = enumerate(zip(*scores.values(), strict=True))
        return [["seed", *scores], *([i, a / 100, b / 100] for i, (a, b) in pairs)]
    rows = [
        [name, f"t{i % 2}", i, score / 100, score / 101]
        for name, each in scores.items()
        for i, score in enumerate(each)
    ]
    return [["algorithm", "task", "seed", "accuracy", "val_accuracy"], *rows]


@st.composite
def change_rows(draw: st.DrawFn, rows: Rows) -> Rows:
    """One change of the table: of a cell, a row, a column or the header."""
    rows = [[*row] for row in rows]
    at = draw(st.integers(0, len(rows) - 1))
    column = draw(st.integers(0, len(rows[at]) - 1)) if rows[at] else 0
    nasty = cells | ODD
    match draw(st.sampled_from(["cell", "row", "column", "header", "swap", "ragged"])):
        case "cell" if rows[at]:
            rows[at][column] = draw(nasty)
        case "row":
            rows[at : at + 1] = [rows[at]] * draw(st.sampled_from([0, 2, 3]))
        case "column":
            values = draw(st.lists(nasty, min_size=1, max_size=3))
            for i, row in enumerate(rows[1:]):
                row[column : column + 1] = [values[i % len(values)]]
        case "header" if column < len(rows[0]):
            rows[0][column] = draw(st.sampled_from(HEADERS) | texts)
        case "swap":
            other = draw(st.integers(0, len(rows) - 1))
            rows[at], rows[other] = rows[other], rows[at]
        case "ragged":
            rows[at] = rows[at][:column] + draw(st.lists(nasty, max_size=2))
    return rows or [[]]


def write_rows(kind: str, rows: Rows) -> tuple[str, bytes]:
    """Suffix and content of a file."""
    if kind == "json":
        names = list(map(str, rows[0]))
        lines = [json.dumps(dict(zip(names, row, strict=False))) for row in rows[1:]]
        return ".jsonl", "\n".join(lines).encode()
    if kind == "parquet":
        return ".parquet", _write_parquet(rows)
    mark = {"tsv": "\t", "semicolon": ";"}.get(kind, ",")
    quote = '"{}"' if kind == "quoted" else "{}"
    text = "\n".join(mark.join(quote.format(cell) for cell in row) for row in rows)
    return ".tsv" if kind == "tsv" else ".csv", text.encode(errors="surrogatepass")


def _write_parquet(rows: Rows) -> bytes:
    import pyarrow
    import pyarrow.parquet

    columns = {}
    for i, name in enumerate(rows[0]):
        values = [row[i] if i < len(row) else None for row in rows[1:]]
        if not all(isinstance(value, float) for value in values):
            values = [str(value).encode(errors="replace").decode() for value in values]
        columns[str(name).encode(errors="replace").decode()] = values
    file = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), file)
    return file.getvalue()


@st.composite
def runs_files(draw: st.DrawFn) -> RunsFile:
    kind = draw(st.sampled_from(["csv", "tsv", "json", "wide", "quoted", "semicolon", "parquet"]))
    rows = make_rows(kind)
    for _ in range(draw(st.integers(0, 3))):
        rows = draw(change_rows(rows))
    suffix, content = write_rows(kind, rows)
    content = draw(st.just(content) | damage(content))
    command = draw(st.sampled_from(["read", *COMMANDS]))
    words: list[str] = []
    if command != "read":
        options = draw(st.lists(st.sampled_from(COMMANDS[command]), max_size=3))
        words = [command, *(word for option in options for word in option)]
        if command != "sota" and draw(st.booleans()):
            words += [word for doubt in DOUBTS for word in ("--accept", doubt)]
    return RunsFile(f"runs{suffix}", content, tuple(words))


def attempt(case: RunsFile, folder: Path) -> bool:
    path = folder / case.name
    path.write_bytes(case.content)
    if not case.words:
        read_runs(path)
        return True
    command, *options = case.words
    names = [] if command == "sota" else ["a", "b"]
    return is_answered([command, str(path), *names, *options])


TARGET = Target("runs files", runs_files(), attempt)
