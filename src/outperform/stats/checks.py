"""Validation of what callers pass in, so that the statistics read clean; and which scores are tied.

Scores are tied where they differ by no more than rounding: 0.1 + 0.2 is not 0.3 to a computer, and
a score of 100 that one side reaches as 99.99999999999997 is no win of the other. Two are tied if
they differ by at most 1e-12 of the larger one. Near 0, where nothing is left of what was rounded,
they are tied too if they differ by at most 1e-15 of the median score that is not 0: among scores
near 1, 0.1 + 0.2 - 0.3 = 6e-17 is 0, while 1e-20 and 2e-20 differ among scores as small. The
median, lest one run that diverged tie all others. Every statistic that compares scores looks at
them through the `merge` functions, which make tied scores identical and leave all others alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outperform.errors import InvalidInput, InvalidScores, TooFewRuns, UnpairedScores
from outperform.stats.alignment import align_series
from outperform.wording import count

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

LARGEST = 1e150  # its square is still a float
_SMALLEST = 1e-300  # that can be divided by
ROUNDING = 1e-12  # of the larger of two scores
_NEAR_ZERO = 1e-15  # of the median score: what is left of 0 after adding up a few of them
_TIES_AT_ONCE = 100_000  # scores handled at a time, to stay within the processor's cache
_STORED = 2  # units in the last place of what scores are stored in


def as_samples(values: ArrayLike, name: str, *, at_least: int = 1, axis: int = -1) -> FloatArray:
    """Finite floats with the sampled axis last, refusing anything that would be guessed at."""
    array = _as_floats(values, name)
    if array.ndim == 0:
        raise InvalidScores(
            f"{name} is the single value {values!r}", "Pass a sequence with one score per run"
        )
    if axis != -1:
        array = _move_last(array, axis, name)
    # NaN is neither above nor below a limit, so that this finds what is missing, too.
    if array.size and not (array.min() > -LARGEST and array.max() < LARGEST):
        _refuse_extreme(array, name)
    if array.shape[-1] < at_least:
        raise TooFewRuns(
            f"{name} has {count(array.shape[-1], 'score')}", f"At least {at_least} are needed"
        )
    return array


def _move_last(array: FloatArray, axis: int, name: str) -> FloatArray:
    if not isinstance(axis, int | np.integer) or not -array.ndim <= axis < array.ndim:
        raise InvalidInput(
            f"axis is {axis}, but {name} has {count(array.ndim, 'dimension')}",
            f"Pass an axis from {-array.ndim} to {array.ndim - 1}",
        )
    return np.moveaxis(array, axis, -1)


def as_scores(values: ArrayLike, name: str, *, at_least: int = 1) -> FloatArray:
    """Finite floats of shape (n_runs,)."""
    array = as_samples(values, name, at_least=0)
    if array.ndim != 1:
        raise InvalidScores(
            f"{name} has shape {array.shape}, but one score per run is needed, shape (n_runs,)",
            f"If its {array.size} values are runs of one task, pass {name}.ravel(); "
            "several tasks are compared one at a time",
        )
    if array.size < at_least:
        raise TooFewRuns(
            f"{name} has {count(array.size, 'score')}", f"At least {at_least} are needed"
        )
    return array


def as_grid(values: ArrayLike, name: str) -> FloatArray:
    """Floats of shape (n_competitors, n_replicates), finite but for NaN where one is missing."""
    array = _as_floats(values, name)
    if array.ndim != 2 or not array.size:
        raise InvalidScores(
            f"{name} has shape {array.shape}",
            "Pass one row per competitor, and one column per replicate",
        )
    return as_scores_with_gaps(array, name)


def as_scores_with_gaps(values: ArrayLike, name: str) -> FloatArray:
    """Floats of any shape that are finite, but for NaN where there is no score."""
    array = _as_floats(values, name)
    as_samples(np.nan_to_num(array, posinf=np.inf, neginf=-np.inf), name)
    return array


def as_pairs(a: ArrayLike, b: ArrayLike, *, at_least: int = 1) -> tuple[FloatArray, FloatArray]:
    """Two arrays of equal length whose entries belong together, identical where tied."""
    a, b = align_series(a, b)
    first, second = as_scores(a, "a", at_least=at_least), as_scores(b, "b", at_least=at_least)
    check_paired(first.size, second.size)
    return merge_pairs(*merge_stored((first, second), (np.asarray(a).dtype, np.asarray(b).dtype)))


def as_independent(
    a: ArrayLike, b: ArrayLike, *, at_least: int = 1
) -> tuple[FloatArray, FloatArray]:
    """Two arrays of any lengths, compared all with all, in which tied scores are identical."""
    first, second = as_scores(a, "a", at_least=at_least), as_scores(b, "b", at_least=at_least)
    first, second = merge_ties(
        *merge_stored((first, second), (np.asarray(a).dtype, np.asarray(b).dtype))
    )
    return first, second


def as_pvalues(values: ArrayLike, *, axis: int = -1) -> FloatArray:
    """Numbers from 0 to 1, those of one family along the last axis, and at least one of them."""
    array = _as_floats(values, "pvalues")
    if array.ndim == 0 or not array.size:
        raise InvalidInput(
            f"pvalues has shape {array.shape}", "Pass a sequence with one p-value per test"
        )
    wrong = ~((array >= 0) & (array <= 1))  # NaN is neither
    if wrong.any():
        place = np.argwhere(wrong)[0].tolist()
        raise InvalidInput(
            f"pvalues has {count(int(wrong.sum()), 'value that is', 'values that are')} no p-value "
            f"(first: {array[tuple(place)]}, at {', '.join(map(str, place))})",
            "Pass numbers from 0 to 1, and leave out tests that were not done",
        )
    return _move_last(array, axis, "pvalues")


def as_two_samples(
    a: ArrayLike, b: ArrayLike, *, at_least: int, axis: int = -1, paired: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Finite floats with the sampled axis last, and leading axes that broadcast.

    Ties are left to the test.
    """
    if paired:
        a, b = align_series(a, b)
    first = as_samples(a, "a", at_least=at_least, axis=axis)
    second = as_samples(b, "b", at_least=at_least, axis=axis)
    leading_shape(first, second)
    if paired:
        check_paired(first.shape[-1], second.shape[-1])
    first, second = merge_stored((first, second), (np.asarray(a).dtype, np.asarray(b).dtype))
    return first, second


