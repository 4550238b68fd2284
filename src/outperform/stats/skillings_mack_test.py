"""Several competitors on tasks that not all of them have done, compared by their ranks."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc

from outperform.errors import InvalidScores, TooFewRuns
from outperform.plain_values import Plain
from outperform.stats.checks import FloatArray, as_scores_with_gaps, check_count
from outperform.stats.chunks import divide_rows
from outperform.stats.hypothesis_test import permutation_pvalue
from outperform.stats.task_ranks import average_ranks

BoolArray = NDArray[np.bool_]

_BLOCK_CELLS = 1 << 17  # ranks held at once: 1 MB


@dataclass(frozen=True, slots=True)
class SkillingsMackTest(Plain):
    """Evidence against "all competitors are alike", with gaps in the table."""

    statistic: float
    df: int  # of chi-square: competitors less one, less in a table that falls apart
    chi2_pvalue: float
    permutation_pvalue: float
    n_tasks: int  # with two scores or more
    n_dropped: int  # tasks with fewer, which say nothing
    n_resamples: int


def skillings_mack(
    scores: ArrayLike, *, n_resamples: int = 10_000, rng: np.random.Generator
) -> SkillingsMackTest:
    """Test whether any competitor tends to rank differently, where scores are missing.

    Scores are ranked within each task among those that are there; a gap has the mean rank of its
    task. Gaps are taken to be unrelated to how good a competitor is: where the bad ones are left
    out, the test is wrong. Without gaps the statistic is Friedman's, not corrected for ties. The
    permutation p-value shuffles the scores of each task among those who have one, ties included;
    take that, and chi-square where there are many tasks and few ties.

    Where competitors fall into groups that have no task in common, only those of one group are
    compared, and `df` is the number of competitors less that of groups.

    Parameters
    ----------
    scores : shape (n_tasks, n_competitors), higher is better; NaN where there is none

    References
    ----------
    Skillings and Mack (1981), On the use of a Friedman-type statistic in balanced and unbalanced
    block designs.

    Examples
    --------
    >>> nan = float("nan")
    >>> scores = [[0.9, 0.8, 0.7], [0.8, nan, 0.6], [0.6, 0.5, nan], [0.3, 0.2, 0.1]]
    >>> test = skillings_mack(scores, rng=np.random.default_rng(0))
    >>> round(test.statistic, 2), test.df, round(test.chi2_pvalue, 3)
    (5.83, 2, 0.054)
    """
    check_count("n_resamples", n_resamples, at_least=100)
    centred, seen, n_dropped = _centre_ranks(scores)
    root, df = _invert_covariance(seen)
    statistic = _measure(centred, root)
    null = [
        _measure(_shuffle(centred, seen, n_rows, rng), root)
        for n_rows in divide_rows(n_resamples, centred.size, limit=_BLOCK_CELLS)
    ]
    pvalue = permutation_pvalue(
        statistic, np.sort(np.concatenate(null)), "greater", exact=False, rounding=1e-9
    )
    return SkillingsMackTest(
        float(statistic),
        df,
        float(chdtrc(df, statistic)),
        float(pvalue),
        len(centred),
        n_dropped,
        n_resamples,
    )


def _centre_ranks(scores: ArrayLike) -> tuple[FloatArray, BoolArray, int]:
    """Ranks about the mean of their task, 0 in gaps, in units in which all tasks count alike.

    Of the tasks with two scores or more; with where there are scores, and how many others.
    """
    array = as_scores_with_gaps(scores, "scores")
    if array.ndim != 2 or array.shape[1] < 2:
        raise InvalidScores(
            f"scores has shape {array.shape}",
            "Pass one row per task and one column for each of two competitors or more",
        )
    seen = ~np.isnan(array)
    kept = seen.sum(axis=1) >= 2
    if np.count_nonzero(kept) < 2:
        raise TooFewRuns(
            f"scores has {np.count_nonzero(kept)} task(s) with two scores or more",
            "At least 2 are needed",
        )
    centred = np.zeros(array.shape)
    for i in np.flatnonzero(kept):
        n = np.count_nonzero(seen[i])
        ranks = average_ranks(np.asarray(scores)[i : i + 1, seen[i]])
        centred[i, seen[i]] = np.sqrt(12 / (n + 1)) * (ranks - (n + 1) / 2)
    return centred[kept], seen[kept], int(np.count_nonzero(~kept))


def _invert_covariance(seen: BoolArray) -> tuple[FloatArray, int]:
    """Matrix whose product with its transpose is the inverse of the covariance; its rank."""
    together = seen.T.astype(float) @ seen
    # That of the sums of ranks in these units: minus the tasks that two have in common.
    values, vectors = np.linalg.eigh(np.diag(together.sum(axis=1)) - together)
    positive = values > 1e-9 * values.max()
    return vectors[:, positive] / np.sqrt(values[positive]), int(np.count_nonzero(positive))


def _measure(centred: FloatArray, root: FloatArray) -> FloatArray:
    """Statistic of tables (..., n_tasks, n_competitors)."""
    return np.asarray(np.square(centred.sum(axis=-2) @ root).sum(axis=-1))


def _shuffle(
    centred: FloatArray, seen: BoolArray, n_shuffles: int, rng: np.random.Generator
) -> FloatArray:
    """Tables with the ranks of each task in random order, and the gaps where they are."""
    keys = rng.random((n_shuffles, *centred.shape))
    keys[:, ~seen] = 2  # gaps last
    places = np.argsort(keys, axis=-1)
    # Ranks first, then the zeros of gaps; which ranks come first does not matter.
    ordered = np.take_along_axis(centred, np.argsort(~seen, axis=1, kind="stable"), axis=1)
    tables = np.empty(keys.shape)
    np.put_along_axis(tables, places, np.broadcast_to(ordered, keys.shape), axis=-1)
    return tables
