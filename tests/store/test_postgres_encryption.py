"""PostgreSQL by TCP with certificates: what an address says of them reaches its library."""

import shutil
import tempfile
from pathlib import Path

import pytest

from outperform.errors import StoreError
from outperform.store import open_store
from tests.certificates import make_certificates
from tests.dask_processes import find_free_port
from tests.postgres_server import PASSWORD, NoServer, Server


@pytest.fixture(scope="module")
def encrypted():
    """A server that asks for certificates, those of its folder, and its address by TCP."""
    pytest.importorskip("psycopg", reason="pip install 'outperform[postgres]'")
    folder = Path(tempfile.mkdtemp(prefix="outperform-pg-"))
    try:
        make_certificates(folder)
        make_certificates(folder / "strange")
        port = find_free_port()
        server = Server(folder, port=port)
        yield server, f"postgresql://guarded:{PASSWORD}@127.0.0.1:{port}/tests"
        server.stop()
    except NoServer as reason:
        pytest.skip(str(reason))
    finally:
        shutil.rmtree(folder)


def name_certificates(folder: Path) -> str:
    return f"sslcert={folder}/me.pem&sslkey={folder}/me.key&sslrootcert={folder}/ca.pem"


def test_a_store_is_kept_by_way_of_them(encrypted):
    server, address = encrypted
    names = name_certificates(server.folder)
    with open_store(f"{address}?sslmode=verify-full&{names}&schema=kept") as store:
        store.lock()
        store.set_meta("blocked", {"a": 1})
        assert store.get_meta("blocked") == {"a": 1}
        connections = server.query(
            "SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) "
            "WHERE usename = 'guarded'"
        )
    assert connections == "t"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("sslmode=disable", "no encryption"),
        ("sslmode=require", "connection requires a valid client certificate"),
        ("sslmode=verify-full&sslrootcert=/nowhere", 'file "/nowhere" does not exist'),
        ("sslmode=verify-full&{theirs}", "SSL error"),
    ],
    ids=["open", "without", "no file", "strange"],
)
def test_without_them_there_is_no_store_and_the_error_says_why(encrypted, words, why):
    server, address = encrypted
    words = words.format(theirs=name_certificates(server.folder / "strange"))
    with pytest.raises(StoreError) as caught, open_store(f"{address}?{words}") as store:
        store.lock()
    assert why in caught.value.problem
    assert PASSWORD not in str(caught.value)
