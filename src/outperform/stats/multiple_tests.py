"""Many tests at once: those of all pairs of competitors, and p-values corrected for their number.

Each correction takes the p-values of one family along an axis and gives every test its adjusted
p-value, in the place of its own: a test is rejected at level alpha where that is at most alpha.
`partial_conjunction` counts instead on how many tasks there is a difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc, stdtr

from outperform.errors import InvalidInput
from outperform.plain_values import Plain
from outperform.stats.checks import (
    ROUNDING,
    FloatArray,
    as_grid,
    as_pvalues,
    check_choice,
    check_open_unit,
    may_be_rounded,
    merge_pairs,
)

Counts = NDArray[np.int64]
_BLOCK = 4_000_000  # comparisons at a time
_FEWEST_VALUES = 3  # of differences whose spread says something
Combination = Literal["bonferroni", "fisher"]


def count_all_pairs(scores: ArrayLike) -> tuple[Counts, Counts, Counts]:
    """Count in how many replicates each competitor beats each other, and in how many they tie.

    An entry depends on the scores of its two competitors alone.

    Parameters
    ----------
    scores : shape (n_competitors, n_replicates)
        Higher is better; NaN where one is missing: only replicates that both have are compared.

    Returns
    -------
    Wins of the row's competitor over the column's, ties, and replicates that both have, each of
    shape (n_competitors, n_competitors).

    Examples
    --------
    >>> wins, ties, n = count_all_pairs([[3, 2, 5], [1, 2, np.nan]])
    >>> wins.tolist(), int(ties[0, 1]), int(n[0, 1])
    ([[0, 1], [0, 0]], 1, 2)
    """
    array = as_grid(scores, "scores")
    known = ~np.isnan(array)
    n = np.full((len(array), len(array)), array.shape[1], dtype=np.int64)
    if not known.all():  # seldom, and a product of matrices takes longer than all else
        n = np.asarray(known.astype(float) @ known.T).astype(np.int64)
    wins = np.empty(n.shape, dtype=np.int64)
    for rows in _split_rows(array):
        wins[rows] = np.count_nonzero(array[rows, None] > array, axis=-1)
    for i, j, a, b in _find_rounded(array):
        wins[i, j], wins[j, i] = np.count_nonzero(a > b), np.count_nonzero(b > a)
    return wins, n - wins - wins.T, n


def t_test_all_pairs(scores: ArrayLike) -> FloatArray:
    """One-sided p-values of the paired t-test of all pairs, small where the row's mean is higher.

    Differences with fewer than three values are those of coarse scores, whose spread says nothing
    of chance: there the p-value is at least that of a sign test that wins all.

    Parameters
    ----------
    scores : as of `count_all_pairs`
        Pairs that share fewer than two replicates, and those tied in all, have p = 1.

    Examples
    --------
    >>> t_test_all_pairs([[3, 5, 7, 6], [1, 2, 6, 3]]).round(4).tolist()
    [[1.0, 0.0091], [0.9909, 1.0]]
    """
    array = as_grid(scores, "scores")
    pvalues = np.ones((len(array), len(array)))
    for rows in _split_rows(array):
        pvalues[rows] = _test_pairs(array[rows, None], array)
    for i, j, a, b in _find_rounded(array):
        pvalues[i, j], pvalues[j, i] = _test_pairs(np.array([a, b]), np.array([b, a]))
    return pvalues


def _split_rows(array: FloatArray) -> Iterator[slice]:
    """Rows that may be compared with all others at a time."""
    step = max(1, _BLOCK // array.size)
    return (slice(start, start + step) for start in range(0, len(array), step))


def _find_rounded(array: FloatArray) -> Iterator[tuple[int, int, FloatArray, FloatArray]]:
    """Pairs with scores that differ, but perhaps by rounding only: hardly ever any.

    With the scores that both have, identical where they are tied.
    """
    largest = float(np.nanmax(np.abs(array), initial=0))
    ordered = np.sort(array, axis=0)  # NaN last
    if not may_be_rounded(ordered[1:], ordered[:-1], largest).any():
        return
    for rows in _split_rows(array):
        near = may_be_rounded(array[rows, None], array, largest).any(axis=-1)
        for i, j in np.argwhere(near).tolist():
            if rows.start + i < j:
                two = array[[rows.start + i, j]]
                yield rows.start + i, j, *merge_pairs(*two[:, ~np.isnan(two).any(axis=0)])


def _test_pairs(a: FloatArray, b: FloatArray) -> FloatArray:
    differences = a - b
    known = ~np.isnan(differences)
    n = known.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(known, differences, 0).sum(axis=-1) / n
        centred = np.where(known, differences - mean[..., None], 0)
        error = np.sqrt(np.square(centred).sum(axis=-1) / (n - 1) / n)
        tail = stdtr(np.maximum(n - 1, 1), -mean / error)
    rounding = ROUNDING * np.where(known, np.maximum(np.abs(a), np.abs(b)), 0)
    steps = np.diff(np.sort(differences, axis=-1), axis=-1)  # NaN last, and never a step
    n_values = 1 + (steps > rounding.max(axis=-1, keepdims=True, initial=0)).sum(axis=-1)
    tail = np.where(n_values < _FEWEST_VALUES, np.maximum(tail, 0.5**n), tail)
    # NaN: neither difference nor spread, or fewer than two of them, which is no evidence.
    return np.where(np.isnan(tail), 1.0, tail)


def maybe_best(pvalues: ArrayLike, *, alpha: float = 0.05) -> NDArray[np.bool_]:
    """Which of k competitors may be the best: the truly best is among them with 1 - alpha.

    One is ruled out where another beats it at the level alpha / (k - 1). The truly best can be
    ruled out by one of k - 1 false rejections only, so the set holds it however tests depend on
    one another. (Holm's steps over comparisons with the observed leader would rule out more, but
    the leader is chosen by the same scores, and up to 6% instead of 5% of sets miss the best.)

    Parameters
    ----------
    pvalues : shape (..., k, k)
        One-sided: entry (i, j) is small where i beats j; the diagonal does not matter.

    References
    ----------
    Hsu (1996), Multiple comparisons: theory and methods, on comparisons with the best.

    Examples
    --------
    >>> maybe_best([[1, 0.001, 0.3], [1, 1, 1], [0.7, 0.004, 1]])
    array([ True, False,  True])
    """
    check_open_unit("alpha", alpha)
    family = as_pvalues(pvalues)
    k = family.shape[-1]
    if family.ndim < 2 or family.shape[-2] != k:
        raise InvalidInput(
            f"pvalues has shape {family.shape}", "Pass one row and one column per competitor"
        )
    beaten = family <= alpha / max(1, k - 1)
    beaten &= ~np.eye(k, dtype=bool)
    may: NDArray[np.bool_] = ~beaten.any(axis=-2)
    return may


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
        with np.errstate(divide="ignore"):  # a p-value of 0 leaves no doubt
            logs = np.log(ordered)
        total = np.cumsum(logs[..., ::-1], axis=-1)[..., ::-1]
        combined = np.asarray(chdtrc(2 * np.arange(ordered.shape[-1], 0, -1), -2 * total))
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
