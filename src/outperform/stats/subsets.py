"""How often random subsets of the runs lead to each conclusion."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from outperform.plain_values import Plain
from outperform.stats.checks import (
    FloatArray,
    IntArray,
    as_independent,
    as_pairs,
    check_count,
    check_open_unit,
    check_sizes,
)
from outperform.stats.chunks import divide_rows
from outperform.stats.hypothesis_test import HypothesisTest
from outperform.stats.verdict_rules import VerdictRule

Test = Callable[[FloatArray, FloatArray], HypothesisTest]

_BLOCK = 1_000_000  # drawn positions held at a time, to bound the memory
_NEGLIGIBLE = 1e-13  # chance below which a number of ties is not looked at


@dataclass(frozen=True, slots=True)
class SubsetShares(Plain):
    """Share of random subsets of size n that find a higher, or b, for each n."""

    rule: str
    sizes: IntArray = field(compare=False, repr=False)
    share_a: FloatArray = field(compare=False, repr=False)
    share_b: FloatArray = field(compare=False, repr=False)
    error: FloatArray = field(compare=False, repr=False)  # Monte-Carlo, of either; 0 where exact

    @property
    def share_neither(self) -> FloatArray:
        """Share of subsets that conclude nothing."""
        return np.maximum(0.0, 1 - self.share_a - self.share_b)


def count_verdicts(
    counts: tuple[int, int, int], sizes: ArrayLike, *, rule: VerdictRule
) -> SubsetShares:
    """Share of subsets of the pairs on which each side outperforms the other, exactly.

    Which pairs are drawn matters only through how many are won and tied, and these counts follow
    the multivariate hypergeometric distribution: nothing is drawn.

    Parameters
    ----------
    counts
        Wins, ties and losses of a.
    sizes : shape (n_sizes,)
        Numbers of pairs in a subset.

    Examples
    --------
    >>> count_verdicts((7, 0, 1), [6, 7], rule=VerdictRule()).share_a
    array([0.25 , 0.125])
    """
    wins, ties, losses = counts
    for name, count in (("wins", wins), ("ties", ties), ("losses", losses)):
        check_count(name, count, at_least=0)
    chosen = check_sizes(sizes, at_least=1, at_most=wins + ties + losses)
    shares = np.array([list(_share_verdicts(counts, int(n), rule)) for n in chosen])
    # Sums of probabilities may exceed 1 in the last bits.
    shares = np.clip(shares, 0.0, 1.0)
    return SubsetShares("verdict", chosen, shares[:, 0], shares[:, 1], np.zeros(chosen.size))


def count_rejections(
    a: ArrayLike,
    b: ArrayLike,
    sizes: ArrayLike,
    *,
    tests: Sequence[Test],
    paired: bool = True,
    alpha: float = 0.05,
    n_resamples: int = 10_000,
    rng: np.random.Generator,
) -> tuple[SubsetShares, ...]:
    """Share of random subsets on which each two-sided test finds either sample higher.

    Parameters
    ----------
    a, b : shape (n_pairs,), or (n_a,) and (n_b,) when unpaired; higher is better
    sizes : shape (n_sizes,)
        Numbers of runs in a subset, drawn without replacement. One order of the runs is drawn per
        subset and its first n taken, so that curves over n are smooth; each of their points is
        what independent draws would give.
    tests
        Functions such as `welch_t_test` or `brunner_munzel`, vectorised over leading axes.
    paired
        Draw the same positions of both.

    References
    ----------
    Gundersen et al. (2023), figure 6 in the middle and on the right, and figures 15 to 33, whose
    one-sided level of 0.001 is ``alpha=0.002`` here.

    Examples
    --------
    >>> from outperform.stats import paired_t_test
    >>> a, rng = [5, 6, 7, 8, 9, 10], np.random.default_rng(0)
    >>> count_rejections(a, [1, 2, 4, 4, 5, 6], [5], tests=[paired_t_test], rng=rng)[0].share_a
    array([1.])
    """
    first, second = (as_pairs if paired else as_independent)(a, b, at_least=2)
    check_open_unit("alpha", alpha)
    check_count("n_resamples", n_resamples, at_least=1)
    chosen = check_sizes(sizes, at_least=2, at_most=min(first.size, second.size))
    found = np.zeros((len(tests), 2, chosen.size))
    names = [""] * len(tests)
    for rows_a, rows_b in _draw_orders(first.size, second.size, paired, n_resamples, rng):
        for place, n in enumerate(chosen):
            drawn = first[rows_a[:, :n]], second[rows_b[:, :n]]
            for number, test in enumerate(tests):
                result = test(*drawn)
                names[number] = result.name
                found[number, :, place] += _count_found(result, alpha)
    return tuple(
        _estimate(name, chosen, counts, n_resamples)
        for name, counts in zip(names, found, strict=True)
    )


def _share_verdicts(counts: tuple[int, int, int], n: int, rule: VerdictRule) -> Iterator[float]:
    """Chance that n random pairs show a ahead, and that they show b ahead."""
    wins, ties, losses = counts
    tied = _hypergeometric(ties, wins + losses, n)
    likely = np.flatnonzero(tied > _NEGLIGIBLE)
    range_of_ties = range(int(likely[0]), int(likely[-1]) + 1)
    needed = list(rule.fewest_wins(n, range_of_ties))
    for good, bad in ((wins, losses), (losses, wins)):
        yield sum(
            float(tied[t] * _hypergeometric(good, bad, n - t)[least:].sum())
            for t, least in zip(range_of_ties, needed, strict=True)
        )


def _hypergeometric(good: int, bad: int, n: int) -> FloatArray:
    """Chances of 0 to n good ones among n drawn without replacement."""
    drawn = np.arange(n + 1)
    possible = (drawn <= good) & (n - drawn <= bad)
    chances = np.zeros(n + 1)
    some = drawn[possible]
    chances[possible] = np.exp(
        _log_choose(good, some) + _log_choose(bad, n - some) - _log_choose(good + bad, n)
    )
    return chances


def _log_choose(n: int, k: Any) -> Any:
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def _draw_orders(
    n_a: int, n_b: int, paired: bool, n_resamples: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Random orders of both samples, in blocks that bound the memory."""
    for rows in divide_rows(n_resamples, n_a + n_b, limit=_BLOCK):
        order = rng.permuted(np.tile(np.arange(n_a), (rows, 1)), axis=1)
        yield order, order if paired else rng.permuted(np.tile(np.arange(n_b), (rows, 1)), axis=1)


def _count_found(test: HypothesisTest, alpha: float) -> FloatArray:
    found = np.asarray(test.pvalue) <= alpha
    statistic = np.asarray(test.statistic)
    return np.array([(found & (statistic > 0)).sum(), (found & (statistic < 0)).sum()], float)


def _estimate(rule: str, sizes: IntArray, counts: FloatArray, n: int) -> SubsetShares:
    # One more of each outcome keeps the error above 0 where all subsets agree.
    cautious = (counts.max(axis=0) + 1) / (n + 2)
    error = np.sqrt(cautious * (1 - cautious) / n)
    return SubsetShares(rule, sizes, counts[0] / n, counts[1] / n, error)
