"""Damage to the file of a store, down to a single bit: no answer is given from it."""

import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from outperform.errors import DamagedStore, OutperformError, StoreError
from outperform.questions.decompose.redrawn_runs import load_variation
from outperform.questions.simulate.scenarios import measure_variation
from outperform.store import RunLabel, open_store
from outperform.store.rows import COLUMNS as COLUMNS_OF_MEASUREMENTS
from outperform.store.rows import find_checksum
from outperform.store.stored_runs import load_runs

STUDY = (Path(__file__).parent / "study.sql").read_text()
KEY = "d820e1676d07a1d58f669e89d8ebf47d"  # of a run


@pytest.fixture
def checked(path):
    """The store of a small study."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(STUDY)
    with open_store(path) as store:
        store.lock()
    return path


def change(path, statement, *values):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        assert connection.execute(statement, values).rowcount


def forge(path, statement, *values):
    """Change a store as somebody would who makes every checksum right."""
    change(path, statement, *values)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.create_function("checksum", -1, find_checksum)
        row, labels = ", ".join(COLUMNS_OF_MEASUREMENTS), ", ".join(RunLabel._fields)
        for forgery in (
            "UPDATE measurements SET score_checksum = checksum(key, scores), "
            f"checksum = checksum({row})",
            f"UPDATE run_labels SET checksum = checksum({labels})",
            "UPDATE meta SET checksum = checksum(name, value)",
        ):
            connection.execute(forgery)


def answer(path):
    """All that questions take from a store."""
    with open_store(path) as store:
        runs, (variations, notes) = load_runs(store), load_variation(store)
        measured = [(each.by_source, each.crossed) for each in variations]
        return repr(runs), repr(measured), notes, store.scores(), store.run_labels()


READS = {
    "load_runs": load_runs,
    "load_variation": load_variation,
    "measure_variation": lambda store: measure_variation(store.address),
    "scores": lambda store: store.scores(),
    "get": lambda store: store.get([KEY]),
    "measurements": lambda store: list(store.measurements()),
    "counts": lambda store: store.counts(),
    "mean_seconds": lambda store: store.mean_seconds(),
    "labels": lambda store: store.run_labels(),
    "study": lambda store: store.get_meta("study"),
    "resume": lambda store: [store.lock(), store.scores(), store.run_labels()],
}


def test_text_of_the_schema_that_is_none_is_damage(checked):
    content = checked.read_bytes()
    checked.write_bytes(content.replace(b"-- the order", b"-- th\xe3\xe3order"))
    with open_store(checked) as store, pytest.raises(DamagedStore) as caught:
        store.scores()
    assert caught.value.problem == f"'{checked}' is damaged: a text in it is no text any more"


def test_a_name_that_was_changed_is_damage(checked):
    change(checked, "UPDATE meta SET name = 'else' WHERE name = 'study'")
    with open_store(checked) as store, pytest.raises(DamagedStore) as caught:
        store.get_meta("study")
    assert caught.value.problem == (
        f"'{checked}' is damaged: what it keeps as 'else' does not match its checksum"
    )


@pytest.mark.parametrize("read", ["load_runs", "measure_variation", "scores", "get", "resume"])
def test_a_changed_score_is_refused_and_the_fit_named(checked, read):
    changed = "UPDATE measurements SET scores = replace(scores, '922', '932') WHERE key = ?"
    change(checked, changed, KEY)
    with open_store(checked) as store, pytest.raises(DamagedStore) as caught:
        READS[read](store)
    assert str(caught.value) == (
        f"'{checked}' is damaged: fit {KEY} does not match its checksum. "
        f"`outperform verify {checked}` tells what else is, and what to do."
    )


@pytest.mark.parametrize(
    ("statement", "read", "problem"),
    [
        (f"UPDATE measurements SET seconds = 9 WHERE key = '{KEY}'", "get", f"fit {KEY} does"),
        ("UPDATE run_labels SET replicate = 77 WHERE replicate = 5", "load_runs", "replicate 77"),
        (
            "UPDATE meta SET value = replace(value, 'maximize', 'minimize') WHERE name = 'study'",
            "load_runs",
            "what it keeps as 'study' does",
        ),
    ],
)
def test_what_else_an_answer_rests_on_is_checked_too(checked, statement, read, problem):
    change(checked, statement)
    with open_store(checked) as store, pytest.raises(DamagedStore, match=problem):
        READS[read](store)


def test_no_flipped_bit_changes_an_answer(checked):
    whole, content = answer(checked), checked.read_bytes()
    rng, refused = random.Random(5), []
    for _ in range(150):
        place, bit = rng.randrange(len(content)), 1 << rng.randrange(8)
        flipped = bytearray(content)
        flipped[place] ^= bit
        checked.write_bytes(flipped)
        try:
            assert answer(checked) == whole, (place, bit)
        except StoreError:
            refused.append((place, bit))
            assert not _is_sound(checked), (place, bit)
        for log in checked.parent.glob("study.db-*"):
            log.unlink()
    assert len(refused) > 30


def _is_sound(path):
    try:
        return open_store(path).verify().is_sound
    except StoreError:  # no store any more
        return False


NONSENSE = [b"\xff\x00", "NaN", '{"test":NaN}', '{"test":1e999}', "[]", "[1,2", "null", '"x"', -1,
            1.5, "", '{"test":"a"}', '{"init":[1]}', '{"valid":1}', "1],[2", "[" * 100_000,
            '{"test":1' + "0" * 400 + "}", '{"name":1}']  # fmt: skip
COLUMNS = [
    *(("measurements", column) for column in COLUMNS_OF_MEASUREMENTS),
    *(("run_labels", column) for column in RunLabel._fields),
    ("meta", "value"),
]


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_nonsense_in_a_row_is_an_answer_or_a_refusal_and_never_a_bug(checked, table, column):
    # Of a forger, which leaves sense alone to judge by.
    where = {"meta": "name = 'study'"}.get(table, f"key = '{KEY}'")
    content = checked.read_bytes()
    refused = []
    for nonsense in NONSENSE:
        forge(checked, f"UPDATE {table} SET {column} = ? WHERE {where}", nonsense)
        for read in READS.values():
            refused += try_to(read, checked)
        checked.write_bytes(content)
    assert any(type(error) is DamagedStore for error in refused)
    assert all(error.problem and error.remedy for error in refused)


def try_to(read, path):
    """The refusal, if there is one; whatever else is raised is a bug."""
    try:
        with open_store(path) as store:
            read(store)
    except OutperformError as error:
        return [error]
    return []


def list_misshapen_studies():
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(STUDY)
        (text,) = connection.execute("SELECT value FROM meta WHERE name = 'study'").fetchone()
    study = json.loads(text)
    for word in study:
        yield {each: part for each, part in study.items() if each != word}
        for other in (None, 3, [], {}, "x", [{}], {"toy": []}, [[1]], {"toy": None}):
            yield study | {word: other}


def test_a_description_of_another_shape_is_an_answer_or_a_refusal_and_never_a_bug(checked):
    refused = []
    for study in list_misshapen_studies():
        forge(checked, "UPDATE meta SET value = ? WHERE name = 'study'", json.dumps(study))
        for name in ("load_runs", "load_variation", "measure_variation"):
            refused += try_to(READS[name], checked)
    assert all(error.problem and error.remedy for error in refused)
    damaged = [error.problem for error in refused if type(error) is DamagedStore]
    assert len(damaged) > 200
    assert all("what it keeps as 'study" in problem for problem in damaged)


class TestVerify:
    def test_a_sound_store(self, checked):
        verification = open_store(checked).verify()
        assert str(verification) == f"'{checked}' is sound: 33 fits are as they were recorded"
        assert verification.to_dict() == {
            "store": str(checked),
            "is_sound": True,
            "n_measurements": 33,
            "fits": [],
            "problems": [],
            "advice": "",
        }

    def test_damaged_fits_are_named_and_can_be_done_again(self, checked):
        change(checked, "UPDATE measurements SET fold = 1 WHERE id IN (3, 10)")
        verification = open_store(checked).verify()
        assert str(verification) == f"'{checked}' is damaged: 2 of 33 fits"
        assert verification.details == [
            "fit 6b7d7bce5a27f00d3978aa3a0d5017a8 (b on toy) does not match its checksum",
            f"fit {KEY} (a on toy) does not match its checksum",
        ]
        delete = "DELETE FROM measurements WHERE id IN (3, 10)"
        assert verification.advice == (
            f"restore a copy (first remove '{checked}-wal' and '{checked}-shm', if they are "
            f'there); without one, `sqlite3 {checked} "{delete}"` removes what is damaged, '
            "and `outperform run STUDY.toml` does it again"
        )
        change(checked, delete)
        assert open_store(checked).verify().is_sound
        with open_store(checked) as store:
            assert len(store.scores()) == 31

    def test_damaged_labels_and_descriptions_are_named(self, checked):
        change(checked, "UPDATE run_labels SET key = 'x' WHERE source = 'all' AND replicate = 5")
        change(checked, "UPDATE meta SET value = '[' WHERE name = 'study'")
        verification = open_store(checked).verify()
        assert str(verification) == f"'{checked}' is damaged: 3 other problems"
        assert verification.problems == (
            "replicate 5 of ideal for a on toy does not match its checksum",
            "replicate 5 of ideal for b on toy does not match its checksum",
            "what it keeps as 'study' does not match its checksum",
        )
        assert '"DELETE FROM meta; DELETE FROM run_labels"' in verification.advice

    def test_a_broken_structure(self, checked):
        content = bytearray(checked.read_bytes())
        middle = len(content) // 2
        content[middle:] = b"\xa5" * len(content[middle:])
        checked.write_bytes(content)
        verification = open_store(checked).verify()
        assert not verification.is_sound
        assert verification.advice == (
            f"restore a copy (first remove '{checked}-wal' and '{checked}-shm', if they are "
            f"there); without one, `sqlite3 {checked} .recover` writes out what can still be read"
        )
        with pytest.raises(DamagedStore), open_store(checked) as store:
            load_runs(store)

    def test_rows_that_an_index_does_not_find_are_no_reason_to_answer(self, checked):
        with closing(sqlite3.connect(checked)) as connection:
            sql = "SELECT rootpage FROM sqlite_schema WHERE name LIKE 'sqlite_autoindex%'"
            (page,) = connection.execute(sql).fetchone()
            (size,) = connection.execute("PRAGMA page_size").fetchone()
        content = checked.read_bytes()
        place = content.index(KEY.encode(), (page - 1) * size)
        checked.write_bytes(content[:place] + b"e" + content[place + 1 :])
        with open_store(checked) as store, pytest.raises(DamagedStore, match="missing from index"):
            store.get([KEY])
        assert not open_store(checked).verify().is_sound


def test_a_checksum_sees_every_flipped_bit_and_every_exchange():
    whole = find_checksum("k0", '{"test":0.5}', 1, None, 0.25)
    text = b'{"test":0.5}'
    for i in range(8 * len(text)):
        flipped = bytearray(text)
        flipped[i // 8] ^= 1 << i % 8
        assert find_checksum("k0", flipped.decode("latin-1"), 1, None, 0.25) != whole
    assert find_checksum("k0", 1, '{"test":0.5}', None, 0.25) != whole


def test_versions_that_have_changed_are_refused(tmp_path, done):
    path = tmp_path / "study.db"
    labels = [RunLabel("ideal", "all", i, "svm", "digits", f"k{i}") for i in range(9)]
    with open_store(path) as store:
        store.add([done(f"k{i}", versions={"numpy": "2.1"}) for i in range(9)], labels)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute('UPDATE measurements SET versions = \'{"numpy":"2.0"}\' WHERE id = 4')
        connection.commit()
    with open_store(path) as store, pytest.raises(DamagedStore, match="fit k3 does not match"):
        store.versions()
