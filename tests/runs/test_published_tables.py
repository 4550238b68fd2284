"""Published tables: long, wide either way, and cells as papers print them."""

import pytest

from outperform.errors import OutperformError, UnreadableRuns
from outperform.runs.published_tables import PublishedCell, parse_cell, read_published_table

WIDE = {
    "Method": ["old", "new"],
    "CIFAR": ["94.2 ± 0.3", "95.1±0.2"],
    "SVHN": ["96.9 (0.2)", "97.0 +/- 0.1"],
}
LONG = [
    {"method": name, "dataset": task, "mean": mean, "sd": sd}
    for name, task, mean, sd in (
        ("old", "CIFAR", 94.2, 0.3),
        ("old", "SVHN", 96.9, 0.2),
        ("new", "CIFAR", 95.1, 0.2),
        ("new", "SVHN", 97.0, 0.1),
    )
]
READ = ("CIFAR", "SVHN"), (PublishedCell(95.1, 0.2), PublishedCell(97.0, 0.1))


@pytest.mark.parametrize(
    "text",
    [
        "91.2 ± 0.4",
        "91.2±0.4",
        "91.2 (0.4)",
        "91.2 (±0.4)",
        "91.2 +/- 0.4",
        "91.2+-0.4",
        r"$91.2_{\pm 0.4}$",
        r"$\mathbf{91.2}_{\pm 0.4}$",
        r"\textbf{91.2} $\pm$ 0.4",
        r"\textbf{91.2 $\pm$ 0.4}",
        r"$91.2 \pm 0.4$",
        r"\underline{91.2}\,$\pm$\,{\scriptsize 0.4}",
        r"91.2~$\pm$~0.4$^{*}$",
        "**91.2 ± 0.4**",
        "91.2 ± 0.4*",
        "91.2 ± 0.4†",
    ],
)
def test_cells_as_papers_print_them(text):
    assert parse_cell(text) == PublishedCell(91.2, 0.4)


def test_numbers_of_all_kinds():
    assert parse_cell("-1.5e-3 ± 2e-4") == PublishedCell(-0.0015, 0.0002)
    assert parse_cell("\N{MINUS SIGN}12 ± 3") == PublishedCell(-12, 3)
    assert parse_cell(r"91.2\% ± 0.4\%") == PublishedCell(91.2, 0.4, percent=True)


@pytest.mark.parametrize(
    "text", ["91.2", "ours", "91,2 ± 0,4", "91.2 ± -0.4x", "1 ± 2 ± 3", "91.2 ±", "± 0.4", "a ± b"]
)
def test_what_is_no_cell(text):
    assert parse_cell(text) is None


@pytest.mark.parametrize(
    "source",
    [
        WIDE,
        LONG,
        {"Dataset": ["CIFAR", "SVHN"], "old": ["94.2 ± 0.3", "96.9 ± 0.2"],
         "new": ["95.1 ± 0.2", "97.0 ± 0.1"]},
        [{"method": row["method"], "dataset": row["dataset"],
          "score": f"{row['mean']} ± {row['sd']}"} for row in LONG],
        {"": WIDE["Method"], "CIFAR": WIDE["CIFAR"], "SVHN": WIDE["SVHN"]},
    ],
    ids=["wide", "long", "methods as columns", "long, printed", "unnamed"],
)  # fmt: skip
def test_every_shape_says_the_same(source):
    table = read_published_table(source, "new", "old")
    assert (table.tasks, table.a) == READ
    assert table.b[0] == PublishedCell(94.2, 0.3)


@pytest.mark.parametrize(
    ("names", "n"),
    [
        ({"mean": "accuracy", "sd": "std"}, "count"),
        ({"mean": "accuracy_mean", "sd": "accuracy_std"}, "accuracy_count"),
        ({"mean": "test_loss", "sd": "std_test_loss"}, "n_runs"),
    ],
)
def test_means_may_be_called_after_their_metric(names, n):
    rows = [{**{names.get(key, key): value for key, value in row.items()}, n: 5} for row in LONG]
    table = read_published_table(rows, "new", "old")
    assert (table.metric, table.tasks, table.b[0]) == (
        names["mean"],
        READ[0],
        PublishedCell(94.2, 0.3, 5),
    )
    assert read_published_table(LONG, "new", "old").metric is None


def test_numbers_of_runs_of_a_long_table():
    rows = [{**row, "seeds": 5 if row["method"] == "new" else 3} for row in LONG]
    table = read_published_table(rows, "new", "old")
    assert [cell.n for cell in (*table.a, *table.b)] == [5, 5, 3, 3]


def test_an_average_over_datasets_is_none_of_them():
    table = read_published_table({**WIDE, "Avg.": ["95.5 ± 0.1", "96 ± 0.1"]}, "new", "old")
    assert table.tasks == ("CIFAR", "SVHN")
    assert table.notes == ("Avg. was left out: an average over datasets is none of them",)


