"""The commands `outperform verify` and `outperform backup`."""

import json
import sqlite3
from contextlib import closing
from importlib.metadata import version

import pytest

from outperform.store import Measurement, open_store
from tests.command_line import call


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "study.db"
    fits = [
        Measurement(
            f"k{i}", "svm", "digits", {}, {"init": i}, 0, True, "done", {"test": i / 50}, 0.1, None,
            0.0, {},
        )
        for i in range(30)
    ]  # fmt: skip
    with open_store(path) as opened:
        opened.add(fits)
    return path


def damage(path, n_fits):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE measurements SET fold = 7 WHERE id <= ?", (n_fits,))


def test_a_sound_store(store):
    result = call("verify", store)
    assert result.exit_code == 0
    assert result.stdout == f"'{store}' is sound: 30 fits are as they were recorded\n"


def test_a_damaged_store_is_named_fit_by_fit_with_what_to_do(store):
    damage(store, 2)
    result = call("verify", store)
    assert result.exit_code == 2
    assert result.stdout == (
        f"'{store}' is damaged: 2 of 30 fits\n"
        "  fit k0 (svm on digits) does not match its checksum\n"
        "  fit k1 (svm on digits) does not match its checksum\n"
        "\n"
        f"Next: restore a copy (first remove '{store}-wal' and '{store}-shm', if they are there); "
        f'without one, `sqlite3 {store} "DELETE FROM measurements WHERE id '
        'IN (1, 2)"` removes what is damaged, and `outperform run STUDY.toml` does it again.\n'
    )
    assert result.stderr == ""


def test_much_damage_does_not_fill_the_screen(store):
    damage(store, 30)
    lines = call("verify", store).stdout.splitlines()
    assert lines[11] == "  ... and 20 more: see --json"
    assert len(json.loads(call("verify", store, "--json").stdout)["fits"]) == 30


def test_json_says_what_it_is_and_what_is_damaged(store):
    damage(store, 1)
    result = call("verify", store, "--json")
    assert result.exit_code == 2
    said = json.loads(result.stdout)
    assert list(said)[:2] == ["kind", "version"]
    assert (said["kind"], said["version"]) == ("Verification", version("outperform"))
    assert (said["store"], said["is_sound"], said["n_measurements"]) == (str(store), False, 30)
    problem = "does not match its checksum"
    assert said["fits"] == [{"key": "k0", "pipeline": "svm", "task": "digits", "problem": problem}]
    assert said["advice"].startswith(f"restore a copy (first remove '{store}-wal' and ")


def test_other_commands_refuse_and_lead_there(store):
    damage(store, 1)
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE measurements SET scores = '{}' WHERE id = 5")
    result = call("compare", store, "svm", "other")
    assert result.exit_code == 2
    assert result.stderr == (
        f"Error: '{store}' is damaged: fit k4 does not match its checksum.\n"
        f"`outperform verify {store}` tells what else is, and what to do.\n"
    )


def test_what_is_no_store_is_refused(tmp_path):
    (tmp_path / "runs.csv").write_text("algorithm,score\nsvm,0.9\n")
    for command in (["verify"], ["backup"]):
        target = [tmp_path / "copy.db"] if command == ["backup"] else []
        result = call(*command, tmp_path / "runs.csv", *target)
        assert result.exit_code == 2
        assert "is not a store of measurements" in result.stderr
    assert not (tmp_path / "copy.db").exists()


def test_a_backup_during_a_run_is_a_store(store, tmp_path):
    copy = tmp_path / "copy.db"
    with open_store(store) as writer:
        writer.lock()
        result = call("backup", store, copy)
    assert result.exit_code == 0
    assert result.stdout == f"'{copy}' is sound: 30 fits are as they were recorded\n"
    assert call("verify", copy).exit_code == 0
    again = call("backup", store, copy)
    assert again.exit_code == 2
    assert again.stderr == (
        f"Error: there is a file '{copy}' already.\nName another, or remove it.\n"
    )
    said = json.loads(call("backup", store, tmp_path / "second.db", "--json").stdout)
    assert (said["kind"], said["is_sound"], said["n_measurements"]) == ("Verification", True, 30)
