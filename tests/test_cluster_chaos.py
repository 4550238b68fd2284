"""Everything that a study on a cluster needs is killed at random, and its table is the same."""

import json
import random
from pathlib import Path

import pytest

from chaos.clusters import Lab
from chaos.studies import COLUMNS
from chaos.trials import run_quietly
from tests.dask_processes import DaskProcesses
from tests.postgres_server import Server, find_server

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not Path("/proc/self/environ").exists(), reason="processes are found in /proc"
    ),
]


def read_rows(server: Server, address: str) -> list[tuple]:
    """All fits but for what differs between any two runs, read with nothing of outperform."""
    schema = address.rpartition("=")[2]
    query = f"SELECT json_build_array({COLUMNS}) FROM {schema}.measurements"
    return [tuple(json.loads(line)) for line in server.query(query).splitlines()]


@pytest.mark.parametrize("study", ["searches", "crossed"])
def test_whatever_is_killed_the_table_is_that_of_a_quiet_run(tmp_path, study):
    pytest.importorskip("distributed", reason='pip install "outperform[dask]"')
    server = find_server()
    quiet = run_quietly(tmp_path / "quiet", study)
    folder = (tmp_path / "lab").resolve()
    folder.mkdir()
    dask = DaskProcesses(folder)
    lab = Lab(folder, server, dask, random.Random(study))
    try:
        assert lab.run(study, n_kills=25) == 0, lab.problems
    finally:
        dask.end()
        server.start()
    assert lab.problems == []
    for store in lab.stores:
        assert sorted(read_rows(server, store)) == sorted(quiet.fits.values())
    assert lab.n_killed.total() >= 25
