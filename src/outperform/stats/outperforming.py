"""P(A>B): how often a score of one sample beats a score of the other."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaln, expit, logit, stdtr, stdtrit

from outperform.errors import InvalidInput
from outperform.stats.checks import (
    FloatArray,
    as_generator,
    as_independent,
    as_pairs,
    check_choice,
    check_count,
    check_open_unit,
)
from outperform.stats.intervals import (
    REACHED,
    Interval,
    anytime_interval,
    clopper_pearson_interval,
    exact_interval,
    percentile_interval,
    sign_tail,
    wilson_interval,
)
from outperform.stats.numerics import divide_rows

Ties = Literal["half", "strict"]
PairedMethod = Literal["exact", "percentile", "wilson", "anytime"]
UnpairedMethod = Literal["brunner-munzel", "bootstrap"]
IntervalMethod = Literal[PairedMethod, UnpairedMethod]

_TIE_VALUE = {"half": 0.5, "strict": 0.0}
_N_RESAMPLES = 10_000


def probability_of_outperforming(
    a: ArrayLike, b: ArrayLike, *, paired: bool = True, ties: Ties = "half"
) -> float:
    """Estimate P(A>B), the chance that a score of `a` is higher than one of `b`.

    Parameters
    ----------
    a, b : shape (n_pairs,), or (n_a,) and (n_b,) when unpaired; higher is better
        Paired: entry i of both must come from the same seeds.
    paired
        Compare entry i with entry i, or every score with every score (Mann-Whitney).
    ties
        A tie counts as half a win, or with ``"strict"`` as none.

    Returns
    -------
    A value in [0, 1]; 0.5 when neither tends to win.

    References
    ----------
    Bouthillier et al. (2021), Accounting for Variance in ML Benchmarks, equation 9.

    Examples
    --------
    >>> probability_of_outperforming([0.9, 0.8], [0.7, 0.8])
    0.75
    """
    check_choice("ties", ties, get_args(Ties))
    return _share_wins(*(as_pairs if paired else as_independent)(a, b), paired, ties)[0]


def find_chances(
    a: FloatArray,
    b: FloatArray,
    *,
    paired: bool,
    ties: Ties,
    method: IntervalMethod,
    confidence_level: float,
    rng: np.random.Generator | None,
) -> tuple[float, float, Interval, Interval]:
    """P(A>B) and P(B>A), and their intervals, of scores in which ties are identical already."""
    method = _check_options(paired, ties, method, confidence_level)
    find = partial(
        _find_interval, paired=paired, ties=ties, method=method, level=confidence_level, rng=rng
    )
    interval = find(a, b)
    # Where B outperforms A, to the last bit as were B named first; the bootstrap is drawn once.
    # With strict ties, what A has not won B has not won either.
    b_may_win = method != "bootstrap" and interval.high * REACHED <= 0.5
    reverse = find(b, a) if ties == "strict" or b_may_win else interval.mirrored()
    return *_share_wins(a, b, paired, ties), interval, reverse


def _share_wins(a: FloatArray, b: FloatArray, paired: bool, ties: Ties) -> tuple[float, float]:
    """P(A>B) and P(B>A)."""
    # Counts are multiples of 1/2, so that only the divisions round.
    if paired:
        wins, tied, n = _count_outcomes(a, b)
        half = _TIE_VALUE[ties] * tied
        return (wins + half) / n, (n - wins - tied + half) / n
    n = a.size * b.size
    won = _count_beaten(a, b, _TIE_VALUE[ties]).sum()
    lost = _count_beaten(b, a, _TIE_VALUE[ties]).sum()
    return float(won / n), float(lost / n)


def outperforming_interval(
    a: ArrayLike,
    b: ArrayLike,
    *,
    paired: bool = True,
    ties: Ties = "half",
    method: IntervalMethod = "exact",
    confidence_level: float = 0.95,
    n_resamples: int = _N_RESAMPLES,
    rng: np.random.Generator | None = None,
) -> Interval:
    """Interval of P(A>B).

    Parameters
    ----------
    a, b : shape (n_pairs,), or (n_a,) and (n_b,) when unpaired; higher is better
    paired, ties
        As in `probability_of_outperforming`.
    method
        Paired: ``"exact"`` (agrees with the sign test), ``"percentile"`` (the bootstrap's, without
        resampling), ``"wilson"``, ``"anytime"`` (may be looked at after every pair).
        Unpaired: ``"brunner-munzel"`` (on the logit scale), also what ``"exact"`` stands for
        there, for want of one that is; ``"bootstrap"`` resamples both samples.
    rng
        Draws for the bootstrap; by default seeded with 0, so that the same scores always give the
        same interval.

    Examples
    --------
    >>> print(outperforming_interval([3, 4, 5, 6, 7, 8], [2, 3, 4, 5, 8, 7], method="wilson"))
    [0.436, 0.97]
    """
    method = _check_options(paired, ties, method, confidence_level)
    first, second = as_pairs(a, b) if paired else as_independent(a, b, at_least=2)
    return _find_interval(first, second, paired, ties, method, confidence_level, n_resamples, rng)


def _check_options(
    paired: bool, ties: Ties, method: IntervalMethod, confidence_level: float
) -> IntervalMethod:
    """Refuse what is not possible, and give the method that is meant."""
    check_choice("ties", ties, get_args(Ties))
    check_open_unit("confidence_level", confidence_level)
    return _choose_method(method, paired, get_args(PairedMethod if paired else UnpairedMethod))


def _find_interval(
    a: FloatArray,
    b: FloatArray,
    paired: bool,
    ties: Ties,
    method: IntervalMethod,
    level: float,
    n_resamples: int = _N_RESAMPLES,
    rng: np.random.Generator | None = None,
) -> Interval:
    if paired:
        wins, tied, n = _count_outcomes(a, b)
        return paired_interval(wins, tied if ties == "half" else 0, n, method=method, level=level)
    if method == "brunner-munzel":
        return _brunner_munzel_interval(a, b, ties, level)
    return _bootstrap_interval(a, b, ties, level, n_resamples, as_generator(rng))


def outperforming_pvalue(
    a: ArrayLike,
    b: ArrayLike,
    *,
    paired: bool = True,
    ties: Ties = "half",
    method: Literal["exact", "anytime", "brunner-munzel"] = "exact",
) -> float:
    """One-sided p-value against "P(A>B) is 1/2 or less", of the test that an interval inverts.

    It is at most t where the lower bound of `outperforming_interval` by the same method, at a
    confidence of 1 - 2t, is not below 1/2.

    Parameters
    ----------
    a, b, paired, ties
        As in `outperforming_interval`.
    method
        Paired: ``"exact"``, the sign test on pairs that are not tied; ``"anytime"``, which may be
        looked at after every pair. Unpaired: ``"brunner-munzel"``, also what ``"exact"`` stands
        for there.

    Examples
    --------
    >>> outperforming_pvalue([3, 4, 5, 6, 7, 8], [2, 3, 4, 5, 6, 7])
    0.015625
    """
    check_choice("ties", ties, get_args(Ties))
    _choose_method(method, paired, ("exact", "anytime") if paired else ("brunner-munzel",))
    if not paired:
        first, second = as_independent(a, b, at_least=2)
        share, variances = _estimate_share(first, second, ties)
        n = min(first.size, second.size)
        if sum(variances) == 0:
            return float(sign_tail(np.asarray(share * n), np.asarray((1 - share) * n)))
        error, df = _logit_error(share, variances, (first.size, second.size))
        # No outcome may say more than complete separation does.
        return max(float(stdtr(df, -logit(share) / error)), 0.5**n)
    wins, tied, n = count_wins(a, b)
    losses = n - wins - (tied if ties == "half" else 0)
    if method == "exact":
        return float(sign_tail(np.asarray(wins), np.asarray(losses)))
    won = wins + (tied / 2 if ties == "half" else 0)
    # How much likelier equals make it than the mixture of `anytime_interval` does.
    log_ratio = -n * math.log(2) - float(betaln(won + 0.5, n - won + 0.5) - betaln(0.5, 0.5))
    return min(1.0, math.exp(min(0.0, log_ratio)) / 2) if 2 * won > n else 1.0


def _choose_method(
    method: IntervalMethod, paired: bool, choices: tuple[str, ...]
) -> IntervalMethod:
    """Take what "exact" stands for among the choices, and refuse what is none of them."""
    method = "brunner-munzel" if method == "exact" and not paired else method
    if method not in choices:
        raise InvalidInput(
            f"interval {method!r} is not made for {'' if paired else 'un'}paired scores",
            f"Choose one of {', '.join(map(repr, choices))}"
            + ("" if paired else ", or pair the scores by their seeds"),
        )
    return method


def paired_interval(wins: int, ties: int, n: int, *, method: str, level: float) -> Interval:
    """Interval of the share won, ties counted half, by the method's name."""
    by_counts = {"exact": exact_interval, "percentile": percentile_interval}
    if method in by_counts:
        return by_counts[method](wins, ties, n, confidence_level=level)
    by_share = {"wilson": wilson_interval, "anytime": anytime_interval}
    return by_share[method](wins + ties / 2, n, confidence_level=level)


