"""P-values of several tests at once, corrected for their number.

Each correction takes the p-values of one family along an axis and gives every test its adjusted
p-value, in the place of its own: a test is rejected at level alpha where that is at most alpha.
`partial_conjunction` counts instead on how many tasks there is a difference.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc

from outperform.plain_values import Plain
from outperform.stats.checks import FloatArray, as_pvalues, check_choice, check_open_unit

Combination = Literal["bonferroni", "fisher"]


def bonferroni(pvalues: ArrayLike, *, axis: int = -1) -> FloatArray:
    """Multiply p-values by their number, up to 1.

    The chance of any false rejection is at most alpha, however the tests depend on one another.
    `holm` promises the same, and rejects at least as much.

    Parameters
    ----------
    pvalues : any shape; the tests of one family lie along `axis`

    Examples
    --------
    >>> bonferroni([0.01, 0.04, 0.5])
    array([0.03, 0.12, 1.  ])
    """
    family = as_pvalues(pvalues, axis=axis)
    return np.moveaxis(np.minimum(1, family.shape[-1] * family), -1, axis)


def holm(pvalues: ArrayLike, *, axis: int = -1) -> FloatArray:
    """Adjust p-values such that any false rejection has a chance of at most alpha.

    The smallest of n is multiplied by n, the next by n - 1, and so on, and none may be below one
    before it. Holds however the tests depend on one another.

    Parameters
    ----------
    pvalues : any shape; the tests of one family lie along `axis`

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure.

    Examples
    --------
    >>> holm([0.04, 0.01, 0.03])
    array([0.06, 0.03, 0.06])
    """
    family = as_pvalues(pvalues, axis=axis)
    order = np.argsort(family, axis=-1)
    n_left = np.arange(family.shape[-1], 0, -1)
    scaled = n_left * np.take_along_axis(family, order, axis=-1)
    return _unsort(np.maximum.accumulate(scaled, axis=-1), order, axis)


def benjamini_hochberg(pvalues: ArrayLike, *, axis: int = -1) -> FloatArray:
    """Adjust p-values such that at most a share alpha of rejections is false, on average.

    The i-th smallest of n is multiplied by n / i, and none may be above one after it. Holds for
    tests that are independent, or that depend positively on one another.

    Parameters
    ----------
    pvalues : any shape; the tests of one family lie along `axis`

    References
    ----------
    Benjamini and Hochberg (1995), Controlling the false discovery rate.

    Examples
    --------
    >>> benjamini_hochberg([0.04, 0.01, 0.03])
    array([0.04, 0.03, 0.04])
    """
    family = as_pvalues(pvalues, axis=axis)
    n = family.shape[-1]
    order = np.argsort(family, axis=-1)
    scaled = n / np.arange(1, n + 1) * np.take_along_axis(family, order, axis=-1)
    lowest = np.minimum.accumulate(scaled[..., ::-1], axis=-1)[..., ::-1]
    return _unsort(lowest, order, axis)


def _unsort(adjusted: FloatArray, order: np.ndarray, axis: int) -> FloatArray:
    """Put sorted values back to where they came from, and none above 1."""
    placed = np.empty_like(adjusted)
    np.put_along_axis(placed, order, np.minimum(1, adjusted), axis=-1)
    return np.moveaxis(placed, -1, axis)


@dataclass(frozen=True, slots=True)
class PartialConjunction(Plain):
    """On how many tasks a is better, at least, and on which: arrays gain the leading axes."""

    pvalues: FloatArray  # (n_tasks,): entry u - 1 tests "better on fewer than u tasks"
    n_better: Any  # lower confidence bound of the number of tasks on which a is better
    holm_pvalues: FloatArray  # (n_tasks,), of the tasks in the order given
    better: Any  # (n_tasks,): on which tasks it is, all of them at once
    method: Combination
    alpha: float


def partial_conjunction(
    pvalues: ArrayLike, *, method: Combination = "bonferroni", alpha: float = 0.05
) -> PartialConjunction:
    """Test whether a is better on at least u of n tasks, for each u.

    With p_(1) <= ... <= p_(n), "bonferroni" takes (n - u + 1) p_(u), which holds however tasks
    depend on one another; "fisher" combines p_(u), ..., p_(n) by Fisher's method, which needs
    independent tasks. `n_better` is the largest u up to which all of these are at most alpha: a
    is better on so many tasks or more, with confidence 1 - alpha. Which they are, Holm's
    correction says; they are as many by "bonferroni", and may be fewer by "fisher".

    Parameters
    ----------
    pvalues : shape (..., n_tasks)
        One-sided, one of each task.

    References
    ----------
    Benjamini and Heller (2008), Screening for partial conjunction hypotheses; Dror et al. (2017),
    Replicability analysis for natural language processing.

    Examples
    --------
    >>> shown = partial_conjunction([0.3, 0.001, 0.02, 0.011])
    >>> shown.n_better, shown.better
    (3, array([False,  True,  True,  True]))
    """
    check_choice("method", method, get_args(Combination))
    check_open_unit("alpha", alpha)
    family = as_pvalues(pvalues)
    ordered = np.sort(family, axis=-1)
    combined = np.minimum(1, np.arange(ordered.shape[-1], 0, -1) * ordered)
    if method == "fisher":
        combined = _combine_fisher(ordered)
    # One u that fails ends it: else every u would be one more chance to claim too many tasks.
    n_better = np.logical_and.accumulate(combined <= alpha, axis=-1).sum(axis=-1)
    adjusted = holm(family)
    return PartialConjunction(
        combined,
        int(n_better) if family.ndim == 1 else n_better,
        adjusted,
        adjusted <= alpha,
        method,
        alpha,
    )


def _combine_fisher(ordered: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):  # a p-value of 0 leaves no doubt
        logs = np.log(ordered)
    total = np.cumsum(logs[..., ::-1], axis=-1)[..., ::-1]
    df = 2 * np.arange(ordered.shape[-1], 0, -1)
    return np.asarray(chdtrc(df, -2 * total))
