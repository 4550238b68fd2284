"""Whether the surrogate of a search may be believed: the three limitations of simulated searches.

They are measured: smoothness and homoscedasticity (`Fidelity`), and how well the search has
explored where optima are (`Remoteness`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from outperform.errors import InvalidScores
from outperform.study.gaussian_process import FloatArray

TELLING = 20  # trials from which it shows what a surrogate is worth, and whether tails are heavy
_LEVEL = 0.01  # of the tests behind doubts
_ONE_SIDED = 1.645  # standard errors by which a surrogate must explain something
_FEW = 0.5  # share of the spread; a surrogate that explains less is doubted
_EXACT = 0.99  # beyond which errors, below a tenth of the spread, may be distributed as they like
_MANY_REMOTE = 0.2  # share of simulated optima


@dataclass(frozen=True, slots=True)
class Fidelity:
    """How well each trial is predicted from all others."""

    r_squared: float  # share of the scores' variance explained; below 0: the mean predicts better
    r_squared_error: float  # its standard error
    error: float  # root mean square of the errors, in units of scores
    spread: float  # that of the scores around their mean
    tails: float  # p-value against normal errors: small where few trials are far off, as by a jump
    trend: float  # rank correlation of the errors' size with the prediction: 0 if alike everywhere
    trend_p: float  # its p-value


@dataclass(frozen=True, slots=True)
class Remoteness:
    """How far the optima of simulated searches lie from every trial, in length scales."""

    distance: float  # the median
    share_remote: float  # beyond one length scale, where predictions are guesses


def average_left_out(
    y: FloatArray, means: FloatArray, sds: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of each observation given all others, over a chain.

    The chain has seen the observation that is left out: samples that suit it are weighted down,
    by the inverse of its density, to what a chain without it would have drawn. Else pure noise
    would seem to be explained (Gelfand, Dey & Chang, 1992, Model determination using predictive
    distributions). Means and standard deviations are (samples, n), from `leave_one_out`.
    """
    log_weights = 0.5 * ((y - means) / sds) ** 2 + np.log(sds)
    weights = np.exp(log_weights - log_weights.max(axis=0))
    weights /= weights.sum(axis=0)
    mean = (weights * means).sum(axis=0)
    variance = (weights * (sds**2 + (means - mean) ** 2)).sum(axis=0)
    return mean, np.sqrt(variance)


def measure_fidelity(scores: FloatArray, predicted: FloatArray, sd: FloatArray) -> Fidelity:
    """Compare scores with what the others predict of them, and its standard deviation."""
    from scipy.stats import kurtosistest, spearmanr

    n = len(scores)
    errors = scores - predicted
    around_mean = (scores - scores.mean()) * n / (n - 1)  # each left out of its own mean
    variance = float(np.mean(around_mean**2))
    unexplained = float(np.mean(errors**2)) / variance
    # How much each trial moves a ratio of means, to first order.
    influences = (errors**2 - unexplained * around_mean**2) / variance
    tails = kurtosistest(errors / sd, alternative="greater").pvalue if n >= TELLING else 1.0
    trend = spearmanr(np.abs(errors), predicted)
    return Fidelity(
        r_squared=1 - unexplained,
        r_squared_error=float(np.std(influences, ddof=1)) / math.sqrt(n),
        error=math.sqrt(unexplained * variance),
        spread=math.sqrt(variance),
        tails=float(tails),
        trend=float(trend.statistic),
        trend_p=float(trend.pvalue),
    )


def measure_remoteness(
    optima: FloatArray, trials: FloatArray, scales: Sequence[float] | FloatArray
) -> Remoteness:
    """Distances of optima (m, columns) from the nearest of the trials (n, columns)."""
    from scipy.spatial.distance import cdist

    nearest = cdist(optima / scales, trials / scales).min(axis=1)
    return Remoteness(float(np.median(nearest)), float(np.mean(nearest > 1)))


def refuse_unexplained(fidelity: Fidelity) -> None:
    """Refuse a surrogate that explains nothing: searches on it would choose at random."""
    if fidelity.r_squared <= _ONE_SIDED * fidelity.r_squared_error:
        raise InvalidScores(
            f"the surrogate explains nothing of the search: leave-one-out R² is "
            f"{fidelity.r_squared:.2f} ± {fidelity.r_squared_error:.2f}, not above 0 beyond noise",
            "Search longer or in a wider space, or hold the hyperparameters fixed: what they are "
            "seems to matter less than the noise of a fit",
        )


def list_doubts(fidelity: Fidelity, remoteness: Remoteness) -> tuple[str, ...]:
    """Sentences on smoothness, representativity and homoscedasticity, where they are in doubt."""
    doubts = []
    if fidelity.r_squared < _FEW:
        doubts.append(
            f"the surrogate explains {fidelity.r_squared:.0%} of the spread of the trials "
            f"(leave-one-out error {fidelity.error:.3g}, spread {fidelity.spread:.3g}): scores may "
            "not be smooth in the hyperparameters, or noise is large"
        )
    matters = fidelity.r_squared < _EXACT
    if matters and fidelity.tails < _LEVEL:
        doubts.append(
            f"a few trials are far from what all others predict (p = {fidelity.tails:.2g}): scores "
            "may jump somewhere, where the surrogate is smooth"
        )
    if remoteness.share_remote > _MANY_REMOTE:
        doubts.append(
            f"{remoteness.share_remote:.0%} of the simulated optima lie more than a length scale "
            "from every trial: the search has not explored where they are"
        )
    if matters and fidelity.trend_p < _LEVEL:
        doubts.append(
            f"errors {'grow' if fidelity.trend > 0 else 'shrink'} with the predicted score (rank "
            f"correlation {fidelity.trend:.2f}, p = {fidelity.trend_p:.2g}): the noise is not the "
            "same everywhere, as the surrogate takes it to be"
        )
    return tuple(doubts)
