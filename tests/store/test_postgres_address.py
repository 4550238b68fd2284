"""What an address of PostgreSQL says, to whom, and what it never shows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outperform.errors import InvalidInput
from outperform.store import is_store, open_store
from outperform.store.postgres_address import read_address
from outperform.wording import hide_passwords


@pytest.mark.parametrize(
    ("address", "shown", "conninfo", "schema"),
    [
        ("postgresql://db/lab", "postgresql://db/lab", "postgresql://db/lab", "outperform"),
        (
            "postgres://me:se%40cret@db:5432/lab?sslmode=verify-full&schema=mnist&sslrootcert=/ca",
            "postgresql://me@db:5432/lab?sslmode=verify-full&schema=mnist&sslrootcert=/ca",
            "postgresql://me:se%40cret@db:5432/lab?sslmode=verify-full&sslrootcert=/ca",
            "mnist",
        ),
        (
            "postgresql:///lab?host=/run/pg&user=me&password=secret&sslpassword=other",
            "postgresql:///lab?host=/run/pg&user=me",
            "postgresql:///lab?host=/run/pg&user=me&password=secret&sslpassword=other",
            "outperform",
        ),
        (
            "postgresql://:secret@[::1]:1,b:2/lab",
            "postgresql://@[::1]:1,b:2/lab",
            "postgresql://:secret@[::1]:1,b:2/lab",
            "outperform",
        ),
        ("postgresql://", "postgresql://", "postgresql://", "outperform"),
    ],
)
def test_libpq_gets_it_as_written_and_people_see_no_password(address, shown, conninfo, schema):
    read = read_address(address)
    assert (read.shown, read.conninfo, read.schema) == (shown, conninfo, schema)
    assert "secret" not in repr(read)
    assert is_store(address)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:sec@ret@db/lab",
        "postgresql://me:sec/ret@db/lab",
        "postgresql://me:sec?ret@db/lab",
        "postgresql://me:secret",  # which libpq would take for a port
        "postgresql://db/lab?secret",
        "postgresql://db/lab?Password=secret@db",
        "postgresql://db/lab?sec%20ret=1",
        "postgresql:/me:secret@db/lab",
        "postgresql:me:secret@db/lab",
    ],
)
def test_what_may_show_a_password_by_mistake_is_refused_unseen(address):
    assert is_store(address)
    with pytest.raises(InvalidInput) as caught:
        open_store(address)
    assert str(caught.value) == (
        "this is no address of PostgreSQL (it is not shown, as it may hold a password). Write "
        "postgresql://USER@HOST/DATABASE, and @, :, / and ? in a name or a password as %40, %3A, "
        "%2F and %3F; a password is best kept in ~/.pgpass."
    )


def test_a_scheme_that_is_misspelt_shows_no_password():
    assert is_store("postgressql://me:secret@db/lab")
    with pytest.raises(InvalidInput) as caught:
        open_store("postgressql://me:secret@db/lab")
    assert str(caught.value) == (
        "there is no kind of store called 'postgressql' ('postgressql://me@db/lab'). Name a file, "
        "such as study.db, or a database, as in postgresql://HOST/DATABASE."
    )


@pytest.mark.parametrize("schema", ["", "Mine", "pg_mine", "1st", "a" * 64, 'x"; DROP'])
def test_a_schema_is_a_plain_name(schema):
    with pytest.raises(InvalidInput) as caught:
        read_address(f"postgresql://me:secret@db/lab?schema={schema}")
    assert str(caught.value) == (
        f"the schema of 'postgresql://me@db/lab?schema={schema}' is {schema!r}. Name it with up to "
        "63 lower-case letters, digits and underscores, as in schema=mnist."
    )


@pytest.mark.parametrize(
    ("query", "left"),
    [("?schema=a", ""), ("?host=/x&schema=a", "?host=/x"), ("?schema=a&host=/x", "?host=/x")],
)
def test_psql_gets_no_schema(query, left):
    assert read_address(f"postgresql://me:secret@/lab{query}").for_psql == (
        f"postgresql://me@/lab{left}"
    )


@given(st.text("@/?:&=#%[],.-ab12", min_size=8, max_size=20))
def test_no_password_is_ever_shown(password):
    address = f"postgresql://me:{password}@db/lab?sslpassword={password}&schema=mine"
    try:
        shown = read_address(address).shown
    except InvalidInput as error:
        shown = str(error)
    else:
        assert shown == "postgresql://me@db/lab?schema=mine"
    assert password not in shown
    mistaken = f"there is no file 'postgresql:me:{password}@db/lab'"
    assert hide_passwords(mistaken) == "there is no file 'postgresql:me@db/lab'"


@pytest.mark.parametrize(
    "words", ["host=db user=me password=secret", "dbname=lab sslpassword = 'secret'"]
)
def test_words_of_libpq_make_no_file_that_is_called_by_a_password(words):
    with pytest.raises(InvalidInput) as caught:
        open_store(words)
    assert str(caught.value).startswith("this is no address of PostgreSQL (it is not shown, as")
