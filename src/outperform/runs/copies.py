"""Sequences of scores that stand twice, as copied rows do.

A sequence of three distinct scores or more, or of pairs of them, is a copy if chance would repeat
it in less than one of 1,000 cases: n(n−1)/2·q^k for k in a row, q the share of any two that are
equal, so that a coarse metric repeats itself as it likes. Or all pairs are copies of the first
ones, of which no two share a score.
"""

from collections.abc import Sequence
from math import log

import numpy as np

from outperform.runs.labels import BoolArray, FloatArray, IntArray

_CHANCE = 1e-3
_N_SEARCHED = 2000  # scores among which copies are looked for
_N_LAGS = 3  # distances between copies that are tried


def number_scores(scores: FloatArray) -> IntArray | None:
    """Number the distinct ones of the first scores; None where none stands twice."""
    scores = scores[:_N_SEARCHED]
    ordered = np.sort(scores)
    if not (ordered[1:] == ordered[:-1]).any():
        return None
    return np.unique(scores, return_inverse=True)[1]


def find_copy(codes: IntArray) -> slice | None:
    """Find a sequence of numbered scores that stands again later, as chance would not have it.

    Examples
    --------
    >>> find_copy(number_scores(np.array([0.91, 0.93, 0.9, 0.94, 0.92] * 2)))
    slice(0, 5, None)
    >>> find_copy(number_scores(np.array([0.91, 0.93, 0.9, 0.94, 0.92] + [0.91, 0.95, 0.93])))
    """
    if not (lags := _likely_lags(codes)):
        return None
    n = codes.size
    log_equal = log(_share_equal(codes))
    for lag in lags:
        start, stop = _longest_run(codes[lag:] == codes[:-lag])
        log_chance = log(n * (n - 1) / 2) + (stop - start) * log_equal
        is_varied = len(set(codes[start:stop].tolist())) > 2
        if is_varied and log_chance < log(_CHANCE):
            return slice(start, min(stop, start + lag))
    return None


def find_copied_pairs(a: IntArray, b: IntArray) -> slice | None:
    """Find pairs of numbered scores that stand again later in the same order."""
    pairs = np.unique(a * b.size + b, return_inverse=True)[1]
    return find_copy(pairs) or _find_tile((a, b))


def _find_tile(codes: Sequence[IntArray]) -> slice | None:
    """Find the first pairs of which all others are copies, if none of their scores are equal."""
    n = codes[0].size
    for lag in _likely_lags(codes[0]):
        is_tiled = n % lag == 0 and all((each[lag:] == each[:-lag]).all() for each in codes)
        if is_tiled and all(len(np.unique(each[:lag])) == lag for each in codes):
            return slice(0, lag)
    return None


def _share_equal(codes: IntArray) -> float:
    """Share of all pairs of scores that are equal."""
    counts = np.bincount(codes)
    return float((counts * (counts - 1)).sum() / (codes.size * (codes.size - 1)))


def _likely_lags(codes: IntArray) -> list[int]:
    """Distances at which three distinct scores in a row recur most often."""
    first, second, third = codes[:-2], codes[1:-1], codes[2:]
    n_codes = int(codes.max()) + 1
    triple = (first * n_codes + second) * n_codes + third
    triple[(first == second) | (second == third) | (first == third)] = -1
    order = np.argsort(triple, kind="stable")
    recurs = (np.diff(triple[order]) == 0) & (triple[order][1:] >= 0)
    lags = np.diff(order)[recurs]
    counts = np.bincount(lags[lags > 2])
    return [int(lag) for lag in np.argsort(-counts, kind="stable")[:_N_LAGS] if counts[lag]]


def _longest_run(is_equal: BoolArray) -> tuple[int, int]:
    """Where the longest run of true values begins and ends."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], is_equal.astype(np.int8), [0]))))
    begins, ends = edges[::2], edges[1::2]
    if not begins.size:
        return 0, 0
    longest = int((ends - begins).argmax())
    return int(begins[longest]), int(ends[longest])
