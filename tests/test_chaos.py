"""A little of what `make chaos` does for as long as you like."""

import random
import shutil
import signal
import sqlite3
import time
from contextlib import closing
from itertools import repeat
from pathlib import Path

import pytest

from chaos.__main__ import list_harms
from chaos.processes import Process, find_bug
from chaos.studies import read_table, write_study
from chaos.trials import Findings, Round, compare_with_quiet, run_quietly, run_trial
from outperform.store import open_store
from outperform.store.copying import copy_store
from tests.postgres_server import find_server

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="processes are found in /proc"
)
STUDY = "crossed"


@pytest.fixture(scope="module")
def quiet(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quiet").resolve()
    return folder, run_quietly(folder, STUDY)


@pytest.mark.parametrize(
    "kind", ["run killed", "worker killed", "store renamed", "fit exits at once"]
)
def test_nothing_is_lost(tmp_path, quiet, kind):
    (harm,) = [harm for harm in list_harms() if harm.kind == kind]
    folder = tmp_path.resolve() / "trial"
    every = run_trial(folder, STUDY, quiet[1], repeat(harm, 1), random.Random(kind))
    assert [findings for findings in every if not findings.is_clean] == []
    assert sum(findings.n_strikes for findings in every) > 0


@pytest.mark.parametrize(
    ("statement", "lost", "changed"),
    [
        ("DELETE FROM measurements WHERE id = 7", 1, 0),
        ("UPDATE measurements SET scores = '{}' WHERE id = 7", 0, 1),
        ("UPDATE measurements SET started = started + 1 WHERE id = 7", 1, 0),  # done again
    ],
)
def test_what_is_lost_or_changed_is_found(tmp_path, quiet, statement, lost, changed):
    shutil.copy(quiet[0] / "study.db", tmp_path)
    looked_at = Round(tmp_path, random.Random(0), quiet[1], Findings("tampering"))
    looked_at.remember()
    with closing(sqlite3.connect(looked_at.store)) as connection, connection:
        connection.execute(statement)
    compare_with_quiet(looked_at)
    assert (looked_at.findings.lost, looked_at.findings.changed) == (lost, changed)


def test_what_is_done_twice_is_found(tmp_path, quiet):
    for name in ("study.db", "begun"):
        shutil.copy(quiet[0] / name, tmp_path)
    looked_at = Round(tmp_path, random.Random(0), quiet[1], Findings("tampering"))
    looked_at.remember()
    with (tmp_path / "begun").open("a") as begun:
        begun.write((quiet[0] / "begun").read_text().splitlines()[0] + "\n")
    compare_with_quiet(looked_at)
    assert looked_at.findings.doubled == 1


def read_started(address):
    with open_store(address) as store:
        return {fit.key: fit.started for fit in store.measurements()} if store.exists() else {}


@pytest.mark.slow
def test_a_database_server_and_its_run_are_killed_and_nothing_is_lost(tmp_path, quiet):
    server, rng, folder = find_server(), random.Random(15), tmp_path.resolve()
    address = server.make_address()
    write_study(folder, STUDY)
    words = ("run", "study.toml", "--engine", "local:1", "--store", address)
    n_kills, recorded = 0, {}
    for _ in range(3):
        process = Process(folder, *words)
        for how in rng.choices((signal.SIGKILL, signal.SIGINT), k=3):
            time.sleep(rng.uniform(0.1, 0.4))
            server.stop(how)
            time.sleep(rng.uniform(0, 0.2))
            server.start()
            n_kills += process.is_running()
        n_kills += process.is_running()
        process.send(signal.SIGKILL)
        process.wait()
        assert find_bug(process.read_output()) is None, process.read_output()
        assert process.find_left() == []
        before, recorded = recorded, read_started(address)
        assert before.items() <= recorded.items()
    assert n_kills >= 6
    process = Process(folder, *words)
    assert process.wait() == 0, process.read_output()
    assert recorded.items() <= read_started(address).items()
    copy_store(address, folder / "copy.db")
    assert read_table(folder / "copy.db") == quiet[1]
