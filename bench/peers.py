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


def run_peer(peer: str, python: Path | None, scores: Any) -> tuple[float, str]:
    """Seconds that a job of `peer_jobs.py` takes, and the version of the peer."""
    if python is None:
        raise NotMeasured("--peers was not given")
    theirs = json.loads(run_command([str(python), str(_SCRIPT), peer], stdin=json.dumps(scores)))
    return theirs["seconds"], theirs["version"]


def against_peer(peer: str, python: Path | None) -> Measured:
    a, b = draw_scores(N_PAIRS, tied=False)
    seconds, version = run_peer(peer, python, {"a": a.tolist(), "b": b.tolist()})
    return Measured(time_job(lambda: compare(a, b)), seconds, note=f"version {version}")


def contests(python: Path | None) -> list[Contest]:
    """One row per peer; nothing was promised, so none has a target."""
    what = f"compare(), {N_PAIRS} pairs, no ties"
    return [
        Contest(what, f"{peer} {job}", None, partial(against_peer, peer, python))
        for peer, job in PEERS.items()
    ]
