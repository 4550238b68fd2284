"""What scores are like in a simulation: ideal, or with the bias of a cheaper design."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from outperform.errors import InvalidInput
from outperform.questions.simulate.result import IDEAL_NAME
from outperform.runs.case_studies import BIASED_ESTIMATORS, CaseStudy, read_case_studies
from outperform.runs.scope import Resplit
from outperform.stats.detection_rates import NormalScores
from outperform.wording import suggest_names

DESIGNS = (IDEAL_NAME, *BIASED_ESTIMATORS)  # what is redrawn for each run
RESPLITS_NAME = "re-splits of one dataset"


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

    Examples
    --------
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
        Of {task: {"sigma": σ, "sigma_epsilon": {k: {estimator: standard deviation}}}}.
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
    ideal = (IDEAL,) if IDEAL_NAME in designs else ()
    biased = [name for name in designs if name != IDEAL_NAME]
    return (*ideal, *(_of_case(case, name, n_runs) for case in cases for name in biased))


def _of_case(case: CaseStudy, design: str, n_runs: int) -> Scenario:
    bias, k = case.find_bias(design, n_runs)
    nearest = min(case.bias_sd[design], key=lambda size: (abs(size - n_runs), size))
    scenario = describe_variation(case.sd, bias_sd=bias, name=f"{case.name}, {design}")
    if k == nearest:
        return scenario
    note = f"the bias of the design {design} is NaN at k = {nearest}; that at k = {k} was taken"
    return replace(scenario, notes=(f"{case.name}: {note}",))
