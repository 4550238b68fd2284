"""Which scores are tied: those that differ by no more than rounding.

0.1 + 0.2 is not 0.3 to a computer, and a score of 100 that one side reaches as 99.99999999999997
is no win of the other. Two scores are tied if they differ by at most 1e-12 of
the larger one. Near 0, where nothing is left of what was rounded, they are tied too if they differ
by at most 1e-15 of the median score that is not 0: among scores near 1, 0.1 + 0.2 - 0.3 = 6e-17 is
0, while 1e-20 and 2e-20 differ among scores as small. The median, lest one run that diverged tie
all others.

Every statistic that compares scores looks at them through these functions, which make tied scores
identical and leave all others alone.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

ROUNDING = 1e-12  # of the larger of two scores
_NEAR_ZERO = 1e-15  # of the median score: what is left of 0 after adding up a few of them
_BLOCK = 100_000  # scores handled at a time, to stay within the processor's cache
_STORED = 2  # units in the last place of what scores are stored in


def merge_ties(*samples: FloatArray) -> tuple[FloatArray, ...]:
    """Make scores identical that are tied, within and between samples.

    Of three scores of which the first two and the last two are tied, all are. Scores are compared
    along the last axis, and the others broadcast. Where none are tied but identical ones, these are
    the same arrays.

    Examples
    --------
    >>> merge_ties(np.array([0.1 + 0.2, 0.5]), np.array([0.3]))
    (array([0.3, 0.5]), array([0.3]))
    """
    pooled = _pool(samples)
    if not pooled.size:
        return samples
    rows = pooled.reshape(-1, pooled.shape[-1])
    step = max(1, _BLOCK // rows.shape[1])
    blocks = [rows[i : i + step] for i in range(0, len(rows), step)]
    merged = [_merge_rows(block) for block in blocks]
    if all(new is old for new, old in zip(merged, blocks, strict=True)):
        return samples
    ends = np.cumsum([sample.shape[-1] for sample in samples])[:-1]
    return tuple(np.split(np.concatenate(merged).reshape(pooled.shape), ends, axis=-1))


def _merge_rows(rows: FloatArray) -> FloatArray:
    """Replace scores by the highest that is tied with them in their row, or give the same rows."""
    ordered = np.sort(rows, axis=1)
    differs = find_differing(ordered)
    if (differs == (ordered[:, 1:] != ordered[:, :-1])).all():
        return rows
    n = rows.shape[1]
    ends = np.where(differs, np.arange(n - 1), n - 1)
    last = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    ordered[:, :-1] = np.take_along_axis(ordered, last, axis=1)
    merged = np.empty_like(rows)
    np.put_along_axis(merged, np.argsort(rows, axis=1), ordered, axis=1)
    return merged


def merge_pairs(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Make the two scores of a pair identical where they are tied.

    Pairs lie along the last axis, and the others broadcast. Where none are tied but identical ones,
    these are the same arrays.

    Examples
    --------
    >>> merge_pairs(np.array([0.1 + 0.2, 0.5]), np.array([0.3, 0.5 + 1e-9]))
    (array([0.3, 0.5]), array([0.3, 0.5]))
    """
    gap = np.abs(a - b)
    largest = max(np.abs(a).max(initial=0), np.abs(b).max(initial=0))
    near = gap <= ROUNDING * largest
    if not np.count_nonzero(near) or not np.count_nonzero(gap[near]):
        return a, b
    larger = np.maximum(np.abs(a), np.abs(b))
    tied = gap <= _tolerance(larger, _pool((a, b)))
    highest = np.maximum(a, b)
    return np.where(tied, highest, a), np.where(tied, highest, b)


def may_be_rounded(a: FloatArray, b: FloatArray, largest: float) -> BoolArray:
    """Whether scores differ, but so little that they are tied where `largest` is the median score.

    To find quickly whom `merge_pairs` may merge; NaN is never among them.

    Examples
    --------
    >>> may_be_rounded(np.array([0.1 + 0.2, 0.5, 0.5]), np.array([0.3, 0.5, 0.6]), 0.6)
    array([ True, False, False])
    """
    gap = np.abs(a - b)
    slack = np.maximum(_NEAR_ZERO * largest, ROUNDING * np.maximum(np.abs(a), np.abs(b)))
    return np.asarray((gap > 0) & (gap <= slack))


