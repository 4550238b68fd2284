"""P-values of several tests at once, corrected for their number.

Each correction takes the p-values of one family along an axis and gives every test its adjusted
p-value, in the place of its own: a test is rejected at level alpha where that is at most alpha.
"""

import numpy as np
from numpy.typing import ArrayLike

from outperform.stats.checks import FloatArray, as_pvalues


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
