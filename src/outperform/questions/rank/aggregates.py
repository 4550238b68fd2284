"""One number over all tasks, from scores that are made comparable first."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from outperform.errors import InvalidInput, TooFewRuns
from outperform.plain_values import Plain
from outperform.questions.rank.grids import Grids
from outperform.questions.rank.pairs import Terms
from outperform.runs import Runs
from outperform.runs.task_references import (
    check_references,
    check_ways,
    read_references,
    take_references,
)
from outperform.stats import (
    AggregateScores,
    PerformanceProfiles,
    aggregate_scores,
    average_ranks,
    performance_profiles,
)
from outperform.stats.checks import FloatArray

Normalization = Literal["baseline", "range", "rank"]
SUMMARIES = ("mean", "median", "interquartile_mean", "optimality_gap")
_N_THRESHOLDS = 101
_N_RESAMPLES = 2_000


@dataclass(frozen=True, slots=True)
class Aggregates(Plain):
    """Normalised scores over all tasks."""

    JSON = "normalize algorithms"

    normalize: Normalization
    names: tuple[str, ...]
    scores: AggregateScores = field(repr=False)
    profiles: PerformanceProfiles = field(repr=False)

    @property
    def algorithms(self) -> list[dict[str, Any]]:
        """Every algorithm's numbers, each with its interval."""
        return [
            {"name": name, **{each: self._pick(each, place) for each in SUMMARIES}}
            for place, name in enumerate(self.names)
        ]

    def _pick(self, summary: str, place: int) -> dict[str, float]:
        bounds = getattr(self.scores, summary)
        return {part: float(getattr(bounds, part)[place]) for part in ("estimate", "low", "high")}


def aggregate(
    grids: Grids, table: Runs, normalize: Normalization | None, references: Any, terms: Terms
) -> Aggregates | None:
    """Aggregate scores over tasks; None where nothing says how to compare them."""
    if normalize != "baseline" and references is not None:
        raise InvalidInput(
            "references say where 0 and 1 are for normalising by a baseline only",
            "Add --normalize baseline (normalize='baseline' in Python), or leave them out",
        )
    if normalize is None:
        return None
    complete = grids.complete
    if not all(grid.shape[1] for grid in complete):
        raise TooFewRuns(
            "scores cannot be aggregated over tasks that have no replicate of all algorithms",
            "Pass --complete to leave such tasks out, or leave out --normalize",
        )
    scaled = [*_normalize(grids, complete, table, normalize, references)]
    about = {
        "tasks": terms.tasks_are,
        "families": grids.family.tolist(),
        "shared": table.replicates is not None,
        "confidence_level": 1 - terms.alpha,
        "n_resamples": _N_RESAMPLES,
    }
    lowest = min(0.0, *(float(grid.min()) for grid in scaled))
    highest = max(1.0, *(float(grid.max()) for grid in scaled))
    thresholds = np.linspace(lowest, highest, _N_THRESHOLDS)
    return Aggregates(
        normalize,
        grids.algorithms,
        aggregate_scores(scaled, rng=np.random.default_rng(terms.seed), **about),
        performance_profiles(scaled, thresholds, rng=np.random.default_rng(terms.seed), **about),
    )


def _normalize(
    grids: Grids,
    complete: tuple[FloatArray, ...],
    table: Runs,
    normalize: Normalization,
    references: Any,
) -> Iterator[FloatArray]:
    """Scores of each task on one scale, higher is better."""
    known = _find_references(grids, table, references) if normalize == "baseline" else {}
    for task, goal, grid in zip(grids.tasks, grids.goals, complete, strict=True):
        if normalize == "rank":
            k = len(grid)
            yield (k - average_ranks(grid.T[:, None, :]).T) / (k - 1)
        elif normalize == "range":
            span = grid.max() - grid.min()
            yield (grid - grid.min()) / span if span > 0 else np.zeros_like(grid)
        else:
            baseline, target = known[task]
            own = grid if goal == "maximize" else -grid
            yield (own - baseline) / (target - baseline)


def _find_references(
    grids: Grids, table: Runs, references: Any
) -> Mapping[str, tuple[float, float]]:
    if references is None:
        raise InvalidInput(
            "nothing says which scores are 0 and 1 on each task",
            "Pass --references FILE with the columns task, baseline and target, or two columns of "
            "the runs as --references BASELINE,TARGET; or normalise by the range or by ranks",
        )
    if isinstance(references, Mapping):
        known = dict(references)
    elif "," in str(references) and not Path(references).exists():
        known = _take_columns(table, str(references))
    else:
        known = read_references(references)
    chosen = check_references(known, grids.tasks)
    check_ways(chosen, table)
    return chosen


def _take_columns(table: Runs, columns: str) -> dict[str, tuple[float, float]]:
    names = [name.strip() for name in columns.split(",")]
    if len(names) != 2:
        raise InvalidInput(
            f"references name {len(names)} columns, {columns!r}", "Name two: baseline and target"
        )
    return take_references(table, *names)
