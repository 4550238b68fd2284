"""The csv module says what a text means; pyarrow, which reads large files, must say the same."""

import csv
import io
import sys

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from outperform.errors import OutperformError
from outperform.runs import files, read_runs
from outperform.runs.files import read_csv, read_large_csv

NASTY_NAMES = [
    *("", " ", "a", " a", "a ", "a\u3000", "\u00a0", "\x1f", "01", "1", "1.0", "-1", "+1", "-0"),
    *("0xFFFFFFFF", "4294967295", "9" * 18, "9" * 19, "1" * 30, "٣", "é", "网络", "nan", "NA"),
    *("a,b", 'say "x"', '"', "two\nlines", "\r", "a\rb", "a;b", "null", "x" * 200),
]
NASTY_NUMBERS = [
    *("", " ", "nan", "NaN", "NA", "n/a", "null", "None", "-nan", "nan(1)", "inf", "-Infinity"),
    *("1e400", "-1e400", "1e-400", "5e-324", "2.2250738585072011e-308", "0x1p-1", "0x10", "1_000"),
    *("1,000", "1 000", "1,5", "91%", "٠.٥", "½", " 0.5", "0.5 ", "\u00a00.5", "+1", "-0.0", ".5"),
    *("5.", ".", "-", "e5", "1e", "1E5", "1d5", "true", "1" * 30, "0." + "1" * 30, "0.5f", "1e+3"),
    *(
        "  91%",
        " bad ",
        "\tbad",
        "9007199254740993",
        "0.1",
        "123456789012345678901234567890",
        "1.7976931348623159e308",
    ),
]
NAMES = st.one_of(
    st.sampled_from(["resnet", "vgg", "gradient_boosting"]),
    st.sampled_from(NASTY_NAMES),
    st.text(st.characters(codec="utf-8"), max_size=8),
)
SEEDS = st.one_of(st.integers(0, 30).map(str), st.integers(0, 10**20).map(str), NAMES)
NUMBERS = st.one_of(
    st.floats().map(repr), st.floats(0, 1).map("{:.4f}".format), st.sampled_from(NASTY_NUMBERS)
)
ROWS = st.lists(st.tuples(NAMES, NAMES, SEEDS, NUMBERS), min_size=1, max_size=20)
PLAIN_ROWS = st.lists(
    st.tuples(
        st.sampled_from(["resnet", "vgg", "x" * 17, "网络"]),
        st.sampled_from(["t1", "t10", "dataset_number_7"]),
        st.one_of(st.integers(0, 10**9).map(str), st.sampled_from(["s1", "007", "a-b", "1.0"])),
        st.one_of(st.floats(-1, 1).map(repr), st.floats(0, 100).map("{:.2f}".format)),
    ),
    min_size=1,
)
NEWLINES = st.sampled_from(["\n", "\r\n"])
DELIMITERS = st.sampled_from([",", ";", "\t", "|"])
MARK = "\ufeff"


def write_rows(rows, newline="\n", delimiter=",", quoting=csv.QUOTE_MINIMAL):
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator=newline, delimiter=delimiter, quoting=quoting)
    writer.writerows([("algorithm", "task", "seed", "score"), *rows])
    return text.getvalue().encode()


def join_fields(rows, newline="\n", delimiter=","):
    """Write rows as a script with no notion of quotes does."""
    lines = [delimiter.join(row) for row in [("algorithm", "task", "seed", "score"), *rows]]
    return newline.join([*lines, ""]).encode()


