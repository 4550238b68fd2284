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
from outperform.store.repeated_runs import LEFT_OUT, RepeatedRuns, varies
from outperform.study.designs import ONE_SEARCH
from outperform.study.sources import ALL
from outperform.study.study import Study
from outperform.wording import count

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
_N_LENGTHS = 15  # of searches that are looked at
_FEWEST = 5  # searches of a pipeline on a task, to tell how what they find varies


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

    >>> typical = make_typical()
    >>> round(typical.correlation, 2), typical.low, round(typical.high, 2)
    (0.16, 0.0, 0.59)
    """
    published = [*estimate_typical().values()]
    mean = fmean(published)
    return Constants(ONE_SEARCH[0], mean, mean, min(published), max(published), typical=True)


def measure_constants(
    store: Store, pairs: Sequence[Pair]
) -> tuple[tuple[Constants, ...], tuple[RunVariation, ...], tuple[str, ...]]:
    """Measure V, ρ and the bias of every design that one search is done for.

    ρ is the mean over pipelines that are searched, on their tasks, and its interval the mean of
    theirs, as if they told one thing: all of them have the same seeds. Constants of fix-hopt come
    first, typical ones where it was not repeated; then how runs vary, and doubts.
    """
    measured = RepeatedRuns.of(store)
    repeated = {kind: _find_means(measured, pairs, kind) for kind in ONE_SEARCH}
    fixed = repeated["fix-hopt"]
    ideal = {pair: np.array([*measured.find_ideal(*pair).values()]) for pair in pairs}
    units = {pair: float(x.var(ddof=1)) for pair, x in ideal.items() if varies(x)}
    units |= {pair: means.variance for pair, means in fixed.items()}
    constants = [_pool(kind, means, ideal, units) for kind, means in repeated.items() if means]
    if not fixed:
        constants.insert(0, make_typical())
    variations = [_describe(pair, measured, fixed.get(pair), ideal[pair]) for pair in pairs]
    doubts = (*_find_doubts(measured, fixed, pairs), *measured.notes)
    return tuple(constants), tuple(variations), doubts


def _find_means(
    measured: RepeatedRuns, pairs: Iterable[Pair], kind: str
) -> dict[Pair, RepeatedMeans]:
    """Means of repetitions in which all of learning was redrawn, where these tell anything."""
    if ALL not in measured.count_repeats(kind):
        return {}
    repetitions = {pair: measured.find_repetitions(kind, ALL, *pair).scores for pair in pairs}
    return {
        pair: repeated_means(scores)
        for pair, scores in repetitions.items()
        if len(scores) >= 2 and scores.shape[1] >= 2 and np.ptp(scores, axis=1).any()
    }


def _pool(
    kind: str,
    means: Mapping[Pair, RepeatedMeans],
    ideal: Mapping[Pair, FloatArray],
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
    off = [find_squared_bias(each, ideal[pair]) for pair, each in means.items()]
    bias = float(np.mean([v * squared for v, squared in zip(variances, off, strict=True)]))
    return Constants(kind, expected, estimate, low, high, bias, float(np.mean(variances)))


def find_squared_bias(means: RepeatedMeans, ideal: FloatArray) -> float:
    """Squared distance to the ideal mean beyond what chance makes of it, in variances of a run."""
    if ideal.size < 2:
        return 0.0
    chance = means.mean_error**2 + float(ideal.var(ddof=1)) / ideal.size
    squared = (means.mean - float(ideal.mean())) ** 2
    return max(0.0, squared - chance) / means.variance


def _describe(
    pair: Pair, measured: RepeatedRuns, means: RepeatedMeans | None, ideal: FloatArray
) -> RunVariation:
    """Standard deviation of a run: over repetitions, of ideal runs, or after the one search."""
    metric = measured.study["tasks"][pair[1]]["metric"]
    if means is not None:
        sd = float(np.sqrt(means.variance))
        return RunVariation(*pair, metric, sd, means.correlation, means.n_repetitions)
    only = np.array([*measured.scores.get(("fix-hopt", ALL, *pair), {}).values()])
    scores = next((each for each in (ideal, only) if varies(each)), None)
    return RunVariation(*pair, metric, None if scores is None else float(scores.std(ddof=1)), None)


def _find_doubts(
    measured: RepeatedRuns, means: Mapping[Pair, RepeatedMeans], pairs: Sequence[Pair]
) -> Iterator[str]:
    for kind in ONE_SEARCH:
        repeats = measured.count_repeats(kind).get(ALL)
        if repeats is not None and repeats.n_repetitions > 1:
            n = sum(measured.find_repetitions(kind, ALL, *pair).n_incomplete for pair in pairs)
            if n:
                yield f"left out {count(n, 'repetition')} of {kind} {LEFT_OUT}"
    yield from measured.describe_missing(pairs)
    unknown = [" on ".join(pair) for pair in pairs if pair not in means]
    if means and unknown:
        yield f"ρ of {', '.join(unknown)} is not known: that of the others stands for it"
    n_repetitions = min((each.n_repetitions for each in means.values()), default=_FEW_REPETITIONS)
    if n_repetitions < _FEW_REPETITIONS:
        yield f"{n_repetitions} repetitions are few: ρ is rough, as its interval says"


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
    trials = trace_trials(study, store, pairs)
    lengths = np.unique(np.geomspace(1, study.trials, _N_LENGTHS).round().astype(int)).tolist()
    if not all(len(trials.get(pair, [])) >= _FEWEST for pair in pairs):
        return ()
    moments = [find_moments(np.array(trials[pair]), lengths) for pair in pairs]
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
    by_pair: dict[Pair, list[FloatArray]] = {}
    # All sources are redrawn in searches of ideal and repeated designs.
    searches = dict.fromkeys(run.search for run in study.plan_runs() if run.design != "variance")
    for search in searches:
        if search is None or (search.pipeline, search.task) not in pairs:
            continue
        sign = search.draw.task.sign
        trials = [scores for _, scores in retracer.follow(search)]
        if all("valid" in scores and "test" in scores for scores in trials):
            table = [[sign * scores["valid"], scores["test"]] for scores in trials]
            by_pair.setdefault((search.pipeline, search.task), []).append(np.array(table).T)
    return by_pair


def find_moments(searches: FloatArray, lengths: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """Mean and variance, over searches, of the test score that n of their trials find."""
    center = searches[:, 1].mean()  # squares of what is left are exact enough
    weights = [[best_of_weights(n, valid, estimator="u") for n in lengths] for valid, _ in searches]
    first, second = (
        np.array(
            [
                [each @ (test - center) ** power for each in own]
                for own, (_, test) in zip(weights, searches, strict=True)
            ]
        )
        for power in (1, 2)
    )
    mean = first.mean(axis=0)
    # Without bias: the square of the true mean is the mean of products of different searches.
    squared = mean**2 - first.var(axis=0, ddof=1) / len(searches)
    return mean, second.mean(axis=0) - squared
