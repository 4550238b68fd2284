"""Replicates that do not match are read another way, or it is proposed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outperform import compare_runs, join_runs, read_runs
from outperform.errors import UnknownName, UnpairedScores
from outperform.runs.mismatches import may_be_padded, write_alike

SEED = np.random.default_rng(7)


def runs_of(labels_a, labels_b, **columns):
    return [
        {"model": m, "seed": label, "accuracy": round(SEED.normal(0.9, 0.01), 6)}
        | dict.fromkeys(columns, i)
        for m, labels in (("a", labels_a), ("b", labels_b))
        for i, label in enumerate(labels)
    ]


KINDS = ("csv", "jsonl", "parquet", "pandas", "polars", "records", "dict")


@pytest.mark.parametrize("kind", KINDS)
def test_another_column_that_pairs_is_proposed(shape, kind):
    records = runs_of([11, 12, 13], [21, 22, 23], fold=0)
    source, called, _ = shape(records, kind)
    with pytest.raises(UnpairedScores) as caught:
        compare_runs(source, "a", "b")
    assert str(caught.value) == (
        f"the seeds of 'a' and 'b' do not match: no seed is shared in {called} (11, 12, 13 against "
        "21, 22, 23). Pass --replicate fold, which pairs all 3 of them, or pass --unpaired."
    )
    assert compare_runs(read_runs(source, replicate="fold"), "a", "b").n_pairs == 3


def test_the_column_may_be_in_two_files(write):
    for name, first in (("a", 10), ("b", 20)):
        rows = [f"{first + i},{i},{SEED.random()}" for i in range(3)]
        write("\n".join(["seed,fold,accuracy", *rows]), f"{name}.csv")
    folder = write("", "nothing").parent
    runs = join_runs(read_runs(folder / "a.csv"), read_runs(folder / "b.csv"))
    with pytest.raises(UnpairedScores, match="Pass --replicate fold, which pairs all 3 of them"):
        runs.pair("a", "b")


@pytest.mark.parametrize(
    ("columns", "labels_b"), [({}, [21, 22, 23]), ({"fold": 0}, [21, 22, 23, 24])]
)
def test_what_does_not_pair_is_not_proposed(columns, labels_b):
    with pytest.raises(UnpairedScores) as caught:
        compare_runs(runs_of([11, 12, 13], labels_b, **columns), "a", "b")
    assert caught.value.remedy == "Run both with the same seeds, or pass --unpaired"


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "pandas", "polars", "records", "dict"])
@pytest.mark.parametrize("first", ["1", " 1"])
def test_equal_numbers_are_the_same_replicate(shape, kind, first):
    records = runs_of([first, "2", "0.50"], ["1.0", "2.0", "0.5"])
    source, *_ = shape(records, kind)
    result = compare_runs(source, "a", "b")
    assert result.scores_a.tolist() == [records[i]["accuracy"] for i in (0, 1, 2)]
    assert result.scores_b.tolist() == [records[i]["accuracy"] for i in (3, 4, 5)]
    assert (
        "seed '1' of a and '1.0' of b were paired as the same number, and 2 more likewise"
        in result.caveats
    )


def test_labels_that_match_are_left_as_they_are():
    records = runs_of(["1", "2.0", "3"], ["1", "2.0", "3"])
    result = compare_runs(records, "a", "b")
    assert not any("same number" in caveat for caveat in result.caveats)
    # Where one algorithm has both, they are two.
    both = runs_of(["1", "1.0", "3", "4"], ["1", "1.0", "3.0", "4.0"])
    with pytest.raises(UnpairedScores, match="2 for both, 2 for 'a' only"):
        compare_runs(both, "a", "b")


def test_numbers_with_zeros_before_them_are_proposed_only():
    with pytest.raises(UnpairedScores) as caught:
        compare_runs(runs_of(["007", "010"], ["7", "10"]), "a", "b")
    assert str(caught.value) == (
        "the seeds of 'a' and 'b' do not match: no seed is shared in the list of records (007, 010 "
        "against 7, 10). Write them alike if they are the same but for zeros, or pass --unpaired."
    )
    assert not may_be_padded(["007", "07"], ["7"])


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3), st.integers(0, 3))
def test_equal_decimals_are_written_alike(number, n_zeros):
    plain = format(number, "f")
    alike = write_alike((plain, plain + "0" * n_zeros))
    assert alike is None or len(alike.names) == 1
    assert n_zeros == 0 or alike is not None
    assert write_alike((plain, format(number + 1, "f"), "x")) is None


def test_runs_under_another_spelling_are_named():
    records = runs_of(range(6), range(6))
    for name in ("A", "a.1", "a-10"):
        records += [records[0] | {"model": name}]
    said = "there are runs of 'A' too: if that is the same algorithm, give both one name"
    for paired in (True, False):
        caveats = compare_runs(records, "a", "b", paired=paired).caveats
        assert [each for each in caveats if "there are runs" in each] == [said]
    caveats = compare_runs(records[:12] + records[13:], "a", "b").caveats
    assert not [each for each in caveats if "there are runs" in each]


def test_the_column_that_names_the_algorithms_is_found():
    records = [{"algo": name, "seed": 1, "accuracy": 0.5} for name in "ab"]
    with pytest.raises(UnknownName) as caught:
        compare_runs(records, "a", "b")
    assert str(caught.value) == (
        "no algorithm 'a' in the list of records. Column 'algo' holds it: pass --algorithm algo. "
        "It has: runs."
    )
