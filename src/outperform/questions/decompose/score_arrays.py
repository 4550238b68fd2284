"""What makes scores vary, from arrays of them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from outperform.errors import InvalidInput
from outperform.questions.decompose.doubts import doubt_components, doubt_model, doubt_sources
from outperform.questions.decompose.result import (
    CrossedDecomposition,
    Decomposition,
    SourceVariation,
)
from outperform.stats import Estimate, Interval, variance_components
from outperform.stats.checks import FloatArray, as_scores, check_count
from outperform.stats.variances import (
    binomial_deviation,
    deviation,
    deviation_ratio,
    normality_pvalue,
)
from outperform.study.sources import ALL, SPLIT


def decompose_scores(
    scores: Mapping[str, ArrayLike],
    *,
    algorithm: str = "",
    task: str = "",
    metric: str = "score",
    n_test: int | None = None,
    confidence_level: float = 0.95,
) -> Decomposition:
    """Measure how much each source makes the scores of one algorithm on one task vary.

    See `outperform.decompose`.
    """
    arrays = {name: as_scores(x, f"source {name!r}", at_least=2) for name, x in scores.items()}
    if not arrays:
        raise InvalidInput("there are no sources of variation", "Pass the scores of at least one")
    spreads = {name: deviation(x, confidence_level=confidence_level) for name, x in arrays.items()}
    if n_test is not None:
        check_count("n_test", n_test, at_least=1)
    reference = _choose_reference(spreads)
    model = n_test if n_test is not None and _is_share(metric, arrays) else None
    sources = tuple(
        SourceVariation(
            source=name,
            scores=x,
            sd=spreads[name],
            share=_share(x, arrays[reference], spreads[name].interval, same=name == reference),
            normality_pvalue=normality_pvalue(x),
            binomial_sd=None if model is None else binomial_deviation(float(x.mean()), model),
        )
        for name, x in arrays.items()
    )
    result = Decomposition(algorithm, task, metric, reference, sources)
    return replace(result, caveats=(*doubt_sources(result), *doubt_model(metric, n_test, model)))


def _choose_reference(spreads: Mapping[str, Estimate]) -> str:
    if SPLIT in spreads and spreads[SPLIT].value > 0:
        return SPLIT
    single = [name for name in spreads if name != ALL] or list(spreads)
    return max(single, key=lambda name: spreads[name].value)


def _share(scores: FloatArray, whole: FloatArray, like: Interval, *, same: bool) -> Estimate:
    """Share of the reference's standard deviation: exactly 1 of its own, 0 of nothing."""
    if np.ptp(whole) == 0 or same:
        value = float(np.ptp(whole) > 0)
        return Estimate(value, replace(like, low=value, high=value))
    return deviation_ratio(scores, whole, confidence_level=like.confidence_level)


def _is_share(metric: str, arrays: Mapping[str, FloatArray]) -> bool:
    """Whether scores are shares of right, or wrong, answers, as far as name and values tell."""
    words = set(re.findall("[a-z]+", metric.casefold()))
    if words & {"acc", "accuracy", "misclassification"}:
        named = "balanced" not in words
    else:
        allowed = {"classification", "error", "rate", "test", "val", "valid", "validation"}
        named = {"error", "rate"} <= words <= allowed
    return named and all(((x >= 0) & (x <= 1)).all() for x in arrays.values())


def decompose_crossed(
    scores: ArrayLike,
    names: Sequence[str],
    *,
    algorithm: str = "",
    task: str = "",
    metric: str = "score",
    confidence_level: float = 0.95,
) -> CrossedDecomposition:
    """Split the variance of scores among sources and their interactions; shares add up to 1.

    Parameters
    ----------
    scores : shape (n_levels_1, ..., n_levels_k), each ≥ 2
        One run per combination of seeds.
    names
        Of the k sources, in the order of the axes.

    Examples
    --------
    >>> print(decompose_crossed([[1, 2], [5, 8]], ["split", "init"]))
    split causes 83% of the variance of the score when every source is redrawn (2 × 2 runs).
    """
    parts = variance_components(scores, names, confidence_level=confidence_level)
    return CrossedDecomposition(algorithm, task, metric, parts, tuple(doubt_components(parts)))