def leading_shape(a: FloatArray, b: FloatArray) -> tuple[int, ...]:
    """Shape of the tests: all axes but the last, broadcast."""
    try:
        return np.broadcast_shapes(a.shape[:-1], b.shape[:-1])
    except ValueError:
        raise InvalidScores(
            f"a has shape {a.shape} and b {b.shape}, sampled axis last",
            "Pass leading axes of equal length, or of length 1",
        ) from None


def check_paired(n_a: int, n_b: int) -> None:
    """Refuse to pair samples of different sizes."""
    if n_a != n_b:
        raise UnpairedScores(
            f"cannot pair {n_a} scores of a with {n_b} of b",
            "Pass the runs that share their seeds, in the same order, or paired=False if the "
            "runs are independent",
        )


def as_generator(rng: np.random.Generator | None) -> np.random.Generator:
    """Take the generator passed in, or one seeded with 0: the same scores, the same answer."""
    if rng is None:
        return np.random.default_rng(0)
    if not isinstance(rng, np.random.Generator):
        raise InvalidInput(
            f"rng is {rng!r}, not a numpy.random.Generator", "Pass rng=np.random.default_rng(seed)"
        )
    return rng


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Refuse a word that is not among the choices."""
    if value not in tuple(choices):  # which need not be hashed
        raise InvalidInput(f"{name} is {value!r}", "Choose one of " + ", ".join(map(repr, choices)))


def check_list(name: str, values: object) -> None:
    """Refuse a text, which would be read letter by letter, and a number in place of a list."""
    if isinstance(values, str):
        raise InvalidInput(f"{name} are the text {values!r}", f"Pass a list: [{values!r}]")
    if not isinstance(values, Iterable):
        raise InvalidInput(f"{name} is {values!r}", f"Pass a list: [{values!r}]")


def check_open_unit(name: str, value: float, *, at_least: float | None = None) -> None:
    """Refuse a level or probability outside (0, 1), or below the smallest that makes sense."""
    if not isinstance(value, Real):
        raise InvalidInput(f"{name} is {value!r}", "Pass a number")
    if not (at_least or 0) <= value < 1 or value == 0:
        allowed = f"from {at_least} up to, not including, 1" if at_least else "between 0 and 1"
        percent = f" ({value:g}% is {value / 100:g})" if 1 < value <= 100 else ""
        raise InvalidInput(f"{name} is {value}", f"Pass a value {allowed}{percent}")
    if value < _SMALLEST:
        raise InvalidInput(f"{name} is {value}", f"Pass a value of {_SMALLEST} or more")


def check_confidence(confidence_level: float) -> None:
    """Refuse a level of intervals that is the chance to err instead."""
    check_open_unit("confidence_level", confidence_level)
    if confidence_level < 0.5:
        raise InvalidInput(
            f"confidence_level is {confidence_level:g}: most intervals would miss the truth",
            f"Pass {1 - confidence_level:.3g} for a chance to err of {confidence_level:g}",
        )


def check_alpha(alpha: float) -> None:
    """Refuse an accepted chance to err that is the level of intervals instead."""
    check_open_unit("alpha", alpha)
    if alpha > 0.5:
        raise InvalidInput(
            f"alpha is {alpha:g}, a false alarm more often than not",
            f"Pass {1 - alpha:.3g} for intervals of {100 * alpha:g}%",
        )


def check_gamma(gamma: float) -> None:
    """Refuse a smallest share of wins that matters which is no advantage, or beyond reach."""
    check_open_unit("gamma", gamma, at_least=0.5)


def check_advantage(gamma: float) -> None:
    """Refuse a smallest share of wins that is no advantage at all."""
    check_gamma(gamma)
    if gamma == 0.5:
        raise InvalidInput("gamma is 0.5, which is no difference", "Pass a gamma above 0.5")


def check_positive(name: str, value: float) -> None:
    """Refuse what is not a number above 0."""
    if not isinstance(value, Real):
        raise InvalidInput(f"{name} is {value!r}", "Pass a number")
    if not value > 0:
        raise InvalidInput(f"{name} is {value}", "Pass a positive number")


def check_count(name: str, value: float, *, at_least: int, at_most: int | None = None) -> None:
    """Refuse a count that is not a whole number, too small or too large."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < at_least:
        raise InvalidInput(f"{name} is {value}", f"Pass a whole number not less than {at_least}")
    if at_most is not None and value > at_most:
        raise InvalidInput(f"{name} is {value}", f"Pass a whole number up to {at_most:,}")