def read_with(path, size):
    """Read a file with the reader for files of more than so many bytes, or say what it refuses."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_LARGE", size)
        try:
            return read_runs(path)
        except OutperformError as error:
            return type(error), str(error)


def assert_agree(path, data, assert_same):
    path.write_bytes(data)
    large, small = read_with(path, -1), read_with(path, sys.maxsize)
    if isinstance(large, tuple) or isinstance(small, tuple):
        assert large == small
    else:
        assert_same(large, small)


def read_plain(path, data):
    """The table that pyarrow gives, None where the csv module must read it."""
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_LARGE", -1)
        return read_large_csv(path)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    pytest.importorskip("pyarrow")
    return tmp_path_factory.mktemp("readers") / "runs.csv"


@given(ROWS, NEWLINES, DELIMITERS, st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
@settings(deadline=None)
def test_they_agree_on_nasty_cells(path, assert_same, rows, newline, delimiter, quoting):
    assert_agree(path, write_rows(rows, newline, delimiter, quoting), assert_same)


@given(ROWS, NEWLINES, DELIMITERS)
@settings(deadline=None)
def test_they_agree_on_nasty_cells_without_quotes(path, assert_same, rows, newline, delimiter):
    assert_agree(path, join_fields(rows, newline, delimiter), assert_same)


COMMAS = st.sampled_from(
    [
        *("0,5", "0,931", "-12,25", "1,312", "-9,999", "1", " 0,5", "0,5 ", "1,5e-05", "", "NaN"),
        *("0.5", "1,", ",5", "1.312,5", "1,312,450", "91,2%", "٠,٥", "a,b"),
    ]
)


@given(
    st.lists(st.tuples(st.sampled_from("ab"), COMMAS, COMMAS, COMMAS), min_size=1, max_size=4),
    DELIMITERS,
)
@settings(max_examples=300, deadline=None)
def test_they_agree_on_decimal_commas(path, assert_same, rows, delimiter):
    assert_agree(path, write_rows(rows, delimiter=delimiter), assert_same)


# What may stand where a field does: quoted as a whole, or in ways that only look like it.
QUOTED = st.sampled_from(
    ['"a,b"', '"a"', '""', '" a"', '"a "', ' "a"', '"a" ', '"a""b"', 'a"b', '"a"b', '"a\nb"', '"']
)


@given(st.lists(st.lists(QUOTED, min_size=1, max_size=3), min_size=1, max_size=4), NEWLINES)
@settings(max_examples=300, deadline=None)
def test_they_agree_on_quotes(path, assert_same, rows, newline):
    fields = [[*("c", "2", "0.25")[: 3 - len(row)], *row] for row in rows]
    text = newline.join(["algorithm,seed,score", "a,1,0.5", *map(",".join, fields)])
    assert_agree(path, text.encode(), assert_same)


@given(
    PLAIN_ROWS,
    st.sampled_from(["", MARK, "\n", "\n\n  \n", "sep=,\n", MARK + "sep=,\r\n"]),
    st.lists(
        st.sampled_from(
            ["", " ", ",", ",,,", " , ,,", "\t", "a,t,1", "a,t,1,0.5,", "a,t,1,0.5,2", '"a",t,1,0']
        ),
        max_size=2,
    ),
    NEWLINES,
    st.integers(0, 50),
)
@settings(deadline=None)
def test_they_agree_on_nasty_lines(path, assert_same, rows, start, lines, newline, place):
    written = join_fields(rows, newline).decode().split(newline)
    place = 1 + place % len(written)
    text = newline.join([*written[:place], *lines, *written[place:]])
    assert_agree(path, (start + text).encode(), assert_same)


@given(st.one_of(st.binary(max_size=60), st.text('a1,"\n\r ', max_size=60).map(str.encode)))
@settings(max_examples=300, deadline=None)
@example(b"a\x1c,1,0.5\n\x1c,\x1d,\x1e\n")
def test_they_agree_on_noise(path, assert_same, noise):
    assert_agree(path, b"algorithm,seed,score\na,1,0.5\n" + noise, assert_same)


@pytest.mark.parametrize("number", NASTY_NUMBERS)
def test_they_agree_on_every_nasty_number(path, assert_same, number):
    rows = "".join(f"a,{seed},{score}\n" for seed, score in enumerate(["0.5", number, "0.25"]))
    assert_agree(path, f"algorithm,seed,score\n{rows}".encode(), assert_same)


@pytest.mark.parametrize("name", NASTY_NAMES)
def test_they_agree_on_every_nasty_name(path, assert_same, name):
    rows = "".join(f"a,{seed},0.5\n" for seed in ("1", name, "4294967294"))
    assert_agree(path, f"algorithm,seed,score\n{rows}".encode(), assert_same)


def test_they_agree_on_what_is_blank(path, assert_same):
    pyarrow = pytest.importorskip("pyarrow")
    compute = pytest.importorskip("pyarrow.compute")
    letters = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    blank = compute.utf8_is_space(pyarrow.array(letters)).to_pylist()
    assert blank == [letter.isspace() for letter in letters]


@given(PLAIN_ROWS, NEWLINES, st.sampled_from(["", "\n", "\r\n\r\n"]))
@settings(deadline=None)
def test_plain_files_are_not_left_to_the_csv_module(path, rows, newline, ending):
    table = read_plain(path, join_fields(rows, newline).rstrip() + ending.encode())
    assert table is not None
    assert table.rows.tolist() == list(range(2, len(rows) + 2))
    for column, name in enumerate(table.names[:3]):
        labels = table.label(name)
        assert labels.spell() == [row[column] for row in rows]
        assert len(set(labels.names)) == len(labels.names)
    assert table.parse(["score"])[0].tolist() == [float(row[3]) for row in rows]


@pytest.mark.parametrize(
    "body",
    [
        b'"a,1,0.5"\nb,1,0.5\n',  # a row of one field
        b'"a""b",1,0.5\n',  # quotes within a field
        b'"a\nb",1,0.5\n',  # two lines within a field
        b'" a",1,0.5\n',  # space that the csv module keeps
        b'a, "1",0.5\n',  # space before a quote
        b"a,1,0.5\n\nb,1,0.5\n",  # a blank row between others
        b"a,1,0.5\n , ,\nb,1,0.5\n",
        b"a,1,0.5\rb,1,0.5\n",  # a return alone
        b"a,1," + b"5" * 131_073 + b"\n",  # longer than the csv module allows
        b"",
    ],
)
def test_irregular_text_is_left_to_the_csv_module(path, body):
    assert read_plain(path, b"x,y,z\n" + body) is None


@pytest.mark.parametrize("place", [0, 50, 99])
def test_no_block_may_be_other_than_utf_8(path, monkeypatch, place):
    monkeypatch.setattr(files, "_BLOCK", 256)
    rows = [b"a,1,0.5\n"] * 100
    assert read_plain(path, b"x,y,z\n" + b"".join(rows)) is not None
    rows[place] = b"a,1,\xff\n"
    assert read_plain(path, b"x,y,z\n" + b"".join(rows)) is None


def test_quotes_around_whole_fields_are_read_by_pyarrow(path):
    table = read_plain(path, b'x,y,z\n"a, b",1,0.5\nc,"2",""\n"d",3,"0.25"\n')
    assert table is not None
    assert table.label("x").spell() == ["a, b", "c", "d"]
    assert table.label("y").spell() == ["1", "2", "3"]
    np.testing.assert_array_equal(table.parse(["z"])[0], [0.5, np.nan, 0.25])


def test_names_come_in_one_order(path):
    names = [str(n) for n in range(0, 2000, 7)] + [f"s{n}" for n in range(50)] + ["007", "-1"]
    rows = [("a", "t", name, "0.5") for name in reversed(names)]
    large, small = (
        read_plain(path, join_fields(rows)),
        read_csv(join_fields(rows), "runs.csv"),
    )
    assert large is not None
    assert tuple(large.label("seed").names) == tuple(small.label("seed").names)
    np.testing.assert_array_equal(large.label("seed").codes, small.label("seed").codes)


@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", " a", "ü", ""]), st.integers(1, 40)), min_size=1),
    st.integers(0, 20),
)
@settings(deadline=None)
def test_names_that_follow_one_another_are_read_alike(path, assert_same, blocks, n_mixed):
    names = [name for name, n_rows in blocks for _ in range(n_rows)]
    names = ["x", *names, *(f"y{n}" for n in range(n_mixed))]  # whose end is not as its begin
    rows = [("a", name, str(seed), "0.5") for seed, name in enumerate(names)]
    assert_agree(path, join_fields(rows), assert_same)


@pytest.mark.parametrize(
    "names",
    [
        ("0", "7", "10", "999999999", "1000000000", "9223372036854775807"),
        ("7", "007"),
        ("5", "-5", "-0"),
        ("16", "0x10"),
        ("4294967295", "0xffffffff"),  # as many characters as digits
        ("1", "01", "0xfffffffffffffff"),  # one is longer than its digits, and one shorter
    ],
)
def test_seeds_are_called_as_they_are_written(path, names):
    rows = [("a", "t", name, "0.5") for name in names]
    table = read_plain(path, join_fields(rows))
    assert table is not None
    assert table.label("seed").spell() == [*names]


def test_small_files_import_nothing(tmp_path):
    import subprocess

    path = tmp_path / "runs.csv"
    path.write_text("algorithm,seed,score\na,1,0.5\nb,1,0.25\n")
    code = "import sys, outperform; outperform.read_runs(sys.argv[1]); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert not {"pyarrow", "pandas", "scipy.stats"} & set(done.stdout.split())


def test_without_pyarrow_the_csv_module_reads_large_files(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr(files, "_LARGE", -1)
    path = tmp_path / "runs.csv"
    path.write_text("algorithm,seed,score\na,1,0.5\nb,1,0.25\n")
    assert read_runs(path).score.tolist() == [0.5, 0.25]


@given(st.text('a\r\n,"', max_size=16).map(str.encode), st.integers(1, 5))
def test_a_text_looks_the_same_wherever_its_blocks_end(tmp_path_factory, text, n_bytes):
    path = tmp_path_factory.getbasetemp() / "blocks.csv"
    path.write_bytes(b"a,b\n" + text + b"a")
    with path.open("rb", buffering=0) as file:
        header = files._read_header(b"a,b\n", "blocks.csv", None)
        whole, blocks = (files._PlainText(file, header, may_quote=True) for _ in range(2))
        file.seek(header.end)
        while whole.read(1000):
            pass
        file.seek(header.end)
        while blocks.read(n_bytes):
            pass
    assert blocks.was_plain() == whole.was_plain()
    if b'"' not in text:
        assert blocks.was_plain() == (text.count(b"\r") == text.count(b"\r\n"))
