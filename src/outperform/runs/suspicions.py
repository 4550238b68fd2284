"""Scores that raise a question: no verdict is given on them before somebody has answered it.

Each check looks at the scores of two algorithms, or of one, alone. What it finds is refused, unless
it is among what was accepted: then it becomes a note.

- scale: some scores are fractions, others per cent, about a hundred times as large; or some are
  above 100, and the metric is a share, such as an accuracy;
- outlier: fewer than half of the scores of an algorithm are more than 10,000 times as large as all
  others (100 times for accuracies and other shares), and as 1: a loss that diverges to 400, or
  rewards of 0 and 2,500, pass. Or fewer than half are 0, or -1, and that is better than all others
  by more than these differ: a loss of 0 that stands for a run that failed;
- constant: all runs of an algorithm, three at least, have the same score;
- binary: every score is 0 or 1, and each algorithm has more than 20 of them;
- sorted: pairs of which both sides are sorted, eight at least, as chance does in less than one of
  10,000 cases: 2·Πm!/n! for n scores of which m are tied each. Scores in equal steps pass: what was
  measured and sorted has uneven ones, so these were made from their seeds;
- repeated: three distinct scores or more, or pairs of them, stand twice in the same order, as
  chance does in less than one of 1,000 cases: n(n−1)/2·q^k for k in a row, q the share of any two
  that are equal, so that a coarse metric repeats itself as it likes. Or all pairs are copies of the
  first ones, of which no two share a score;
- nested, settings: pairs come in groups, or are no replicates; see `nesting`;
- counts, examples, pooled: other columns say that runs cannot be compared; see `confounders`;
- redrawn: they are runs of a study of variance; see `redrawn`;
- margin: it seems to be in another unit than the scores, so that a gate would pass, or a difference
  matter, whatever they are.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isinf, lgamma, log
from typing import Literal, TypeAlias, get_args

import numpy as np

from outperform.errors import InvalidInput, InvalidScores
from outperform.runs.labels import BoolArray, FloatArray, IntArray
from outperform.runs.metrics import Goal, is_at_most_all, is_bare_score, is_share
from outperform.stats.checks import merge_ties
from outperform.wording import enumerate_names

Doubt: TypeAlias = Literal[
    "binary",
    "constant",
    "counts",
    "examples",
    "margin",
    "nested",
    "outlier",
    "pooled",
    "redrawn",
    "repeated",
    "scale",
    "settings",
    "sorted",
]
DOUBTS: tuple[Doubt, ...] = get_args(Doubt)

_HUNDREDFOLD = (50, 200)  # ratios of medians that speak of per cent
_WILD = 10_000  # times as large as all others, hence no run of the same kind
_WILD_SHARE = 100
ALL = 100  # per cent
STAND_INS = (0.0, -1.0)  # what is written for want of a score
_FEWEST_CONSTANT = 3
_MOST_BINARY = 20  # runs that may all have succeeded or failed
FEWEST_SORTED = 8
_CHANCE_SORTED = 1e-4
_CHANCE_COPIED = 1e-3
_N_SEARCHED = 2000  # scores among which copies are looked for
_N_LAGS = 3  # distances between copies that are tried
_EVEN = 1e-9  # how much equal steps may differ, as a share of the largest score
_LARGE_FRACTION = 0.1  # of a share between 0 and 1: ten points
_SMALL_PERCENT = 0.01  # of a share in per cent: a hundredth of a point
LARGEST_FRACTION = 2  # of word errors, of which there may be more than words


@dataclass(frozen=True, slots=True)
class Sides:
    """The scores of two algorithms, or of one, in the metric's own sign."""

    names: tuple[str, ...]
    scores: tuple[FloatArray, ...] = field(compare=False, repr=False)
    metric: str
    place: str  # where they come from: "runs.csv", or "task 'cifar' of runs.csv"
    order: str  # what pairs are in the order of, such as "seed"; "" where runs are not paired
    goal: Goal | None = None  # where it is known


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A question that scores raise."""

    doubt: Doubt
    fact: str  # what is to be seen
    reading: str  # what it seems to be
    remedy: str  # what to do, but for accepting it


def check_doubts(accept: Doubt | Sequence[Doubt]) -> tuple[Doubt, ...]:
    """Take one or several words for what is right although it looks wrong."""
    words = (accept,) if isinstance(accept, str) else tuple(accept)
    for word in words:
        if word not in DOUBTS:
            raise InvalidInput(f"cannot accept {word!r}", f"Pass some of: {', '.join(DOUBTS)}")
    return words


def ask(suspicions: Iterable[Suspicion], accepted: Sequence[Doubt]) -> tuple[str, ...]:
    """Refuse the first question that was not answered; note the answers.

    Examples
    --------
    >>> scores = np.array([0.91, 0.93, 0.92]), np.array([91.0, 90.0, 93.0])
    >>> sides = Sides(("new", "old"), scores, "accuracy", "runs.csv", "seed")
    >>> [suspicion.doubt for suspicion in find_suspicions(sides)]
    ['scale']
    >>> len(ask(find_suspicions(sides), ["scale"]))
    1
    """
    notes = []
    for each in suspicions:
        if each.doubt not in accepted:
            raise InvalidScores(
                f"{each.fact}: {each.reading}",
                f"{each.remedy}, pass --accept {each.doubt} (from Python: read_runs(..., "
                f'accept="{each.doubt}"))',
            )
        if each.doubt != "constant":  # a caveat says so anyway
            notes.append(f"{each.fact}, which was accepted as right")
    return tuple(notes)


def find_suspicions(sides: Sides) -> Iterator[Suspicion]:
    """Every question that the scores raise."""
    low, high = min(map(np.min, sides.scores)), max(map(np.max, sides.scores))
    if high > 1:
        yield from _mixed_scales(sides)
    if max(high, -low) > _WILD_SHARE:
        outliers = [*_outliers(sides)]
        yield from outliers
        if not outliers and high > ALL and is_at_most_all(sides.metric):
            yield _describe_more_than_all(sides)
    yield from find_stand_ins(sides)
    yield from _constants(sides)
    if low == 0 and high == 1:
        yield from _answers(sides)
    if sides.order and all(map(_is_sorted, sides.scores)):
        yield _describe_sorted(sides)
    yield from _copies(sides)


def mixes_scales(scores: FloatArray) -> bool:
    """Whether some scores look like fractions, and the others like the same in per cent.

    >>> mixes_scales(np.array([0.925, 93.1])), mixes_scales(np.array([0.925, 3.1]))
    (True, False)
    """
    if not 1 < scores.max() <= 100 or scores.min() < 0:
        return False
    low, high = scores[scores <= 1], scores[scores > 1]
    if not low.size or high.min() < 10 * low.max():
        return False
    at_least, at_most = _HUNDREDFOLD
    return bool(at_least * np.median(low) <= np.median(high) <= at_most * np.median(low))


def _mixed_scales(sides: Sides) -> Iterator[Suspicion]:
    if not (is_share(sides.metric) or is_bare_score(sides.metric)):
        return
    every = np.concatenate(sides.scores)
    if not mixes_scales(every):
        return
    is_low = every <= 1
    low, high = every[is_low], every[~is_low]
    yield Suspicion(
        "scale",
        f"{_whose(sides, is_low)} between {low.min():g} and {low.max():g} in {sides.place}, the "
        f"other{'s' if high.size > 1 else ''} between {high.min():g} and {high.max():g}",
        "these look like fractions and per cent",
        "Give all in one unit; if they are right as they are",
    )


def _describe_more_than_all(sides: Sides) -> Suspicion:
    every = np.concatenate(sides.scores)
    beyond = every[every > ALL]
    return Suspicion(
        "scale",
        f"{beyond.size} of {every.size} scores of {' and '.join(map(repr, sides.names))} in "
        f"{sides.place} {'is' if beyond.size == 1 else 'are'} above {ALL} (up to {beyond.max():g})",
        f"no {sides.metric} is, so a decimal point may be lost, or these are numbers of answers",
        "Give all as shares or in per cent, or call the column what they are; if they are right "
        "as they are",
    )


def _whose(sides: Sides, is_low: BoolArray) -> str:
    whose = np.repeat(np.arange(len(sides.names)), [scores.size for scores in sides.scores])
    for number, name in enumerate(sides.names):
        if np.array_equal(is_low, whose == number):
            return f"the scores of {name!r} lie"
    names = " and ".join(map(repr, sides.names))
    return f"{np.count_nonzero(is_low)} of {is_low.size} scores of {names} lie"


def _outliers(sides: Sides) -> Iterator[Suspicion]:
    for name, scores in zip(sides.names, sides.scores, strict=True):
        usual = largest_usual(scores, sides.metric)
        if isinf(usual):
            continue
        values = scores[np.abs(scores) > usual]
        listed = enumerate_names((f"{value:g}" for value in values), limit=3)
        wild = _WILD_SHARE if is_share(sides.metric) else _WILD
        yield Suspicion(
            "outlier",
            f"{values.size} of {scores.size} scores of {name!r} in {sides.place} "
            f"{'is' if values.size == 1 else 'are'} more than {wild:,} times as large as all "
            f"others ({listed} against {usual:g} at most)",
            "a run that failed, or a number that stands for one",
            "Repair or remove it; if it is a score like the others",
        )


def largest_usual(scores: FloatArray, metric: str) -> float:
    """Size that some scores exceed wildly, and all others do not; infinite where there are none.

    Examples
    --------
    >>> largest_usual(np.array([0.3, 0.4, 1e9]), "loss"), largest_usual(np.array([3, 400]), "loss")
    (0.4, inf)
    """
    wild = _WILD_SHARE if is_share(metric) else _WILD
    if max(scores.max(), -scores.min()) <= wild:
        return inf
    size = np.sort(np.abs(scores))
    # The first score that is so much larger than the one below it, in the upper half.
    jumps = np.flatnonzero(size[1:] > wild * np.maximum(size[:-1], 1)) + 1
    jumps = jumps[jumps > size.size / 2]
    return float(size[jumps[0] - 1]) if jumps.size else inf


def find_stand_ins(sides: Sides) -> Iterator[Suspicion]:
    """Ask about a 0, or -1, that is better than all other scores, and far from them."""
    for name, scores in zip(sides.names, sides.scores, strict=True):
        best = float(scores.min() if sides.goal == "minimize" else scores.max())
        if sides.goal is None or best not in STAND_INS:
            continue
        others = np.abs(scores[scores != best] - best)
        n_best = scores.size - others.size
        if n_best < others.size > 2 and others.min() > np.ptp(others) > 0:
            nearest = best + others.min() * (1 if sides.goal == "minimize" else -1)
            yield Suspicion(
                "outlier",
                f"{n_best} of {scores.size} scores of {name!r} in {sides.place} "
                f"{'is' if n_best == 1 else 'are'} {best:g}, better than all others by more than "
                f"these differ (the best of them is {nearest:g})",
                "a number that stands for a run that failed",
                "Leave it empty; if it is a score like the others",
            )


def _constants(sides: Sides) -> Iterator[Suspicion]:
    same = []
    for name, scores in zip(sides.names, sides.scores, strict=True):
        few = scores[:_FEWEST_CONSTANT]  # a glance at the first ones spares the rest
        if few.size < _FEWEST_CONSTANT or np.ptp(few) > _EVEN * np.abs(few[0]):
            continue
        if np.ptp(merge_ties(scores)[0]) == 0:  # they differ by no more than rounding
            same.append(f"all {scores.size} runs of {name!r} have the same score {scores[0]:g}")
    if same:
        yield Suspicion(
            "constant",
            f"{' and '.join(same)} in {sides.place}",
            "either the seed does not reach the training, or the metric cannot tell runs apart",
            "See which it is; if the algorithm is deterministic",
        )


def _answers(sides: Sides) -> Iterator[Suspicion]:
    for scores in sides.scores:
        for some in (scores[:_MOST_BINARY], scores):  # a glance at the first ones spares the rest
            if scores.size <= _MOST_BINARY or not ((some == 0) | (some == 1)).all():
                return
    if all(np.ptp(scores) == 0 for scores in sides.scores):
        return
    numbers = " and ".join(
        f"{scores.size} scores of {name!r}"
        for name, scores in zip(sides.names, sides.scores, strict=True)
    )
    yield Suspicion(
        "binary",
        f"all {numbers} in {sides.place} are 0 or 1",
        "these look like answers to test examples, not like runs",
        "Give the mean over the examples of every run, with its seed (comparing given models "
        "example by example is coming); if each is a run that succeeds or fails",
    )


def _describe_sorted(sides: Sides) -> Suspicion:
    first, second = map(repr, sides.names)
    own = "its seed" if sides.order == "rows" else f"its own {sides.order}"
    return Suspicion(
        "sorted",
        f"the scores of both {first} and {second} are sorted in the order of {sides.order} in "
        f"{sides.place}",
        "sorting has torn the pairs apart, as chance hardly ever does",
        f"Give every score {own}, or pass --unpaired; if this order is real",
    )


def _is_sorted(scores: FloatArray) -> bool:
    """Whether scores are sorted, up or down, in a way that chance would not explain."""
    if scores.size < FEWEST_SORTED:
        return False
    for some in (scores[:FEWEST_SORTED], scores):  # a glance at the first ones spares the rest
        steps = some[1:] - some[:-1]
        if not ((steps >= 0).all() or (steps <= 0).all()):
            return False
    if np.ptp(steps) <= _EVEN * np.abs(scores).max():
        return False
    ties = np.unique(scores, return_counts=True)[1]
    log_chance = log(2) + sum(map(lgamma, ties + 1.0)) - lgamma(scores.size + 1)
    return bool(log_chance < log(_CHANCE_SORTED))


def _copies(sides: Sides) -> Iterator[Suspicion]:
    codes = [*map(number_scores, sides.scores)]
    for name, scores, numbers in zip(sides.names, sides.scores, codes, strict=True):
        if numbers is not None and (copy := find_copy(numbers)):
            yield _describe_copy(repr(name), scores[copy], sides.place)
            return
    if not sides.order:
        return
    first, second = codes
    if first is not None and second is not None:
        both = f"both {' and '.join(map(repr, sides.names))}"
        if copy := find_copied_pairs(first, second):
            yield _describe_copy(both, sides.scores[0][copy], sides.place)


def _describe_copy(whose: str, scores: FloatArray, place: str) -> Suspicion:
    values = [f"{score:g}" for score in scores]
    return Suspicion(
        "repeated",
        f"{len(values)} scores of {whose} in {place} stand twice in the same order "
        f"({enumerate_names(values, limit=3)})",
        "these look like copied rows, or like runs that the seed does not reach",
        "Remove the copies; if they are runs of their own",
    )


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
    n, counts = codes.size, np.bincount(codes)
    log_equal = log((counts * (counts - 1)).sum() / (n * (n - 1)))  # of any two
    for lag in lags:
        start, stop = _longest_run(codes[lag:] == codes[:-lag])
        log_chance = log(n * (n - 1) / 2) + (stop - start) * log_equal
        is_varied = len(set(codes[start:stop].tolist())) > 2
        if is_varied and log_chance < log(_CHANCE_COPIED):
            return slice(start, min(stop, start + lag))
    return None


def find_copied_pairs(a: IntArray, b: IntArray) -> slice | None:
    """Find pairs of numbered scores that stand again later in the same order."""
    if copy := find_copy(np.unique(a * b.size + b, return_inverse=True)[1]):
        return copy
    for lag in _likely_lags(a):  # whether all are copies of the first, whose scores all differ
        is_tiled = a.size % lag == 0 and all((c[lag:] == c[:-lag]).all() for c in (a, b))
        if is_tiled and all(len(np.unique(c[:lag])) == lag for c in (a, b)):
            return slice(0, lag)
    return None


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
    likely = np.argsort(-counts, kind="stable")[:_N_LAGS]
    return [*likely[counts[likely] > 0].tolist()]


def _longest_run(is_equal: BoolArray) -> tuple[int, int]:
    """Where the longest run of true values begins and ends."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], is_equal.astype(np.int8), [0]))))
    begins, ends = edges[::2], edges[1::2]
    if not begins.size:
        return 0, 0
    longest = int((ends - begins).argmax())
    return int(begins[longest]), int(ends[longest])


