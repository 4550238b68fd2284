"""Rounding is no win in any verdict, whatever the scores come in."""

import numpy as np
import pytest

from outperform import audit, compare, compare_runs, rank_runs, read_runs

HUNDRED = np.float32(100)


def atari_like(high=100.0):
    """100 pairs of which 41 are tied at 100, but that A's are `high`; of the others A wins 38."""
    rng = np.random.default_rng(41)
    b = rng.uniform(20, 90, size=100)
    a = b + np.where(np.arange(100) < 38, 1, -1) * rng.uniform(0.5, 9, size=100)
    a[59:], b[59:] = high, 100.0
    return a, b


def answer(result):
    plain = result.to_dict()
    means = [plain.pop(f"{what}_{side}") for what in ("mean", "sd") for side in "ab"]
    return plain | {"means": np.round(means, 9).tolist()}


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("goal", ["maximize", "minimize"])
def test_a_verdict_takes_rounding_as_ties(paired, goal):
    noisy, exact = atari_like(99.99999999999997), atari_like()
    for order in (slice(None), slice(None, None, -1)):
        result = compare(*noisy[order], paired=paired, goal=goal)
        expected = compare(*exact[order], paired=paired, goal=goal)
        assert answer(result) == answer(expected)
        assert result.caveats == expected.caveats
        assert result.n_ties == (41 if paired else 0)


def test_the_verdict_is_that_of_the_pairs_that_differ():
    result = compare(*atari_like(99.99999999999997))
    assert (result.winner, result.n_ties, result.n_decided) == ("a", 41, 59)
    # What is no rounding counts: 62 of 100 for B.
    assert compare(*atari_like(100 * (1 - 1e-9))).winner == "b"


def test_an_audit_takes_rounding_as_ties():
    def audited(high):
        a, b = atari_like(high)
        table = read_runs({"a": a, "b": b}, goal="maximize")
        return audit(table, "a", "b", n_resamples=99, rng=np.random.default_rng(0))

    assert str(audited(99.99999999999997)) == str(audited(100.0))
    assert audited(99.99999999999997).hidden == audited(100.0).hidden


@pytest.mark.parametrize("paired", [True, False])
def test_arrays_of_32_bits_are_compared_in_as_many(paired):
    exact = [scores.astype(np.float32) for scores in atari_like()]
    noisy = [
        scores.astype(np.float32) for scores in atari_like(np.nextafter(HUNDRED, np.float32(0)))
    ]
    assert noisy[0][-1] < exact[0][-1]
    assert compare(*noisy, paired=paired).verdict == compare(*exact, paired=paired).verdict
    assert compare(*noisy, paired=paired).probability == compare(*exact, paired=paired).probability
    assert compare(*noisy).n_ties == 41


def sources(path):
    """The same scores of 32 bits, A's a unit in the last place lower, in all that holds them."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    high = np.nextafter(HUNDRED, np.float32(0))
    a, b = (scores.astype(np.float32) for scores in atari_like(high))
    long = {
        "model": ["a"] * 100 + ["b"] * 100,
        "seed": [*range(100)] * 2,
        "accuracy": np.concatenate([a, b]),
    }
    parquet.write_table(pyarrow.table(long), path)
    yield from (path, pandas.DataFrame(long), polars.DataFrame(long), pyarrow.table(long))
    yield from (long, {"a": a, "b": b})


def test_files_and_frames_of_32_bits_are_compared_in_as_many(tmp_path):
    for source in sources(tmp_path / "runs.parquet"):
        result = compare_runs(read_runs(source, goal="maximize"), "a", "b")
        assert (result.n_ties, result.winner) == (41, "a"), type(source)


def test_columns_of_a_wide_frame_are_compared_with_one_another():
    pandas = pytest.importorskip("pandas")
    a, b = (x.astype(np.float32) for x in atari_like(np.nextafter(HUNDRED, np.float32(0))))
    runs = read_runs(pandas.DataFrame({"a": a, "b": b}), wide=True, goal="maximize")
    assert compare_runs(runs, "a", "b").n_ties == 41


def test_text_is_exact_as_it_is(tmp_path):
    path = tmp_path / "runs.csv"
    lines = [f"{who},{i},{score!r}" for who, scores in zip("ab", atari_like(99.99999), strict=True)
             for i, score in enumerate(scores.tolist())]  # fmt: skip
    path.write_text("model,seed,accuracy\n" + "\n".join(lines))
    assert compare_runs(read_runs(path), "a", "b").n_ties == 0


def item_of_tensors():
    """Accuracies on 30 examples, as `.item()` of 32 bits and as sklearn gives them: 28 are tied."""
    right = np.random.default_rng(3).integers(20, 30, size=30)
    wins = np.where(np.arange(30) < 2, 1, 0)
    return ((right + wins) / 30).astype(np.float32).tolist(), (right / 30).tolist()


def test_scores_that_were_of_32_bits_are_tied_with_those_of_64(tmp_path):
    a, b = item_of_tensors()
    assert sum(x == y for x, y in zip(a, b, strict=True)) < 10
    assert compare(a, b).n_ties == compare(b, a).n_ties == 28
    lines = [f"{who},{i},{score!r}" for who, scores in zip("ab", (a, b), strict=True)
             for i, score in enumerate(scores)]  # fmt: skip
    path = tmp_path / "runs.csv"
    path.write_text("model,seed,accuracy\n" + "\n".join(lines))
    assert compare_runs(read_runs(path), "a", "b").n_ties == 28
    [pair] = rank_runs(read_runs(path)).pairs
    assert (pair.wins, pair.ties) == (2, 28)
