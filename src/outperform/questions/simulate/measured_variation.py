"""How much scores of a user's own study vary, measured from its store, as scenarios."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, takewhile
from pathlib import Path
from typing import Any

import numpy as np

from outperform.errors import InvalidInput, UnknownName
from outperform.questions.simulate.scenarios import IDEAL, Scenario, describe_variation
from outperform.stats.checks import FloatArray
from outperform.stats.intraclass_correlation import RepeatedMeans, repeated_means
from outperform.stats.variances import deviation
from outperform.store import Store
from outperform.store.store import use_store
from outperform.store.stored_runs import Design, get_test_score, list_designs
from outperform.study.designs import is_later_repetition, name_repetition
from outperform.study.sources import ALL
from outperform.wording import suggest_names

_FEW_REPETITIONS = 10
_REPEAT = 'Give the study a [[design]] with kind = "fix-hopt", replicates = 20 and repetitions = 20'
_COMMON = (
    "by how much the mean of a design is off on average is taken to be the same for A and B; "
    "where ρ may be larger than estimated, as its interval says, errors may be more frequent"
)


def measure_variation(
    store: str | Path | Store, *, pipelines: Collection[str] = (), task: str | None = None
) -> tuple[Scenario, ...]:
    """Measure σ of a study's ideal runs, and the bias and ρ of its repeated fix-hopt runs.

    Parameters
    ----------
    store
        Of the study, or its address.
    pipelines, task
        Those to measure; all by default.

    Returns
    -------
    The ideal scenario, and one per pipeline, task and repeated fix-hopt design. Their notes
    say what was measured, and how sure that is.

    References
    ----------
    Bouthillier et al. (2021), Accounting for Variance in ML Benchmarks, equations 7 and 8.
    """
    with use_store(store) as opened:
        measured = MeasuredScores.of(opened)
    chosen = [*_choose("pipeline", pipelines, measured.study["pipelines"], measured.address)]
    tasks = [*_choose("task", [task] if task else (), measured.study["tasks"], measured.address)]
    notes: list[str] = []
    biased: list[Scenario] = []
    for name, where in ((name, where) for where in tasks for name in chosen):
        title, ideal = f"{name} on {where}", measured.find_ideal(name, where)
        if _varies(ideal):
            notes.append(f"{title}: σ = {deviation(ideal)} over {ideal.size} ideal runs")
        for source in measured.count_repeated():
            scores, n_incomplete = measured.find_repetitions(name, where, source)
            if len(scores) >= 2:
                scenario = _describe(f"{title}, {source}", scores, ideal)
                doubts = _find_doubts(scenario.name, len(scores), n_incomplete)
                biased.append(replace(scenario, notes=(*scenario.notes, *doubts)))
    if not (notes or biased):
        raise InvalidInput(
            f"{measured.address} has neither two ideal runs that differ nor two whole "
            "repetitions of fix-hopt",
            f"{_REPEAT} and run it",
        )
    notes.append(_COMMON if biased else f"no bias was measured: {_REPEAT} to see that of fix-hopt")
    return (replace(IDEAL, notes=tuple(notes)), *biased)


def _choose(
    what: str, wanted: Collection[str], known: Collection[str], address: str
) -> Iterator[str]:
    for name in wanted:
        if name not in known:
            raise UnknownName(
                f"the study of {address} has no {what} {name!r}", suggest_names(name, [*known])
            )
    yield from wanted or known


_Role = tuple[str, str, str, str]  # design, source, pipeline, task


@dataclass(frozen=True, slots=True)
class MeasuredScores:
    """Test scores of a store, by role and replicate, and the study they are of."""

    address: str
    study: Mapping[str, Any]
    designs: Sequence[Design]
    scores: Mapping[_Role, Mapping[int, float]]

    @classmethod
    def of(cls, store: Store) -> "MeasuredScores":
        """Read them; runs without a score are left out."""
        study, done = store.get_meta("study"), store.scores()
        if study is None:
            raise InvalidInput(
                f"{store.address} holds no finished runs yet",
                "Let `outperform run` finish some first",
            )
        scores: dict[_Role, dict[int, float]] = {}
        labels = store.run_labels()
        for label in labels:
            if done.get(label.key):
                role = label.design, label.source, label.pipeline, label.task
                score = get_test_score(done[label.key], label.key, store)
                scores.setdefault(role, {})[label.replicate] = score
        return cls(store.address, study, list_designs(study, labels), scores)

    def count_repeated(self, kind: str = "fix-hopt") -> Mapping[str, tuple[int, int]]:
        """Numbers of replicates and repetitions, by what a kind of design redraws."""
        planned = self.count_replicates(kind)
        return {
            source: (n_replicates, n_repetitions)
            for source, n_replicates in planned.items()
            if (n_repetitions := _count_repetitions(source, planned)) > 1
        }

    def count_replicates(self, kind: str) -> dict[str, int]:
        """Numbers of replicates, by what a kind of design redraws."""
        of_kind = (d for d in self.designs if d["design"] == kind)
        return {design["source"]: design["replicates"] for design in of_kind}

    def find_ideal(self, pipeline: str, task: str) -> FloatArray:
        """Scores of the ideal runs that the study has now, of which there may be none."""
        n_replicates = self.count_replicates("ideal").get(ALL, 0)
        scores = self.scores.get(("ideal", ALL, pipeline, task), {})
        return np.array([score for i, score in scores.items() if i < n_replicates])

    def find_repetitions(
        self, pipeline: str, task: str, source: str, kind: str = "fix-hopt"
    ) -> tuple[FloatArray, int]:
        """Scores of the repetitions that are complete, a row each, and how many are not."""
        n_replicates, n_repetitions = self.count_repeated(kind)[source]
        rows = []
        for repetition in range(n_repetitions):
            role = kind, name_repetition(source, repetition), pipeline, task
            scores = self.scores.get(role, {})
            if all(i in scores for i in range(n_replicates)):
                rows.append([scores[i] for i in range(n_replicates)])
        return np.array(rows), n_repetitions - len(rows)


def _count_repetitions(source: str, planned: Collection[str]) -> int:
    if is_later_repetition(source):
        return 0
    names = (name_repetition(source, repetition) for repetition in count())
    return sum(1 for _ in takewhile(planned.__contains__, names))


def _describe(name: str, scores: FloatArray, ideal: FloatArray) -> Scenario:
    """Scenario of one repeated design; σ is that of the ideal runs, where there are such."""
    if scores.shape[1] < 2 or not np.ptp(scores, axis=1).any():
        raise InvalidInput(
            f"the runs of each repetition of fix-hopt ({name}) do not vary",
            "Give the design two or more replicates, and let it redraw a source that matters",
        )
    means = repeated_means(scores)
    total = means.within_variance + means.shared_variance
    scenario = describe_variation(
        float(ideal.std(ddof=1)) if _varies(ideal) else math.sqrt(total),
        bias_sd=math.sqrt(means.shared_variance),
        conditional_sd=math.sqrt(means.within_variance),
        name=name,
    )
    return replace(scenario, notes=(_describe_repetitions(name, means, ideal),))


def _varies(scores: FloatArray) -> bool:
    return scores.size >= 2 and bool(np.ptp(scores) > 0)


def _describe_repetitions(name: str, means: RepeatedMeans, ideal: FloatArray) -> str:
    measured = (
        f"{name}: {means.n_repetitions} repetitions of {means.n_scores} runs; standard deviation "
        f"of the bias {math.sqrt(means.shared_variance):.3g}, of runs around it "
        f"{math.sqrt(means.within_variance):.3g}, ρ = {means.correlation}"
    )
    if not _varies(ideal):
        return f"{measured}; without ideal runs, σ is taken from these"
    off = means.mean - float(ideal.mean())
    error = math.hypot(means.mean_error, float(ideal.std(ddof=1)) / math.sqrt(ideal.size))
    squared = means.mean_variance + off**2  # equation 8
    return (
        f"{measured}; its mean is off the ideal one by {off:.2g} ± {error:.2g}, with a mean "
        f"squared error of {squared:.2g}"
    )


def _find_doubts(name: str, n_repetitions: int, n_incomplete: int) -> Iterator[str]:
    if n_incomplete:
        yield f"{name}: {n_incomplete} repetition(s) with failed or missing runs were left out"
    if n_repetitions < _FEW_REPETITIONS:
        yield f"{name}: {n_repetitions} repetitions are few: the bias is rough"
