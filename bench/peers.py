"""The same pairs of scores compared by peers, each in a process of the peers' own Python."""

import json
from functools import partial
from pathlib import Path
from typing import Any

from comparison import N_PAIRS, draw_scores
from outperform import compare
from timing import Contest, Measured, NotMeasured, run_command, time_job

# What each peer calls the comparison of two algorithms; peer_jobs.py does it.
PEERS = {
    "autorank": "autorank()",
    "scikit_posthocs": "posthoc_wilcoxon()",
    "deepsig": "aso()",
}
_SCRIPT = Path(__file__).with_name("peer_jobs.py")


def run_peer(peer: str, python: Path | None, given: str) -> dict[str, Any]:
    """Seconds and version of a peer's job on what is given as JSON."""
    if python is None:
        raise NotMeasured("--peers was not given")
    measured: dict[str, Any] = json.loads(
        run_command([str(python), str(_SCRIPT), peer], stdin=given)
    )
    return measured


def against_peer(peer: str, python: Path | None) -> Measured:
    a, b = draw_scores(N_PAIRS, tied=False)
    theirs = run_peer(peer, python, json.dumps({"a": a.tolist(), "b": b.tolist()}))
    return Measured(
        time_job(lambda: compare(a, b)), theirs["seconds"], note=f"version {theirs['version']}"
    )


def contests(python: Path | None) -> list[Contest]:
    """One row per peer; nothing was promised, so none has a target."""
    what = f"compare(), {N_PAIRS} pairs, no ties"
    return [
        Contest(what, f"{peer} {job}", None, partial(against_peer, peer, python))
        for peer, job in PEERS.items()
    ]
