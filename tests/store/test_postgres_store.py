"""What only PostgreSQL has: schemas, rights, other programs' tables, and formats of its own."""

from contextlib import contextmanager
from shlex import quote

import pytest

from outperform.errors import DamagedStore, MissingExtra, NewerStore, NotAStore, StoreError
from outperform.store import Added, RunLabel, open_store
from tests.postgres_server import find_server

pytest.importorskip("psycopg", reason="pip install 'outperform[postgres]'")

USES = [lambda store: store.counts(), lambda store: store.lock()]


@contextmanager
def refusal(kind, message):
    with pytest.raises(kind) as caught:
        yield
    assert type(caught.value) is kind
    assert str(caught.value) == message


class Place:
    """A store's address, and its tables for whoever tampers with them."""

    def __init__(self, user="tester"):
        self.server = find_server()
        self.address = self.server.make_address(user)
        self.schema = self.address.rpartition("schema=")[2]

    def query(self, statement):
        return self.server.query(f"SET search_path TO {self.schema}; {statement}")


@pytest.fixture
def place():
    return Place()


@pytest.fixture
def filled(place, done):
    with open_store(place.address) as store:
        label = RunLabel("ideal", "all", 0, "svm", "digits", "k0")
        store.add([done(f"k{i}") for i in range(3)], [label])
        store.set_meta("notes", "mine")
    return place


def test_one_database_holds_many_studies(filled, done):
    other = Place()
    with open_store(other.address) as store:
        assert not store.exists()
        store.add([done("another")])
        assert set(store.scores()) == {"another"}
    assert other.query("SELECT count(*) FROM measurements") == "1"
    assert filled.query("SELECT count(*) FROM measurements") == "3"


@pytest.mark.parametrize(
    ("setting", "usual", "used"),
    [
        ("synchronous_commit", "off", "on"),
        ("synchronous_commit", "remote_apply", "remote_apply"),
        ("default_transaction_isolation", "serializable", "read committed"),
        ("extra_float_digits", "0", "1"),
        ("statement_timeout", "1", "0"),
    ],
)
def test_what_a_store_relies_on_does_not_hang_on_the_server(place, setting, usual, used):
    place.server.query(f"ALTER ROLE tester SET {setting} TO {usual}")
    try:
        with open_store(place.address) as store:
            store.lock()
            assert store._read(f"SHOW {setting}") == [(used,)]
    finally:
        place.server.query(f"SET statement_timeout TO 0; ALTER ROLE tester RESET {setting}")


@pytest.mark.parametrize("use", USES, ids=["read", "write"])
class TestOthersTables:
    def test_another_program_s(self, place, use):
        place.query(f"CREATE SCHEMA {place.schema}; CREATE TABLE {place.schema}.users (id int)")
        message = (
            f"'{place.address}' has tables of another program in the schema '{place.schema}'. "
            "Name another schema, as in postgresql://HOST/DATABASE?schema=NAME."
        )
        with refusal(NotAStore, message), open_store(place.address) as store:
            use(store)

    @pytest.mark.parametrize(
        ("statement", "what"),
        [
            ("CREATE TABLE more (id int)", "a table or view 'more'"),
            ("CREATE VIEW endless AS SELECT 1", "a table or view 'endless'"),
            (
                "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
                "CREATE TRIGGER t BEFORE INSERT ON measurements FOR EACH ROW EXECUTE FUNCTION f()",
                "a trigger at 'measurements'",
            ),
            (
                "CREATE RULE r AS ON INSERT TO measurements DO INSTEAD NOTHING",
                "a rule at 'measurements'",
            ),
            ("ALTER TABLE meta ENABLE ROW LEVEL SECURITY", "a policy at 'meta'"),
            ("CREATE TABLE public.{}_child () INHERITS (meta)", "a relative at 'meta'"),
        ],
    )
    def test_what_outperform_did_not_make(self, filled, use, statement, what):
        filled.query(statement.format(filled.schema))
        message = (
            f"'{filled.address}' has {what} that outperform did not make. "
            "Trust no score in it, and use a copy that nobody else has changed."
        )
        with refusal(NotAStore, message), open_store(filled.address) as store:
            use(store)

    def test_tables_of_another_shape(self, filled, use):
        filled.query("ALTER TABLE meta ADD COLUMN more text")
        with open_store(filled.address) as store, pytest.raises(DamagedStore) as caught:
            use(store)
        assert caught.value.problem == (
            f"'{filled.address}' is damaged: the table meta has other columns: "
            "name text, value text, checksum bigint, more text"
        )
        filled.query("DROP TABLE meta")
        with open_store(filled.address) as store, pytest.raises(DamagedStore) as caught:
            use(store)
        assert caught.value.problem == f"'{filled.address}' is damaged: it lacks the table meta"

    def test_an_older_format(self, filled, use):
        filled.query("UPDATE outperform_format SET version = 0")
        message = (
            f"'{filled.address}' has format 0, and this outperform reads 1. "
            "Use the outperform that made it, or run the study into another store."
        )
        with refusal(StoreError, message), open_store(filled.address) as store:
            use(store)
        assert filled.query("SELECT count(*) FROM lease") == "0"

    def test_a_newer_format(self, filled, use):
        filled.query("UPDATE outperform_format SET version = 2")
        message = (
            f"'{filled.address}' has format 2, and this outperform knows 1 at most. "
            "Upgrade with `pip install --upgrade outperform`."
        )
        with refusal(NewerStore, message), open_store(filled.address) as store:
            use(store)


