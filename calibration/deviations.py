"""Intervals of standard deviations, their ratios, variance components and correlations."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from calibration.cells import ALPHA, LEVEL, SIZES, Cell, share
from calibration.data import KINDS, SHARED, Distribution, FloatArray, observed_sd
from outperform.stats.variance_sources import repeated_means, variance_components
from outperform.stats.variances import deviation, deviation_ratio, normality_pvalue

KINDS_OF_DEVIATION = ("normal", "30% ties", "skewed", "heavy tails", "unequal variances")
KINDS_OF_EFFECTS = ("normal", "skewed", "heavy tails")
N_STUDIES = 5_000
N_LEVELS = (5, 6, 8, 10, 15, 20)
N_SCORES = 10  # of each repetition


def list_blocks() -> list[dict[str, Any]]:
    """What is computed in one go."""
    spreads = [
        {"part": "spread", "kind": kind, "n": n} for kind in KINDS_OF_DEVIATION for n in (4, *SIZES)
    ]
    crossed = [
        {"part": "crossed", "kind": kind, "n": n} for kind in KINDS_OF_EFFECTS for n in N_LEVELS
    ]
    return [*spreads, *crossed]


def measure(
    rng: np.random.Generator, *, part: str, kind: str, n: int, n_studies: int = N_STUDIES
) -> list[Cell]:
    """Coverage of every interval that is about variation."""
    if part == "spread":
        return list(_measure_spreads(rng, kind, n, n_studies))
    cells = _measure_components(rng, kind, n, n_studies // 2)
    return [*cells, _measure_repetitions(rng, kind, n, n_studies)]


def _measure_spreads(rng: np.random.Generator, kind: str, n: int, n_studies: int) -> Iterator[Cell]:
    kind_of_data = KINDS[kind]
    a, b = map(kind_of_data.observe, kind_of_data.draw(rng, n_studies, n))
    truth = observed_sd(kind_of_data, kind_of_data.spread)
    ratio = truth / observed_sd(kind_of_data)
    # Rounded scores may all be equal: nobody can divide by their deviation.
    varies = np.ptp(b, axis=1) > 0
    one = share(truth in deviation(x, confidence_level=LEVEL).interval for x in a)
    two = share(
        ratio in deviation_ratio(x, y, confidence_level=LEVEL).interval
        for x, y in zip(a[varies], b[varies], strict=True)
    )
    row = ("coverage", kind, str(n), "")
    yield Cell("variation", "deviation", *row, *one, alpha=ALPHA)
    yield Cell("variation", "deviation_ratio", *row, *two, alpha=ALPHA)
    if kind == "normal":
        abnormal = share(normality_pvalue(x) <= ALPHA for x in a)
        row = ("size", kind, str(n), "")
        yield Cell("variation", "normality_pvalue", *row, *abnormal, alpha=ALPHA)


def _standard(scores: Distribution, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """Effects with mean 0 and variance 1."""
    return (scores.draw(rng, shape) - scores.mean) / scores.sd


def _measure_components(
    rng: np.random.Generator, kind: str, n: int, n_studies: int
) -> Iterator[Cell]:
    """Two factors of n levels each, and their interaction: each adds a variance of 1."""
    scores = KINDS[kind].scores
    rows, columns = (_standard(scores, rng, (n_studies, *s)) for s in ((n, 1), (1, n)))
    tables = rows + columns + _standard(scores, rng, (n_studies, n, n))
    results = [variance_components(table, "ab", confidence_level=LEVEL) for table in tables]
    hits = {
        "main effect": [1.0 in x.components[0].variance.interval for x in results],
        "interaction": [1.0 in x.components[2].variance.interval for x in results],
        "total": [3.0 in x.total.interval for x in results],
    }
    for name, covered in hits.items():
        row = (f"variance_components, {name}", "coverage", kind, str(n), "")
        yield Cell("variation", *row, *share(covered), alpha=ALPHA)


def _measure_repetitions(rng: np.random.Generator, kind: str, n: int, n_studies: int) -> Cell:
    """Correlation of scores within n repetitions."""
    scores = KINDS[kind].scores
    common, own = (_standard(scores, rng, (n_studies, n, k)) for k in (1, N_SCORES))
    tables = math.sqrt(SHARED) * common + math.sqrt(1 - SHARED) * own
    hits = share(
        SHARED in repeated_means(table, confidence_level=LEVEL).correlation.interval
        for table in tables
    )
    row = ("repeated_means", "coverage", kind, str(n), "")
    return Cell("variation", *row, *hits, alpha=ALPHA)
