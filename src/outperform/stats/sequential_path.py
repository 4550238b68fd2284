"""What a sequential test makes of pairs as they come in, incomplete ones among them."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from outperform.errors import InvalidInput
from outperform.stats.checks import FloatArray, IntArray, check_count
from outperform.stats.sequential_test import SequentialTest

# "unknown" is where some outcome of the incomplete pairs ends in one way and another in another.
Call = Literal["a", "b", "neither", "go on", "unknown"]


@dataclass(frozen=True, slots=True)
class SequentialPath:
    """Pairs up to the one at which a sequential test ended, or all where it goes on."""

    test: SequentialTest
    call: Call
    outcomes: FloatArray = field(compare=False, repr=False)  # 1, ½, 0; NaN of an incomplete pair
    n_beyond: int  # pairs that came after the end
    _leads: tuple[int, ...] = field(repr=False)  # at which the test may stand, where it goes on

    @property
    def n_pairs(self) -> int:
        """Pairs that were looked at, incomplete ones included."""
        return self.outcomes.size

    @property
    def counts(self) -> IntArray:
        """Wins, losses, ties and incomplete pairs after each pair: shape (4, n_pairs)."""
        kinds = [self.outcomes == 1, self.outcomes == 0, self.outcomes == 0.5]
        return np.cumsum([*kinds, np.isnan(self.outcomes)], axis=1)

    @property
    def log_ratios(self) -> FloatArray:
        """Log ratios for a and for b after each pair: shape (2 sides, 2, n_pairs).

        The first of both has all incomplete pairs lost by that side, the second has them won.
        """
        wins, losses, _, gaps = self.counts
        lead, pairs = wins - losses, np.arange(1, self.n_pairs + 1)
        sides = [(side * lead - gaps, side * lead + gaps) for side in (1, -1)]
        return np.array([[self.test.log_ratio(each, pairs) for each in side] for side in sides])

    def count_needed(self) -> int:
        """Pairs that must come before the test can end at all; 0 where it has ended."""
        n, most = self.n_pairs, self.test.n_max
        if self.call != "go on":
            return 0
        low, high = min(self._leads), max(self._leads)
        for more in range(1, most - n):
            reached = np.arange(low - more, high + more + 1)
            if (self.test.judge(reached, np.array(n + more)) != "go on").any():
                return more
        return most - n


def trace_path(
    test: SequentialTest, outcomes: ArrayLike, n_last: int | None = None
) -> SequentialPath:
    """Follow pairs one by one until a sequential test ends.

    An incomplete pair might have been won by either, or tied: what is decided would be decided the
    same, at that pair or before, whatever became of each of them. So the errors stay within their
    bounds, whatever made pairs fail.

    Parameters
    ----------
    outcomes : shape (n_pairs,)
        In the order in which the pairs were planned: 1 where a wins, 0 where b does, ½ for a tie,
        NaN for an incomplete pair.
    n_last
        Look at no more pairs than that, though the test might go on.

    Examples
    --------
    >>> from outperform.stats import plan_sequential_test
    >>> test = plan_sequential_test()
    >>> trace_path(test, [1] * 12).call, trace_path(test, [1] * 12).n_pairs
    ('a', 9)
    >>> trace_path(test, [1, 1, np.nan, *[1] * 9]).n_pairs  # which might have been a loss
    12
    """
    values = _check_outcomes(outcomes)
    if n_last is not None:
        check_count("n_last", n_last, at_least=1)
    most = min(test.n_max, values.size if n_last is None else n_last)
    leads, ends, n = np.zeros(1, dtype=np.int64), set[str](), 0
    while n < min(most, values.size) and leads.size and len(ends) < 2:
        steps = (-1, 0, 1) if np.isnan(values[n]) else (round(2 * values[n] - 1),)
        n += 1
        leads = np.unique(np.add.outer(leads, steps))
        calls = test.judge(leads, np.array(n))
        ends |= set(calls[calls != "go on"].tolist())
        leads = leads[calls == "go on"]
    (call,) = (
        ends if len(ends) == 1 and not leads.size else {"unknown" if len(ends) > 1 else "go on"}
    )
    return SequentialPath(test, call, values[:n], values.size - n, tuple(leads.tolist()))  # type: ignore[arg-type]


def _check_outcomes(outcomes: ArrayLike) -> FloatArray:
    values = np.asarray(outcomes, dtype=np.float64)
    if values.ndim != 1 or not (np.isin(values, (0, 0.5, 1)) | np.isnan(values)).all():
        raise InvalidInput(
            f"the outcomes are {np.asarray(outcomes).tolist()!r}",
            "Pass a list of 1 (a wins), 0 (b wins), 0.5 (a tie) and NaN (incomplete)",
        )
    return values