def find_differing(ordered: FloatArray) -> BoolArray:
    """Whether each score but the first differs from the one before by more than rounding.

    Scores ascend along the last axis, which is by one shorter in the answer.

    Examples
    --------
    >>> find_differing(np.array([0.3, 0.1 + 0.2, 0.5, 0.5]))
    array([False,  True, False])
    """
    gap = ordered[..., 1:] - ordered[..., :-1]
    if not gap.size:
        return np.zeros(gap.shape, dtype=bool)
    largest = max(np.abs(ordered[..., 0]).max(), np.abs(ordered[..., -1]).max())
    differs = np.asarray(gap > ROUNDING * largest)
    # Nearly always, those that are left are identical.
    if not (differs | (gap == 0)).all():
        larger = np.maximum(np.abs(ordered[..., 1:]), np.abs(ordered[..., :-1]))
        differs = gap > _tolerance(larger, ordered)
    return differs


def merge_stored(
    columns: Sequence[FloatArray], dtypes: Iterable[np.dtype[Any]]
) -> Sequence[FloatArray]:
    """Make scores identical that what they were stored in can hardly tell apart.

    Scores stored in 32 or 16 bits carry no more than these: where they differ by up to two units
    in the last place, they are tied. So are all within that distance of the lowest of them, and
    no more, since coarse scores lie close to one another. Columns are of any shapes, with NaN where
    a score is missing; of what they were stored in, the coarsest counts.

    Examples
    --------
    >>> stored = np.array([0.1 + 0.2, 0.4], np.float32)
    >>> merge_stored([stored.astype(float), np.array([0.3])], [stored.dtype])
    [array([0.3       , 0.40000001]), array([0.3])]
    """
    coarse = [dtype for dtype in dtypes if dtype.kind == "f" and dtype.itemsize < 8]
    if not coarse:
        return columns
    unit = _STORED * max(float(np.finfo(dtype).eps) for dtype in coarse)
    values, place = np.unique(np.concatenate([c.ravel() for c in columns]), return_inverse=True)
    parts = np.split(_merge_neighbours(values, unit)[place], np.cumsum([c.size for c in columns]))
    return [part.reshape(c.shape) for part, c in zip(parts, columns, strict=False)]


def _merge_neighbours(values: FloatArray, unit: float) -> FloatArray:
    """Replace each of ascending values by the lowest of its group, which is `unit` wide at most."""
    known = np.isfinite(values)
    ordered = values[known]
    if not ordered.size:
        return values
    gap = np.diff(ordered, prepend=-np.inf)
    starts = gap > unit * np.abs(ordered)
    first = ordered[np.maximum.accumulate(np.where(starts, np.arange(ordered.size), 0))]
    # Of a long chain of neighbours, those within the first unit, the second, and so on.
    with np.errstate(divide="ignore", invalid="ignore"):
        step = np.nan_to_num((ordered - first) // (unit * np.abs(first)))
    starts |= np.diff(step, prepend=0) != 0
    merged = values.copy()
    merged[known] = ordered[np.maximum.accumulate(np.where(starts, np.arange(ordered.size), 0))]
    return merged


def _pool(samples: Sequence[FloatArray]) -> FloatArray:
    """All scores that are compared with one another, along the last axis."""
    if len(samples) == 1:
        return samples[0]
    shape = np.broadcast_shapes(*(sample.shape[:-1] for sample in samples))
    wide = [np.broadcast_to(sample, (*shape, sample.shape[-1])) for sample in samples]
    return np.concatenate(wide, axis=-1)


def _tolerance(larger: FloatArray, pooled: FloatArray) -> FloatArray:
    """Difference up to which scores are tied, from the larger of two and from all of them."""
    return np.maximum(ROUNDING * larger, _NEAR_ZERO * _median_magnitude(pooled))


def _median_magnitude(pooled: FloatArray) -> FloatArray:
    """Median along the last axis of the magnitudes that are not 0, the higher one of two."""
    magnitudes = np.sort(np.abs(pooled), axis=-1)
    n = magnitudes.shape[-1]
    n_zero = np.count_nonzero(magnitudes == 0, axis=-1, keepdims=True)
    return np.take_along_axis(magnitudes, np.minimum((n + n_zero) // 2, n - 1), axis=-1)
