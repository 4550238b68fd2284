"""What makes scores vary: of arrays of scores, of a file, or of the store of a study."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from outperform.errors import InvalidInput
from outperform.questions.decompose.doubts import doubt_components, doubt_sources
from outperform.questions.decompose.redrawn_runs import Variation, arrange_levels, load_variation
from outperform.questions.decompose.redrawn_table import read_variation
from outperform.questions.decompose.result import (
    CrossedDecomposition,
    Decomposition,
    Decompositions,
    SourceVariation,
)
from outperform.questions.decompose.search_curves import SearchCurves, trace_searches
from outperform.runs.columns import At
from outperform.runs.suspicions import Doubt, Sides, ask, check_doubts, find_suspicions
from outperform.stats import Estimate, Interval, variance_components
from outperform.stats.checks import FloatArray, as_scores, check_count
from outperform.stats.variances import (
    binomial_deviation,
    deviation,
    deviation_ratio,
    normality_pvalue,
)
from outperform.store import Store, is_store
from outperform.store.store import use_store
from outperform.store.stored_doubts import describe_versions
from outperform.study.sources import ALL, SPLIT
from outperform.study.study import Study


@overload
def decompose(
    runs: Mapping[str, ArrayLike],
    *,
    algorithm: str = ...,
    task: str = ...,
    metric: str = ...,
    n_test: int | None = ...,
    confidence_level: float = ...,
    accept: Doubt | Sequence[Doubt] = ...,
) -> Decomposition: ...


@overload
def decompose(
    runs: Any,
    *,
    algorithm: str | None = ...,
    task: str | None = ...,
    metric: str | None = ...,
    source: str | None = ...,
    crossed: str | None = ...,
    study: Study | None = ...,
    n_test: int | None = ...,
    confidence_level: float = ...,
    drop_incomplete: bool = ...,
    at: At | None = ...,
    accept: Doubt | Sequence[Doubt] = ...,
) -> Decompositions: ...


def decompose(
    runs: Any,
    *,
    algorithm: str | None = None,
    task: str | None = None,
    metric: str | None = None,
    source: str | None = None,
    crossed: str | None = None,
    study: Study | None = None,
    n_test: int | None = None,
    confidence_level: float = 0.95,
    drop_incomplete: bool = False,
    at: At | None = None,
    accept: Doubt | Sequence[Doubt] = (),
) -> Decomposition | Decompositions:
    """Measure how much each source of variation makes scores vary.

    Parameters
    ----------
    runs
        The store of a study with a variance or crossed design, or its address; a file, data frame
        or list of dicts with a column of scores and one that says what was redrawn; or, by source,
        the scores of runs in which only that source was redrawn, n ≥ 2 each; ``"all"``: every
        source redrawn, ``"noise"``: none.
    algorithm, task, metric
        Names of what the scores are of; of a table, the columns that hold them.
    source
        Column of a file that says what was redrawn, if it is not called source, varied or the like.
    crossed
        Columns of a file with the seeds of a crossed design, as in ``"split,init"``.
    study
        That a store was run from: then how far its searches got is told too.
    n_test
        Examples in the test set, for the binomial model of accuracies and error rates.
    drop_incomplete
        Leave runs of a table out, and count them, that failed or have no score.
    at, accept
        Of a table, which row of a learning curve counts; and what is right although it looks wrong,
        as `read_runs` takes them.

    Returns
    -------
    A `Decomposition` of one mapping; of a store or a file, `Decompositions` of every algorithm on
    every task.

    Examples
    --------
    >>> result = decompose({"split": [0.90, 0.86, 0.94, 0.91, 0.88], "noise": [0.9] * 5})
    >>> print(result)  # doctest: +ELLIPSIS
    split is the largest source of variation of the score: standard deviation 0.0303 [...] over ...
    >>> [variation.share.value for variation in result.sources]
    [1.0, 0.0]
    """
    level = confidence_level
    if isinstance(runs, Mapping):
        known: dict[str, Any] = {"algorithm": algorithm or "", "task": task or ""}
        known |= {"metric": metric or "score", "n_test": n_test, "confidence_level": level}
        result = decompose_scores(runs, **known)
        return _question(result, check_doubts(accept))
    searches = None
    if is_store(runs) or hasattr(runs, "measurements"):
        variations, notes, searches = _load(runs, study)
    elif study is not None:
        raise InvalidInput(f"{runs} is no store of a study", "Leave out --curves")
    else:
        variations, notes = read_variation(
            runs,
            source=source,
            crossed=crossed,
            drop_incomplete=drop_incomplete,
            reading={
                "algorithm": algorithm,
                "task": task,
                "metric": metric,
                "at": at,
                "accept": accept,
            },
        )
    apart = tuple(
        decompose_scores(
            each.by_source, **each.names, n_test=n_test, confidence_level=level, failed=each.failed
        )
        for each in variations
        if each.by_source
    )
    together: list[CrossedDecomposition] = []
    unfinished: list[str] = []
    designs = [(each.names, *own) for each in variations for own in each.crossed.items()]
    for names, redrawn, cells in designs:
        try:
            table = arrange_levels(redrawn, cells)
            together.append(decompose_crossed(table, redrawn, **names, confidence_level=level))
        except InvalidInput as error:
            if not apart:  # there is nothing else
                raise
            unfinished.append(str(error).rstrip("."))
    return Decompositions(apart, tuple(together), searches, (*notes, *unfinished))


def _question(result: Decomposition, accepted: Sequence[Doubt]) -> Decomposition:
    """Refuse scores that raise a question, and note what was accepted."""
    names, scores = zip(*((each.source, each.scores) for each in result.sources), strict=True)
    sides = Sides(names, scores, result.metric, "the dict", order="")
    asked = (each for each in find_suspicions(sides) if each.doubt != "constant")
    return replace(result, caveats=(*result.caveats, *ask(asked, accepted)))


def _load(
    store: str | Path | Store, study: Study | None
) -> tuple[Sequence[Variation], Sequence[str], SearchCurves | None]:
    """Runs that redraw sources apart, with notes on them; and searches, if asked for."""
    with use_store(store) as opened:
        searches = None if study is None else trace_searches(study, opened)
        try:
            variations, notes = load_variation(opened)
        except InvalidInput:
            if searches is None:
                raise
            # An ideal design searches, but redraws no source apart.
            return [], [*describe_versions(opened)], searches
    return variations, notes, searches


def decompose_scores(
    scores: Mapping[str, ArrayLike],
    *,
    algorithm: str = "",
    task: str = "",
    metric: str = "score",
    n_test: int | None = None,
    confidence_level: float = 0.95,
    failed: Mapping[str, int] | None = None,
) -> Decomposition:
    """Measure how much each source makes the scores of one algorithm on one task vary.

    See `outperform.decompose`; of each source, so many runs failed besides.
    """
    arrays = {name: as_scores(x, f"source {name!r}", at_least=2) for name, x in scores.items()}
    if not arrays:
        raise InvalidInput("there are no sources of variation", "Pass the scores of at least one")
    spreads = {name: deviation(x, confidence_level=confidence_level) for name, x in arrays.items()}
    if n_test is not None:
        check_count("n_test", n_test, at_least=1)
    single = [name for name in spreads if name != ALL] or list(spreads)
    reference = max(single, key=lambda name: spreads[name].value)
    if SPLIT in spreads and spreads[SPLIT].value > 0:
        reference = SPLIT
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
    left_out = {name: n for name, n in (failed or {}).items() if n}
    result = Decomposition(algorithm, task, metric, reference, sources, left_out)
    return replace(result, caveats=tuple(doubt_sources(result, n_test)))


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
