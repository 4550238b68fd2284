"""Aggregates over tasks, with intervals by the bootstrap of replicates, or of tasks and them."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from calibration.cells import ALPHA, LEVEL, Cell, share
from calibration.data import KINDS, Distribution, FloatArray
from outperform.stats.aggregate_bootstrap import AggregateScores, aggregate_scores
from outperform.stats.task_aggregates import TasksAre, interquartile_mean, optimality_gap

N_REPLICATES = (5, 10, 50)
N_TASKS: dict[TasksAre, tuple[int, ...]] = {"fixed": (6, 26), "sampled": (6, 12, 26)}
KINDS_OF_SCORES = ("normal", "skewed")
# A task's mean, and the standard deviations of means between tasks and of runs within one.
CENTRE, BETWEEN, WITHIN = 0.6, 0.25, 0.15
N_STUDIES = 2_000
N_RESAMPLES = 1_000
_AT_ONCE = 200  # studies, each a column that shares only the draws with others
_MIDDLES = (np.arange(2_000) + 0.5) / 2_000


def list_blocks() -> list[dict[str, Any]]:
    """What is computed in one go."""
    return [
        {"tasks": tasks, "kind": kind, "n_tasks": n_tasks, "n": n}
        for tasks, numbers in N_TASKS.items()
        for kind in KINDS_OF_SCORES
        for n_tasks in numbers
        for n in N_REPLICATES
    ]


def measure(
    rng: np.random.Generator,
    *,
    tasks: TasksAre,
    kind: str,
    n_tasks: int,
    n: int,
    n_studies: int = N_STUDIES,
) -> list[Cell]:
    """Coverage of the four summaries."""
    scores = KINDS[kind].scores
    # Fixed tasks are the same in all studies: one of each level.
    levels = (np.arange(n_tasks) + 0.5) / n_tasks
    fixed = CENTRE + BETWEEN * _draw_centred(scores, levels)
    all_means = fixed if tasks == "fixed" else CENTRE + BETWEEN * _draw_centred(scores, _MIDDLES)
    truths = _find_truths(all_means, scores)
    hits: dict[str, list[bool]] = {name: [] for name in truths}
    for _ in range(n_studies // _AT_ONCE):
        means = np.broadcast_to(fixed[:, None], (n_tasks, _AT_ONCE))
        if tasks == "sampled":
            means = CENTRE + BETWEEN * _standardise(scores, scores.draw(rng, (n_tasks, _AT_ONCE)))
        noise = _standardise(scores, scores.draw(rng, (n_tasks, _AT_ONCE, n)))
        result = aggregate_scores(
            means[..., None] + WITHIN * noise,
            tasks=tasks,
            confidence_level=LEVEL,
            n_resamples=N_RESAMPLES,
            rng=rng,
        )
        for name, covered in _find_covered(result, truths):
            hits[name].extend(covered)
    column = f"{n} on {n_tasks} tasks"
    return [
        Cell("aggregates", f"aggregate_scores, {tasks}, {name}", "coverage", kind, column, "",
             *share(covered), alpha=ALPHA)
        for name, covered in hits.items()
    ]  # fmt: skip


def _standardise(scores: Distribution, values: FloatArray) -> FloatArray:
    return (values - scores.mean) / scores.sd


def _draw_centred(scores: Distribution, levels: FloatArray) -> FloatArray:
    return _standardise(scores, scores.quantile(levels))


def _find_truths(means: FloatArray, scores: Distribution) -> dict[str, float]:
    """The four summaries of tasks with these means and endlessly many replicates."""
    runs = (means[:, None] + WITHIN * _draw_centred(scores, _MIDDLES)).ravel()
    return {
        "mean": float(means.mean()),
        "median": float(np.median(means)),
        "interquartile mean": float(interquartile_mean(runs)),
        "optimality gap": float(optimality_gap(runs)),
    }


def _find_covered(
    result: AggregateScores, truths: dict[str, float]
) -> Iterator[tuple[str, list[bool]]]:
    for name, truth in truths.items():
        found = getattr(result, name.replace(" ", "_"))
        yield name, ((found.low <= truth) & (truth <= found.high)).tolist()
