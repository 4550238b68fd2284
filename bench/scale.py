"""Where the coordinator ends: a study on more workers than any machine here has.

Coordinator, store and disk are real, workers and the clock are not. A fit takes a time drawn for
it; what the coordinator itself needs between two waits is measured, and passes for the workers
too. `make scale` writes the table of docs/scale.md.
"""

import argparse
import heapq
import json
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from outperform.engines import NO_NEEDS, Activity, Needs, Outcome
from outperform.runner import run_fits
from outperform.store import open_store
from outperform.study.designs import Ideal
from outperform.study.pipelines import FunctionPipeline
from outperform.study.spaces import LogUniform, Space, Uniform
from outperform.study.study import Study
from outperform.study.tasks import Task

PAGE = Path(__file__).parents[1] / "docs" / "scale.md"
BEGIN, END = "<!-- table of make scale -->\n", "<!-- end of table -->\n"
N_TRIALS = 100


class SimulatedWorkers:
    """An engine whose workers finish at simulated times, whatever the coordinator does meanwhile.

    Like those of Dask or Ray they take the next item from a queue by themselves. Items and values
    are pickled, as they would be on their way; what a network takes is not counted.

    Attributes
    ----------
    now
        Seconds on the simulated clock.
    coordinating
        Those of them in which the coordinator was at work.
    working
        Seconds that workers have worked, all together.
    """

    name = "simulated"
    shortage: None = None
    waits_for: None = None

    def __init__(self, n_workers: int, seconds_per_fit: float) -> None:
        self.n_workers = n_workers
        self.now = self.coordinating = self.working = 0.0
        self._seconds = seconds_per_fit
        self._rng = np.random.default_rng(0)
        self._idle = n_workers
        self._queue: deque[Any] = deque()
        self._busy: list[tuple[float, int, Any, float]] = []  # when it ends, number, tag, seconds
        self._n_begun = 0
        self._left = time.perf_counter()  # when the coordinator went back to its own work

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to let go."""

    def submit(
        self,
        work: Callable[[Any], Any],
        item: Any,
        *,
        tag: Any,
        timeout: float | None = None,
        needs: Needs = NO_NEEDS,
    ) -> None:
        """Put an item into the queue."""
        pickle.dumps(item)
        self._pass_time()
        self._queue.append(tag)
        self._begin(self.now)
        self._left = time.perf_counter()

    def wait(self, patience: float | None = None) -> list[Outcome]:
        """What has ended by now; the clock is put forward to the next end where nothing has."""
        self._pass_time()
        if self._busy and self._busy[0][0] > self.now:
            self.now = self._busy[0][0]
        ended = self._end_until_now()
        value = pickle.dumps({"valid": 0.5, "test": 0.5})
        scores = self._rng.random(len(ended))
        self._left = time.perf_counter()
        return [
            Outcome(tag, pickle.loads(value) | {"valid": score}, None, seconds, "done")
            for (tag, seconds), score in zip(ended, scores.tolist(), strict=True)
        ]

    def activity(self) -> list[Activity]:
        """Nobody asks."""
        return []

    def stop(self) -> None:
        """Forget what is not finished."""
        self._queue.clear()
        self._busy.clear()

    close = stop

    def _pass_time(self) -> None:
        spent = time.perf_counter() - self._left
        self.coordinating += spent
        self.now += spent

    def _begin(self, moment: float) -> None:
        while self._idle and self._queue:
            tag = self._queue.popleft()
            seconds = 0.0 if tag is None else self._seconds * self._rng.uniform(0.5, 1.5)
            self._idle -= 1
            self._n_begun += 1
            self.working += seconds
            heapq.heappush(self._busy, (moment + seconds, self._n_begun, tag, seconds))

    def _end_until_now(self) -> list[tuple[Any, float]]:
        ended = []
        while self._busy and self._busy[0][0] <= self.now:
            moment, _, tag, seconds = heapq.heappop(self._busy)
            self._idle += 1
            self._begin(moment)
            ended.append((tag, seconds))
        return ended


@dataclass(frozen=True, slots=True)
class Case:
    """One row of the table."""

    fit: str
    seconds: float
    tuner: str = "random"
    n_workers: int = 1_000
    n_fits: int = 100_000


@dataclass(frozen=True, slots=True)
class Simulated:
    """What became of a case."""

    seconds: float  # simulated, from the first submission to the last record
    utilisation: float  # share of it that workers worked
    coordinating: float  # share of it that the coordinator was at work
    n_fits: int
    n_per_second: float  # fits that the coordinator takes in while it is at work
    megabytes: float  # that it has grown by


def make_study(case: Case) -> Study:
    """Five pipelines on four tasks, tuned anew in every replicate."""

    def fit(params: object, split: object, seeds: object, task: object) -> dict[str, float]:
        raise AssertionError(f"simulated workers fit nothing: {params, split, seeds, task}")

    space: Space = {"lr": LogUniform(1e-4, 1e-1), "dropout": Uniform(0, 0.5)}
    names = [f"pipeline {number}" for number in range(5)]
    pipelines = tuple(FunctionPipeline(name, fit, space=space, sources=("init",)) for name in names)
    tasks = tuple(Task(f"task {number}", metric="accuracy") for number in range(4))
    designs = (Ideal(max(2, case.n_fits // (20 * N_TRIALS))),)
    return Study(pipelines, tasks, designs, tuner=case.tuner, trials=N_TRIALS)


def simulate(case: Case) -> Simulated:
    """Run a study on simulated workers."""
    study = make_study(case)
    with (
        # Beside the repository: what is in memory only is never waited for.
        tempfile.TemporaryDirectory(dir=Path(__file__).parent, prefix="tmp-") as folder,
        open_store(Path(folder, "study.db")) as store,
    ):
        before = _peak_megabytes()
        workers = SimulatedWorkers(case.n_workers, case.seconds)
        progress = run_fits(study, store, workers)
    return Simulated(
        seconds=workers.now,
        utilisation=workers.working / workers.now / case.n_workers,
        coordinating=workers.coordinating / workers.now,
        n_fits=progress.n_done,
        n_per_second=progress.n_done / workers.coordinating,
        megabytes=_peak_megabytes() - before,
    )


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


CASES = [
    Case("an hour", 3600.0),
    Case("a minute", 60.0),
    Case("a second", 1.0),
    Case("0.1 s", 0.1),
    Case("a minute", 60.0, "gp-ei"),
    Case("a second", 1.0, "gp-ei"),
]
HEAD = (
    "| a fit takes | tuner | the study takes | workers work | coordinator works | fits a second "
    "| memory |\n| --- | --- | --- | --- | --- | --- | --- |\n"
)


def simulate_apart(case: Case) -> Simulated:
    """Simulate in a process of its own, whose memory is the case's own."""
    command = [sys.executable, __file__, "--case", json.dumps(asdict(case))]
    shown = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return Simulated(**json.loads(shown.stdout))


def describe(case: Case, simulated: Simulated) -> str:
    """One row of the table."""
    cells = (
        case.fit,
        f"`{case.tuner}`",
        _describe_time(simulated.seconds),
        f"{simulated.utilisation:.1%}",
        f"{simulated.coordinating:.2%}",
        f"{float(f'{simulated.n_fits / simulated.seconds:.3g}'):,g}",
        f"{simulated.megabytes:.0f} MB",
    )
    return "| " + " | ".join(cells) + " |\n"


def _describe_time(seconds: float) -> str:
    for name, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {name}"
    return f"{seconds:.3g} s"


def write_table(rows: list[str]) -> None:
    """Put a table in place of that of the page."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}{HEAD}{''.join(rows)}{END}{after}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", type=json.loads, help="print what becomes of one case, as JSON")
    case = parser.parse_args().case
    if case:
        print(json.dumps(asdict(simulate(Case(**case)))))
        return
    rows = []
    for each in CASES:
        rows.append(describe(each, simulate_apart(each)))
        print(rows[-1], end="", flush=True)
    write_table(rows)


if __name__ == "__main__":
    main()