def find_margin_suspicions(
    sides: Sides, margins: Mapping[str, float | None]
) -> Iterator[Suspicion]:
    """Ask about margins of fractions that seem to be points, and of per cent that seem fractions.

    A margin of fractions is asked about where it is larger than the difference of any two runs: no
    run could have failed it.

    Examples
    --------
    >>> scores = np.array([0.91, 0.93, 0.92]), np.array([0.90, 0.91, 0.93])
    >>> sides = Sides(("new", "old"), scores, "accuracy", "runs.csv", "seed")
    >>> [each.remedy for each in find_margin_suspicions(sides, {"margin": 0.5})]
    ['Pass 0.005 if 0.5 points are meant; if it is right as it is']
    """
    low, high = min(map(np.min, sides.scores)), max(map(np.max, sides.scores))
    if not is_share(sides.metric) or low < 0:
        return
    for name, margin in margins.items():
        if margin is None:
            continue
        if high <= 1 and margin >= _LARGE_FRACTION and margin > high - low:
            kind, point, meant = "fractions", 0.01, margin
        elif LARGEST_FRACTION < high <= 100 and margin < _SMALL_PERCENT:
            kind, point, meant = "per cent", 1, 100 * margin
        else:
            continue
        yield Suspicion(
            "margin",
            f"{name} is {margin:g}, and the scores lie between {low:g} and {high:g} in "
            f"{sides.place}",
            f"these are {kind}, in which a point is {point:g}",
            f"Pass {point * meant:g} if {meant:g} point{'s are' if meant != 1 else ' is'} meant; "
            "if it is right as it is",
        )
