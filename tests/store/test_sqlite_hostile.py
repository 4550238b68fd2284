"""Stores and files that somebody has prepared: nothing of theirs is run, followed or destroyed."""

import os
import sqlite3
from contextlib import closing

import pytest

from outperform.errors import NotAStore, StoreError, StoreInUse
from outperform.store import open_store
from outperform.store.sqlite_file import LARGEST

READ, WRITE = (lambda store: store.counts()), (lambda store: store.lock())
LOOP = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT * FROM n"


@pytest.fixture
def prepared(path, done):
    """A store, changed by somebody's statements."""

    def prepare(*statements):
        with open_store(path) as store:
            store.add([done()])
        with closing(sqlite3.connect(path)) as connection:
            for statement in statements:
                connection.execute(statement)
            connection.commit()
        return path

    return prepare


@pytest.mark.parametrize("use", [READ, WRITE], ids=["read", "write"])
@pytest.mark.parametrize(
    ("statements", "what"),
    [
        (
            [
                "CREATE TRIGGER better AFTER INSERT ON measurements BEGIN "
                "UPDATE measurements SET scores = '{\"test\":1.0}' WHERE id = NEW.id; END"
            ],
            "trigger 'better'",
        ),
        (
            ["ALTER TABLE measurements RENAME TO real", f"CREATE VIEW measurements AS {LOOP}"],
            "table 'real'",
        ),
        (["CREATE VIEW more AS SELECT 1"], "view 'more'"),
        (["CREATE TABLE more (x)"], "table 'more'"),
        (
            [
                "PRAGMA writable_schema = ON",
                *["INSERT INTO sqlite_schema SELECT * FROM sqlite_schema WHERE sql IS NULL"] * 7,
                "INSERT INTO sqlite_schema VALUES ('trigger', 'hidden', 'measurements', 0, "
                "'CREATE TRIGGER hidden AFTER INSERT ON measurements BEGIN SELECT 1; END')",
            ],
            "trigger 'hidden'",
        ),
        (["CREATE INDEX more ON measurements (abs(fold))"], "index 'more'"),
        (["ALTER TABLE meta ADD COLUMN more TEXT DEFAULT 'x'"], "table 'meta'"),
    ],
)
def test_what_outperform_did_not_make_is_refused(prepared, statements, what, use):
    path = prepared(*statements)
    before = path.read_bytes()
    with pytest.raises(NotAStore) as caught, open_store(path) as store:
        use(store)
    assert str(caught.value) == (
        f"'{path}' has format 3 and a {what} that outperform did not make. "
        "Trust no score in it, and use a copy that nobody else has changed."
    )
    assert path.read_bytes() == before


def test_a_table_that_is_missing_is_damage(prepared):
    path = prepared("DROP INDEX progress")
    with pytest.raises(StoreError, match="is damaged: it lacks what this makes: CREATE INDEX"):
        open_store(path).counts()


def test_files_are_opened_as_those_of_strangers(path, done):
    with open_store(path) as store:
        for opened in (store, open_store(path)):
            opened.exists() or opened.add([done()])
            assert opened._read("PRAGMA trusted_schema") == [(0,)]
            assert opened._read("PRAGMA cell_size_check") == [(1,)]


def test_a_value_without_end_does_not_fill_the_memory(prepared, done):
    path = prepared(f"UPDATE measurements SET scores = zeroblob({LARGEST + 1})")
    for read in (lambda store: store.scores(), lambda store: list(store.measurements())):
        with pytest.raises(StoreError, match="a value is larger than 16 MiB"):
            read(open_store(path))
    with (
        pytest.raises(StoreError, match="a value is larger than 16 MiB"),
        open_store(path) as store,
    ):
        store.set_meta("notes", "x" * LARGEST)


def test_an_error_without_end_loses_its_middle(store, failed):
    store.add([failed(error="begin" + "x" * 5_000_000 + "end")])
    (back,) = store.measurements()
    assert len(back.error) < 1_000_100
    assert back.error.startswith("beginx")
    assert "\n[4,000,008 characters cut]\n" in back.error
    assert back.error.endswith("xend")


class TestLock:
    def test_a_link_in_its_place_is_not_followed(self, path):
        victim = path.with_name("victim")
        victim.write_text("precious")
        lock = path.with_name("study.db.lock")
        lock.symlink_to(victim)
        with open_store(path) as store:
            assert store.find_writer() is None
            with pytest.raises(StoreError) as caught:
                store.lock()
        assert str(caught.value) == (
            f"'{lock}' is where the lock of a run belongs, and is no plain file. "
            "Remove it, or move the store elsewhere."
        )
        assert victim.read_text() == "precious"
        assert lock.is_symlink()

    def test_a_link_to_nothing_makes_nothing(self, path):
        path.with_name("study.db.lock").symlink_to(path.with_name("new"))
        with pytest.raises(StoreError, match="is no plain file"):
            open_store(path).lock()
        assert not path.with_name("new").exists()

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
    def test_a_pipe_in_its_place_is_not_waited_for(self, path):
        os.mkfifo(path.with_name("study.db.lock"))
        with pytest.raises(StoreError, match="is no plain file"):
            open_store(path).lock()
        assert open_store(path).find_writer() is None

    def test_a_file_of_somebodys_is_neither_emptied_nor_removed(self, path, done):
        notes = path.with_name("study.db.lock")
        notes.write_text("my notes")
        with open_store(path) as store:
            store.add([done()])
            with pytest.raises(StoreInUse):
                open_store(path).lock()
        assert notes.read_text() == "my notes"


def test_one_store_has_one_writer_by_whatever_name(tmp_path, monkeypatch, done):
    folder = tmp_path / "folder"
    folder.mkdir()
    path = folder / "study.db"
    (tmp_path / "way").symlink_to(folder)
    (tmp_path / "link.db").symlink_to(path)
    (tmp_path / "link to link.db").symlink_to(tmp_path / "link.db")
    monkeypatch.chdir(folder)
    names = ["study.db", "./study.db", "../folder/study.db", "../way/study.db", "../link.db",
             "../link to link.db", path]  # fmt: skip
    with open_store(tmp_path / "link.db") as store:
        store.add([done()])  # makes the file that the link leads to
        for name in names:
            with pytest.raises(StoreInUse), open_store(name) as other:
                other.lock()
    assert [file.name for file in folder.iterdir()] == ["study.db"]


def test_a_second_name_of_the_file_is_refused(path, done):
    link = path.with_name("hard.db")
    with open_store(path) as store:
        store.add([done()])
        os.link(path, link)
        with pytest.raises(StoreError) as caught, open_store(link) as other:
            other.lock()
        store.add([done("k1")])
    assert str(caught.value) == (
        f"'{link}' is one of 2 names of the same file (hard links), and another run may be "
        "writing it by another name. Remove the other names, or copy it with `outperform backup` "
        "and run with the copy."
    )
    link.unlink()
    with open_store(path) as store:
        store.lock()
        assert set(store.scores()) == {"k0", "k1"}
