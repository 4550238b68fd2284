"""Time one peer on what is given as JSON; run by the peers' own Python, without outperform.

python bench/peer_jobs.py JOB < scores.json
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib import import_module
from importlib.metadata import version
from statistics import median

Job = Callable[[], object]

N_SAMPLES = 3


def prepare_autorank(a: list[float], b: list[float]) -> Job:
    peer = import_module("autorank")
    scores = import_module("pandas").DataFrame({"a": a, "b": b})
    return lambda: peer.autorank(scores)


def prepare_scikit_posthocs(a: list[float], b: list[float]) -> Job:
    peer = import_module("scikit_posthocs")
    return lambda: peer.posthoc_wilcoxon([a, b])


def prepare_deepsig(a: list[float], b: list[float]) -> Job:
    peer = import_module("deepsig")
    return lambda: peer.aso(a, b, show_progress=False, seed=0)


def prepare_autorank_ranks(table: list[list[float]]) -> Job:
    peer = import_module("autorank")
    scores = import_module("pandas").DataFrame(table)
    return lambda: peer.autorank(scores, force_mode="nonparametric")


def prepare_scikit_posthocs_ranks(table: list[list[float]]) -> Job:
    peer = import_module("scikit_posthocs")
    friedman = import_module("scipy.stats").friedmanchisquare
    scores = import_module("numpy").array(table)
    return lambda: (friedman(*scores.T), peer.posthoc_nemenyi_friedman(scores))


def prepare_rliable(scores: list[list[list[float]]], sampled: bool, n_resamples: int) -> Job:
    library, metrics = import_module("rliable.library"), import_module("rliable.metrics")
    numpy = import_module("numpy")
    # One array of shape (n_runs, n_tasks) per algorithm.
    by_algorithm = dict(enumerate(numpy.transpose(scores, (1, 2, 0))))
    names = ("aggregate_mean", "aggregate_median", "aggregate_iqm", "aggregate_optimality_gap")
    functions = [getattr(metrics, name) for name in names]
    return lambda: library.get_interval_estimates(
        by_algorithm,
        lambda runs: numpy.array([function(runs) for function in functions]),
        task_bootstrap=sampled,
        reps=n_resamples,
    )


# Of each job, the peer's package.
PREPARATIONS: dict[str, tuple[str, Callable[..., Job]]] = {
    "autorank": ("autorank", prepare_autorank),
    "scikit_posthocs": ("scikit_posthocs", prepare_scikit_posthocs),
    "deepsig": ("deepsig", prepare_deepsig),
    "autorank_ranks": ("autorank", prepare_autorank_ranks),
    "scikit_posthocs_ranks": ("scikit_posthocs", prepare_scikit_posthocs_ranks),
    "rliable": ("rliable", prepare_rliable),
}


def time_once(job: Job) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def main() -> None:
    warnings.simplefilter("ignore")
    scores = json.load(sys.stdin)
    package, prepare = PREPARATIONS[sys.argv[1]]
    job = prepare(**scores)
    with redirect_stdout(sys.stderr):  # autorank talks
        job()  # the first call fills caches
        seconds = median(time_once(job) for _ in range(N_SAMPLES))
    print(json.dumps({"seconds": seconds, "version": version(package)}))


if __name__ == "__main__":
    main()