def add_counts(wins: int, ties: int, losses: int) -> int:
    """Number of pairs that have one of these outcomes."""
    for name, n in (("wins", wins), ("ties", ties), ("losses", losses)):
        check_count(name, n, at_least=0)
    return wins + ties + losses


def check_sizes(sizes: ArrayLike, *, at_least: int, at_most: int) -> IntArray:
    """Whole numbers of runs that can be taken from a sample."""
    chosen = np.asarray(sizes)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or not chosen.size:
        raise InvalidInput(f"sizes is {sizes!r}", "Pass a sequence of whole numbers")
    if chosen.min() < at_least or chosen.max() > at_most:
        wrong = chosen[(chosen < at_least) | (chosen > at_most)][0]
        raise InvalidInput(
            f"a subset of {wrong} cannot be taken from {at_most} runs",
            f"Pass sizes from {at_least} to {at_most}",
        )
    return chosen.astype(np.int64)


def _as_floats(values: ArrayLike, name: str) -> FloatArray:
    if isinstance(values, np.ma.MaskedArray) and (n_masked := int(np.sum(values.mask))):
        raise InvalidScores(
            f"{name} has {count(n_masked, 'masked score')}",
            "Remove those runs, and their partners if paired",
        )
    try:
        array: NDArray[Any] = np.asarray(values)
        if array.dtype.kind in "USMmc" or (
            array.dtype.kind == "O" and any(isinstance(v, str | bytes) for v in array.flat)
        ):
            raise TypeError
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise InvalidScores(
            f"{name} holds something that is not a number", "Pass scores as floats, one per run"
        ) from None


def _refuse_extreme(array: FloatArray, name: str) -> None:
    bad = np.argwhere(~np.isfinite(array))
    if not len(bad):
        huge = array.flat[np.argmax(np.abs(array))]
        raise InvalidScores(
            f"{name} reaches {huge:.3g}, too large to take means and variances of",
            "If that run diverged, treat it as failed; otherwise pass logarithms, which keep every "
            "win a win",
        )
    where = ", ".join(str(tuple(i) if len(i) > 1 else i[0]) for i in bad[:5].tolist())
    raise InvalidScores(
        f"{name} has {count(len(bad), 'score that is', 'scores that are')} NaN or infinite, at "
        f"position{'s' if len(bad) > 1 else ''} {where}"
        f"{', ...' if len(bad) > 5 else ''} (first: {array[tuple(bad[0])]})",
        "Find out why these runs failed; to leave them out, remove them, and their partners if "
        "paired",
    )


