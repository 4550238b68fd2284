"""The command `outperform copy`, and how commands take stores in PostgreSQL."""

import json

from outperform.store import Measurement, open_store
from tests.command_line import call
from tests.postgres_server import make_address


def test_there_and_back(tmp_path):
    first, second, address = tmp_path / "first.db", tmp_path / "second.db", make_address()
    fits = [
        Measurement(
            f"k{i}", "svm", "digits", {}, {}, 0, True, "done", {"test": 0.5}, 1.0, None, 0.0, {}
        )
        for i in range(30)
    ]  # fmt: skip
    with open_store(first) as store:
        store.add(fits)
        store.set_meta("notes", "mine")
    result = call("copy", first, address)
    assert (result.exit_code, result.stdout) == (
        0,
        f"'{address}' is sound: 30 fits are as they were recorded\n",
    )
    result = call("copy", address, second, "--json")
    said = json.loads(result.stdout)
    assert (said["kind"], said["store"], said["is_sound"]) == ("Verification", str(second), True)
    assert said["n_measurements"] == 30
    with open_store(second) as store:
        assert [*store.measurements()] == fits
    assert call("verify", address).stdout == (
        f"'{address}' is sound: 30 fits are as they were recorded\n"
    )
    assert call("status", address).stdout.startswith(f"{address}: 30 fits done, 0 failed\n")
    again = call("copy", first, address)
    assert (again.exit_code, again.stderr) == (
        2,
        f"Error: '{address}' holds a study already, with 30 fits.\n"
        "Name a store that is not there yet.\n",
    )
