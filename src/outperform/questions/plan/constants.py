"""How much scores after one search have in common, and what shorter searches would change."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from outperform.plain_values import Plain
from outperform.questions.decompose.search_curves import Retracer
from outperform.stats import Estimate, RepeatedMeans, Variation, best_of_weights, repeated_means
from outperform.stats.checks import FloatArray
from outperform.store import Store
from outperform.store.repeated_runs import RepeatedRuns
from outperform.study.fits import Search
from outperform.study.sources import ALL
from outperform.study.study import Study

ONE_SEARCH = ("fix-hopt", "simulated-hopt", "resampled-hopt")  # designs of k fits after a search

# Standard deviations of a run of the ideal design, and of the mean of k runs of fix-hopt with all
# of learning redrawn, over 20 searches: constants of the case studies of Bouthillier et al. (2021,
# section 3.3), at the largest k that they give. The variance of a run of fix-hopt is not among
# them: that of the ideal design stands for it.
CASE_STUDIES = {
    "CIFAR10 VGG11": (0.003859, 0.002982, 100),
    "PascalVOC FCN": (0.013640, 0.003005, 10),
    "Glue-SST2 BERT": (0.007231, 0.002356, 100),
    "Glue-RTE BERT": (0.031065, 0.009793, 100),
    "MHC MLP": (0.022229, 0.001452, 100),
}
Pair = tuple[str, str]  # pipeline, task
_FEW_REPETITIONS = 10


@dataclass(frozen=True, slots=True)
class Constants(Plain):
    """What the runs of one kind of design have in common, over all pipelines and tasks."""

    JSON = "design correlation estimate low high squared_bias variance typical"

    design: str
    correlation: float  # ρ of two runs after the same search, as it is to be expected
    estimate: float  # as estimated, at least 0
    low: float  # ρ may be as small as this
    high: float
    squared_bias: float = 0.0  # of the mean, against ideal runs, in variances of a run
    variance: float = 1.0  # of a run of this design, in the same unit: that of fix-hopt or ideal
    typical: bool = False  # of published case studies: not measured here

    def vary(
        self, correlation: float | None = None, length: "SearchLength | None" = None
    ) -> Variation:
        """How runs vary, in variances of a run: with another ρ, or after shorter searches."""
        rho = self.correlation if correlation is None else correlation
        if length is None:
            return Variation(rho, self.variance, self.squared_bias)
        variance = self.variance + length.extra_luck
        bias = self.squared_bias + length.squared_bias
        return Variation((rho * self.variance + length.extra_luck) / variance, variance, bias)


@dataclass(frozen=True, slots=True)
class SearchLength(Plain):
    """What searches of fewer trials change, in variances of a run."""

    n_trials: int
    squared_bias: float  # of the mean score, against the study's searches
    extra_luck: float  # variance that is added


@dataclass(frozen=True, slots=True)
class RunVariation(Plain):
    """How the runs of a pipeline on a task vary, as far as a store tells."""

    pipeline: str
    task: str
    metric: str
    sd: float | None  # of a run
    correlation: Estimate | None  # of runs after the same search, of fix-hopt
    n_repetitions: int = 0


def estimate_typical() -> Mapping[str, float]:
    """ρ of the published case studies, by name: (k·Var(μ̃)/V − 1)/(k − 1), at least 0."""
    return {
        name: max(0.0, (k * (error / sigma) ** 2 - 1) / (k - 1))
        for name, (sigma, error, k) in CASE_STUDIES.items()
    }


def make_typical() -> Constants:
    """Constants of fix-hopt in published case studies: the mean ρ, and the range.

    Squared errors are linear in ρ: those of a study like one of these are expected at the mean.

    Examples
    --------
    >>> typical = make_typical()
    >>> round(typical.correlation, 2), typical.low, round(typical.high, 2)
    (0.16, 0.0, 0.59)
    """
    published = [*estimate_typical().values()]
    mean = fmean(published)
    return Constants(ONE_SEARCH[0], mean, mean, min(published), max(published), typical=True)


@dataclass(frozen=True, slots=True)
class StoreConstants:
    """What a store tells of how its runs vary."""

    constants: tuple[Constants, ...]  # of fix-hopt first, typical where it was not repeated
    variations: tuple[RunVariation, ...]
    doubts: tuple[str, ...]


def measure_constants(store: Store, pairs: Sequence[Pair]) -> StoreConstants:
    """Measure V, ρ and the bias of every design that one search is done for.

    ρ is the mean over pipelines and tasks, and its interval the mean of theirs, as if they told
    one thing: all of them have the same seeds.

    Parameters
    ----------
    pairs
        Pipelines that are searched, with their tasks.
    """
    measured = RepeatedRuns.of(store)
    repeated = {kind: _find_means(measured, pairs, kind) for kind in ONE_SEARCH}
    units = _find_ideal_variances(measured, pairs)
    units |= {pair: means.variance for pair, means in repeated["fix-hopt"].items()}
    constants = [_pool(kind, means, measured, units) for kind, means in repeated.items() if means]
    if not repeated["fix-hopt"]:
        constants.insert(0, make_typical())
    variations = [_describe(pair, measured, repeated["fix-hopt"].get(pair)) for pair in pairs]
    doubts = (
        *_count_incomplete(measured, pairs),
        *_find_doubts(repeated["fix-hopt"], pairs),
        *measured.notes,
    )
    return StoreConstants(tuple(constants), tuple(variations), doubts)


def _find_means(
    measured: RepeatedRuns, pairs: Iterable[Pair], kind: str
) -> dict[Pair, RepeatedMeans]:
    """Means of repetitions in which all of learning was redrawn, where these tell anything."""
    if ALL not in measured.count_repeats(kind):
        return {}
    found = {pair: measured.find_repetitions(kind, ALL, *pair).scores for pair in pairs}
    return {
        pair: repeated_means(scores)
        for pair, scores in found.items()
        if len(scores) >= 2 and scores.shape[1] >= 2 and np.ptp(scores, axis=1).any()
    }


def _find_ideal_variances(measured: RepeatedRuns, pairs: Sequence[Pair]) -> dict[Pair, float]:
    ideal = {pair: _find_ideal(measured, pair) for pair in pairs}
    return {pair: float(x.var(ddof=1)) for pair, x in ideal.items() if x.size > 1 and np.ptp(x) > 0}


def _pool(
    kind: str,
    means: Mapping[Pair, RepeatedMeans],
    measured: RepeatedRuns,
    units: Mapping[Pair, float],
) -> Constants:
    """Average over pairs, with all variances in units: those of redrawn searches are larger."""
    estimates = [each.correlation for each in means.values()]
    expected, estimate, low, high = (
        min(max(0.0, float(np.mean(values))), 1.0)
        for values in (
            [each.expected_correlation for each in means.values()],
            [each.value for each in estimates],
            [each.interval.low for each in estimates],
            [each.interval.high for each in estimates],
        )
    )
    variances = [each.variance / units.get(pair, each.variance) for pair, each in means.items()]
    biases = [
        variance * find_squared_bias(each, _find_ideal(measured, pair))
        for variance, (pair, each) in zip(variances, means.items(), strict=True)
    ]
    bias, variance = float(np.mean(biases)), float(np.mean(variances))
    return Constants(kind, expected, estimate, low, high, bias, variance)


def _find_ideal(measured: RepeatedRuns, pair: Pair) -> FloatArray:
    return np.array([*measured.find_ideal(*pair).values()])


def find_squared_bias(means: RepeatedMeans, ideal: FloatArray) -> float:
    """Squared distance to the ideal mean beyond what chance makes of it, in variances of a run."""
    if ideal.size < 2:
        return 0.0
    chance = means.mean_error**2 + float(ideal.var(ddof=1)) / ideal.size
    squared = (means.mean - float(ideal.mean())) ** 2
    return max(0.0, squared - chance) / means.variance


def _describe(pair: Pair, measured: RepeatedRuns, means: RepeatedMeans | None) -> RunVariation:
    """Standard deviation of a run: over repetitions, of ideal runs, or after the one search."""
    metric = measured.study["tasks"][pair[1]]["metric"]
    if means is not None:
        sd = float(np.sqrt(means.variance))
        return RunVariation(*pair, metric, sd, means.correlation, means.n_repetitions)
    only = measured.scores.get(("fix-hopt", ALL, *pair), {})
    for scores in (_find_ideal(measured, pair), np.array([*only.values()])):
        if scores.size >= 2 and np.ptp(scores) > 0:
            return RunVariation(*pair, metric, float(scores.std(ddof=1)), None)
    return RunVariation(*pair, metric, None, None)


def _count_incomplete(measured: RepeatedRuns, pairs: Sequence[Pair]) -> Iterable[str]:
    for kind in ONE_SEARCH:
        repeats = measured.count_repeats(kind).get(ALL)
        if repeats is not None and repeats.n_repetitions > 1:
            n = sum(measured.find_repetitions(kind, ALL, *pair).n_incomplete for pair in pairs)
            if n:
                yield f"{n} repetition(s) of {kind} with failed or missing runs were left out"


def _find_doubts(means: Mapping[Pair, RepeatedMeans], pairs: Sequence[Pair]) -> Iterable[str]:
    if not means:
        return
    unknown = [" on ".join(pair) for pair in pairs if pair not in means]
    if unknown:
        yield f"ρ of {', '.join(unknown)} is not known: that of the others stands for it"
    n_repetitions = min(each.n_repetitions for each in means.values())
    if n_repetitions < _FEW_REPETITIONS:
        yield f"{n_repetitions} repetitions are few: ρ is rough, as its interval says"


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
