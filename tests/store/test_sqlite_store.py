"""What is particular to stores in SQLite files."""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from outperform.errors import InvalidInput, StoreInUse
from outperform.questions.decompose.redrawn_runs import load_variation
from outperform.store import open_store
from outperform.store.stored_runs import load_runs


def test_counts_need_no_look_at_the_measurements_themselves(store, path, done):
    store.add([done()])
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT pipeline, task, status, count(*) FROM measurements GROUP BY 1, 2, 3"
        ((*_, plan),) = connection.execute(f"EXPLAIN QUERY PLAN {query}").fetchall()
    assert plan == "SCAN measurements USING COVERING INDEX progress"


def test_every_commit_waits_for_the_disk(store, done):
    store.add([done()])
    assert store._read("PRAGMA journal_mode") == [("wal",)]
    assert store._read("PRAGMA synchronous") == [(2,)]  # FULL


@pytest.mark.parametrize("name", ["a b.db", "50% off?.db", "#1&mode=ro.db", "été.db"])
def test_any_file_name_will_do(tmp_path, done, name):
    with open_store(str(tmp_path / name)) as store:
        store.add([done()])
    with open_store(tmp_path / name) as store:
        assert set(store.scores()) == {"k0"}
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_a_relative_path_will_do(tmp_path, monkeypatch, done):
    monkeypatch.chdir(tmp_path)
    with open_store(Path("study.db")) as store:
        store.add([done()])
    assert (tmp_path / "study.db").exists()


@pytest.fixture
def recorded(path):
    """A store as an earlier outperform of the same format recorded it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((Path(__file__).parent / "study.sql").read_text())
    return path


def test_what_was_recorded_earlier_is_read_as_it_stands(recorded):
    before = recorded.read_bytes()
    with open_store(recorded) as store:
        fits, labels, study = [*store.measurements()], store.run_labels(), store.get_meta("study")
        runs, (variations, _) = load_runs(store), load_variation(store)
    assert recorded.read_bytes() == before
    assert [fit.status for fit in fits].count("failed") == 6
    assert len(fits) == 33
    assert {label.design for label in labels} == {"ideal", "variance"}
    assert len(labels) == 30
    assert study["kinds"] == ["ideal", "variance"]
    assert study["settings"][0] == "Ideal(n_replicates=6, kind='ideal')"
    assert study["designs"][0] == {"design": "ideal", "source": "all", "replicates": 6}
    assert runs.algorithms == ("a", "b")
    assert (len(runs), int(np.isnan(runs.score).sum()), runs.notes) == (12, 3, ())
    assert [each.algorithm for each in variations] == ["a", "b"]
    assert [len(scores) for scores in variations[0].by_source.values()] == [3, 3, 3]


def test_the_schema_is_what_it_was(recorded, tmp_path):
    def read_schema(path):
        with open_store(path) as store:
            store.lock()
        with closing(sqlite3.connect(path)) as connection:
            query = "SELECT type, name, sql FROM sqlite_schema ORDER BY name"
            return connection.execute(query).fetchall()

    assert read_schema(recorded) == read_schema(tmp_path / "new.db")


def test_one_that_is_read_meanwhile_can_be_read_on(recorded):
    with open_store(recorded) as reader, open_store(recorded) as writer:
        before = reader.scores(), reader.run_labels(), reader.get_meta("study")
        writer.lock()
        assert (reader.scores(), reader.run_labels(), reader.get_meta("study")) == before
        assert reader.get(["c11b79b07abc1263c2c949889c307858"])


def test_other_kinds_of_stores_are_refused_with_those_that_are_known():
    with pytest.raises(InvalidInput) as caught:
        open_store("mysql://me:secret@lab/study")
    assert str(caught.value) == (
        "there is no kind of store called 'mysql' ('mysql://me@lab/study'). Name a file, such as "
        "study.db, or a database, as in postgresql://HOST/DATABASE."
    )


@pytest.mark.parametrize("address", ["sqlite://study.db", "sqlite:///", "sqlite://"])
def test_an_address_without_a_path_is_refused(address):
    with pytest.raises(InvalidInput) as caught:
        open_store(address)
    assert str(caught.value) == (
        f"'{address}' names no file. Write sqlite:/// and the path, as in sqlite:///study.db."
    )


def test_a_path_and_its_address_are_the_same_store(path, done):
    with open_store(f"sqlite:///{path}") as store:
        store.add([done()])
        assert store.address == str(path)
    with open_store(str(path)) as store:
        assert set(store.scores()) == {"k0"}


def test_a_link_to_a_store_is_under_the_same_lock(path, done):
    with open_store(path) as store:
        store.add([done()])
        link = path.with_name("link.db")
        link.symlink_to(path)
        with pytest.raises(StoreInUse), open_store(link) as other:
            other.lock()
