"""Studies on a cluster: what the harness costs beside handing the same fits to the cluster."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

from outperform.engines import open_engine
from outperform.runner import run_fits
from outperform.store import open_store
from running import FOLDER, make_study
from timing import Contest, Measured, NotMeasured

N_FITS = 1_000
FIT_SECONDS = 0.02


@contextmanager
def start_dask(n_workers: int) -> Iterator[str]:
    """A scheduler and workers of one thread each, as people start them; gives its address."""
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        file = Path(folder, "scheduler.json")
        where = ["--scheduler-file", str(file), "--no-dashboard"]
        worker = ["worker", *where, "--nthreads", "1", "--local-directory", folder]
        commands = [["scheduler", *where, "--port", "0"], *[worker] * n_workers]
        processes = [
            subprocess.Popen([sys.executable, "-m", "dask", *words], stderr=subprocess.DEVNULL)
            for words in commands
        ]
        try:
            yield f"dask://{file}"
        finally:
            for process in reversed(processes):
                process.terminate()
                process.wait()


def fits_on_dask() -> Measured:
    """Both on one scheduler with two workers, from connecting to the last result."""
    try:
        from distributed import Client
    except ImportError:
        raise NotMeasured('`pip install "outperform[dask]"`') from None
    with start_dask(2) as address:
        file = address.removeprefix("dask://")
        with Client(scheduler_file=file) as client:
            client.wait_for_workers(2)
        began = time.perf_counter()
        with Client(scheduler_file=file) as client:
            sleeps = [client.submit(time.sleep, FIT_SECONDS, pure=False) for _ in range(N_FITS)]
            client.gather(sleeps)
        theirs = time.perf_counter() - began
        began = time.perf_counter()
        with (
            open_store(Path(file).with_name("study.db")) as store,
            open_engine(address) as engine,
        ):
            run_fits(make_study(FIT_SECONDS, N_FITS), store, engine)
        return Measured(time.perf_counter() - began, theirs)


def fits_on_ray() -> Measured:
    """Both on one Ray with two workers, from the first submission to the last result."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    try:
        import ray
    except ImportError:
        raise NotMeasured('`pip install "outperform[ray]"`') from None
    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        sleep: Any = ray.remote(lambda seconds: time.sleep(seconds))
        began = time.perf_counter()
        ray.get([sleep.remote(FIT_SECONDS) for _ in range(N_FITS)])
        theirs = time.perf_counter() - began
        with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
            began = time.perf_counter()
            with open_store(Path(folder, "study.db")) as store, open_engine("ray://auto") as engine:
                run_fits(make_study(FIT_SECONDS, N_FITS), store, engine)
            return Measured(time.perf_counter() - began, theirs)
    finally:
        ray.shutdown()


CONTESTS = [
    Contest(
        f"{N_FITS:,} fits of 20 ms through run, on Dask",
        "submitted and gathered",
        Fraction(13, 10),
        fits_on_dask,
    ),
    Contest(
        f"{N_FITS:,} fits of 20 ms through run, on Ray",
        "submitted and gathered",
        Fraction(13, 10),
        fits_on_ray,
    ),
]
