"""On how many of several tasks there is a difference, and on which."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc

from outperform.plain_values import Plain
from outperform.stats.checks import FloatArray, as_pvalues, check_choice, check_open_unit
from outperform.stats.pvalue_corrections import holm

Combination = Literal["bonferroni", "fisher"]


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
    combined = _combine_fisher(ordered) if method == "fisher" else _combine_bonferroni(ordered)
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


def _combine_bonferroni(ordered: FloatArray) -> FloatArray:
    return np.minimum(1, np.arange(ordered.shape[-1], 0, -1) * ordered)


def _combine_fisher(ordered: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):  # a p-value of 0 leaves no doubt
        logs = np.log(ordered)
    total = np.cumsum(logs[..., ::-1], axis=-1)[..., ::-1]
    df = 2 * np.arange(ordered.shape[-1], 0, -1)
    return np.asarray(chdtrc(df, -2 * total))