def count_wins(a: ArrayLike, b: ArrayLike) -> tuple[int, int, int]:
    """Wins of a, ties, and the number of pairs."""
    return _count_outcomes(*as_pairs(a, b))


def _count_outcomes(a: FloatArray, b: FloatArray) -> tuple[int, int, int]:
    return int(np.count_nonzero(a > b)), int(np.count_nonzero(a == b)), a.size


def _count_beaten(a: FloatArray, b: FloatArray, tie_value: float) -> FloatArray:
    """How many of `b` each score of `a` beats."""
    ordered = np.sort(b)
    beaten = np.searchsorted(ordered, a, side="left")
    beaten_or_tied = np.searchsorted(ordered, a, side="right")
    return np.asarray((1 - tie_value) * beaten + tie_value * beaten_or_tied)


def _brunner_munzel_interval(
    a: FloatArray, b: FloatArray, ties: Ties, confidence_level: float
) -> Interval:
    estimate, variances = _estimate_share(a, b, ties)
    if sum(variances) == 0:
        # Where every comparison ended alike, the variance says 0 and knows nothing. The disjoint
        # pairs that can be formed are independent, so Clopper and Pearson's holds for them.
        n = min(a.size, b.size)
        exact = clopper_pearson_interval(estimate * n, n, confidence_level=confidence_level)
        return replace(exact, method="brunner-munzel")
    low, high = logit_bounds(estimate, variances, (a.size, b.size), confidence_level)
    return Interval(float(low), float(high), confidence_level, "brunner-munzel")


