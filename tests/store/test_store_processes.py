"""Real processes, really killed: what was acknowledged is there, once."""

import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager

import pytest

from outperform.errors import StoreInUse
from outperform.store import Added, open_store

WRITER = """
import itertools, sys
from outperform.store import Measurement, open_store

path, first, batch = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with open_store(path) as store:
    store.lock()
    print("locked", flush=True)
    for i in itertools.count(first, batch):
        keys = [f"{number:08d}" for number in range(i, i + batch)]
        store.add([
            Measurement(key, "p", "t", {"x": "y" * 200}, {"split": int(key)}, 0, False, "done",
                        {"test": int(key) / 7}, 0.1, None, 0.0, {})
            for key in keys
        ])
        print(*keys, flush=True)
"""


@contextmanager
def writer(path, first=0, batch=1):
    command = [sys.executable, "-c", WRITER, str(path), str(first), str(batch)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "locked\n"
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_writer_killed_at_any_moment_loses_nothing_it_has_acknowledged(path):
    rng = random.Random(4)
    acknowledged = []
    for round_ in range(12):
        with writer(path, first=round_ * 1_000_000, batch=rng.choice([1, 1, 7])) as process:
            time.sleep(rng.uniform(0, 0.15))
            process.send_signal(signal.SIGKILL)
            output, _ = process.communicate()
        complete = output[: output.rfind("\n") + 1]
        acknowledged += complete.split()
    with open_store(path) as store:
        recorded = [(each.key, each.scores["test"]) for each in store.measurements()]
    keys = [key for key, _ in recorded]
    assert len(acknowledged) > 20
    assert len(set(keys)) == len(keys)
    assert set(acknowledged) <= set(keys)
    assert all(score == int(key) / 7 for key, score in recorded)
    # A batch is there as a whole, and at most one per round was not acknowledged yet.
    assert len(keys) - len(acknowledged) <= 12 * 7
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_only_one_process_writes_and_a_killed_one_leaves_no_lock(path, done):
    with writer(path) as process, open_store(path) as store:
        with pytest.raises(StoreInUse, match=f"is being written by process {process.pid} on "):
            store.lock()
        process.kill()
        process.wait()
        assert store.add([done("mine")]) == [Added("new")]
        with pytest.raises(StoreInUse, match="is being written by process "):
            open_store(path).lock()
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_reading_goes_on_while_another_process_writes(path):
    with writer(path) as process:
        assert process.stdout is not None
        for _ in range(10):
            newest = process.stdout.readline().strip()
            with open_store(path) as store:
                assert newest in store.get([newest])
                assert newest in store.scores()
                assert sum(store.counts().values()) >= int(newest) + 1
        with open_store(path) as store:  # one reader that stays sees what comes
            before = len(store.scores())
            while len(store.scores()) < before + 5:
                process.stdout.readline()


def test_of_runs_that_start_at_once_exactly_one_gets_the_store(path):
    code = (
        "import sys\nfrom outperform.errors import StoreInUse\n"
        "from outperform.store import open_store\n"
        "store = open_store(sys.argv[1]); input()\n"
        "try:\n    store.lock(); print('mine', flush=True); input()\n"
        "except StoreInUse:\n    print('taken', flush=True)\n"
    )
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for run in runs:
        assert run.stdin is not None
        run.stdin.write("\n")
        run.stdin.flush()
    answers = [run.stdout.readline().strip() for run in runs if run.stdout is not None]
    for run in runs:
        run.communicate("\n")
    assert sorted(answers) == ["mine", "taken", "taken", "taken"]


def test_looking_who_writes_disturbs_nobody(path):
    with open_store(path) as reader:
        assert reader.find_writer() is None
        looks = threading.Event()

        def look():
            while not looks.wait(0.0005):
                reader.find_writer()

        thread = threading.Thread(target=look)
        thread.start()
        try:
            for _ in range(200):
                with open_store(path) as writer:
                    writer.lock()
        finally:
            looks.set()
            thread.join()
        with open_store(path) as writer:
            writer.lock()
            holder = f"process {os.getpid()} on {socket.gethostname()} since "
            assert reader.find_writer().startswith(holder)
        assert reader.find_writer() is None
