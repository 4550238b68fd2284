"""How few runs must be hidden to make a conclusion, or to undo it.

Pairs and the verdict: exact, because hiding k pairs leaves n - k, and among as many pairs the rule
only gets easier to meet when a loss is exchanged for a tie or a tie for a win (`VerdictRule`). So
for each k one way of hiding is best, and only k is searched.

Pairs and the t-test: to make a conclusion, exact too (`hide_to_show_by_t`); to undo it, between
two bounds that nearly always agree. Independent runs: upper bounds, by hiding from the ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from outperform.stats.checks import (
    BoolArray,
    FloatArray,
    add_counts,
    as_independent,
    as_scores,
    check_open_unit,
)
from outperform.stats.outperforming import logit_bounds
from outperform.stats.verdicts import VerdictRule


def hide_to_show(wins: int, ties: int, losses: int, *, rule: VerdictRule) -> int | None:
    """Fewest pairs to hide until the rule holds for the side with these wins, or None.

    Wins are hidden last: exchanging a hidden win for a kept pair never hurts. Of k hidden pairs,
    losses are better hidden than ties, but a tie is no evidence: just as many losses are kept as
    enough untied pairs need.

    Examples
    --------
    >>> hide_to_show(18, 0, 11, rule=VerdictRule())
    4
    """
    n = add_counts(wins, ties, losses)
    for hidden in range(ties + losses + 1):
        hidden_losses = min(losses, hidden, wins + losses - rule.n_conclusive)
        if hidden_losses < max(0, hidden - ties):
            return None  # too few untied pairs would be left
        if rule.holds(wins, ties - (hidden - hidden_losses), n - hidden):
            return hidden
    return None


def hide_to_undo(wins: int, ties: int, losses: int, *, rule: VerdictRule) -> int:
    """Fewest pairs to hide until the rule no longer holds for the side with these wins.

    Of k hidden pairs, wins are best, then ties. It leaves as few untied pairs as any other way
    does, as long as there are wins, and without wins the rule never holds.

    Examples
    --------
    >>> hide_to_undo(22, 0, 7, rule=VerdictRule())
    5
    """
    n = add_counts(wins, ties, losses)
    ways = range(wins + 1)
    return next(k for k in ways if not rule.holds(wins - k, ties, n - k))


def hide_to_show_by_t(differences: ArrayLike, *, alpha: float = 0.05) -> int | None:
    """Fewest pairs to hide until the t-test finds the mean of the others above 0, or None.

    Parameters
    ----------
    differences : shape (n_pairs,)
        Of the paired scores; positive where the first is better.
    alpha
        Level of the two-sided test.

    Notes
    -----
    Among kept sets of one size s, the largest t is reached by neighbours in sorted order. With
    P = Σd and Q = Σd², t grows with P/√Q, so t exceeds a positive bound exactly if
    P - c√Q > 0 for some c > 0, and -√Q is the largest of -(Q/λ + λ)/2 over λ > 0. For each λ
    the best s differences are those with the largest d - c·d²/(2λ): a concave function, whose
    largest values lie side by side. So do those of the best λ.

    Examples
    --------
    >>> hide_to_show_by_t([-9, 2, 3, 4])
    1
    """
    check_open_unit("alpha", alpha)
    ordered = np.sort(as_scores(differences, "differences", at_least=2))
    sizes = [size for size, shown in _judge_neighbours(ordered, alpha) if shown.any()]
    return ordered.size - sizes[-1] if sizes else None


def hide_to_undo_by_t(differences: ArrayLike, *, alpha: float = 0.05) -> tuple[int, int] | None:
    """Fewest pairs to hide until the t-test no longer finds the mean of the others above 0.

    Returns
    -------
    Pairs that must at least be hidden, and pairs that are enough: nearly always the same number.
    None where any two pairs show it, since all differ equally.

    Notes
    -----
    To lower t one may hide the largest differences, or those near the mean, without which the
    others vary more. Enough: the best among neighbours in sorted order. At least: in the notation
    of `hide_to_show_by_t`, a kept set of size s is undone if P - c√Q < 0, and -√Q is no less than
    -(Q/λ + λ)/2 for any λ > 0. So none is undone if, for some λ, the s smallest d - c·d²/(2λ) add
    up to more than c·λ/2. Concave in λ, that is searched by thirds.

    Examples
    --------
    >>> hide_to_undo_by_t([1, 2, 3, 4, 5])
    (2, 2)
    """
    check_open_unit("alpha", alpha)
    ordered = np.sort(as_scores(differences, "differences", at_least=2))
    judged = _judge_neighbours(ordered, alpha, circular=True)
    sizes = [size for size, shown in judged if not shown.all()]
    if not sizes:
        return None
    n, enough = ordered.size, ordered.size - sizes[-1]
    at_least = next((k for k in range(enough) if not _outlasts(ordered, n - k, alpha)), enough)
    return at_least, enough


def hide_runs_to_show(a: ArrayLike, b: ArrayLike, *, rule: VerdictRule) -> int | None:
    """Runs that are enough to hide until independent runs show that `a` is better, or None.

    An upper bound: every number of the lowest of `a` is hidden with every number of the highest
    of `b`, and no other runs.

    Parameters
    ----------
    a, b : shape (n_a,) and (n_b,), n ≥ 2; higher is better
    rule
        Its interval is Brunner and Munzel's here, whatever it says.

    Examples
    --------
    >>> hide_runs_to_show([1, 6, 7, 8, 9, 10, 11], [0, 2, 3, 4, 5, 5, 6], rule=VerdictRule())
    1
    """
    first, second = map(np.sort, as_independent(a, b, at_least=2))
    return _count_hidden(_judge_ends(first, second, rule), first.size + second.size)


def hide_runs_to_undo(a: ArrayLike, b: ArrayLike, *, rule: VerdictRule) -> int:
    """Runs that are enough to hide until independent runs no longer show that `a` is better.

    An upper bound, as for `hide_runs_to_show`: the highest of `a` and the lowest of `b` go. Few
    runs show nothing, so there always is one.

    Examples
    --------
    >>> hide_runs_to_undo([6, 7, 8, 9, 10, 11, 12], [0, 1, 2, 3, 4, 5, 6], rule=VerdictRule())
    2
    """
    first, second = map(np.sort, as_independent(a, b, at_least=2))
    judged = _judge_ends(first[::-1], second[::-1], rule)
    undone = ((n_kept, ~shown) for n_kept, shown in judged)
    hidden = _count_hidden(undone, first.size + second.size)
    assert hidden is not None
    return hidden


def _judge_neighbours(
    ordered: FloatArray, alpha: float, *, circular: bool = False
) -> Iterator[tuple[int, BoolArray]]:
    """For each size from 2 up, whether the t-test finds the mean of so many neighbours above 0.

    In a circle, the neighbours may also be all but some neighbours in the middle. Each is grown
    from one size to the next by Welford's recurrence: differences of running sums would lose
    everything beside one run that diverged.
    """
    n = ordered.size
    following = np.concatenate([ordered, ordered]) if circular else ordered
    mean, squares = ordered, np.zeros(n)
    for size in range(2, n + 1):
        n_sets = n if circular else n - size + 1
        step = following[size - 1 :][:n_sets] - mean[:n_sets]
        mean = mean[:n_sets] + step / size
        squares = squares[:n_sets] + step**2 * ((size - 1) / size)
        error = np.sqrt(squares / ((size - 1) * size))
        needed = float(stdtrit(size - 1, 1 - alpha / 2))
        yield size, (mean > 0) & (mean >= needed * error)


def _outlasts(differences: FloatArray, size: int, alpha: float) -> bool:
    """Whether every kept set of this size is proven to show a mean above 0."""
    t = float(stdtrit(size - 1, 1 - alpha / 2))
    bound = t * np.sqrt(size / (size - 1 + t**2))  # c: what P/√Q is where the statistic is t
    scaled = differences / np.abs(differences).max()

    def lowest(scale: float) -> float:
        values = np.partition(scaled - bound * scaled**2 / (2 * scale), size - 1)
        return float(values[:size].sum() - bound * scale / 2)

    low, high = 1e-6, 2 * float(np.sqrt((scaled**2).sum()))
    while high - low > 1e-6:
        left, right = low + (high - low) / 3, high - (high - low) / 3
        at_left, at_right = lowest(left), lowest(right)
        if max(at_left, at_right) > 1e-9:
            return True
        low, high = (left, high) if at_left < at_right else (low, right)
    return False


def _judge_ends(a: FloatArray, b: FloatArray, rule: VerdictRule) -> Iterator[tuple[int, BoolArray]]:
    """For each number of the last of `a`, whether they outperform the first 1, 2, … of `b`.

    The interval of `outperforming_interval`, from sums that grow with each run: of the wins of
    each kept run of `a`, and of their squares, and of the wins over each of `b`.
    """
    sizes = np.arange(1, b.size + 1)
    wins_over, total, squares = np.zeros((3, b.size))
    for n_a, score in enumerate(a[::-1], start=1):
        wins = (score > b) + (score == b) / 2
        won = np.cumsum(wins)
        wins_over, total, squares = wins_over + wins, total + won, squares + won**2
        shown = (np.minimum(n_a, sizes) >= rule.n_conclusive) & (total > n_a * sizes / 2)
        spread_a, spread_b = n_a * squares, sizes * np.cumsum(wins_over**2)
        spread_a, spread_b = spread_a - total**2, spread_b - total**2
        # Where all are won, enough runs of both are all it takes.
        mixed = np.flatnonzero(shown & (spread_a + spread_b != 0))
        n_b = sizes[mixed]
        variance_a = spread_a[mixed] / (n_a - 1) / (n_a * n_b) ** 2
        variance_b = spread_b[mixed] / (n_b - 1) / (n_a * n_b) ** 2
        share, variances = total[mixed] / (n_a * n_b), (variance_a, variance_b)
        low, high = logit_bounds(share, variances, (n_a, n_b), rule.confidence_level)
        shown[mixed] = (low > 0.5) & (high > rule.gamma)
        yield n_a, shown


def _count_hidden(judged: Iterable[tuple[int, BoolArray]], n_runs: int) -> int | None:
    """Fewest runs hidden where it is so, of the numbers kept of `a` and, by place, of `b`."""
    kept = [n_a + int(np.flatnonzero(so)[-1]) + 1 for n_a, so in judged if so.any()]
    return n_runs - max(kept) if kept else None
