"""One number over many tasks, from scores that were made comparable first.

A mean over tasks says something only where all scores are in one unit, such as the way from a
baseline (0) to a target (1) of each task.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from outperform.errors import InvalidInput
from outperform.stats.checks import FloatArray, as_samples
from outperform.stats.hypothesis_test import unwrap


def interquartile_mean(scores: ArrayLike, *, axis: int = -1) -> float | FloatArray:
    """Mean of the scores that are left without the lowest and the highest quarter.

    A quarter is rounded down to whole scores: of fewer than 4, none is left out.

    Parameters
    ----------
    scores : any shape; the scores of one mean lie along `axis`

    References
    ----------
    Agarwal et al. (2021), Deep reinforcement learning at the edge of the statistical precipice.

    Examples
    --------
    >>> interquartile_mean([0.1, 0.5, 0.6, 9.0])
    0.55
    """
    ordered = np.sort(as_samples(scores, "scores", axis=axis), axis=-1)
    n = ordered.shape[-1]
    mean: float | FloatArray = unwrap(np.asarray(ordered[..., n // 4 : n - n // 4].mean(axis=-1)))
    return mean


def optimality_gap(scores: ArrayLike, *, target: float = 1.0, axis: int = -1) -> float | FloatArray:
    """How far scores fall short of a target on average: here, lower is better.

    A score above the target counts as one that meets it, so that no task makes up for another.

    Parameters
    ----------
    scores : any shape, higher is better; the scores of one gap lie along `axis`

    References
    ----------
    Agarwal et al. (2021), Deep reinforcement learning at the edge of the statistical precipice.

    Examples
    --------
    >>> optimality_gap([0.5, 0.75, 3.0, 1.0])
    0.1875
    """
    if not math.isfinite(target):
        raise InvalidInput(f"target is {target}", "Pass the score that counts as solved")
    samples = as_samples(scores, "scores", axis=axis)
    gap: float | FloatArray = unwrap(np.asarray(np.maximum(target - samples, 0).mean(axis=-1)))
    return gap
