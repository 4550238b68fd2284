"""Running studies: what the harness costs beside the fits themselves."""

import atexit
import shutil
import subprocess
import tempfile
import time
import tomllib
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache, partial
from pathlib import Path
from statistics import median
from typing import Any, Self

from outperform.cli.init import TEMPLATES
from outperform.cli.sources import read_study
from outperform.cli.templates import network
from outperform.engines import NO_NEEDS, Activity, Needs, Outcome, open_engine
from outperform.runner import Progress, run_fits
from outperform.store import open_store
from outperform.study.designs import Variance
from outperform.study.pipelines import FunctionPipeline
from outperform.study.spaces import default_params
from outperform.study.splits import OutOfBootstrap
from outperform.study.study import Study
from outperform.study.study_file_tables import make_space
from outperform.study.tasks import BundledData, Task
from startup import COMMAND
from timing import Contest, Measured, NotMeasured, run_command, time_both, time_job

N_MEASUREMENTS = 100_000
ONE = Fraction(1)
# On the disk of the repository: what is in memory only is never waited for.
FOLDER = Path(tempfile.mkdtemp(dir=Path(__file__).parent, prefix="tmp-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
IDEAL = ("ideal", 500)  # of 100 trials, for two pipelines: 101,000 fits, 1,000 of them runs
FIX_HOPT = ("fix-hopt", 50_000)  # for two pipelines: as many runs
STUDY = """
[tuning]
trials = 100
[[task]]
name = "toy"
metric = "accuracy"
[[pipeline]]
name = "a"
function = "training:fit"
space = {{c = {{uniform = [0, 1]}}}}
[[pipeline]]
name = "b"
function = "training:fit"
space = {{c = {{uniform = [0, 1]}}}}
[[design]]
kind = "{kind}"
replicates = {n}
"""
TRAINING = """
from pathlib import Path

def fit(params, split, seeds):
    if Path("watched").exists():
        Path("begun").touch()
    return {"valid": params["c"], "test": params["c"]}
"""


def make_study(seconds: float, n_fits: int) -> Study:
    """A study of fits that do nothing, or wait, and no searches."""

    def wait(params: object, split: object, seeds: object) -> dict[str, float]:  # noqa: ARG001
        time.sleep(seconds)
        return {"valid": 0.5, "test": 0.5}

    pipeline = FunctionPipeline("waiting", wait, sources=("init",))
    # A source alone, all sources (the same fits), and noise: 2 n - 1 different fits.
    design = Variance(n_replicates=(n_fits + 1) // 2)
    return Study((pipeline,), (Task("none", metric="accuracy"),), (design,))


def run_once(study: Study) -> tuple[float, int, float]:
    """Seconds from the first result to the last, results in between, and seconds in fits."""
    ends: list[float] = []
    dones: list[int] = []

    def note(progress: Progress) -> None:
        ends.append(time.perf_counter())
        dones.append(progress.n_done)

    with (
        tempfile.TemporaryDirectory(dir=FOLDER) as folder,
        open_store(Path(folder, "study.db")) as store,
        open_engine("local:2") as engine,
    ):
        run_fits(study, store, engine, report=note)
        seconds = [measurement.seconds for measurement in store.measurements()]
    # Workers need a second to start, once: that is not a cost per fit.
    skip = len(ends) // 5
    return ends[-1] - ends[skip], dones[-1] - dones[skip], sum(seconds[dones[skip] :])


def overhead_per_fit() -> Measured:
    study = make_study(0.0, 3_000)
    elapsed, n_fits, _ = run_once(study)
    return Measured(elapsed / n_fits, 0.0015, note="a durable commit included")


def idle_share() -> Measured:
    """Wall time of 100 ms fits on two workers, against the time that two busy workers need."""
    elapsed, _, fitting = run_once(make_study(0.1, 150))
    return Measured(elapsed, fitting / 2, note=f"busy {fitting / 2 / elapsed:.1%}")


class Batches:
    """An engine that does a thousand fits at once, and is interrupted after so many."""

    n_workers = 125
    shortage: None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __init__(self, n_fits: int) -> None:
        self.n_left = n_fits
        self.pending: list[Outcome] = []

    name = "direct"

    def activity(self) -> list[Activity]:
        """Nothing, ever."""
        return []

    def submit(
        self,
        work: Callable[[Any], Any],
        item: Any,
        *,
        tag: Any,
        timeout: float | None = None,
        needs: Needs = NO_NEEDS,
    ) -> None:
        """Do it at once."""
        self.pending.append(Outcome(tag, work(item), None, 0.001, "done"))

    def wait(self, patience: float | None = None) -> list[Outcome]:
        """Hand out what was done."""
        if self.n_left <= 0:
            raise KeyboardInterrupt
        done, self.pending = self.pending[: self.n_left], self.pending[self.n_left :]
        self.n_left -= len(done)
        return done

    def stop(self) -> None:
        """Forget the rest."""
        self.n_left, self.pending = 1, []

    close = stop


@lru_cache
def large_store(kind: str, n: int) -> tuple[Path, str]:
    """Folder and name of a study that was interrupted after 100,000 fits."""
    (FOLDER / "training.py").write_text(TRAINING)
    (FOLDER / f"{kind}.toml").write_text(STUDY.format(kind=kind, n=n))
    with open_store(FOLDER / f"{kind}.db") as store, suppress(KeyboardInterrupt):
        run_fits(read_study(str(FOLDER / f"{kind}.toml")), store, Batches(N_MEASUREMENTS))
    return FOLDER, kind


def resume(kind: str, n: int) -> Measured:
    """The whole command, from its start to that of the first new fit in a worker."""
    folder, name = large_store(kind, n)
    samples = []
    for number in range(5):
        shutil.copy(folder / f"{name}.db", folder / f"copy{number}.db")
        began = time.perf_counter()
        command = [COMMAND, "run", f"{name}.toml", "--store", f"copy{number}.db"]
        (folder / "watched").touch()
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
        while not (folder / "begun").exists():
            if process.poll() is not None:
                raise NotMeasured("the command ended without a fit")
            time.sleep(0.001)
        samples.append(time.perf_counter() - began)
        process.kill()
        process.wait()
        time.sleep(1)  # for its workers to end
        for file in [folder / "watched", folder / "begun", *folder.glob("copy*")]:
            file.unlink()
    return Measured(median(samples), 2.0)


def status(kind: str, n: int) -> Measured:
    folder, name = large_store(kind, n)
    command = [COMMAND, "status", str(folder / f"{name}.db")]
    return Measured(time_job(lambda: run_command(command), n_samples=5), 1.0)


def fit_network() -> Measured:
    """The small network of the demo, beside scikit-learn's driven batch by batch."""
    from sklearn.neural_network import MLPClassifier

    digits = BundledData("digits")()
    pipelines = tomllib.loads((TEMPLATES / "demo.toml").read_text())["pipeline"]
    params = default_params(make_space(pipelines[1]["space"]))
    seeds = dict.fromkeys(network.SOURCES, 0)
    split = OutOfBootstrap().split(digits.n_examples, seed=0)
    inputs, labels = digits.take(split.train)

    def theirs() -> None:
        peer = MLPClassifier((64,), random_state=0)
        for _ in range(network.N_EPOCHS):
            for start in range(0, len(labels), network.BATCH_SIZE):
                rows = slice(start, start + network.BATCH_SIZE)
                peer.partial_fit(inputs[rows], labels[rows], classes=range(10))

    return time_both(lambda: network.fit(params, split.refit(), seeds, digits), theirs)


CONTESTS = [
    Contest("a fit of the small network", "MLPClassifier, batch by batch", ONE, fit_network),
    Contest("overhead of a fit that does nothing, 2 workers", "1.5 ms", ONE, overhead_per_fit),
    Contest("100 ms fits on 2 workers", "never idle", Fraction(100, 95), idle_share),
    *(
        Contest(
            f"resume {N_MEASUREMENTS:,} measurements, {kind}", "2 s", ONE, partial(resume, kind, n)
        )
        for kind, n in (IDEAL, FIX_HOPT)
    ),
    Contest(f"status of {N_MEASUREMENTS:,} measurements", "1 s", ONE, partial(status, *IDEAL)),
]
