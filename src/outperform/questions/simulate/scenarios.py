"""What scores are like in a simulation: ideal, biased as published, or as a store measured them."""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np

from outperform.errors import InvalidInput
from outperform.questions.simulate.result import IDEAL_NAME
from outperform.runs.case_studies import BIASED_DESIGNS, CaseStudy, read_case_studies
from outperform.runs.scope import Resplit
from outperform.stats.checks import FloatArray
from outperform.stats.decision_rules import NormalScores
from outperform.stats.variance_sources import RepeatedMeans, repeated_means
from outperform.stats.variances import deviation
from outperform.store import Store
from outperform.store.repeated_runs import LEFT_OUT, RepeatedRuns, varies
from outperform.store.store import use_store
from outperform.wording import count, suggest_names

DESIGNS = (IDEAL_NAME, *BIASED_DESIGNS)  # what is redrawn for each run
RESPLITS_NAME = "re-splits of one dataset"
_FEW_REPETITIONS = 10
_REPEAT = 'Give the study a [[design]] with kind = "fix-hopt", replicates = 20 and repetitions = 20'
_COMMON = (
    "by how much the mean of a design is off on average is taken to be the same for A and B; "
    "where ρ may be larger than estimated, as its interval says, errors may be more frequent"
)


@dataclass(frozen=True, slots=True)
class Scenario:
    """Normal scores of two algorithms, in units of their standard deviation σ."""

    name: str
    scores: NormalScores
    notes: tuple[str, ...] = ()


IDEAL = Scenario(IDEAL_NAME, NormalScores())


def describe_variation(
    sigma: float,
    *,
    bias_sd: float | None = None,
    conditional_sd: float | None = None,
    correlation: float | None = None,
    name: str = "biased",
) -> Scenario:
    """Scenario of a study whose variation was measured.

    Parameters
    ----------
    sigma
        Standard deviation of a score over all that may vary.
    bias_sd
        Standard deviation of a design's mean over what it fixes, √Var(μ̃|ξ).
    conditional_sd
        Standard deviation of scores with that fixed, √Var(R̂|ξ); sigma if not known.
    correlation
        Instead of these two, the correlation ρ of scores with that fixed: they are √ρ·σ and
        √(1 − ρ)·σ then.

    Examples
    --------
    >>> describe_variation(0.02, correlation=0.36).scores
    NormalScores(spread=0.8, bias=0.6)
    """
    if not (sigma > 0 and math.isfinite(sigma)):
        raise InvalidInput(f"sigma is {sigma:g}", "Pass a positive standard deviation")
    if correlation is not None:
        if bias_sd is not None or conditional_sd is not None:
            raise InvalidInput(
                "a correlation was given together with the standard deviations it stands for",
                "Pass either the correlation, or the standard deviation of the bias",
            )
        if not 0 <= correlation < 1:
            raise InvalidInput(
                f"the correlation is {correlation:g}", "Pass a value from 0 up to, not including, 1"
            )
        return Scenario(name, NormalScores(math.sqrt(1 - correlation), math.sqrt(correlation)))
    spread = sigma if conditional_sd is None else conditional_sd
    return Scenario(name, NormalScores(spread / sigma, (bias_sd or 0) / sigma))


def describe_resplits(resplit: Resplit) -> Scenario:
    """Scenario of runs that divide one dataset anew, as Nadeau and Bengio (2003) take them.

    Two runs correlate by ρ = n_test / (n_train + n_test): they share the luck of the dataset.

    >>> describe_resplits(Resplit(640, 360)).scores
    NormalScores(spread=0.8, bias=0.6)
    """
    rho = resplit.n_test / (resplit.n_train + resplit.n_test)
    note = (
        f"{RESPLITS_NAME}: runs that divide one dataset anew share its luck, and are taken to "
        f"correlate by {rho:.2g}, the share of a test set in what a run uses; equals are equals "
        "over all data, so that more pairs find ever more often who is ahead on this dataset"
    )
    return replace(describe_variation(1.0, correlation=rho, name=RESPLITS_NAME), notes=(note,))


def read_scenarios(
    path: str | Path,
    *,
    cases: Sequence[str] = (),
    designs: Sequence[str] = (IDEAL_NAME, "all"),
    n_runs: int = 50,
) -> tuple[Scenario, ...]:
    """Read scenarios of case studies from the JSON that Bouthillier et al. (2021) published.

    With the ideal design all case studies are alike, so that it comes once.

    Parameters
    ----------
    path
        Of {task: {"sigma": σ, "sigma_epsilon": {k: {design: standard deviation}}}}.
    cases
        Case studies to keep; all by default.
    designs
        Of ``"ideal"``, ``"init"``, ``"data"`` and ``"all"``: what is redrawn for each run.
    n_runs
        Runs that the mean is taken over: the bias measured at the nearest number is used.
    """
    return list_scenarios(read_case_studies(path, cases), designs, n_runs)


