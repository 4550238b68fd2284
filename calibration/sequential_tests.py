"""The sequential test, followed pair by pair: every path summed up, but where pairs are incomplete.

Only who wins counts, so that the chance of every lead after every pair is known.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import ndtr

from calibration.cells import ALPHA, Cell, share
from calibration.data import SHARED, TIES, FloatArray
from outperform.stats.sequential_test import SequentialTest, plan_sequential_test, trace_path

GAMMAS = (0.6, 0.75, 0.9)
BETA = 0.05
N_STUDIES = 2_000
FAILING = 0.5  # share of the pairs which a would win that fail
SOME_FAIL = "half of A's wins fail"
RESPLITS = "re-splits of one dataset"
_Place = tuple[str, str, str, str, str, str]


def list_blocks() -> list[dict[str, Any]]:
    """What is computed in one go."""
    return [{"gamma": gamma} for gamma in GAMMAS]


def measure(rng: np.random.Generator, *, gamma: float, n_studies: int = N_STUDIES) -> list[Cell]:
    """Chances to decide between equals, and for a where P(A>B) is gamma."""
    test = plan_sequential_test(gamma, ALPHA, BETA)
    whole = [*_measure_size(test), *_measure_power(test)]
    return [*whole, *_measure_incomplete(rng, test, n_studies)]


def _place(test: SequentialTest, method: str, measure: str, data: str) -> _Place:
    return ("sequential", method, measure, data, f"γ = {test.gamma:g}", "")


def _measure_size(test: SequentialTest) -> Iterator[Cell]:
    for data, tie in (("no ties", 0.0), ("30% ties", TIES)):
        place = _place(test, "SequentialTest", "size", data)
        size = float(follow_all_paths(test, np.array([0.5]), tie).sum())
        yield Cell(*place, size, alpha=ALPHA, slack=0.0)
    # The dataset at hand favours one of equals by luck, as in `paired_intervals`.
    luck, weight = np.polynomial.hermite_e.hermegauss(120)
    decided = follow_all_paths(test, ndtr(luck * np.sqrt(SHARED / (1 - SHARED)))).sum(axis=0)
    place = _place(test, "SequentialTest", "size", RESPLITS)
    yield Cell(*place, float(decided @ weight / weight.sum()), alpha=ALPHA, slack=0.0)


def _measure_power(test: SequentialTest) -> Iterator[Cell]:
    for data, tie in (("no ties", 0.0), ("30% ties", TIES)):
        if test.gamma + tie / 2 <= 1:  # who ties more often cannot win so often
            place = _place(test, "SequentialTest", "power", data)
            power = float(follow_all_paths(test, np.array([test.gamma]), tie)[0, 0])
            yield Cell(*place, power, alpha=BETA, slack=0.0)


def _measure_incomplete(
    rng: np.random.Generator, test: SequentialTest, n_studies: int
) -> Iterator[Cell]:
    """Some pairs that a would win fail: kept as incomplete, or left out and replaced by others."""
    equals, better = (_trace_failing(rng, test, p, n_studies) for p in (0.5, test.gamma))
    place = _place(test, "trace_path", "size", SOME_FAIL)
    yield Cell(*place, *share(np.isin(equals, ("a", "b"))), alpha=ALPHA, slack=0.0)
    yield Cell(*_place(test, "trace_path", "power", SOME_FAIL), *share(better == "a"))
    won = (1 - FAILING) / (1 + (1 - FAILING))  # of the pairs that are left
    size = float(follow_all_paths(test, np.array([won])).sum())
    yield Cell(*_place(test, "failed pairs left out", "size", SOME_FAIL), size)


def _trace_failing(
    rng: np.random.Generator, test: SequentialTest, probability: float, n_studies: int
) -> Any:
    outcomes = (rng.random((n_studies, test.n_max)) < probability).astype(np.float64)
    outcomes[(outcomes == 1) & (rng.random(outcomes.shape) < FAILING)] = np.nan
    return np.array([trace_path(test, path).call for path in outcomes])


def follow_all_paths(
    test: SequentialTest, probability: FloatArray, tie_share: float = 0.0
) -> FloatArray:
    """Chances to end with a and with b, by P(A>B): shape (2, n_probabilities)."""
    win, loss = ((p - tie_share / 2)[:, None] for p in (probability, 1 - probability))
    leads = np.arange(-test.n_max - 1, test.n_max + 2)
    going_on = np.tile((leads == 0).astype(np.float64), (probability.size, 1))
    ended = np.zeros((2, probability.size))
    for n in range(1, test.n_max + 1):
        # Nothing is at either end of `leads`, so that nothing goes around.
        up, down = np.roll(going_on, 1, axis=1), np.roll(going_on, -1, axis=1)
        going_on = win * up + loss * down + tie_share * going_on
        calls = test.judge(leads, np.array(n))
        ended += [going_on[:, calls == side].sum(axis=1) for side in "ab"]
        going_on[:, calls != "go on"] = 0
    return ended
