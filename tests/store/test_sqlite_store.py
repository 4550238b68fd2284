"""What is recorded comes back, once, unchanged."""

import math
import sqlite3
import tempfile
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outperform.errors import InvalidInput
from outperform.store import Added, Measurement, RunLabel, SqliteStore

finite = st.floats(allow_nan=False, allow_infinity=False)
text = st.text(st.characters(exclude_categories=["Cs"]))
params = st.dictionaries(text, finite | st.integers() | text | st.booleans())


@settings(max_examples=50, deadline=None)
@given(
    params,
    st.dictionaries(text, st.integers(0, 2**64)),
    st.dictionaries(text, finite, min_size=1),
    st.tuples(text, text, text),
)
def test_measurements_come_back_unchanged(params, seeds, scores, words):
    pipeline, task, version = words
    measurement = Measurement(
        "k", pipeline, task, params, seeds, 3, False, "done", scores, 0.1, None, 1.7e9,
        {"a": version},
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        with SqliteStore(f"{folder}/s.db") as store:
            store.add(measurement)
        with SqliteStore(f"{folder}/s.db") as store:
            assert list(store.measurements()) == [measurement]
            (back,) = store.measurements()
            assert [type(value) for value in back.params.values()] == [
                type(value) for value in params.values()
            ]


def test_a_failure_comes_back_with_its_traceback(store, failed):
    failure = failed(error="Traceback:\n  'é' \x00 and a lone surrogate \udcff")
    store.add(failure)
    (back,) = store.measurements()
    assert back.error == "Traceback:\n  'é' \x00 and a lone surrogate \\udcff"
    assert back.scores == {}


def test_numbers_of_numpy_become_numbers(store, done):
    store.add(
        done(
            params={"depth": np.int64(3), "rate": np.float32(0.5), "bag": np.bool_(True)},
            scores={"test": np.float32(0.25)},
            seeds={"init": np.uint32(7)},
        )
    )
    (back,) = store.measurements()
    assert (back.params, back.scores) == ({"depth": 3, "rate": 0.5, "bag": True}, {"test": 0.25})
    assert back.seeds == {"init": 7}


@pytest.mark.parametrize("value", [math.nan, object, [{1}]])
def test_what_json_cannot_hold_is_refused(store, done, value):
    with pytest.raises(InvalidInput) as caught:
        store.add(done(params={"x": value}))
    assert str(caught.value).startswith(f"cannot store {{'x': {value!r}}}: ")
    assert str(caught.value).endswith(
        ". Use finite numbers, text, true and false, and lists and tables of them."
    )


class TestFirstResultWins:
    def test_a_duplicate_with_equal_scores_is_ignored(self, store, done):
        assert store.add(done()) == Added("new")
        assert store.add(done(seconds=9.0)) == Added("same")
        assert list(store.measurements()) == [done()]

    def test_a_duplicate_with_other_scores_is_noise(self, store, done):
        store.add(done(scores={"test": 0.5}))
        assert store.add(done(scores={"test": 0.625})) == Added("differs", 0.125)
        assert store.get(["k0"])["k0"].scores == {"test": 0.5}

    def test_a_retry_that_succeeds_replaces_a_failure(self, store, done, failed):
        store.add(failed())
        assert store.add(done()) == Added("new")
        assert list(store.measurements()) == [done()]
        assert store.counts() == {("svm", "digits", "done"): 1}

    def test_a_retry_that_fails_tells_the_latest_error(self, store, failed):
        store.add(failed(error="old"))
        assert store.add(failed(error="new")) == Added("new")
        assert list(store.measurements()) == [failed(error="new")]

    def test_a_failure_never_replaces_a_success(self, store, done, failed):
        store.add(done())
        assert store.add(failed()) == Added("kept")
        assert list(store.measurements()) == [done()]

    def test_duplicates_within_one_commit_are_seen(self, store, done):
        added = store.add_all([done(), done(), done(scores={"valid": 0.0, "test": 0.0})])
        assert [each.kind for each in added] == ["new", "same", "differs"]
        assert list(store.measurements()) == [done()]


def test_add_all_records_all_or_nothing(store, done):
    store.add(done("first"))
    with pytest.raises(InvalidInput):
        store.add_all([done("second"), done("third", params={"x": math.nan})])
    assert set(store.scores()) == {"first"}
    assert store.add_all([]) == []


def test_reading_is_by_key_by_status_and_in_order_of_recording(store, done, failed):
    everything = [failed(f"k{i}") if i % 7 == 0 else done(f"k{i}") for i in range(5000)]
    store.add_all(everything)
    assert list(store.measurements()) == everything
    assert list(store.measurements("failed")) == everything[::7]
    successes = [each for each in everything if each.status == "done"]
    assert list(store.measurements("done")) == successes
    assert store.failed_keys() == {each.key for each in everything[::7]}
    assert list(store.scores()) == [each.key for each in successes]
    assert store.scores()["k1"] == everything[1].scores
    wanted = [f"k{i}" for i in range(0, 6000, 3)]
    assert store.get(wanted) == {each.key: each for each in everything[::3]}
    assert store.get([]) == {}


def test_writing_may_go_on_while_measurements_are_read(store, done):
    store.add_all([done(f"k{i}") for i in range(3000)])
    seen: Counter[str] = Counter()
    for i, measurement in enumerate(store.measurements()):
        seen[measurement.key] += 1
        if i % 1000 == 0:
            store.add(done(f"late {i}"))
    assert set(seen.values()) == {1}
    assert len(seen) >= 3000


def test_counts_are_by_pipeline_task_and_status(store, done, failed):
    store.add_all([done(f"a{i}", pipeline="svm") for i in range(3)])
    store.add_all([done(f"b{i}", pipeline="mlp", task="wine") for i in range(2)])
    store.add(failed("c", pipeline="mlp", task="wine"))
    assert store.counts() == {
        ("svm", "digits", "done"): 3,
        ("mlp", "wine", "done"): 2,
        ("mlp", "wine", "failed"): 1,
    }


def test_counts_need_no_look_at_the_measurements_themselves(store, path, done):
    store.add(done())
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT pipeline, task, status, count(*) FROM measurements GROUP BY 1, 2, 3"
        ((*_, plan),) = connection.execute(f"EXPLAIN QUERY PLAN {query}").fetchall()
    assert plan == "SCAN measurements USING COVERING INDEX progress"


def test_meta_is_kept_and_replaced(store, path):
    assert not path.exists()
    store.set_meta("study", {"seed": 0})
    store.set_meta("study", {"seed": 1, "tasks": ["digits"]})
    assert store.get_meta("study") == {"seed": 1, "tasks": ["digits"]}
    assert store.get_meta("other") is None


def test_labels_say_which_fits_are_runs_and_the_latest_holds(store):
    first = RunLabel("ideal", "all", 0, "svm", "digits", "k0")
    store.add_all([], [first, RunLabel("ideal", "all", 1, "svm", "digits", "k1")])
    store.add_all([], [RunLabel("ideal", "all", 1, "svm", "digits", "new"), first])
    store.add_all([], [])
    assert store.run_labels() == [first, RunLabel("ideal", "all", 1, "svm", "digits", "new")]


def test_every_commit_waits_for_the_disk(store, done):
    store.add(done())
    assert store._read("PRAGMA journal_mode") == [("wal",)]
    assert store._read("PRAGMA synchronous") == [(2,)]  # FULL


@pytest.mark.parametrize("name", ["a b.db", "50% off?.db", "#1&mode=ro.db", "été.db"])
def test_any_file_name_will_do(tmp_path, done, name):
    with SqliteStore(str(tmp_path / name)) as store:
        store.add(done())
    with SqliteStore(tmp_path / name) as store:
        assert set(store.scores()) == {"k0"}
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_a_relative_path_will_do(tmp_path, monkeypatch, done):
    monkeypatch.chdir(tmp_path)
    with SqliteStore(Path("study.db")) as store:
        store.add(done())
    assert (tmp_path / "study.db").exists()


def test_a_store_can_be_read_and_written_again_after_close(store, done):
    store.add(done("a"))
    store.close()
    assert set(store.scores()) == {"a"}
    store.add(done("b"))
    assert set(store.scores()) == {"a", "b"}


def test_mean_seconds_are_by_pipeline_and_task(store, done, failed):
    store.add_all([done("a", seconds=1.0), failed("b", seconds=3.0)])
    store.add(done("c", pipeline="slow", seconds=60.0))
    assert store.mean_seconds() == {("svm", "digits"): 2.0, ("slow", "digits"): 60.0}
    # However many fits of others came later, and those of its own that came earlier do not count.
    store.add_all([done(f"later {i}", seconds=5.0) for i in range(1000)])
    assert store.mean_seconds() == {("svm", "digits"): 5.0, ("slow", "digits"): 60.0}