class TestDamage:
    def test_it_is_named_with_what_to_do_and_no_answer_is_given(self, filled):
        filled.query("UPDATE measurements SET scores = '{\"test\":0.9}' WHERE key = 'k1'")
        filled.query("UPDATE run_labels SET replicate = 7; UPDATE meta SET value = '1'")
        with open_store(filled.address) as store:
            with pytest.raises(DamagedStore) as caught:
                store.scores()
            assert str(caught.value) == (
                f"'{filled.address}' is damaged: fit k1 does not match its checksum. `outperform "
                f"verify {quote(filled.address)}` tells what else is, and what to do."
            )
            found = store.verify()
        assert [str(fit) for fit in found.fits] == [
            "fit k1 (svm on digits) does not match its checksum"
        ]
        assert found.problems == (
            "replicate 7 of ideal for svm on digits does not match its checksum",
            "what it keeps as 'notes' does not match its checksum",
        )
        psql = quote(filled.address.rpartition("&schema=")[0])
        assert found.advice == (
            f'restore a copy; without one, `psql {psql} -c "SET search_path TO {filled.schema}; '
            'DELETE FROM measurements WHERE id IN (2); DELETE FROM meta; DELETE FROM run_labels"` '
            "removes what is damaged, and `outperform run STUDY.toml` does it again"
        )

    def test_a_backup_of_it_is_refused_and_leaves_nothing(self, filled, tmp_path):
        filled.query("UPDATE measurements SET seconds = 9 WHERE key = 'k1'")
        with open_store(filled.address) as store, pytest.raises(DamagedStore):
            store.backup(tmp_path / "copy.db")
        assert list(tmp_path.iterdir()) == []

    def test_a_store_that_lacks_a_table_is_no_reason_to_fail(self, filled):
        filled.query("DROP TABLE meta")
        with open_store(filled.address) as store:
            found = store.verify()
        assert (found.problems, found.advice) == (("it lacks the table meta",), "restore a copy")


def test_who_may_only_read_is_told_so(filled):
    filled.query(f"GRANT USAGE ON SCHEMA {filled.schema} TO reader; "
                 f"GRANT SELECT ON ALL TABLES IN SCHEMA {filled.schema} TO reader")  # fmt: skip
    address = filled.address.replace("tester", "reader")
    message = (
        f"'{address}' cannot be written: permission denied for table lease. "
        "Ask the owner of the database for the right, or name another user."
    )
    with open_store(address) as store:
        assert set(store.scores()) == {"k0", "k1", "k2"}
        with refusal(StoreError, message):
            store.lock()


def test_who_may_make_no_schema_uses_one_that_is_there(place, done):
    address = place.address.replace("tester", "reader")
    message = (
        f"'{address}' cannot be written: permission denied for database tests. "
        "Ask the owner of the database for the right, or name another user."
    )
    with refusal(StoreError, message), open_store(address) as store:
        store.lock()
    place.query(f"CREATE SCHEMA {place.schema} AUTHORIZATION reader")
    with open_store(address) as store:
        assert store.add([done()]) == [Added("new")]


def test_a_database_that_cannot_hold_every_name_is_refused(place):
    place.server.query("CREATE DATABASE latin ENCODING LATIN1 TEMPLATE template0")
    address = place.address.replace("/tests?", "/latin?")
    message = (
        f"the database of '{address}' keeps text as LATIN1, which cannot hold every name. "
        "Make one with `createdb --encoding UTF8 --template template0 NAME`."
    )
    with refusal(StoreError, message), open_store(address) as store:
        store.lock()


def test_a_server_that_is_not_there_is_no_long_wait(tmp_path):
    address = f"postgresql://me:secret@/lab?host={tmp_path}"
    with open_store(address) as store, pytest.raises(StoreError) as caught:
        store.counts()
    shown = f"postgresql://me@/lab?host={tmp_path}"
    assert caught.value.problem.startswith(f"'{shown}' cannot be reached: ")
    assert "No such file or directory Is the server running" in caught.value.problem
    assert caught.value.remedy == (
        "Start the server, or mend the address; passwords are found in ~/.pgpass and PGPASSWORD"
    )
    assert "secret" not in str(caught.value)


def test_without_psycopg_the_command_to_type_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    message = (
        "stores in PostgreSQL need psycopg, which is not installed. "
        "Run: pip install 'outperform[postgres]'."
    )
    with refusal(MissingExtra, message):
        open_store("postgresql://lab/study")
