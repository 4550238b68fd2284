"""What scores are like in a simulation: ideal, or with the bias of a cheaper estimator."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from outperform.errors import InvalidInput
from outperform.questions.simulate.result import IDEAL_NAME
from outperform.runs.case_studies import BIASED_ESTIMATORS, CaseStudy
from outperform.runs.scope import Resplit
from outperform.stats.detection_rates import NormalScores
from outperform.wording import suggest_names

ESTIMATORS = (IDEAL_NAME, *BIASED_ESTIMATORS)
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
        Standard deviation of an estimator's mean over what it fixes, √Var(μ̃|ξ).
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


def list_scenarios(
    cases: Iterable[CaseStudy], estimators: Sequence[str], n_runs: int
) -> tuple[Scenario, ...]:
    """Scenarios of case studies; with the ideal estimator all are alike, so that it comes once.

    Parameters
    ----------
    estimators
        Of ``"ideal"``, ``"init"``, ``"data"`` and ``"all"``: what is redrawn for each run.
    n_runs
        Runs that the mean is taken over: the bias measured at the nearest number is used.
    """
    for estimator in estimators:
        if estimator not in ESTIMATORS:
            raise InvalidInput(
                f"there is no estimator {estimator!r}", suggest_names(estimator, ESTIMATORS)
            )
    ideal = (IDEAL,) if IDEAL_NAME in estimators else ()
    biased = [name for name in estimators if name != IDEAL_NAME]
    return (*ideal, *(_of_case(case, name, n_runs) for case in cases for name in biased))


def _of_case(case: CaseStudy, estimator: str, n_runs: int) -> Scenario:
    bias, k = case.find_bias(estimator, n_runs)
    nearest = min(case.bias_sd[estimator], key=lambda size: (abs(size - n_runs), size))
    notes = tuple(_note_gap(case, estimator, nearest, k))
    found = describe_variation(case.sd, bias_sd=bias, name=f"{case.name}, {estimator}")
    return Scenario(found.name, found.scores, notes)


def _note_gap(case: CaseStudy, estimator: str, wanted: int, used: int) -> Iterator[str]:
    if used != wanted:
        yield (
            f"{case.name}: the bias of the estimator {estimator} is NaN at k = {wanted}; that at "
            f"k = {used} was taken"
        )