def merge_ties(*samples: FloatArray) -> tuple[FloatArray, ...]:
    """Make scores identical that are tied, within and between samples.

    Of three scores of which the first two and the last two are tied, all are. Scores are compared
    along the last axis, and the others broadcast. Where none are tied but identical ones, these are
    the same arrays.
    """
    pooled = _pool(samples)
    if not pooled.size:
        return samples
    rows = pooled.reshape(-1, pooled.shape[-1])
    step = max(1, _TIES_AT_ONCE // rows.shape[1])
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
    _, last = span_ties(differs)
    merged = np.empty_like(rows)
    highest = np.take_along_axis(ordered, last, axis=1)
    np.put_along_axis(merged, np.argsort(rows, axis=1), highest, axis=1)
    return merged


def merge_pairs(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Make the two scores of a pair identical where they are tied.

    Pairs lie along the last axis, and the others broadcast. Where none are tied but identical ones,
    these are the same arrays.
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
    """
    gap = np.abs(a - b)
    slack = np.maximum(_NEAR_ZERO * largest, ROUNDING * np.maximum(np.abs(a), np.abs(b)))
    return np.asarray((gap > 0) & (gap <= slack))


def are_tied(low: float, high: float) -> bool:
    """Whether two scores, the lower one first, differ by no more than rounding."""
    return high - low <= ROUNDING * max(abs(low), abs(high))


def find_differing(ordered: FloatArray) -> BoolArray:
    """Whether each score but the first differs from the one before by more than rounding.

    Scores ascend along the last axis, which is by one shorter in the answer.
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
    a score is missing; of what they were stored in, the coarsest counts. A column of 64 bits counts
    as one of 32 where these hold all of it, as they do what `.item()` of a tensor gives.
    """
    coarse = [dtype for dtype in dtypes if dtype.kind == "f" and dtype.itemsize < 8]
    coarse += [np.dtype(np.float32) for column in columns if _is_of_32_bits(column)][:1]
    if not coarse:
        return columns
    unit = _STORED * max(float(np.finfo(dtype).eps) for dtype in coarse)
    values, place = np.unique(np.concatenate([c.ravel() for c in columns]), return_inverse=True)
    parts = np.split(_merge_neighbours(values, unit)[place], np.cumsum([c.size for c in columns]))
    return [part.reshape(c.shape) for part, c in zip(parts, columns, strict=False)]


def need_32_bits(scores: FloatArray) -> BoolArray:
    """Which scores 32 bits hold exactly, but 24 do not; no whole number, which may be a count."""
    with np.errstate(over="ignore"):
        single = scores.astype(np.float32)
    exact = np.asarray(single == scores)
    if exact.any():  # hardly ever
        exact &= (single.view(np.uint32) & 0xFF != 0) & (np.rint(scores) != scores)
    return exact


def _is_of_32_bits(scores: FloatArray) -> bool:
    # A score of 64 bits is one of 32 in 1 of 500 million cases: its last 29 bits are all 0.
    if not need_32_bits(scores).any():
        return False
    known = scores[np.isfinite(scores)]
    with np.errstate(over="ignore"):
        return bool((known.astype(np.float32) == known).all())


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
    magnitudes = np.sort(np.abs(pooled), axis=-1)
    n = magnitudes.shape[-1]
    n_zero = np.count_nonzero(magnitudes == 0, axis=-1, keepdims=True)
    # Of those that are not 0, the median, and the higher one of two.
    median = np.take_along_axis(magnitudes, np.minimum((n + n_zero) // 2, n - 1), axis=-1)
    return np.maximum(ROUNDING * larger, _NEAR_ZERO * median)


def span_ties(differs: BoolArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First and last place of the group of tied scores at each place along the last axis.

    From whether each score but the first differs from the one before.
    """
    edge, place = np.ones((*differs.shape[:-1], 1), dtype=bool), np.arange(differs.shape[-1] + 1)
    starts = np.where(np.concatenate([edge, differs], axis=-1), place, 0)
    ends = np.where(np.concatenate([differs, edge], axis=-1), place, place[-1])[..., ::-1]
    last = np.minimum.accumulate(ends, axis=-1)[..., ::-1]
    return np.maximum.accumulate(starts, axis=-1), last
