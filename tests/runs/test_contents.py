"""Large files are read in pieces, and tell the same story as small ones."""

import os

import pytest

from outperform.cli.sources import open_runs
from outperform.errors import OutperformError, UnreadableRuns
from outperform.runs import contents, read_runs, scanning
from outperform.runs.contents import open_contents

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
def in_pieces(monkeypatch):
    """Treat a file of a few kilobytes as large, and read it in many pieces."""
    monkeypatch.setattr(contents, "_LARGE", 1 << 12)
    monkeypatch.setattr(contents, "_N_HEAD", 1 << 11)
    monkeypatch.setattr(scanning, "_PIECE_SIZE", 1 << 10)


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
def test_a_file_in_pieces_says_what_it_says_at_once(path, story, request, assert_same):
    write(path, **STORIES[story])
    at_once = read(path)
    request.getfixturevalue("in_pieces")
    in_pieces = read(path)
    if isinstance(at_once, tuple):
        assert in_pieces == at_once
    else:
        assert_same(in_pieces, at_once)


def test_a_large_file_is_not_read_at_once(path, in_pieces, monkeypatch):
    sizes = []
    read_piece = contents.Contents.read

    def watch(self, begin, end):
        data = read_piece(self, begin, end)
        sizes.append(len(data))
        return data

    monkeypatch.setattr(scanning, "_LONGEST_ROW", 100)
    monkeypatch.setattr(contents.Contents, "read", watch)
    assert len(read_runs(write(path))) == len(ROWS)
    assert len(sizes) > 10
    assert max(sizes) < 1300


def test_what_is_added_while_a_file_is_read_waits_for_the_next_time(path, in_pieces):
    opened = open_contents(write(path))
    size = path.stat().st_size
    with path.open("ab") as file:
        file.write(b"resnet,1000")
    assert len(opened.read(0, 10**9)) == size


@pytest.mark.parametrize("change", ["cut short", "replaced", "removed"])
def test_a_file_that_changes_while_it_is_read_is_refused(path, in_pieces, change):
    opened = open_contents(write(path))
    if change == "cut short":
        path.write_bytes(b"algorithm")
    elif change == "replaced":
        write(path.with_name("other.csv")).replace(path)
    else:
        path.unlink()
    with pytest.raises(UnreadableRuns) as caught:
        opened.read(3000, 5000)
    assert str(caught.value) == (
        "runs.csv changed while it was read. Try again once nothing writes to it."
    )


def read_from_pipe(data):
    """Read runs as commands do, who look whether a file is a store first."""
    reading, writing = os.pipe()
    os.write(writing, data)
    os.close(writing)
    try:
        return open_runs(f"/dev/fd/{reading}", {})
    finally:
        os.close(reading)


def test_a_pipe_is_read_to_its_end(in_pieces):
    assert len(read_from_pipe("\n".join([HEADER, *ROWS]).encode())) == len(ROWS)


def test_parquet_comes_through_a_pipe(path):
    parquet, pyarrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    parquet.write_table(pyarrow.table({"model": ["a", "b"], "accuracy": [0.5, 0.25]}), path)
    assert read_from_pipe(path.read_bytes()).score.tolist() == [0.5, 0.25]