def test_datasets_without_a_mean_are_left_out_when_told():
    table = {**WIDE, "STL": ["–", "90 ± 1"], "Food": ["80.1", "81 ± 1"]}
    read = read_published_table(table, "new", "old", drop_incomplete=True)
    assert read.tasks == ("CIFAR", "SVHN")
    assert read.notes == (
        "STL, Food was left out, where a mean or a standard deviation is missing: nothing is said "
        "of it",
    )


@pytest.mark.parametrize(
    ("source", "names", "message"),
    [
        (
            WIDE, ("nwe", "old"),
            "no method 'nwe' in the dict. Did you mean 'new'? It has: old, new.",
        ),
        (WIDE, ("old", "old"), "cannot compare 'old' with itself. Name two methods."),
        (
            {**WIDE, "STL": ["88.1", "90 ± 1"]}, ("new", "old"),
            "the cell of 'old' on 'STL' is '88.1', a mean without its standard deviation in the "
            "dict. Write 88.1 ± SD, as it was published, or leave out such datasets with "
            "--drop-incomplete.",
        ),
        (
            {**WIDE, "STL": ["-", "90 ± 1"], "Food": ["", "81 ± 1"]}, ("new", "old"),
            "the cell of 'old' on 'STL' is empty in the dict, and 1 more dataset like it. Fill "
            "it in, or leave out such datasets with --drop-incomplete.",
        ),
        (
            {**WIDE, "STL": ["OOM", "90 ± 1"]}, ("new", "old"),
            "the cell of 'old' on 'STL' is 'OOM', no mean with its standard deviation in the dict. "
            "Write it like 91.2 ± 0.4, with points for decimals, or leave out such datasets with "
            "--drop-incomplete.",
        ),
        (
            {**WIDE, "STL": ["91.2 (4)", "90 ± 1"]}, ("new", "old"),
            "the cell of 'old' on 'STL' is '91.2 (4)', of which (…) may be a standard deviation, "
            "its last digits or a rank in the dict. Write it like 91.2 ± 0.4, or leave out such "
            "datasets with --drop-incomplete.",
        ),
        (
            {**WIDE, "STL": ["91.2% ± 0.4%", "0.9 ± 0.01"]}, ("new", "old"),
            "on STL of the dict, one of the two is written with a percent sign and the other is "
            "not. Write both in the same unit.",
        ),
        (
            {"Method": ["old", "new"], "CIFAR": ["94.2 ± 0.3", "95.1 ± 0.2"]}, ("new", "old"),
            "the dict has 1 dataset with a mean and a standard deviation of both 'new' and "
            "'old'. Compare them on one with --summary 'new=95.1±0.2,N' 'old=94.2±0.3,N', where N "
            "is the number of runs.",
        ),
        (
            {"Method": ["old", "new", "old"], "A": ["1 ± 1"] * 3, "B": ["1 ± 1"] * 3},
            ("new", "old"), "the dict has 2 rows for 'old'. Keep one of them.",
        ),
        (
            [*LONG, LONG[0]], ("new", "old"),
            "the list of records has more than one row of 'old' on 'CIFAR'. Keep one of them.",
        ),
        (
            [{"sem" if key == "sd" else key: value for key, value in row.items()} for row in LONG],
            ("new", "old"),
            "column 'sem' of the list of records holds standard errors, and there is none of "
            "standard deviations. Multiply them by √n, and name the column sd.",
        ),
        (
            [{**row, "metric": ["accuracy", "loss"][n % 2]} for n, row in enumerate(LONG)],
            ("new", "old"),
            "column 'metric' of the list of records names 2 metrics (accuracy, loss). Compare on "
            "each apart, in a table of its own.",
        ),
        (
            [{**row, "n": 2.5} for row in LONG], ("new", "old"),
            "n is 2.5. Pass a whole number not less than 2.",
        ),
    ],
)  # fmt: skip
def test_tables_that_cannot_be_read(source, names, message):
    with pytest.raises(OutperformError) as caught:
        read_published_table(source, *names)
    assert str(caught.value) == message


def test_a_table_pasted_from_latex_is_refused_until_its_cells_are_separated(tmp_path):
    path = tmp_path / "table.csv"
    rows = [r"Method & CIFAR & SVHN \\", r"\hline", r"Ours & $95.1_{\pm 0.2}$ & 97.0 $\pm$ 0.1 \\"]
    rows.append(r"Base & 94.2 $\pm$ 0.3 & 96.9 $\pm$ 0.2 \\")
    path.write_text("\n".join(rows))
    with pytest.raises(UnreadableRuns) as caught:
        read_published_table(path, "Ours", "Base")
    assert str(caught.value) == (
        "table.csv is a table of LaTeX, with & between its cells. Write ; in place of &, remove "
        r"\\ and lines such as \hline."
    )
    kept = [row.replace("&", ";").removesuffix(r"\\") for row in rows if row != r"\hline"]
    path.write_text("\n".join(kept))
    assert read_published_table(path, "Ours", "Base").tasks == ("CIFAR", "SVHN")
