"""Large files tell the same story as small ones, also where something in them is not regular."""

import os
import sys

import pytest

from outperform.errors import OutperformError
from outperform.runs import files, read_runs
from outperform.store.store import open_runs

N_SEEDS = 400
ROWS = [
    f"{name},{seed},{score + seed / 1e5:.6f}"
    for seed in range(N_SEEDS)
    for name, score in (("resnet", 0.9), ("vgg", 0.8))
]
HEADER = "algorithm,seed,accuracy"


def write(path, rows=ROWS, newline="\n", start=b""):
    path.write_bytes(start + newline.join([HEADER, *rows, ""]).encode("utf-8", "surrogateescape"))
    return path


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.csv"


def replace_row(index, row):
    return [*ROWS[:index], row, *ROWS[index + 1 :]]


STORIES = {
    "plain": {},
    "returns": {"newline": "\r\n"},
    "byte order mark": {"start": b"\xef\xbb\xbf"},
    "blank lines first": {"start": b"\n" * 60},
    "quotes at the end": {"rows": [*ROWS, '"vgg","with, comma",0.5']},
    "quotes at the start": {"rows": ['"vgg","with, comma",0.5', *ROWS]},
    "no whole row at the start": {"rows": ["vgg,0," + "0" * 3000 + ".5", *ROWS[2:]]},
    "lines within quotes": {"rows": ['"vgg' + "x\n" * 3000 + '",0,0.5', *ROWS]},
    "another script": {"rows": [row.replace("vgg", "网络-é") for row in ROWS]},
    "a long row": {"rows": replace_row(600, "vgg,300," + "0" * 20_000 + ".5")},
    "a missing score": {"rows": replace_row(600, "resnet,300,")},
    "a short row": {"rows": replace_row(600, "resnet,300")},
    "text for a number": {"rows": replace_row(600, "resnet,300,much")},
    "latin-1": {"rows": replace_row(600, "caf\udce9,300,0.9")},
    "a byte 0": {"rows": replace_row(600, "resnet,3\0,0.9")},
    "blank row": {"rows": replace_row(600, "")},
}


def read(path):
    try:
        return read_runs(path)
    except OutperformError as error:
        return type(error), str(error)


@pytest.mark.parametrize("story", STORIES)
def test_a_large_file_says_what_a_small_one_says(path, story, monkeypatch, assert_same):
    write(path, **STORIES[story])
    monkeypatch.setattr(files, "_LARGE", sys.maxsize)
    small = read(path)
    monkeypatch.setattr(files, "_LARGE", 1 << 12)
    large = read(path)
    if isinstance(small, tuple):
        assert large == small
    else:
        assert_same(large, small)


def read_from_pipe(data):
    """Read runs as commands do, who look whether a file is a store first."""
    reading, writing = os.pipe()
    os.write(writing, data)
    os.close(writing)
    try:
        return open_runs(f"/dev/fd/{reading}", {})
    finally:
        os.close(reading)


def test_a_pipe_is_read_to_its_end():
    assert len(read_from_pipe("\n".join([HEADER, *ROWS]).encode())) == len(ROWS)


def test_parquet_comes_through_a_pipe(path):
    parquet, pyarrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    parquet.write_table(pyarrow.table({"model": ["a", "b"], "accuracy": [0.5, 0.25]}), path)
    assert read_from_pipe(path.read_bytes()).score.tolist() == [0.5, 0.25]
