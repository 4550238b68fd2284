"""Servers and writers that are killed, stopped and cut off: nothing is lost or written twice."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress

import pytest

from outperform.errors import StoreError, StoreInUse
from outperform.store import Added, open_store
from tests.postgres_server import find_server, make_address

psycopg = pytest.importorskip("psycopg", reason="pip install 'outperform[postgres]'")

from outperform.store.postgres import PostgresStore  # noqa: E402

WRITER = """
import itertools, sys
from outperform.errors import StoreInUse
from outperform.store import Measurement
from outperform.store.postgres import PostgresStore

address, first, lease = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
with PostgresStore(address, lease_seconds=lease) as store:
    store.lock()
    print("locked", flush=True)
    try:
        for i in itertools.count(first):
            key = f"{i:08d}"
            (added,) = store.add([
                Measurement(key, "p", "t", {"x": "y" * 200}, {"split": i}, 0, False, "done",
                            {"test": i / 7}, 0.1, None, 0.0, {})
            ])
            print(key, added.kind, flush=True)
    except StoreInUse as error:
        print(error, flush=True)
"""


@contextmanager
def writer(address, first=0, lease=30.0):
    command = [sys.executable, "-c", WRITER, address, str(first), str(lease)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "locked\n"
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.kill()
        process.wait()
        process.stdout.close()


def take_when_free(store):
    """Become the writer as soon as the lease of the one before has run out."""
    for _ in range(300):
        with suppress(StoreInUse):
            store.lock()
            return
        time.sleep(0.1)
    pytest.fail("the lease never ran out")


@pytest.fixture
def server():
    server = find_server()
    yield server
    server.start()


def test_a_server_killed_while_a_run_writes_costs_nothing(server):
    address = make_address()
    with writer(address) as process:
        acknowledged = [process.stdout.readline() for _ in range(50)]
        for how in (signal.SIGKILL, signal.SIGINT, signal.SIGKILL):
            server.stop(how)
            server.start()
            # What was on its way when the server went is in the pipe already.
            acknowledged += [process.stdout.readline() for _ in range(200)]
        process.kill()
        acknowledged += process.communicate()[0].splitlines(keepends=True)
    words = [line.split() for line in acknowledged if line.endswith("\n")]
    assert {kind for _, kind in words} == {"new"}
    with open_store(address) as store:
        recorded = [(each.key, each.scores["test"]) for each in store.measurements()]
        assert store.verify().is_sound
    keys = [key for key, _ in recorded]
    assert keys[: len(words)] == [key for key, _ in words]
    assert len(keys) - len(words) <= 1
    assert all(score == int(key) / 7 for key, score in recorded)


def test_a_killed_writer_is_replaced_when_its_lease_has_run_out(done):
    address = make_address()
    with writer(address) as process, open_store(address) as store:
        line = process.stdout.readline()
        process.kill()
        rest = process.communicate()[0]
        # Of a process on another machine, nobody here knows that it has ended.
        lease = f"UPDATE {address.rpartition('=')[2]}.lease SET expires = clock_timestamp()"
        find_server().query(f"{lease} + interval '1 hour', machine = 'another'")
        with pytest.raises(StoreInUse, match=f"is being written by process {process.pid} on "):
            store.lock()
        find_server().query(f"{lease} + interval '0.3 seconds'")
        take_when_free(store)
        assert store.find_writer().startswith(f"process {os.getpid()} on ")
        acknowledged = {each.split()[0] for each in f"{line}{rest}".splitlines()[:-1]}
        assert acknowledged <= store.scores().keys()
        assert store.add([done("mine")]) == [Added("new")]


def test_a_writer_killed_on_this_machine_is_replaced_at_once(done):
    address = make_address()
    with writer(address) as process, open_store(address) as store:
        with pytest.raises(StoreInUse, match=f"is being written by process {process.pid} on "):
            store.lock()
        process.kill()
        while process.poll() is None:
            time.sleep(0.01)
        assert store.find_writer() is None
        assert store.add([done("mine")]) == [Added("new")]


def test_a_writer_that_was_stopped_and_replaced_writes_nothing_more(done):
    address = make_address()
    with writer(address, lease=1.0) as process, PostgresStore(address, lease_seconds=30.0) as store:
        process.stdout.readline()
        process.send_signal(signal.SIGSTOP)
        take_when_free(store)
        before = set(store.scores())
        process.send_signal(signal.SIGCONT)
        *lines, last = process.stdout.read().splitlines()
        assert {line.split()[0] for line in lines} <= before
        assert set(store.scores()) == before
        assert last == (
            f"'{store.address}' is being written by {store.find_writer()}: this run did not renew "
            "its lease of 1 seconds, and was replaced. Let that one go on: all that this one has "
            "recorded is there."
        )
        assert store.add([done("mine")]) == [Added("new")]


def test_a_busy_writer_is_not_taken_for_dead():
    address = make_address()
    with PostgresStore(address, lease_seconds=1.5) as busy, open_store(address) as other:
        busy.lock()
        busy._read("SELECT pg_sleep(2)")
        with pytest.raises(StoreInUse):
            other.lock()


def test_a_transaction_in_which_a_writer_stops_is_ended_and_done_again():
    from outperform.store.postgres_database import execute

    attempts = []

    def work(connection):
        execute(connection, "INSERT INTO meta VALUES ('a', '1', 0) RETURNING 1").fetchone()
        attempts.append(connection.info.backend_pid)
        time.sleep(1.5 if len(attempts) == 1 else 0)

    address = make_address()
    with PostgresStore(address, lease_seconds=1.0) as store:
        store._write(work)
        assert len(set(attempts)) == 2
        assert store._read("SELECT name FROM meta") == [("a",)]


def test_who_takes_a_lease_over_waits_for_what_its_holder_has_begun(done):
    address = make_address()
    began, goes_on = threading.Event(), threading.Event()
    with open_store(address) as first, open_store(address) as second:
        first.add([done("a")])

        def write_slowly(connection):
            began.set()
            goes_on.wait()
            connection.execute("INSERT INTO meta VALUES ('late', '1', 0)")

        slow = threading.Thread(target=first._write, args=(write_slowly,))
        slow.start()
        began.wait()
        schema = address.rpartition("=")[2]
        find_server().query(f"UPDATE {schema}.lease SET expires = clock_timestamp()")
        takes = threading.Thread(target=second.lock)
        takes.start()
        takes.join(0.3)
        assert takes.is_alive()
        goes_on.set()
        takes.join()
        slow.join()
        assert second._read("SELECT name FROM meta") == [("late",)]
        with pytest.raises(StoreInUse, match="and was replaced"):
            first.add([done("b")])
        assert list(second.scores()) == ["a"]


class Eavesdropper:
    """Between a store and its server: cuts the connection when a commit is to be acknowledged."""

    def __init__(self, folder, server):
        self.folder, self._server, self.n_cut = folder, server, 0
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / ".s.PGSQL.5432"))
        self._listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                backend = socket.socket(socket.AF_UNIX)
                backend.connect(str(self._server.folder / ".s.PGSQL.5432"))
                threading.Thread(target=self._pass_on, args=(client, backend)).start()

    def _pass_on(self, client, backend):
        with client, backend, suppress(OSError):
            answers = threading.Thread(target=self._answer, args=(client, backend))
            answers.start()
            while said := client.recv(65536):
                self._is_commit = b"COMMIT" in said and self.n_cut == 0
                backend.sendall(said)
            backend.shutdown(socket.SHUT_WR)
            answers.join()

    def _answer(self, client, backend):
        with suppress(OSError):
            while said := backend.recv(65536):
                if self._is_commit and b"COMMIT\0" in said:
                    self.n_cut += 1
                    client.shutdown(socket.SHUT_RDWR)
                    return
                client.sendall(said)

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


def test_a_commit_whose_acknowledgement_was_lost_is_found_and_counts_as_new(tmp_path, done):
    address = make_address()
    with open_store(address) as store:
        store.add([done("before")])
    between = Eavesdropper(tmp_path, find_server())
    try:
        with open_store(re.sub("host=[^&]*", f"host={tmp_path}", address)) as store:
            store.lock()
            between.n_cut = 0
            assert store.add([done("a"), done("before")]) == [Added("new"), Added("same")]
            assert between.n_cut == 1
            assert [each.key for each in store.measurements()] == ["before", "a"]
    finally:
        between.close()


def test_a_server_that_stays_away_is_told_and_the_same_store_goes_on_afterwards(server, done):
    address = make_address()
    with PostgresStore(address, patience=0.5) as store:
        store.add([done("a")])
        server.stop()
        for use in (lambda: store.add([done("b")]), store.scores):
            with pytest.raises(StoreError) as caught:
                use()
            assert re.fullmatch(
                rf"'{re.escape(address)}' cannot be (read|written): the server was not reached for "
                r"0.5 seconds \(.*\)",
                caught.value.problem,
            )
            assert caught.value.remedy == (
                "Start it again; the same command resumes, and all that was recorded is safe"
            )
        server.start()
        assert store.add([done("b")]) == [Added("new")]
        assert list(store.scores()) == ["a", "b"]


def test_ctrl_c_in_the_midst_of_a_query_leaves_a_store_that_can_be_used(done):
    with open_store(make_address()) as store:
        store.add([done("a")])
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            store._read("SELECT pg_sleep(20)")
        assert store.add([done("b")]) == [Added("new")]
        assert list(store.scores()) == ["a", "b"]
