"""The fast reader and the csv module must tell the same story."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outperform.errors import OutperformError
from outperform.runs import csvfile, interning, read_runs, scanning
from outperform.runs.contents import hold
from outperform.runs.scanning import scan

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), max_size=20)
SHORT = st.sampled_from(
    ["a", "b", "1", "01", "2", "10", "x1", "resnet", "a longer name", "é", " a"]
)
SEEDS = st.one_of(st.integers(0, 300).map(str), SHORT)
NUMBERS = st.one_of(
    st.floats().map(repr),
    st.floats(0, 1).map("{:.4f}".format),
    st.sampled_from(["", "nan", "NA", " 0.5", "1e-3", "+1", "1_0", "91%", ".5", "-0.0", "7"]),
)
ROWS = st.lists(st.tuples(st.one_of(SHORT, NAMES), SHORT, SEEDS, NUMBERS), min_size=1, max_size=40)
PLAIN_ROWS = st.lists(
    st.tuples(
        st.sampled_from(["resnet", "vgg", "gradient_boosting", "x" * 17]),
        st.sampled_from(["t1", "t10", "dataset_number_7"]),
        st.one_of(st.integers(0, 10**9).map(str), st.sampled_from(["s1", "s2", "007", "a-b"])),
        st.one_of(st.floats(-1, 1).map(repr), st.floats(0, 100).map("{:.2f}".format)),
    ),
    min_size=1,
)


def write_rows(path, rows, newline="\n", delimiter=",", quoting=csv.QUOTE_MINIMAL):
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator=newline, delimiter=delimiter, quoting=quoting)
    writer.writerows([("algorithm", "task", "seed", "score"), *rows])
    path.write_bytes(text.getvalue().encode())
    return path


def read_both_ways(path):
    """Read with the fast reader where it can, and without it."""
    outcomes = []
    for reader in (scan, lambda *_, **__: None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(csvfile, "scan", reader)
            try:
                outcomes.append(read_runs(path))
            except OutperformError as error:
                outcomes.append((type(error), str(error)))
    return outcomes


def assert_agree(path, assert_same):
    fast, slow = read_both_ways(path)
    if isinstance(fast, tuple) or isinstance(slow, tuple):
        assert fast == slow
    else:
        assert_same(fast, slow)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("scanning") / "runs.csv"


NEWLINES, QUOTING = (
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)


@given(ROWS, NEWLINES, st.sampled_from([",", ";", "\t"]), QUOTING)
@settings(deadline=None)
def test_both_readers_agree_on_anything(path, assert_same, rows, newline, delimiter, quoting):
    assert_agree(write_rows(path, rows, newline, delimiter, quoting), assert_same)


@given(PLAIN_ROWS, NEWLINES, QUOTING, st.sampled_from([40, 100, 1 << 20]))
@settings(deadline=None)
def test_both_readers_agree_on_plain_files_in_blocks_of_any_size(
    path, assert_same, rows, newline, quoting, size
):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanning, "_PIECE_SIZE", size)
        assert_agree(write_rows(path, rows, newline, quoting=quoting), assert_same)


@given(st.one_of(st.binary(max_size=60), st.text('a1,"\n\r ', max_size=60).map(str.encode)))
@settings(max_examples=300)
def test_both_readers_agree_on_noise(path, assert_same, noise):
    path.write_bytes(b"algorithm,seed,score\na,1,0.5\n" + noise)
    assert_agree(path, assert_same)


@given(PLAIN_ROWS, QUOTING)
@settings(deadline=None)
def test_plain_files_are_not_left_to_the_csv_module(path, rows, quoting):
    data = write_rows(path, rows, quoting=quoting).read_bytes()
    begin = data.index(b"\n") + 1
    scanned = scan(hold(data, "runs.csv"), begin, 4, delimiter=",", labels=[0, 1, 2], numbers=[3])
    assert scanned is not None
    labels, numbers = scanned
    for column in range(3):
        names, codes = labels[column].names, labels[column].codes
        assert [names[code] for code in codes] == [row[column] for row in rows]
        assert len(set(names)) == len(names)
        assert list(names) == sorted(names, key=lambda name: (len(name), name))
    assert numbers[0].tolist() == [float(row[3]) for row in rows]


@pytest.mark.parametrize(
    "body",
    [
        b'"a,1,0.5\n',  # a quote alone
        b'a"b",1,0.5\n',  # quotes within a field
        b'"a""b",1,0.5\n',  # quotes within quotes
        b'"a,b",0.5\n',  # a delimiter within quotes
        b'"a\nb",1,0.5\n',  # a newline within quotes
        b'"",1,0.5\n',  # quotes around nothing
        b'a, "1",0.5\n',  # space before a quote
        b"a,1\n",  # a row too short
        b"a,1,0.5,2\n",  # a row too long
        b"a,1,0.5,2\nb,1\n",  # both, with the right number of fields in all
        b"a,1,0.5\n\nb,1,0.5\n",  # a blank row between others
        b"a, 1,0.5\n",  # space around a name
        b",1,0.5\n",  # no name
        b"a,1,much\n",  # text among numbers
        b"a,1,0.5\n" + 129 * b"a" + b",1,0.5\n",  # one name would cost every row its length
        b"a,1,0.5\r\nb,1,0.5\n",  # two kinds of newline
        b"a,1,0.5\rb,1,0.5\n",  # a return alone
        b"",
        b"\n\n",
    ],
)
def test_irregular_text_is_left_to_the_csv_module(body):
    contents = hold(b"x,y,z\n" + body, "runs.csv")
    assert scan(contents, 6, 3, delimiter=",", labels=[0, 1], numbers=[2]) is None


def test_a_row_without_any_number_is_left_to_the_csv_module():
    for body in (b"0.5,1\n,\n0.25,1\n", b"0.5,1\n , \n"):
        contents = hold(b"x,y\n" + body, "runs.csv")
        assert scan(contents, 4, 2, delimiter=",", labels=[], numbers=[0, 1]) is None
    contents = hold(b"x,y\n0.5,1\n,1\n", "runs.csv")
    assert scan(contents, 4, 2, delimiter=",", labels=[], numbers=[0, 1]) is not None


@pytest.mark.parametrize("ending", [b"", b"\n", b"\n\n\n", b"\r\n", b"\r\n\r\n"])
def test_the_end_of_a_plain_file_does_not_matter(ending):
    newline = b"\r\n" if b"\r" in ending else b"\n"
    data = b"x,y,z" + newline + b"a,1,0.5" + newline + b"b,2,0.25" + ending
    begin = data.index(b"\n") + 1
    scanned = scan(hold(data, "runs.csv"), begin, 3, delimiter=",", labels=[0, 1], numbers=[2])
    assert scanned is not None
    assert scanned[0][0].names == ("a", "b")
    assert scanned[1][0].tolist() == [0.5, 0.25]


def test_a_return_within_a_name_is_left_to_the_csv_module():
    data = b"x,y\r\na\rb,0.5\r\n"
    assert scan(hold(data, "runs.csv"), 5, 2, delimiter=",", labels=[0], numbers=[1]) is None


@pytest.mark.parametrize("names", [["10", "007"], ["1", "01"], ["2", "10", "x1"]])
def test_names_that_look_like_numbers_keep_their_spelling_and_order(names):
    rows = "".join(f"{name},0.5\n" for name in reversed(names) for _ in range(9))
    scanned = scan(
        hold(f"x,y\n{rows}".encode(), "runs.csv"), 4, 2, delimiter=",", labels=[0], numbers=[1]
    )
    assert scanned is not None
    assert list(scanned[0][0].names) == names
    assert scanned[0][0].codes[::9].tolist() == list(reversed(range(len(names))))


@pytest.mark.parametrize("n_names", [3, 2000])
@pytest.mark.parametrize("stem", ["", "s", "a rather long stem "])
def test_many_rows_on_several_threads(path, n_names, stem):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, n_names, 30_000)
    scores = rng.random(30_000)
    rows = [
        ("a", "t", f"{stem}{code}", f"{score:.6f}")
        for code, score in zip(codes, scores, strict=True)
    ]
    data = write_rows(path, rows).read_bytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanning, "_PIECE_SIZE", 1 << 16)
        scanned = scan(hold(data, "runs.csv"), 26, 4, delimiter=",", labels=[2], numbers=[3])
    assert scanned is not None
    (labels,), (numbers,) = scanned
    assert [labels.names[code] for code in labels.codes] == [row[2] for row in rows]
    assert numbers.tolist() == [float(row[3]) for row in rows]


def test_names_that_mix_to_the_same_key_are_left_to_the_csv_module(monkeypatch):
    monkeypatch.setattr(interning, "_MIXER", np.uint64(0))  # every key is the first eight letters
    contents = hold(b"x,y\n12345678abcdefgh,1\n12345678xyzxyzxy,2\n", "runs.csv")
    assert scan(contents, 4, 2, delimiter=",", labels=[0], numbers=[1]) is None
