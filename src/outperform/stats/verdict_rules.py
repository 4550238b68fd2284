"""The rule of the verdict on pairs, as a function of how many were won and tied."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from scipy.special import bdtrc

from outperform.stats.checks import check_count, check_gamma, check_open_unit
from outperform.stats.outperforming import PairedMethod, paired_interval
from outperform.stats.power import smallest_conclusive


@dataclass(frozen=True, slots=True)
class VerdictRule:
    """When n pairs show that one side outperforms the other; a tie counts as half a win.

    The interval of P(A>B) must begin above 1/2 and end above gamma, and there must be enough
    untied pairs for any outcome to be significant.

    A rule that holds goes on holding when a loss among n pairs becomes a tie or a tie a win:
    the p-value of the sign test falls, Wilson's and the anytime interval rise with the share won,
    and for the percentile interval each resampled pair becomes stochastically larger, so their sum
    does, and so do its quantiles. That is what makes counting arguments about the rule exact. (The
    upper end of the exact interval may fall by less than 1e-4, with many pairs and three losses,
    which matters only to a gamma as near.)
    """

    confidence_level: float = 0.95
    gamma: float = 0.5  # 1/2: significant is enough
    interval: PairedMethod = "exact"

    def __post_init__(self) -> None:
        check_open_unit("confidence_level", self.confidence_level)
        check_gamma(self.gamma)

    @property
    def n_conclusive(self) -> int:
        """Fewest untied pairs that can be significant at all."""
        return smallest_conclusive(1 - self.confidence_level)

    def holds(self, wins: int, ties: int, n: int) -> bool:
        """Whether the side with these wins outperforms the other.

        Examples
        --------
        >>> VerdictRule().holds(21, 0, 29), VerdictRule().holds(20, 0, 29)
        (True, False)
        """
        return n - ties >= self.n_conclusive and self._interval_lies_above(wins, ties, n)

    def size(self, n: int, ties: int) -> float:
        """Chance that either of two equals outperforms the other, given how many pairs are tied.

        Examples
        --------
        >>> round(VerdictRule().size(29, 0), 4), round(VerdictRule().size(29, 9), 4)
        (0.0241, 0.0414)
        """
        wins = next(self.fewest_wins(n, range(ties, ties + 1)))
        return 2 * float(bdtrc(wins - 1, n - ties, 0.5)) if wins <= n - ties else 0.0

    def fewest_wins(self, n: int, ties: range) -> Iterator[int]:
        """Fewest wins with which the rule holds, for each number of ties; n + 1 if none do.

        One more tie lowers them by one at most: (w - 2, t + 1) is (w - 1, t) with a win made a
        tie, and (w - 1, t) was too little.
        """
        check_count("n", n, at_least=1)
        needed = 0
        for number, tied in enumerate(ties):
            if number == 0:
                above = partial(self._interval_lies_above, ties=tied, n=n)
                needed = bisect_left(range(n - tied + 1), True, key=above)
            elif self._interval_lies_above(needed - 1, tied, n):
                needed -= 1
            enough = needed + tied <= n and n - tied >= self.n_conclusive
            yield needed if enough else n + 1

    def _interval_lies_above(self, wins: int, ties: int, n: int) -> bool:
        if not 0 <= wins <= n - ties:
            return wins > 0
        interval = paired_interval(wins, ties, n, method=self.interval, level=self.confidence_level)
        return interval.low > 0.5 and interval.high > self.gamma
