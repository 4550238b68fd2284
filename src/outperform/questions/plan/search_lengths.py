"""What shorter searches would have found, from the recorded trials of random search."""

from collections.abc import Iterator, Sequence

import numpy as np

from outperform.questions.decompose.retracing import Retracer
from outperform.questions.plan.constants import Pair, SearchLength
from outperform.stats import best_of_weights
from outperform.stats.checks import FloatArray
from outperform.store import Store
from outperform.study.fits import Search
from outperform.study.study import Study

_N_LENGTHS = 15
_FEWEST = 5  # searches of a pipeline on a task, to tell how what they find varies


def measure_search_lengths(
    study: Study, store: Store, pairs: Sequence[Pair]
) -> tuple[SearchLength, ...]:
    """Bias and luck that searches of fewer trials would add, the shortest first.

    Trials of random search are exchangeable, so that any n of T recorded ones are a search of n
    trials. None where another tuner was used, trials were not scored on test data, or a pair has
    fewer than five finished searches.
    """
    if study.tuner != "random":
        return ()
    found = trace_trials(study, store, pairs)
    lengths = np.unique(np.geomspace(1, study.trials, _N_LENGTHS).round().astype(int)).tolist()
    if not all(len(found.get(pair, [])) >= _FEWEST for pair in pairs):
        return ()
    moments = [find_moments(np.array(found[pair]), lengths) for pair in pairs]
    relative = [
        ((mean - mean[-1]) ** 2 / variance[-1], variance / variance[-1] - 1)
        for mean, variance in moments
        if variance[-1] > 0
    ]
    if not relative:
        return ()
    bias, luck = np.mean(relative, axis=0)
    return tuple(
        SearchLength(int(n), float(b), max(0.0, float(extra)))
        for n, b, extra in zip(lengths[:-1], bias, luck, strict=False)
    )


def trace_trials(study: Study, store: Store, pairs: Sequence[Pair]) -> dict[Pair, list[FloatArray]]:
    """Validation scores, higher is better, and test scores of all finished searches, by pair."""
    retracer = Retracer(study, store)
    found: dict[Pair, list[FloatArray]] = {}
    for search in _list_searches(study, pairs):
        sign = 1 if study.task(search.task).goal == "maximize" else -1
        trials = [scores for _, scores in retracer.follow(search)]
        if all("valid" in scores and "test" in scores for scores in trials):
            table = [[sign * scores["valid"], scores["test"]] for scores in trials]
            found.setdefault((search.pipeline, search.task), []).append(np.array(table).T)
    return found


def _list_searches(study: Study, pairs: Sequence[Pair]) -> Iterator[Search]:
    """Searches in which all sources are redrawn, as those of ideal and repeated designs are."""
    planned = (run for run in study.plan_runs() if run.design != "variance")
    searches = dict.fromkeys(run.search for run in planned)
    for search in searches:
        if search is not None and (search.pipeline, search.task) in pairs:
            yield search


def find_moments(searches: FloatArray, lengths: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """Mean and variance, over searches, of the test score that n of their trials find."""
    center = searches[:, 1].mean()  # squares of what is left are exact enough
    first, second = (
        np.array(
            [
                [
                    best_of_weights(n, valid, estimator="u") @ (test - center) ** power
                    for n in lengths
                ]
                for valid, test in searches
            ]
        )
        for power in (1, 2)
    )
    mean = first.mean(axis=0)
    # Without bias: the square of the true mean is the mean of products of different searches.
    squared = mean**2 - first.var(axis=0, ddof=1) / len(searches)
    return mean, second.mean(axis=0) - squared
