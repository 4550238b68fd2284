"""What scores after few searches tell of other searches, whose luck they share."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import gammaln

from calibration.cells import ALPHA, LEVEL, Cell, share
from calibration.data import KINDS, FloatArray
from outperform.stats.dependent_replicates import combine_designs
from outperform.stats.design_quality import (
    DesignQuality,
    DeviationEstimates,
    assess_design,
    assess_deviations,
)
from outperform.stats.intervals import Interval

SHARES = (0.0, 0.1, 0.3)  # ρ: of the variance of a score that is luck of its search
N_PAIRS = (10, 50, 200)
N_REPETITIONS = (5, 20)
BIASES = (0.0, 0.3)  # in standard deviations of a score
N_SCORES, N_IDEAL = 20, 50
N_STUDIES = 2_000

_Intervals = dict[str, Interval]


def list_blocks() -> list[dict[str, Any]]:
    """What is computed in one go."""
    pairs = [
        {"part": "pairs", "kind": "normal", "shared": shared, "n": n}
        for shared in SHARES
        for n in N_PAIRS
    ]
    rows = [("normal", shared) for shared in SHARES] + [("heavy tails", 0.1)]
    designs = [
        {"part": "design", "kind": kind, "shared": shared, "n": n}
        for kind, shared in rows
        for n in N_REPETITIONS
    ]
    return [*pairs, *designs]


def measure(
    rng: np.random.Generator,
    *,
    part: str,
    kind: str,
    shared: float,
    n: int,
    n_studies: int = N_STUDIES,
) -> list[Cell]:
    """Coverage of differences after one search, or of what a design is worth."""
    if part == "pairs":
        return list(_measure_pairs(rng, shared, n, 5 * n_studies))
    return [
        cell for bias in BIASES for cell in _measure_design(rng, kind, shared, bias, n, n_studies)
    ]


def _draw(rng: np.random.Generator, kind: str, shared: float, shape: tuple[int, ...]) -> FloatArray:
    """Scores of variance 1; those along the last axis share the luck of a search."""
    scores = KINDS[kind].scores
    luck, rest = (scores.draw(rng, each) / scores.sd for each in ((*shape[:-1], 1), shape))
    return math.sqrt(shared) * luck + math.sqrt(1 - shared) * rest


def _measure_pairs(
    rng: np.random.Generator, shared: float, n: int, n_studies: int
) -> Iterator[Cell]:
    """Differences of n pairs after one search, and after as many that are redrawn as real ones."""
    luck = math.sqrt(shared) * rng.normal(size=n_studies)
    fixed = luck[:, None] + math.sqrt(1 - shared) * rng.normal(size=(n_studies, n))
    redrawn = rng.normal(size=(n_studies, n))
    intervals = [
        combine_designs(x, y, confidence_level=LEVEL).interval
        for x, y in zip(fixed, redrawn, strict=True)
    ]
    for about, truths in (("this search", luck), ("all searches", np.zeros(n_studies))):
        hits = share(truth in each for truth, each in zip(truths, intervals, strict=True))
        place = (f"combine_designs, {about}", "coverage", f"ρ = {shared:g}", str(n), "")
        yield Cell("one search", *place, *hits, alpha=ALPHA)


def _measure_design(
    rng: np.random.Generator, kind: str, shared: float, bias: float, n: int, n_studies: int
) -> Iterator[Cell]:
    """Assess n repetitions, each with the search and the first score of an independent one."""
    truths, hits = _find_truths(kind, shared, bias), dict[str, list[bool]]()
    for scores in _draw(rng, kind, shared, (n_studies, N_IDEAL, N_SCORES)):
        table, ideal = bias + scores[:n], scores[:, 0]
        quality = assess_design(table, ideal, range(n), confidence_level=LEVEL, rng=rng)
        deviations = assess_deviations([table], ideal, confidence_level=LEVEL, rng=rng)
        for method, interval in _list_intervals(quality, deviations).items():
            if method in truths:
                hits.setdefault(method, []).append(truths[method] in interval)
    data = f"ρ = {shared:g}" if kind == "normal" else f"{kind}, ρ = {shared:g}"
    for method, covered in hits.items():
        place = (method, "coverage", data, str(n), f"bias = {bias:g}")
        yield Cell("designs", *place, *share(covered), alpha=ALPHA)


def _list_intervals(quality: DesignQuality, deviations: DeviationEstimates) -> _Intervals:
    mse, equivalent = (
        curve.at(N_SCORES, LEVEL).interval for curve in (quality.mse, quality.equivalent)
    )
    return {
        "assess_design, bias": quality.bias.interval,
        "assess_design, ρ": quality.correlation.interval,
        "assess_design, mean squared error": mse,
        "assess_design, equivalent replicates": equivalent,
        "assess_deviations, mean": deviations.mean.interval,
        "assess_deviations, ratio": deviations.ratio.interval,
    }


def _find_truths(kind: str, shared: float, bias: float) -> dict[str, float]:
    error = shared + (1 - shared) / N_SCORES + bias**2
    truths = {
        "assess_design, bias": bias,
        "assess_design, ρ": shared,
        "assess_design, mean squared error": error,
        "assess_design, equivalent replicates": 1 / error,
    }
    # The mean deviation of other scores has no formula, and a bias does not change it.
    if kind != "normal" or bias:
        return truths
    # The deviation of few normal scores is too small, on average.
    half = N_SCORES / 2
    small = math.sqrt(1 / (half - 0.5)) * math.exp(gammaln(half) - gammaln(half - 0.5))
    mean = math.sqrt(1 - shared) * small
    return truths | {"assess_deviations, mean": mean, "assess_deviations, ratio": mean}
