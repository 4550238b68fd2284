"""What every store promises, written once and run on each: what is recorded comes back, once."""

import math
import os
import re
import socket
import tempfile
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outperform.errors import DamagedStore, InvalidInput, StoreError, StoreInUse
from outperform.store import Added, Measurement, RunLabel, open_store
from outperform.store.measurement import FAILED_TRIAL
from tests.postgres_server import make_address

# Every implementation, by how an address for a new store is made in a folder.
STORES: dict[str, Callable[[Path], str]] = {
    "sqlite": lambda folder: f"sqlite:///{folder / 'study.db'}",
    "postgres": lambda _: make_address(),
}


@pytest.fixture(params=STORES.values(), ids=STORES)
def address(request, tmp_path):
    return request.param(tmp_path)


@pytest.fixture
def store(address):
    with open_store(address) as opened:
        yield opened


finite = st.floats(allow_nan=False, allow_infinity=False)
text = st.text(st.characters(exclude_categories=["Cs"]))
params = st.dictionaries(text, finite | st.integers() | text | st.booleans())


@pytest.mark.parametrize("make_address", STORES.values(), ids=STORES)
@settings(max_examples=50, deadline=None)
@given(
    params=params,
    seeds=st.dictionaries(text, st.integers(0, 2**64)),
    scores=st.dictionaries(text, finite, min_size=1),
    words=st.tuples(text, text, text),
)
def test_measurements_come_back_unchanged(make_address, params, seeds, scores, words):
    pipeline, task, version = words
    measurement = Measurement(
        "k", pipeline, task, params, seeds, 3, False, "done", scores, 0.1, None, 1.7e9,
        {"a": version},
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        address = make_address(Path(folder))
        with open_store(address) as store:
            store.add([measurement])
        with open_store(address) as store:
            assert list(store.measurements()) == [measurement]
            (back,) = store.measurements()
            assert [type(value) for value in back.params.values()] == [
                type(value) for value in params.values()
            ]


def test_a_failure_comes_back_with_its_traceback(store, failed):
    failure = failed(error="Traceback:\n  'é' \x00 and a lone surrogate \udcff")
    store.add([failure])
    (back,) = store.measurements()
    assert back.error == "Traceback:\n  'é' \x00 and a lone surrogate \\udcff"
    assert back.scores == {}


def test_numbers_of_numpy_become_numbers(store, done):
    measurement = done(
        params={"depth": np.int64(3), "rate": np.float32(0.5), "bag": np.bool_(True)},
        scores={"test": np.float32(0.25)},
        seeds={"init": np.uint32(7)},
    )
    store.add([measurement])
    (back,) = store.measurements()
    assert (back.params, back.scores) == ({"depth": 3, "rate": 0.5, "bag": True}, {"test": 0.25})
    assert back.seeds == {"init": 7}


@pytest.mark.parametrize("value", [math.nan, object, [{1}]])
def test_what_json_cannot_hold_is_refused(store, done, value):
    with pytest.raises(InvalidInput) as caught:
        store.add([done(params={"x": value})])
    assert str(caught.value).startswith(f"cannot store {{'x': {value!r}}}: ")
    assert str(caught.value).endswith(
        ". Use finite numbers, text, true and false, and lists and tables of them."
    )


class TestFirstResultWins:
    def test_a_duplicate_with_equal_scores_is_ignored(self, store, done):
        assert store.add([done()]) == [Added("new")]
        assert store.add([done(seconds=9.0)]) == [Added("same")]
        assert list(store.measurements()) == [done()]

    def test_a_duplicate_with_other_scores_is_noise(self, store, done):
        store.add([done(scores={"test": 0.5})])
        assert store.add([done(scores={"test": 0.625})]) == [Added("differs", 0.125)]
        assert store.get(["k0"])["k0"].scores == {"test": 0.5}

    def test_a_retry_that_succeeds_replaces_a_failure(self, store, done, failed):
        store.add([failed()])
        assert store.add([done()]) == [Added("new")]
        assert list(store.measurements()) == [done()]
        assert store.counts() == {("svm", "digits", "done"): 1}

    def test_a_retry_that_fails_tells_the_latest_error(self, store, failed):
        store.add([failed(error="old")])
        assert store.add([failed(error="new")]) == [Added("new")]
        assert list(store.measurements()) == [failed(error="new")]

    def test_a_failure_never_replaces_a_success(self, store, done, failed):
        store.add([done()])
        assert store.add([failed()]) == [Added("kept")]
        assert list(store.measurements()) == [done()]

    def test_duplicates_within_one_commit_are_seen(self, store, done):
        added = store.add([done(), done(), done(scores={"valid": 0.0, "test": 0.0})])
        assert [each.kind for each in added] == ["new", "same", "differs"]
        assert list(store.measurements()) == [done()]

    def test_the_first_of_duplicates_has_its_place_in_the_order(self, store, done, failed):
        store.add([failed("a"), done("b"), done("a"), done("c"), done("b")])
        assert list(store.measurements()) == [done("a"), done("b"), done("c")]


def test_a_commit_records_all_or_nothing(store, done):
    store.add([done("first")])
    with pytest.raises(InvalidInput):
        store.add([done("second"), done("third", params={"x": math.nan})])
    assert set(store.scores()) == {"first"}
    assert store.add([]) == []


def test_reading_is_by_key_by_status_and_in_order_of_recording(store, done, failed):
    everything = [failed(f"k{i}") if i % 7 == 0 else done(f"k{i}") for i in range(5000)]
    store.add(everything)
    assert list(store.measurements()) == everything
    assert list(store.measurements("failed")) == everything[::7]
    successes = [each for each in everything if each.status == "done"]
    assert list(store.measurements("done")) == successes
    assert list(store.scores()) == [each.key for each in everything]
    assert store.scores() == {each.key: each.scores for each in everything}
    assert {key for key, scores in store.scores().items() if not scores} == {
        each.key for each in everything[::7]
    }
    wanted = [f"k{i}" for i in range(0, 6000, 3)]
    assert store.get(wanted) == {each.key: each for each in everything[::3]}
    assert store.get([]) == {}


def test_writing_may_go_on_while_measurements_are_read(store, done):
    store.add([done(f"k{i}") for i in range(3000)])
    seen: Counter[str] = Counter()
    for i, measurement in enumerate(store.measurements()):
        seen[measurement.key] += 1
        if i % 1000 == 0:
            store.add([done(f"late {i}")])
    assert set(seen.values()) == {1}
    assert len(seen) >= 3000


def test_counts_are_by_pipeline_task_and_status(store, done, failed):
    store.add([done(f"a{i}", pipeline="svm") for i in range(3)])
    store.add([done(f"b{i}", pipeline="mlp", task="wine") for i in range(2)])
    store.add([failed("c", pipeline="mlp", task="wine")])
    assert store.counts() == {
        ("svm", "digits", "done"): 3,
        ("mlp", "wine", "done"): 2,
        ("mlp", "wine", "failed"): 1,
    }


def test_meta_is_kept_and_replaced(store):
    assert not store.exists()
    store.set_meta("notes", {"seed": 0})
    assert store.exists()
    store.set_meta("notes", {"seed": 1, "tasks": ["digits"]})
    assert store.get_meta("notes") == {"seed": 1, "tasks": ["digits"]}
    assert store.get_meta("other") is None


def test_labels_say_which_fits_are_runs_and_the_latest_holds(store):
    first = RunLabel("ideal", "all", 0, "svm", "digits", "k0")
    store.add([], [first, RunLabel("ideal", "all", 1, "svm", "digits", "k1")])
    store.add([], [RunLabel("ideal", "all", 1, "svm", "digits", "new"), first])
    store.add([], [])
    assert store.run_labels() == [first, RunLabel("ideal", "all", 1, "svm", "digits", "new")]


def test_failed_trials_are_kept_apart_from_runs_and_forgotten_with_them(store):
    run = RunLabel("ideal", "all", 0, "svm", "digits", "k0")
    trials = [RunLabel(FAILED_TRIAL, "a search", i, "svm", "digits", f"k{i}") for i in (1, 2)]
    store.add([], [run, *trials])
    assert (store.run_labels(), store.failed_trials()) == ([run], trials)
    store.keep_labels([])
    assert (store.run_labels(), store.failed_trials()) == ([], [])


def test_a_store_can_be_read_and_written_again_after_close(store, done):
    store.add([done("a")])
    store.close()
    assert set(store.scores()) == {"a"}
    store.add([done("b")])
    assert set(store.scores()) == {"a", "b"}


def test_mean_seconds_are_by_pipeline_and_task(store, done, failed):
    store.add([done("a", seconds=1.0), failed("b", seconds=3.0)])
    store.add([done("c", pipeline="slow", seconds=60.0)])
    assert store.mean_seconds() == {("svm", "digits"): 2.0, ("slow", "digits"): 60.0}
    # However many fits of others came later, and those of its own that came earlier do not count.
    store.add([done(f"later {i}", seconds=5.0) for i in range(1000)])
    assert store.mean_seconds() == {("svm", "digits"): 5.0, ("slow", "digits"): 60.0}


def test_labels_are_forgotten_but_for_some_pairs(store):
    labels = [
        RunLabel("ideal", "all", i, pipeline, "digits", f"{pipeline}{i}")
        for i in range(2)
        for pipeline in ("mlp", "svm")
    ]
    store.add([], labels)
    store.keep_labels([("svm", "digits"), ("other", "digits")])
    assert store.run_labels() == labels[1::2]
    store.keep_labels([])
    assert store.run_labels() == []


def test_reading_makes_no_store(address):
    with open_store(address) as store:
        with pytest.raises(StoreError):
            store.counts()
        assert not store.exists()
        assert store.find_writer() is None


@pytest.mark.parametrize(
    ("name", "value", "place"),
    [
        ("study", {"seed": 1}, "study.name"),
        ("stopped", {"design": "ideal", "replicates": "4", "reason": ""}, "stopped"),
        ("blocked", {"svm on digits": None}, "blocked.svm on digits"),
        ("sequential", [{"rule": {"a": "svm", "b": 1}}], "sequential[0].rule.b"),
    ],
)
def test_what_no_run_would_keep_is_damage(store, name, value, place):
    store.set_meta(name, value)
    with pytest.raises(DamagedStore) as caught:
        store.get_meta(name)
    assert str(caught.value) == (
        f"'{store.address}' is damaged: what it keeps as '{place}' makes no sense. "
        f"`outperform verify {quote(store.address)}` tells what else is, and what to do."
    )
    assert store.verify().problems == (f"what it keeps as '{place}' makes no sense",)


class TestBackup:
    def test_it_holds_all_that_was_recorded_while_another_writes(self, address, tmp_path, done):
        label = RunLabel("ideal", "all", 0, "svm", "digits", "k0")
        with open_store(address) as writer, open_store(address) as other:
            writer.add([done(f"k{i}") for i in range(2500)], [label])
            writer.set_meta("notes", "mine")
            assert str(other.backup(tmp_path / "copy.db")).endswith(
                "copy.db' is sound: 2500 fits are as they were recorded"
            )
            writer.add([done("later")])
            writer.backup(tmp_path / "second.db")
        with open_store(tmp_path / "copy.db") as copy:
            assert list(copy.measurements()) == [done(f"k{i}") for i in range(2500)]
            assert copy.run_labels() == [label]
            assert copy.get_meta("notes") == "mine"
            assert copy.add([done("of its own")]) == [Added("new")]
        assert len(open_store(tmp_path / "second.db").scores()) == 2501

    def test_nothing_is_overwritten(self, store, tmp_path, done):
        store.add([done()])
        copy = tmp_path / "copy.db"
        copy.write_text("precious")
        (tmp_path / "link.db").symlink_to("elsewhere.db")
        for file in (copy, tmp_path / "link.db"):
            with pytest.raises(StoreError) as caught:
                store.backup(file)
            assert str(caught.value) == (
                f"there is a file '{file}' already. Name another, or remove it."
            )
        assert copy.read_text() == "precious"
        assert not (tmp_path / "elsewhere.db").exists()

    def test_there_must_be_a_store_and_a_folder(self, store, tmp_path, done):
        with pytest.raises(StoreError, match="there is no store"):
            store.backup(tmp_path / "copy.db")
        assert not (tmp_path / "copy.db").exists()
        store.add([done()])
        with pytest.raises(StoreError, match="there is no folder"):
            store.backup(tmp_path / "no" / "copy.db")


def test_what_was_written_is_sound(store, done, failed):
    with pytest.raises(StoreError, match="there is no store"):
        store.verify()
    store.add([done(f"k{i}") for i in range(3)], [RunLabel("ideal", "all", 0, "a", "b", "k0")])
    store.add([failed("bad", error="nul \x00, \udcff", seconds=-0.0), done("k0", seconds=9.0)])
    store.add([done("bad")])  # in place of the failure
    store.add([done("numbers", fold=np.int64(3), seconds=np.float32(0.1), started=3)])
    verification = store.verify()
    assert verification.is_sound
    assert verification.n_measurements == 5


class TestOneWriter:
    def test_the_second_is_told_who_writes_since_when_and_where(self, address):
        began = datetime.now(UTC).replace(microsecond=0)
        with open_store(address) as first, open_store(address) as second:
            first.lock()
            first.lock()
            with pytest.raises(StoreInUse) as caught:
                second.lock()
            shown = quote(first.address)
            who = rf"process {os.getpid()} on {re.escape(socket.gethostname())}"
            message = re.fullmatch(
                rf"'{re.escape(first.address)}' is being written by ({who} since (.*) UTC)\. "
                rf"Wait for that run to end, or stop it; `outperform status {re.escape(shown)} "
                r"--watch` shows how far it is\.",
                str(caught.value),
            )
            assert message
            since = datetime.strptime(message[2], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
            assert began <= since <= datetime.now(UTC)
            assert first.find_writer() == second.find_writer() == message[1]

    def test_reading_is_allowed_meanwhile_and_writing_afterwards(self, address, done):
        with open_store(address) as first, open_store(address) as second:
            first.add([done("a")])
            assert set(second.scores()) == {"a"}
            with pytest.raises(StoreInUse):
                second.add([done("b")])
            first.add([done("c")])
            assert set(second.scores()) == {"a", "c"}
            first.close()
            assert second.find_writer() is None
            assert second.add([done("a")]) == [Added("same")]
            with pytest.raises(StoreInUse):
                first.lock()


def test_versions_are_counted_by_pipeline_for_runs_that_are_done(store, done, failed):
    store.add(
        [
            done("k0", versions={"numpy": "2.1"}),
            done("k1", versions={"numpy": "2.1"}),
            done("k2", versions={"numpy": "2.2"}),
            done("k3", pipeline="forest", versions={}),
            done("trial", versions={"numpy": "1.0"}),
            failed("k4", versions={"numpy": "0.9"}),
        ],
        [RunLabel("ideal", "all", i, "svm", "digits", f"k{i}") for i in range(5)]
        + [RunLabel("fix-hopt", "all", 0, "svm", "digits", "k0")],
    )
    assert store.versions() == [
        ("svm", {"numpy": "2.1"}, 2),
        ("svm", {"numpy": "2.2"}, 1),
        ("forest", {}, 1),
    ]
