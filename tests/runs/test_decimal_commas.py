"""Decimal commas of spreadsheets, where they can be nothing else."""

import sys

import numpy as np
import pytest

from outperform import compare_runs
from outperform.errors import InvalidScores
from outperform.runs import files, read_runs


@pytest.fixture(params=["csv module", "pyarrow"])
def read(request, tmp_path, monkeypatch):
    if request.param == "pyarrow":
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(files, "_LARGE", 0 if request.param == "pyarrow" else sys.maxsize)

    def read(text, **options):
        path = tmp_path / "runs.csv"
        path.write_text(text)
        return read_runs(path, **options)

    return read


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_a_european_spreadsheet_is_read(read, delimiter):
    text = "model;seed;lr;accuracy\nsvm;0;1,5E-05;0,931\nsvm;1;1E-4;1\nsvm;2;0,1;\n"
    runs = read(text.replace(";", delimiter))
    assert runs.score[:2].tolist() == [0.931, 1.0]
    assert str(runs.score[2]) == "nan"
    assert runs.others.label("lr", np.arange(3)).spell() == ["1.5E-05", "1E-4", "0.1"]


def test_three_decimals_are_decimals_beside_others(read):
    runs = read("model;seed;reward\na;0;1,312\na;1;1,5\na;2;12,25\n")
    assert runs.score.tolist() == [1.312, 1.5, 12.25]


def test_three_decimals_of_a_share_are_decimals(read):
    runs = read("model;seed;accuracy\na;0;90,997\na;1;91,312\n")
    assert runs.score.tolist() == [90.997, 91.312]
    for name in ("n_correct", "reward"):  # of which there may be thousands
        with pytest.raises(InvalidScores, match="if the comma is a decimal one"):
            read(f"model;seed;{name}\na;0;90,997\na;1;91,312\n")


def test_a_wide_table_is_read(read):
    runs = read("seed;svm;knn\n0;0,931;0,92\n1;0,94;0,9\n", wide=True, metric="accuracy")
    assert compare_runs(runs, "svm", "knn").difference.value == pytest.approx(0.0255)


def test_names_of_runs_keep_their_commas(read):
    runs = read("model;fold;accuracy\na;1,1;0,5\na;1,10;0,25\n")
    assert sorted(runs.replicates) == ["1,1", "1,10"]
