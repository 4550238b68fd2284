"""What a reading of a leaderboard rests on, and whether its scores bear that out."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from outperform.questions.sota.result import LeaderboardAssessment
from outperform.questions.sota.score_models import AccuracyModel, ScoreModel
from outperform.stats import WinnerBootstrap, clopper_pearson_interval, miss_of_alike
from outperform.stats.checks import FloatArray, merge_ties
from outperform.wording import count

_MOST_DECIMALS = 10
_BY_CHANCE = 0.05  # that exact scores all happen to be so round
_FEW_EXAMPLES, _FEW_RIVALS = 200, 5  # with which the interval of the best is too narrow
_FEW = 30  # examples of a class below which its share of a score hardly varies as it should
_ALIKE = (0.5, 0.8)  # correlation of each with a reference, to say what it would do
_MEANINGFUL = 4  # rounding steps per example from which a misfit tells anything


def doubt_leaderboard(result: LeaderboardAssessment, model: ScoreModel) -> Iterator[str]:
    """Say what is assumed and what of it the scores contradict."""
    if isinstance(model, AccuracyModel):
        yield from _doubt_grid(result.scores, model.n)
    if result.is_cut_off:
        yield (
            f"only {result.scores.size:,} of {result.n_entries:,} entries are shown, which are "
            "taken to be the top: more may be the best, and the estimate by score counts only "
            "those shown"
        )
    else:
        yield from _doubt_equality(result, model)
    if model.correlation == 0:
        level, m = result.interval.confidence_level, result.n_entries
        some, much = (miss_of_alike(m, rho, confidence_level=level) for rho in _ALIKE)
        yield (
            "entries are taken as independent; the more alike they are, the less of the top is "
            f"luck, and the more often the {level:.0%} interval misses: where all are equally good "
            f"and the successes of any two correlate by {_ALIKE[0] ** 2:.2g}, in about {some:.0%} "
            f"of leaderboards of {m:,} entries (by {_ALIKE[1] ** 2:.2g}: {much:.0%}), less often "
            "with few examples; give their dependence, or better their predictions"
        )
    if not isinstance(model, AccuracyModel):
        yield (
            "the AUC's variance is that of the binormal model with equal variances; predictions "
            "need no such assumption"
        )
    yield (
        "each entry counts as one try: if it was itself chosen among several on these examples, "
        "more of the top is luck"
    )


def doubt_predictions(
    bootstrap: WinnerBootstrap, n: int, *, rarest: tuple[str, int]
) -> Iterator[str]:
    """Say what resampling n examples cannot tell; `rarest` is a label, and how many have it."""
    interval = bootstrap.interval
    if interval.low == interval.high:
        fits = clopper_pearson_interval(n, n, confidence_level=interval.confidence_level)
        yield (
            "the best score is the same in every resample, so its interval has no width and is not "
            f"to be believed: even {n:,} of {n:,} right fit a true accuracy of {fits.low:.4f}"
        )
    label, n_rarest = rarest
    if n_rarest < _FEW:
        have = "1 example has" if n_rarest == 1 else f"{n_rarest} examples have"
        yield (
            f"only {have} the label {label}: resampling so few says little of how much their share "
            "of the score varies"
        )
    few = n < _FEW_EXAMPLES and np.count_nonzero(bootstrap.contends) <= _FEW_RIVALS
    if few and interval.low < interval.high:
        yield (
            f"with {n:,} examples the interval is too narrow where few may be the best: of two to "
            "five equals, 95% intervals missed the true score of the best in 4 to 11% of cases "
            "with 100 examples, and in 11 to 14% with 30"
        )
    (scores,) = merge_ties(bootstrap.scores)
    rivals = int((scores == scores.max()).sum())
    if rivals > 1:
        yield f"{rivals} entries share the best score; the first of them is called best"
    yield (
        "where all entries are equally good, a third of the luck is left in, or more if scores are "
        "nearly perfect: then believe the interval rather than the estimate"
    )


def doubt_turned(entries: Sequence[str], scores: FloatArray) -> Iterator[str]:
    """Say whose AUC would be the best if it predicted the other class, as by mistake."""
    turned = 1 - scores
    if turned.max() > scores.max():
        worst = int(scores.argmin())
        yield (
            f"turned round, {entries[worst]} would have AUC {turned[worst]:.4f} and be the best: "
            "if its predictions are of the other class, give 1 minus them"
        )


def fit_test_size(scores: FloatArray, limit: int) -> int | None:
    """Smallest number of examples that all scores can be shares of, as far as can be told.

    Scores may have been rounded or cut off.

    Examples
    --------
    >>> fit_test_size(np.array([0.9166, 0.8333, 0.75]), 100)
    12
    """
    distinct, step = np.unique(scores), 10.0 ** -count_decimals(scores)
    sizes = np.arange(1, min(limit, int(1 / (_MEANINGFUL * step))) + 1)
    # A few scores rule out nearly all sizes.
    few = distinct[:: max(1, distinct.size // 20)]
    possible = sizes[_measure_misfit(few, sizes[:, None]).max(axis=1) <= step * (1 + 1e-6)]
    fitting = (n for n in possible if _measure_misfit(distinct, n).max() <= step * (1 + 1e-6))
    return next(map(int, fitting), None)


def count_decimals(scores: FloatArray) -> int:
    """Decimals that scores were written with."""
    for decimals in range(_MOST_DECIMALS):
        if np.allclose(scores, np.round(scores, decimals), rtol=0, atol=1e-12):
            return decimals
    return _MOST_DECIMALS


def _measure_misfit(scores: FloatArray, n: int | NDArray[np.int64]) -> FloatArray:
    """Distance of each score to the nearest share of n."""
    return np.asarray(np.abs(np.round(scores * n) / n - scores))


def _doubt_grid(scores: FloatArray, n: int) -> Iterator[str]:
    """Accuracies are multiples of 1 / n, but for rounding."""
    decimals = count_decimals(scores)
    step = 10.0**-decimals
    n_between = np.unique(scores[(scores > 0) & (scores < 1)]).size
    if step * n > 1 and (step * n) ** -n_between < _BY_CHANCE:
        written = count(decimals, "decimal")
        yield f"scores have {written}, too few to tell {n:,} examples apart"
        return
    off = _measure_misfit(scores, n) > step * (1 + 1e-6)
    if off.any():
        fitting = fit_test_size(scores, 2 * n)
        hint = f"; {fitting:,} examples would fit all of them" if fitting else ""
        yield (
            f"{int(off.sum()):,} of {scores.size:,} scores cannot come from {n:,} examples (first: "
            f"{scores[off][0]:g} is no multiple of 1/{n}){hint}: is the test size right?"
        )


def _doubt_equality(result: LeaderboardAssessment, model: ScoreModel) -> Iterator[str]:
    """Entries that are not equally good, more alike than assumed, or copies of one another."""
    scores, spread, noise = result.scores, result.spread, result.noise
    if result.are_unequal:
        n_contenders = int(result.contends.sum())
        yield (
            f"scores spread {spread / noise:.2g} times as much as chance makes equals spread "
            f"(standard deviations {spread:.2g} and {noise:.2g}), so entries are not equally good; "
            f"counting only the {n_contenders:,} that may be the best, the sober estimate is "
            f"{model.estimate(n_contenders, result.top):.4f}, taking each at its score it is "
            f"{result.sober_if_different:.4f}"
        )
    if result.are_alike:
        yield (
            f"more than half of the entries (median {result.median:.4f}) score above the interval "
            "for equals, so their best should have been higher still: they are more alike than "
            "assumed"
        )
    distinct = np.unique(scores).size
    copies = scores.size - distinct
    if copies and distinct > 1:
        have = "1 entry has" if copies == 1 else f"{copies:,} entries have"
        copied = "it is a copy" if copies == 1 else "they are copies"
        yield (
            f"{have} a score that another has too; if {copied}, only {distinct:,} are distinct, "
            f"and the sober estimate is {model.estimate(distinct, result.top):.4f}"
        )
