"""Running studies: what the harness costs beside the fits themselves."""

import atexit
import shutil
import tempfile
import time
import tomllib
from fractions import Fraction
from pathlib import Path

from outperform.cli.init import TEMPLATES
from outperform.cli.templates import network
from outperform.engines import open_engine
from outperform.runner import Progress, run_fits
from outperform.store import open_store
from outperform.study.designs import Variance
from outperform.study.pipelines import FunctionPipeline
from outperform.study.spaces import default_params, make_space
from outperform.study.splits import OutOfBootstrap
from outperform.study.study import Study
from outperform.study.tasks import BundledData, Task
from timing import Contest, Measured, time_both

ONE = Fraction(1)
# On the disk of the repository: what is in memory only is never waited for.
FOLDER = Path(tempfile.mkdtemp(dir=Path(__file__).parent, prefix="tmp-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)


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
]