def _estimate_share(a: FloatArray, b: FloatArray, ties: Ties) -> tuple[float, tuple[Any, Any]]:
    """Share of all comparisons that a wins, and the part of each sample in its variance."""
    tie_value = _TIE_VALUE[ties]
    share_a = _count_beaten(a, b, tie_value) / b.size
    share_b = 1 - _count_beaten(b, a, 1 - tie_value) / a.size
    return float(share_a.mean()), (share_a.var(ddof=1) / a.size, share_b.var(ddof=1) / b.size)


def logit_bounds(
    share: Any, variances: tuple[Any, Any], sizes: tuple[Any, Any], confidence_level: float
) -> tuple[FloatArray, FloatArray]:
    """Bounds of P(A>B) of independent samples, made on the logit scale; elementwise.

    On that scale no bound is beyond 0 or 1, and near them the estimate is less skewed. A variance
    that few mixed scores give is often far too small, so no outcome may say more than complete
    separation does: its bounds are the tightest. Shares are above 0 and below 1; the variances are
    Brunner and Munzel's, the part of each sample, with a positive sum.
    """
    n_a, n_b = sizes
    error, df = _logit_error(share, variances, sizes)
    tail = (1 - confidence_level) / 2
    reach = -stdtrit(df, tail) * error
    # Clopper and Pearson's lower bound where all of n pairs are won.
    separated = tail ** (1 / np.minimum(n_a, n_b))
    low = np.minimum(expit(logit(share) - reach), separated)
    return low, np.maximum(expit(logit(share) + reach), 1 - separated)


def _logit_error(share: Any, variances: tuple[Any, Any], sizes: tuple[Any, Any]) -> tuple[Any, Any]:
    """Standard error of the logit of a share, and its degrees of freedom."""
    (variance_a, variance_b), (n_a, n_b) = variances, sizes
    variance = variance_a + variance_b
    df = variance**2 / (variance_a**2 / (n_a - 1) + variance_b**2 / (n_b - 1))
    return np.sqrt(variance) / (share * (1 - share)), df


def _bootstrap_interval(
    a: FloatArray,
    b: FloatArray,
    ties: Ties,
    confidence_level: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> Interval:
    """Resample both samples, as how often each score is drawn."""
    check_count("n_resamples", n_resamples, at_least=1)
    ordered = np.sort(b)
    below = np.searchsorted(ordered, a, side="left")
    not_above = np.searchsorted(ordered, a, side="right") if ties == "half" else below
    shares = []
    # Blocks keep the memory of the resamples near 64 MB.
    for n_rows in divide_rows(n_resamples, a.size + b.size, limit=4_000_000):
        drawn_a, drawn_b = (
            rng.multinomial(n, np.full(n, 1 / n), size=n_rows) for n in (a.size, b.size)
        )
        drawn_up_to = np.zeros((n_rows, b.size + 1))
        np.cumsum(drawn_b, axis=1, out=drawn_up_to[:, 1:])
        beaten = (drawn_up_to[:, below] + drawn_up_to[:, not_above]) / 2
        shares.append(np.einsum("ij,ij->i", drawn_a, beaten) / (a.size * b.size))
    tails = [(1 - confidence_level) / 2, (1 + confidence_level) / 2]
    low, high = np.quantile(np.concatenate(shares), tails)
    return Interval(float(low), float(high), confidence_level, "bootstrap")