def list_scenarios(
    cases: Iterable[CaseStudy], designs: Sequence[str], n_runs: int
) -> tuple[Scenario, ...]:
    """List scenarios of case studies, as `read_scenarios` does."""
    for design in designs:
        if design not in DESIGNS:
            raise InvalidInput(f"there is no design {design!r}", suggest_names(design, DESIGNS))
    scenarios = [IDEAL] if IDEAL_NAME in designs else []
    biased = [name for name in designs if name != IDEAL_NAME]
    for case, design in product(cases, biased):
        bias, k = case.find_bias(design, n_runs)
        nearest = min(case.bias_sd[design], key=lambda size: (abs(size - n_runs), size))
        scenario = describe_variation(case.sd, bias_sd=bias, name=f"{case.name}, {design}")
        if k != nearest:
            note = f"the bias of the design {design} is NaN at k = {nearest}; that at k = {k} was "
            scenario = replace(scenario, notes=(f"{case.name}: {note}taken",))
        scenarios.append(scenario)
    return tuple(scenarios)


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
    pairs = measured.choose_pairs(pipelines, task)
    for name, where in pairs:
        title = f"{name} on {where}"
        ideal = np.array([*measured.find_ideal(name, where).values()])
        if varies(ideal):
            notes.append(f"{title}: σ = {deviation(ideal)} over {ideal.size} ideal runs")
        for source in measured.count_repeats("fix-hopt"):
            scores, _, n_incomplete = measured.find_repetitions("fix-hopt", source, name, where)
            if len(scores) >= 2:
                biased.append(_describe(f"{title}, {source}", scores, ideal, n_incomplete))
    if not (notes or biased):
        raise InvalidInput(
            f"{measured.address} has neither two ideal runs that differ nor two whole "
            "repetitions of fix-hopt",
            f"{_REPEAT} and run it",
        )
    notes.append(_COMMON if biased else f"no bias was measured: {_REPEAT} to see that of fix-hopt")
    notes += [*measured.describe_missing(pairs), *measured.notes]
    return (replace(IDEAL, notes=tuple(notes)), *biased)


def _describe(name: str, scores: FloatArray, ideal: FloatArray, n_incomplete: int) -> Scenario:
    """Scenario of one repeated design; σ is that of the ideal runs, where there are such."""
    if scores.shape[1] < 2 or not np.ptp(scores, axis=1).any():
        raise InvalidInput(
            f"the runs of each repetition of fix-hopt ({name}) do not vary",
            "Give the design two or more replicates, and let it redraw a source that matters",
        )
    means = repeated_means(scores)
    bias, within = math.sqrt(means.shared_variance), math.sqrt(means.within_variance)
    total = math.sqrt(means.within_variance + means.shared_variance)
    sigma = float(ideal.std(ddof=1)) if varies(ideal) else total
    notes = [_describe_repetitions(name, means, ideal)]
    if n_incomplete:
        notes += [f"{name}: left out {count(n_incomplete, 'repetition')} {LEFT_OUT}"]
    if len(scores) < _FEW_REPETITIONS:
        notes += [f"{name}: {len(scores)} repetitions are few: the bias is rough"]
    scenario = describe_variation(sigma, bias_sd=bias, conditional_sd=within, name=name)
    return replace(scenario, notes=tuple(notes))


def _describe_repetitions(name: str, means: RepeatedMeans, ideal: FloatArray) -> str:
    measured = (
        f"{name}: {means.n_repetitions} repetitions of {means.n_scores} runs; standard deviation "
        f"of the bias {math.sqrt(means.shared_variance):.3g}, of runs around it "
        f"{math.sqrt(means.within_variance):.3g}, ρ = {means.correlation}"
    )
    if not varies(ideal):
        return f"{measured}; without ideal runs, σ is taken from these"
    off = means.mean - float(ideal.mean())
    error = math.hypot(means.mean_error, float(ideal.std(ddof=1)) / math.sqrt(ideal.size))
    squared = means.mean_variance + off**2  # equation 8
    return (
        f"{measured}; its mean is off the ideal one by {off:.2g} ± {error:.2g}, with a mean "
        f"squared error of {squared:.2g}"
    )
