"""The fits of the harmed studies: quick, and bad once where a file beside them says so.

This file is copied beside each study, and is no part of outperform. Whoever finds `mischief` takes
it away, so that one fit or one import misbehaves, and the same fit done again is well.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

BEGUN = Path("begun")  # a line for every fit that was begun, by whatever worker
MISCHIEF = Path("mischief")
IN_WORKER = sys.argv[0] == "-c"

Params = dict[str, float]
Seeds = dict[str, int]
Scores = dict[str, float]


def take_mischief(when: str) -> str:
    """The mischief to do now, for one process only; "" where there is none."""
    try:
        asked = MISCHIEF.read_text()
        if not asked.startswith(when):
            return ""
        MISCHIEF.unlink()
    except OSError:  # there is none, or another was faster
        return ""
    return asked


def fit_a(params: Params, split: None, seeds: Seeds, refit: bool) -> Scores:  # noqa: ARG001
    """One pipeline."""
    return fit("a", params, seeds, refit)


def fit_b(params: Params, split: None, seeds: Seeds, refit: bool) -> Scores:  # noqa: ARG001
    """Another."""
    return fit("b", params, seeds, refit)


def fit(pipeline: str, params: Params, seeds: Seeds, refit: bool) -> Scores:
    """Scores that hang on all that the fit was given, after a moment."""
    line = json.dumps([pipeline, params, seeds, refit], sort_keys=True)
    with BEGUN.open("a") as begun:
        begun.write(f"{line}\n")
    asked = take_mischief("fit")
    if asked:
        MISCHIEFS[asked]()
    time.sleep(0.008)
    score = params["c"] / 2 + sum(seeds.values()) % 1_000_003 / 3_000_000
    return {"valid": score, "test": score / 3}


def eat_memory() -> None:
    """Ask for more than a limit of its own allows."""
    import resource

    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (2**31, limits[1]))
    try:
        hoard = []
        while True:
            hoard.append(bytearray(2**26))
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


def spoil_connections() -> None:
    """Write to every descriptor that it has inherited."""
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, b"stray bytes")
        except OSError:
            continue


def leave_children() -> None:
    """Leave a process running."""
    subprocess.Popen(["sleep", "1000"])


def raise_much() -> None:
    """Fail with a message of megabytes."""
    raise ValueError("x" * 5_000_000)


def hang() -> None:
    """Never come back."""
    time.sleep(1000)


MISCHIEFS: dict[str, Callable[[], object]] = {
    "fit exits": lambda: sys.exit(0),
    "fit exits at once": lambda: os._exit(0),
    "fit forks and returns twice": os.fork,
    "fit writes to descriptors": spoil_connections,
    "fit closes descriptors": lambda: os.closerange(3, 64),
    "fit hangs": hang,
    "fit eats memory": eat_memory,
    "fit raises megabytes": raise_much,
    "fit leaves a child": leave_children,
    "fit kills its worker": lambda: os.kill(os.getpid(), 9),
    "fit aborts": os.abort,
}

if IN_WORKER:
    mischief_of_import = take_mischief("import")
    if mischief_of_import == "import fails":
        raise ImportError("this once")
    if mischief_of_import == "import exits":
        os._exit(3)
    if mischief_of_import == "import hangs":
        hang()
    if mischief_of_import == "import is slow":
        time.sleep(3)
