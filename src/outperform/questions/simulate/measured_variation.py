"""How much scores of a user's own study vary, measured from its store, as scenarios."""

import math
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from outperform.errors import InvalidInput
from outperform.questions.simulate.scenarios import IDEAL, Scenario, describe_variation
from outperform.stats.checks import FloatArray
from outperform.stats.intraclass_correlation import RepeatedMeans, repeated_means
from outperform.stats.variances import deviation
from outperform.store import Store
from outperform.store.repeated_runs import RepeatedRuns
from outperform.store.store import use_store

_FEW_REPETITIONS = 10
_REPEAT = 'Give the study a [[design]] with kind = "fix-hopt", replicates = 20 and repetitions = 20'
_COMMON = (
    "by how much the mean of a design is off on average is taken to be the same for A and B; "
    "where ρ may be larger than estimated, as its interval says, errors may be more frequent"
)


def measure_variation(
    store: str | Path | Store, *, pipelines: Collection[str] = (), task: str | None = None
) -> tuple[Scenario, ...]:
    """Measure σ of a study's ideal runs, and the bias and ρ of its repeated fix-hopt runs.

    Parameters
    ----------
    store
        Of the study, or its address.
    pipelines, task
        Those to measure; all by default.

    Returns
    -------
    The ideal scenario, and one per pipeline, task and repeated fix-hopt design. Their notes
    say what was measured, and how sure that is.

    References
    ----------
    Bouthillier et al. (2021), Accounting for Variance in ML Benchmarks, equations 7 and 8.
    """
    with use_store(store) as opened:
        measured = RepeatedRuns.of(opened)
    notes: list[str] = []
    biased: list[Scenario] = []
    for name, where in measured.choose_pairs(pipelines, task):
        title = f"{name} on {where}"
        ideal = np.array([*measured.find_ideal(name, where).values()])
        if _varies(ideal):
            notes.append(f"{title}: σ = {deviation(ideal)} over {ideal.size} ideal runs")
        for source in measured.count_repeats("fix-hopt"):
            scores, _, n_incomplete = measured.find_repetitions("fix-hopt", source, name, where)
            if len(scores) >= 2:
                scenario = _describe(f"{title}, {source}", scores, ideal)
                doubts = _find_doubts(scenario.name, len(scores), n_incomplete)
                biased.append(replace(scenario, notes=(*scenario.notes, *doubts)))
    if not (notes or biased):
        raise InvalidInput(
            f"{measured.address} has neither two ideal runs that differ nor two whole "
            "repetitions of fix-hopt",
            f"{_REPEAT} and run it",
        )
    notes.append(_COMMON if biased else f"no bias was measured: {_REPEAT} to see that of fix-hopt")
    return (replace(IDEAL, notes=(*notes, *measured.notes)), *biased)


def _describe(name: str, scores: FloatArray, ideal: FloatArray) -> Scenario:
    """Scenario of one repeated design; σ is that of the ideal runs, where there are such."""
    if scores.shape[1] < 2 or not np.ptp(scores, axis=1).any():
        raise InvalidInput(
            f"the runs of each repetition of fix-hopt ({name}) do not vary",
            "Give the design two or more replicates, and let it redraw a source that matters",
        )
    means = repeated_means(scores)
    total = means.within_variance + means.shared_variance
    scenario = describe_variation(
        float(ideal.std(ddof=1)) if _varies(ideal) else math.sqrt(total),
        bias_sd=math.sqrt(means.shared_variance),
        conditional_sd=math.sqrt(means.within_variance),
        name=name,
    )
    return replace(scenario, notes=(_describe_repetitions(name, means, ideal),))


def _varies(scores: FloatArray) -> bool:
    return scores.size >= 2 and bool(np.ptp(scores) > 0)


def _describe_repetitions(name: str, means: RepeatedMeans, ideal: FloatArray) -> str:
    measured = (
        f"{name}: {means.n_repetitions} repetitions of {means.n_scores} runs; standard deviation "
        f"of the bias {math.sqrt(means.shared_variance):.3g}, of runs around it "
        f"{math.sqrt(means.within_variance):.3g}, ρ = {means.correlation}"
    )
    if not _varies(ideal):
        return f"{measured}; without ideal runs, σ is taken from these"
    off = means.mean - float(ideal.mean())
    error = math.hypot(means.mean_error, float(ideal.std(ddof=1)) / math.sqrt(ideal.size))
    squared = means.mean_variance + off**2  # equation 8
    return (
        f"{measured}; its mean is off the ideal one by {off:.2g} ± {error:.2g}, with a mean "
        f"squared error of {squared:.2g}"
    )


def _find_doubts(name: str, n_repetitions: int, n_incomplete: int) -> Iterator[str]:
    if n_incomplete:
        yield f"{name}: {n_incomplete} repetition(s) with failed or missing runs were left out"
    if n_repetitions < _FEW_REPETITIONS:
        yield f"{name}: {n_repetitions} repetitions are few: the bias is rough"
