"""What makes scores vary: of arrays of scores, of a file, or of the store of a study."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import overload

from numpy.typing import ArrayLike

from outperform.errors import InvalidInput
from outperform.questions.decompose.redrawn_runs import Variation, load_variation, read_variation
from outperform.questions.decompose.result import (
    CrossedDecomposition,
    Decomposition,
    Decompositions,
)
from outperform.questions.decompose.score_arrays import decompose_scores
from outperform.questions.decompose.search_curves import SearchCurves, trace_searches
from outperform.runs.columns import Wanted
from outperform.store import Store, is_store
from outperform.store.store import use_store
from outperform.store.stored_doubts import describe_versions
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
) -> Decomposition: ...


@overload
def decompose(
    runs: str | Path | Store,
    *,
    algorithm: str | None = ...,
    task: str | None = ...,
    metric: str | None = ...,
    source: str | None = ...,
    crossed: str | None = ...,
    study: Study | None = ...,
    n_test: int | None = ...,
    confidence_level: float = ...,
) -> Decompositions: ...


def decompose(
    runs: Mapping[str, ArrayLike] | str | Path | Store,
    *,
    algorithm: str | None = None,
    task: str | None = None,
    metric: str | None = None,
    source: str | None = None,
    crossed: str | None = None,
    study: Study | None = None,
    n_test: int | None = None,
    confidence_level: float = 0.95,
) -> Decomposition | Decompositions:
    """Measure how much each source of variation makes scores vary.

    Parameters
    ----------
    runs
        The store of a study with a variance or crossed design, or its address; a file with
        a column of scores and one that says what was redrawn; or, by source, the scores of runs
        in which only that source was redrawn, n ≥ 2 each; ``"all"``: every source redrawn,
        ``"noise"``: none.
    algorithm, task, metric
        Names of what the scores are of; of a file, the columns that hold them.
    source
        Column of a file that says what was redrawn, if it is not called source.
    crossed
        Columns of a file with the seeds of a crossed design, as in ``"split,init"``.
    study
        That a store was run from: then how far its searches got is told too.
    n_test
        Examples in the test set, for the binomial model of accuracies and error rates.

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
    if isinstance(runs, Mapping):
        names = {"algorithm": algorithm or "", "task": task or "", "metric": metric or "score"}
        return decompose_scores(runs, **names, n_test=n_test, confidence_level=confidence_level)
    if not isinstance(runs, str | Path) or is_store(runs):
        variations, notes, searches = _load(runs, study)
    elif study is not None:
        raise InvalidInput(f"{runs} is no store of a study", "Leave out --curves")
    else:
        wanted, searches = Wanted(algorithm=algorithm, task=task, metric=metric), None
        variations = read_variation(Path(runs), wanted=wanted, source=source, crossed=crossed)
        notes = []
    apart = tuple(
        each.decompose(n_test=n_test, confidence_level=confidence_level)
        for each in variations
        if each.by_source
    )
    together, unfinished = _cross(variations, confidence_level, fatal=not apart)
    return Decompositions(apart, together, searches, (*notes, *unfinished))


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


def _cross(
    variations: Sequence[Variation], confidence_level: float, *, fatal: bool
) -> tuple[tuple[CrossedDecomposition, ...], list[str]]:
    """Components of variance; an unfinished design is fatal only if there is nothing else."""
    components: list[CrossedDecomposition] = []
    notes = []
    for each in variations:
        try:
            components += each.cross(confidence_level=confidence_level)
        except InvalidInput as error:
            if fatal:
                raise
            notes.append(str(error).rstrip("."))
    return tuple(components), notes
