"""Which ranks each of several competitors may truly have, from values measured together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from outperform.errors import InvalidInput, InvalidScores, TooFewRuns
from outperform.plain_values import Plain
from outperform.stats.checks import (
    FloatArray,
    IntArray,
    as_generator,
    as_samples,
    check_choice,
    check_count,
    check_open_unit,
)
from outperform.stats.multiple_tests import holm
from outperform.stats.numerics import divide, divide_rows
from outperform.stats.task_ranks import average_ranks, merge_tied
from outperform.wording import count

RankKind = Literal["simultaneous", "marginal"]
_BLOCK = 1 << 19  # numbers held at once: 4 MB
# Of Satterthwaite's degrees of freedom: of few units they are often too many, by chance. With all
# of them sets of 20 competitors hold in 91% where tasks vary unequally, with these in 95%.
_SHARE_OF_DF = 0.8
_ROUNDING = 1e-9  # of a statistic: more than the order of its sum can do


@dataclass(frozen=True, slots=True)
class RankSets(Plain):
    """Ranks that each competitor may have, from `low` to `high`; the best has rank 1."""

    estimates: FloatArray  # (n_competitors,), mean values
    ranks: FloatArray  # (n_competitors,), of the estimates; ties share theirs
    low: IntArray  # (n_competitors,)
    high: IntArray  # (n_competitors,)
    kind: RankKind
    confidence_level: float

    def may_be_top(self, n_top: int) -> NDArray[np.bool_]:
        """Whether each may be one of the `n_top` that are truly best, shape (n_competitors,).

        With the confidence level none of these is missing, for every `n_top` at once.
        """
        check_count("n_top", n_top, at_least=1, at_most=self.low.size)
        if self.kind == "marginal":
            raise InvalidInput(
                "marginal sets are about one competitor at a time",
                'Take those of kind="simultaneous"',
            )
        return np.asarray(self.low <= n_top)


def rank_confidence_sets(
    values: ArrayLike,
    *,
    strata: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    confidence_level: float = 0.95,
    kind: RankKind = "simultaneous",
    n_resamples: int = 2_000,
    rng: np.random.Generator,
) -> RankSets:
    """Find the ranks that each of several competitors may truly have.

    One ranks below all that are surely better, and above all that are surely worse. All pairs are
    tested at once, in both directions, by the largest studentised mean difference, stepwise: what
    is found no longer raises the bar for the rest. How large it is by chance, random flips of the
    signs of whole units show. They are exact for symmetric differences, however few the units,
    where a bootstrap of 10 units tells 20 equals apart in two of three studies.

    With two `strata` or more, pairs are tested by Welch's t and Holm's correction. Where strata
    vary unequally the few units of one may decide alone, which flips do not allow for.

    Parameters
    ----------
    values : shape (n_units, n_competitors), higher is better
        A unit is a task, or a replicate on a task, on which all were measured together.
    strata : shape (n_units,)
        Labels, such as the tasks of replicates: strata are fixed, and units a sample from each, two
        at least. True ranks are those of the mean of the strata's means.
    clusters : shape (n_units,)
        Labels, such as families of tasks: units of one are flipped together.
    kind
        "simultaneous": all sets hold the true ranks at once, with the confidence level.
        "marginal": each set by itself does, and none is larger.
    n_resamples
        Random flips; all 2**n_units instead where they are at most `n_resamples` + 1.

    Returns
    -------
    Sets of ranks, of all ranks where nothing is sure. At 95% nothing ever is with 5 units: of two
    equals, one wins on all in 2**-4 of studies. Those that are truly equal share their ranks, and
    their sets hold all of these.

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm (2023), Inference for ranks; Romano and Wolf (2005), Exact
    and approximate stepdown methods.

    Examples
    --------
    >>> scores = [[0.9, 0.8, 0.7], [0.7, 0.8, 0.4], [0.6, 0.6, 0.5], [0.5, 0.4, 0.2]] * 2
    >>> sets = rank_confidence_sets(scores, rng=np.random.default_rng(0))
    >>> sets.ranks, sets.low, sets.high
    (array([1., 2., 3.]), array([1, 1, 3]), array([2, 2, 3]))
    >>> sets.may_be_top(1)
    array([ True,  True, False])
    """
    check_choice("kind", kind, get_args(RankKind))
    check_open_unit("confidence_level", confidence_level)
    check_count("n_resamples", n_resamples, at_least=100)
    table, counts = _arrange(_as_table(values), strata, clusters)
    if strata is not None and counts.size == 1:
        # Flips are exact then, where t of few ranks tells 5 equals apart in 7 to 8% of studies.
        strata, counts = None, np.ones(len(table), dtype=np.int64)
    estimates = table.mean(axis=0)
    if strata is not None:
        estimates = _mean_by(counts, table).mean(axis=0)
    first, second = np.triu_indices(estimates.size, 1)
    is_higher = estimates[first] >= estimates[second]
    pairs = np.where(is_higher, (first, second), (second, first))  # the higher one first
    families = [np.arange(first.size)]  # pairs that are tested together: all, or those of each
    if kind == "marginal":
        families = [np.flatnonzero((pairs == j).any(axis=0)) for j in range(estimates.size)]
    if strata is not None:
        tails = _test_strata(table, counts, pairs)
        both = [np.concatenate([tails[family], 1 - tails[family]]) for family in families]
        pvalues = [holm(each)[: each.size // 2] for each in both]  # for either direction
    else:
        parts = _sum_by(counts, table[:, pairs[0]] - table[:, pairs[1]])
        flips = _draw_flips(counts.size, n_resamples, as_generator(rng))
        pvalues = [_test_flips(parts[:, family], flips) for family in families]
    sure = [family[p <= 1 - confidence_level] for family, p in zip(families, pvalues, strict=True)]
    low, high = _bound_ranks(pairs, sure, estimates.size)
    return RankSets(estimates, average_ranks(estimates[None]), low, high, kind, confidence_level)


def _as_table(values: ArrayLike) -> FloatArray:
    """Values of units, identical where they differ by rounding only."""
    table = as_samples(values, "values", at_least=2)
    if table.ndim != 2:
        raise InvalidScores(
            f"values has shape {table.shape}",
            "Pass one row per unit and one column per competitor, shape (n_units, n_competitors)",
        )
    if len(table) < 2:
        raise TooFewRuns(f"values has {count(len(table), 'unit')}", "At least 2 are needed")
    return merge_tied(table, np.asarray(values).dtype)


def _arrange(
    table: FloatArray, strata: ArrayLike | None, clusters: ArrayLike | None
) -> tuple[FloatArray, IntArray]:
    """Units in the order of their strata or clusters, and how many each of these has."""
    if strata is not None and clusters is not None:
        raise InvalidInput(
            "both strata and clusters are given",
            "Pass strata where tasks are fixed, or clusters where they are a sample",
        )
    if strata is None and clusters is None:
        return table, np.ones(len(table), dtype=np.int64)
    name, given = ("strata", strata) if clusters is None else ("clusters", clusters)
    labels = np.asarray(given)
    if labels.shape != (len(table),):
        raise InvalidInput(
            f"{name} has shape {labels.shape}, but there are {len(table)} units",
            "Pass one label per unit",
        )
    unique, place, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if name == "clusters" and unique.size < 2:
        raise TooFewRuns(f"all units are of cluster {unique[0]}", "At least 2 are needed")
    if name == "strata" and counts.min() < 2:
        alone = unique[counts < 2]
        raise TooFewRuns(
            f"{alone.size} of {unique.size} strata have one unit only (first: {alone[0]})",
            "Each needs 2 or more; if units are tasks, pass no strata",
        )
    return table[np.argsort(place, kind="stable")], counts


def _sum_by(counts: IntArray, rows: FloatArray) -> FloatArray:
    """Sums of as many rows after one another as each group has."""
    return np.asarray(np.add.reduceat(rows, np.cumsum(counts) - counts, axis=0))


def _mean_by(counts: IntArray, rows: FloatArray) -> FloatArray:
    return _sum_by(counts, rows) / counts[:, None]


def _bound_ranks(
    pairs: IntArray, sure: list[IntArray], n_competitors: int
) -> tuple[IntArray, IntArray]:
    """Best and worst ranks, from the pairs of each family that surely differ."""
    losses, wins = (
        np.array([np.bincount(side[is_sure], minlength=n_competitors) for is_sure in sure])
        for side in (pairs[1], pairs[0])
    )
    if len(sure) == 1:
        return 1 + losses[0], n_competitors - wins[0]
    # Each competitor's own family.
    return 1 + np.diagonal(losses), n_competitors - np.diagonal(wins)


def _draw_flips(n: int, n_resamples: int, rng: np.random.Generator) -> NDArray[np.int8]:
    """Signs, shape (n_flips, n): all there are where these are few, else the first is no flip."""
    if n <= math.log2(n_resamples + 1):
        bits = np.arange(2**n)[:, None] >> np.arange(n) & 1
    else:
        bits = rng.integers(0, 2, (n_resamples + 1, n), dtype=np.int8)
        # As observed, so that no p-value is 0 (Phipson and Smyth, 2010).
        bits[0] = 1
    return np.asarray(2 * bits - 1, dtype=np.int8)


def _test_flips(parts: FloatArray, flips: NDArray[np.int8]) -> FloatArray:
    """Adjusted p-values of pairs, whose differences are the sums of parts: shape (n_pairs,)."""
    norms = np.sqrt(np.square(parts).sum(axis=0))
    # The sum over the norm, which no flip changes: it ascends with Student's t, and is finite.
    scaled = parts / np.where(norms == 0, 1, norms)
    observed = scaled.sum(axis=0)
    order = np.argsort(-observed)
    scaled, observed = scaled[:, order], observed[order]
    reached, start = np.zeros(observed.size, dtype=np.int64), 0
    for n_rows in divide_rows(len(flips), observed.size, limit=_BLOCK):
        null = flips[start : start + n_rows].astype(np.float64) @ scaled
        # The largest of those not found yet, and of the other direction of all.
        largest = np.maximum.accumulate(null[:, ::-1], axis=1)[:, ::-1]
        largest = np.maximum(largest, -null.min(axis=1, keepdims=True))
        reached += (largest >= observed * (1 - _ROUNDING)).sum(axis=0)
        start += n_rows
    pvalues = np.empty(observed.size)
    pvalues[order] = np.maximum.accumulate(reached / len(flips))
    return pvalues


def _test_strata(table: FloatArray, counts: IntArray, pairs: IntArray) -> FloatArray:
    """One-sided p-values of pairs, by Welch's t over strata: shape (n_pairs,)."""
    df, tails = counts[:, None] - 1, []
    blocks = divide_rows(pairs.shape[1], len(table), limit=_BLOCK)
    for first, second in np.split(pairs, np.cumsum(blocks)[:-1], axis=1):
        differences = table[:, first] - table[:, second]
        means = _mean_by(counts, differences)
        squares = np.square(differences - np.repeat(means, counts, axis=0))
        errors = _sum_by(counts, squares) / (df * (df + 1) * counts.size**2)
        error = errors.sum(axis=0)
        t = divide(means.mean(axis=0), np.sqrt(error))
        satterthwaite = divide(np.square(error), (np.square(errors) / df).sum(axis=0))
        careful = np.fmax(df.min(), _SHARE_OF_DF * satterthwaite)
        # NaN: neither difference nor variation, so no evidence.
        tails.append(np.where(np.isnan(t), 0.5, stdtr(careful, -t)))
    # What never varied may have agreed by chance, as often as signs do.
    lowest = 0.5 ** (int(counts.sum()) - counts.size + 1)
    return np.asarray(np.maximum(np.concatenate(tails), lowest))
