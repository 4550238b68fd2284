"""What no computer could hold, or nobody would wait for, is refused with the limit named."""

import json
import os
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from outperform import compare_runs
from outperform.errors import OutperformError
from outperform.runs import files, formats, read_runs
from outperform.runs.source_table import OtherColumns, SourceTable


def refuse(source, **options):
    with pytest.raises(OutperformError) as caught:
        read_runs(source, **options)
    return str(caught.value)


class Unsearched(tuple):
    """Names that may be walked over, but not searched for each of many columns."""

    def __contains__(self, name):
        raise AssertionError("a search through all names for one of them")


def test_a_column_is_found_without_a_walk_over_the_header():
    rows = np.array([1])
    table = SourceTable(Unsearched(["seed", "lr"]), "runs.csv", [["1"], ["0.1"]], rows)
    labels = OtherColumns(((table, rows),)).label("lr", np.array([0]))
    assert labels.spell() == ["0.1"]


def test_many_columns_are_refused(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text(",".join(map(str, range(100_001))) + "\n")
    assert refuse(path) == (
        "runs.csv has 100,001 columns, more than the 100,000 that are read. "
        "Keep those that name the runs and their scores."
    )


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_number_beyond_all_numbers_is_no_score(tmp_path, suffix, sign):
    path = tmp_path / f"runs.{suffix}"
    rows = [("a", 1, sign * 10**400), ("a", 2, 0.5), ("b", 1, 0.5), ("b", 2, 0.25)]
    names = ("algorithm", "seed", "accuracy")
    lines = [",".join(names), *(",".join(map(str, row)) for row in rows)]
    if suffix == "jsonl":
        lines = [json.dumps(dict(zip(names, row, strict=True))) for row in rows]
    path.write_text("\n".join(lines))
    with pytest.raises(OutperformError) as caught:
        compare_runs(read_runs(path), "a", "b")
    assert caught.value.problem == (
        f"'a' has 1 of 2 scores missing or infinite in {path.name} "
        f"(row {2 if suffix == 'csv' else 1})"
    )


def test_half_a_character_is_no_score(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text('{"algorithm": "a", "seed": 1, "accuracy": "\\ud800"}\n')
    assert refuse(path).startswith(
        "column 'accuracy' of runs.jsonl holds '\\ud800' where a number should be (row 1). "
    )


def test_a_long_first_line_is_refused(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_bytes(b"a" * ((1 << 24) + 1))
    assert refuse(path) == (
        "the first line of runs.csv is longer than 16 MiB. "
        "Start it with a row of column names, and end each row with a line break."
    )


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there are no endless zeros here")
def test_endless_zeros_are_refused_at_once():
    assert refuse("/dev/zero") == ("zero is not text. Give a CSV, TSV, JSON Lines or Parquet file.")


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    path = tmp_path / "runs.csv"
    with path.open("wb") as file:
        file.write(b"algorithm,seed,accuracy\n" + b"a,1,0.5\n" * 200_000)
        file.truncate((1 << 32) + 1)  # takes no room on the disk
    assert refuse(path) == (
        "runs.csv is larger than 4 GiB, the most that is read. "
        "Keep the columns and rows of the runs only."
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_that_never_ends_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_MOST_PIPED", 1 << 30 >> 8)
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)

    def write_on():
        with pipe.open("wb") as file:
            while True:
                try:
                    file.write(b"a,1,0.5\n" * 10_000)
                except BrokenPipeError:
                    return

    writer = Thread(target=write_on, daemon=True)
    writer.start()
    message = refuse(pipe)
    writer.join(timeout=60)
    assert message.startswith(f"what comes from {pipe} is larger than ")
    assert message.endswith("Write it to a file first.")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_that_ends_is_read(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    text = "algorithm,seed,accuracy\n" + "".join(f"a,{i},0.5\n" for i in range(20_000))
    writer = Thread(target=pipe.write_text, args=(text,), daemon=True)
    writer.start()
    assert len(read_runs(pipe)) == 20_000
    writer.join(timeout=60)


@pytest.mark.parametrize("cut", [0, 1, 2])
def test_bytes_of_other_encodings_are_found_where_parts_meet(tmp_path, cut):
    path = tmp_path / "runs.csv"
    begin = b"algorithm,seed,accuracy\n"
    filler = b"x" * ((1 << 20) - len(begin) - cut) + b",1,0.5\n"
    path.write_bytes(begin + filler + "é,1,0.5\n".encode() * 3 + b"\xe9,2,0.5\n")
    assert refuse(path) == "runs.csv is not UTF-8 text: byte 0xe9 in row 6. Save it as UTF-8."
    assert files._check_text("é".encode() * (1 << 20), "runs.csv") is None


def test_text_of_json_that_is_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_MOST_JSON", 10)
    path = tmp_path / "runs.jsonl"
    path.write_text('{"algorithm": "a", "seed": 1, "accuracy": 1}\n')
    assert "Save it as CSV or Parquet." in refuse(path)


def test_deep_json_is_refused(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text('{"a": ' * 900 + "1" + "}" * 900)
    assert refuse(path) == (
        "row 1 of runs.jsonl has objects nested more than 50 deep. "
        "Give each run its values by name, without objects in objects."
    )
    path.write_text('{"algorithm": "a", "accuracy": ' + "[" * 900 + "1" + "]" * 900 + "}")
    assert refuse(path).startswith("column 'accuracy' of runs.jsonl holds '[[[[")


def test_rows_with_names_of_their_own_are_refused(tmp_path):
    path = tmp_path / "runs.jsonl"
    rows = ({"algorithm": "a", "seed": i, "accuracy": 0.5, f"x{i}": 1} for i in range(4_000))
    path.write_text("\n".join(map(json.dumps, rows)))
    assert refuse(path) == (
        "the 4,000 rows of runs.jsonl have 4,003 different names for their values, and each row "
        "few of them. Give values that are of one kind one name."
    )


def test_parquet_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "runs.parquet"
    n = 100_000
    places = arrow.array(np.zeros(n, dtype=np.int32))
    long = arrow.DictionaryArray.from_arrays(places, arrow.array(["x" * 100_000]))
    table = {"algorithm": long, "seed": np.arange(n), "accuracy": np.full(n, 0.5)}
    parquet.write_table(arrow.table(table), path, store_schema=False)
    assert path.stat().st_size < 2_000_000
    assert refuse(path) == (
        "a column of runs.parquet, unpacked, is larger than 4 GiB, the most that is read. "
        "Leave it out."
    )
    monkeypatch.setattr(formats, "_MOST_CELLS", 1_000_000)
    places = arrow.array(np.zeros(1_000_001, dtype=np.int8))
    same = arrow.DictionaryArray.from_arrays(places, arrow.array(["a"]))
    parquet.write_table(arrow.table({"algorithm": same}), path, row_group_size=1_000_001)
    assert refuse(path) == (
        "runs.parquet has 1,000,001 rows and 1 columns, more than the 1,000,000 cells that "
        "are read. Keep the columns and rows of the runs only."
    )


def test_parquet_with_repeated_texts_is_read_as_before(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "runs.parquet"
    columns = {
        "algorithm": ["a", "b", "a", "b"],
        "seed": ["1", "1", "2", "2"],
        "accuracy": [0.1, 0.2, None, 0.4],
        "note": [None, "x", "x", None],
    }
    parquet.write_table(arrow.table(columns), path)
    runs = read_runs(path)
    assert runs.algorithms == ("a", "b")
    assert runs.others.label("note", np.arange(4)).spell() == ["", "x", "x", ""]
