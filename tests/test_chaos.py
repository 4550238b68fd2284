"""A little of what `make chaos` does for as long as you like."""

import random
import shutil
import sqlite3
from contextlib import closing
from itertools import repeat
from pathlib import Path

import pytest

from chaos.__main__ import list_harms
from chaos.trials import Findings, Round, compare_with_quiet, run_quietly, run_trial

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
