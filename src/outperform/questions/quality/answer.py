"""What each design of a study is worth, and which fits would complete the picture."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from outperform.errors import InvalidInput
from outperform.questions.quality.doubts import doubt_quality
from outperform.questions.quality.result import (
    IdealRuns,
    MeasuredDesign,
    MeasuredDeviations,
    MissingFits,
    PairQuality,
    Quality,
)
from outperform.runs.scope import join_scopes
from outperform.stats import assess_design, assess_deviations
from outperform.stats.checks import FloatArray, check_count
from outperform.stats.variances import deviation
from outperform.store import Store, is_store
from outperform.store.repeated_runs import LEFT_OUT, RepeatedRuns, Repeats, Repetitions
from outperform.store.store import use_store
from outperform.store.stored_runs import load_runs
from outperform.study.designs import ONE_SEARCH
from outperform.study.sources import ALL
from outperform.wording import count, enumerate_names, format_duration

_Pair = tuple[str, str]  # pipeline, task
N_REPETITIONS = 20  # of Bouthillier et al. (2021)
N_REPLICATES = 50  # of a design that is not there yet
N_IDEAL = 50
_ENOUGH_TRIALS = 20  # for a surrogate
_NONE_YET = {ALL: Repeats(N_REPLICATES, 0)}
COMBINED = "fix-hopt & simulated-hopt"  # their deviations averaged


def measure_quality(
    store: str | Path | Store,
    *,
    pipelines: Collection[str] = (),
    task: str | None = None,
    n_ideal: int = 10,
    confidence_level: float = 0.95,
    seed: int = 0,
) -> Quality:
    """Measure what each design of a study is worth, against its ideal one.

    Parameters
    ----------
    store
        Of a study with an ideal design and repetitions of others, or its address.
    pipelines, task
        Those to look at; all by default.
    n_ideal
        Replicates of the ideal design whose precision is asked for.
    seed
        Of the draws behind intervals that have no formula.

    Returns
    -------
    Bias, variance, ρ and mean squared error of every design, the ideal replicates that it is
    worth and the fits that it needs for the precision of `n_ideal`; its estimates of the standard
    deviation; and which fits would complete the picture.

    References
    ----------
    Bouthillier et al. (2021), Accounting for Variance in ML Benchmarks, section 3.3 and appendix
    H; Bouthillier et al., Simulated hyperparameter optimization, figure 2.
    """
    check_count("n_ideal", n_ideal, at_least=1)
    if isinstance(store, str | Path) and not is_store(store):
        raise InvalidInput(
            f"{store} is no store of a study",
            "Pass the store that `outperform run` wrote: only its runs say which search they share",
        )
    with use_store(store) as opened:
        runs, seconds = RepeatedRuns.of(opened), _average_seconds(opened)
        named = runs.choose_pairs(pipelines, task)
        pairs = _choose_searched(runs, named)
        _require_ideal(runs, pairs, seconds)
        table = load_runs(opened, "ideal")
    asked = _Asked(runs, seconds, n_ideal, confidence_level, seed)
    measured = [asked.measure(*pair) for pair in pairs if asked.has_ideal(*pair)]
    if not measured:
        raise InvalidInput(
            f"{runs.address} has no two ideal runs that differ",
            "Let `outperform run` finish the ideal design, or give it more replicates",
        )
    return Quality(
        n_ideal,
        tuple(measured),
        join_scopes([table.scope_on(pair.task) for pair in measured], [p.task for p in measured]),
        tuple(list_missing(runs, pairs, seconds)),
        (
            *doubt_quality(measured),
            *asked.list_left_out(named, pairs),
            # That there are other designs is what is asked for.
            *(note for note in table.notes if not note.startswith("the runs are those of")),
        ),
    )


def _choose_searched(runs: RepeatedRuns, pairs: Collection[_Pair]) -> list[_Pair]:
    """Pairs whose pipeline has hyperparameters: of the others, every design is the ideal one."""
    searched = [pair for pair in pairs if count_trials(runs.study, pair[0])]
    if not searched:
        raise InvalidInput(
            f"no pipeline of {runs.address} that is looked at has hyperparameters to search, so "
            "that every design is the ideal one",
            "Give one a space in the study file, or name one that has: --pipeline",
        )
    return searched


def _average_seconds(store: Store) -> dict[_Pair, float]:
    """Mean seconds of the runs of each pair, from fits whose checksums match."""
    seconds: dict[_Pair, list[float]] = {}
    for fit in store.get({label.key for label in store.run_labels()}).values():
        seconds.setdefault((fit.pipeline, fit.task), []).append(fit.seconds)
    return {pair: float(np.mean(each)) for pair, each in seconds.items()}


def _require_ideal(
    runs: RepeatedRuns, pairs: Collection[_Pair], seconds: Mapping[_Pair, float]
) -> None:
    """Refuse a study without an ideal design, and say what one costs."""
    if any(design["design"] == "ideal" for design in runs.designs):
        return
    n_fits = {pair: N_IDEAL * (count_trials(runs.study, pair[0]) + 1) for pair in pairs}
    time = sum(n * seconds.get(pair, 0.0) for pair, n in n_fits.items())
    raise InvalidInput(
        f"{runs.address} has no ideal runs, against which designs are measured (designs: "
        f"{enumerate_names(dict.fromkeys(d['design'] for d in runs.designs)) or 'none'})",
        f'Give the study a [[design]] with kind = "ideal" and replicates = {N_IDEAL}, and run it: '
        f"{sum(n_fits.values()):,} fits, {format_duration(time)} on one worker, less the searches "
        "that are there",
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked of the runs of a store."""

    runs: RepeatedRuns
    seconds: Mapping[_Pair, float]
    n_ideal: int
    confidence_level: float
    seed: int

    def has_ideal(self, pipeline: str, task: str) -> bool:
        """Whether there are ideal runs to measure against."""
        return len({*self.runs.find_ideal(pipeline, task).values()}) > 1

    def measure(self, pipeline: str, task: str) -> PairQuality:
        """Measure every design for one pipeline on one task."""
        pair, about = (pipeline, task), self.runs.study["tasks"][task]
        ideal = self.runs.find_ideal(*pair)
        scores = np.array([*ideal.values()])
        n_fits = count_trials(self.runs.study, pipeline) + 1
        return PairQuality(
            *pair,
            *(about["metric"], about["goal"]),
            IdealRuns(
                scores,
                deviation(scores, confidence_level=self.confidence_level),
                *(n_fits, n_fits * self.seconds.get(pair, 0.0)),
            ),
            tuple(self._measure_designs(pair, ideal)),
            tuple(self._measure_deviations(pair, scores)),
        )

    def _measure_designs(self, pair: _Pair, ideal: Mapping[int, float]) -> Iterator[MeasuredDesign]:
        places = {replicate: place for place, replicate in enumerate(ideal)}
        n_trials = count_trials(self.runs.study, pair[0])
        for (kind, source), repeated in self._find_repetitions(pair):
            scores = repeated.scores
            if len(scores) < 2 or scores.shape[1] < 2 or np.ptp(scores) == 0:
                continue
            quality = assess_design(
                scores,
                [*ideal.values()],
                [places.get(number, -1) for number in repeated.numbers],
                overhead=n_trials,
                n_ideal=self.n_ideal,
                confidence_level=self.confidence_level,
                rng=np.random.default_rng(self.seed),
            )
            n_fits = n_trials + scores.shape[1]
            cost = n_fits, n_fits * self.seconds.get(pair, 0.0), n_trials + 1
            name = name_design(kind, source)
            yield MeasuredDesign(name, kind, source, *cost, scores.mean(axis=1), quality)

    def _find_repetitions(self, pair: _Pair) -> Iterator[tuple[_Pair, Repetitions]]:
        for kind in ONE_SEARCH:
            for source in self.runs.count_repeats(kind):
                yield (kind, source), self.runs.find_repetitions(kind, source, *pair)

    def _measure_deviations(self, pair: _Pair, ideal: FloatArray) -> Iterator[MeasuredDeviations]:
        """Estimates by each design, and the average of fix-hopt and simulated searches."""
        n_trials = count_trials(self.runs.study, pair[0])
        tables = {
            name_design(*design): repeated
            for design, repeated in self._find_repetitions(pair)
            if repeated.scores.shape[1] > 1 and len(repeated.scores)
        }
        groups = {name: [repeated.scores] for name, repeated in tables.items()}
        both = [
            tables[name] for kind in ONE_SEARCH[:2] if (name := name_design(kind, ALL)) in tables
        ]
        if len(both) == 2:
            shared = [n for n in both[0].numbers if n in both[1].numbers]
            if shared:
                groups[COMBINED] = [
                    repeated.scores[[repeated.numbers.index(n) for n in shared]]
                    for repeated in both
                ]
        for name, scores in groups.items():
            n_fits = n_trials + sum(table.shape[1] for table in scores)
            rng, level = np.random.default_rng(self.seed), self.confidence_level
            estimates = assess_deviations(scores, ideal, confidence_level=level, rng=rng)
            yield MeasuredDeviations(name, n_fits, estimates)

    def list_left_out(self, named: Collection[_Pair], pairs: Collection[_Pair]) -> Iterator[str]:
        """Say which pairs, designs and repetitions could not be measured."""
        searchless = dict.fromkeys(pair[0] for pair in named if pair not in pairs)
        if searchless:
            yield f"left out, as it has no hyperparameters to search: {enumerate_names(searchless)}"
        without = [f"{name} on {task}" for name, task in pairs if not self.has_ideal(name, task)]
        if without:
            yield f"left out, without two ideal runs that differ: {enumerate_names(without)}"
        yield from self.runs.describe_missing(pairs)
        for pipeline, task in pairs:
            for design, repeated in self._find_repetitions((pipeline, task)):
                name = f"{name_design(*design)} of {pipeline} on {task}"
                if repeated.n_incomplete:
                    n_incomplete = count(repeated.n_incomplete, "repetition")
                    yield f"{name}: left out {n_incomplete} {LEFT_OUT}"
                if repeated.scores.shape[1] < 2:
                    yield f"{name}: one replicate a repetition tells neither V nor ρ"
                elif len(repeated.scores) > 1 and np.ptp(repeated.scores) == 0:
                    yield f"{name}: all scores are the same"


def name_design(kind: str, source: str) -> str:
    """Name of a design, with what it redraws where that is not all.

    >>> name_design("fix-hopt", "init"), name_design("simulated-hopt", "all")
    ('fix-hopt (init)', 'simulated-hopt')
    """
    return kind if source == ALL and kind != "fix-hopt" else f"{kind} ({source})"


def count_trials(study: Mapping[str, Any], pipeline: str) -> int:
    """Fits of one search of a pipeline; 0 where there is nothing to search."""
    plan = study.get("plan")
    if plan is None:  # a design is the person's own
        return int(str(study["search"]).split()[-2])
    own = next(each for each in plan["pipelines"] if each["name"] == pipeline)
    return int(plan["trials"]) if own["space"] else 0


def list_missing(
    runs: RepeatedRuns, pairs: Collection[tuple[str, str]], seconds: Mapping[tuple[str, str], float]
) -> Iterator[MissingFits]:
    """Designs to add or to repeat, each as if it were the only one that is added."""
    n_ideal = max((d["replicates"] for d in runs.designs if d["design"] == "ideal"), default=0)
    searched = max(
        [n_ideal, *(r.n_repetitions for k in ONE_SEARCH for r in _repeats(runs, k).values())]
    )

    def price(line: str, n_searches: int, n_final: int) -> MissingFits:
        """So many searches, as far as they are not there yet, and final fits."""
        n_new = max(0, n_searches - searched)
        n_fits = {pair: n_new * count_trials(runs.study, pair[0]) + n_final for pair in pairs}
        time = sum(n * seconds.get(pair, 0.0) for pair, n in n_fits.items())
        return MissingFits(f"[[design]]\n{line}", sum(n_fits.values()), time)

    if n_ideal < N_IDEAL:
        yield price(f'kind = "ideal"\nreplicates = {N_IDEAL}', N_IDEAL, N_IDEAL - n_ideal)
    for kind in ONE_SEARCH:
        for source, has in _repeats(runs, kind).items():
            if has.n_repetitions < N_REPETITIONS or has.n_replicates < 2:
                k = max(has.n_replicates, 2)
                n_shared = min(n_ideal, N_REPETITIONS) if kind == "fix-hopt" else 0
                there = max(has.n_repetitions * has.n_replicates, n_shared)
                yield price(_write(kind, source, k), N_REPETITIONS, N_REPETITIONS * k - there)


def _repeats(runs: RepeatedRuns, kind: str) -> Mapping[str, Repeats]:
    """What there is of a kind; where it is not there and could be, none of what there should be."""
    known, plan = runs.count_repeats(kind), runs.study.get("plan")
    # Searches can surely be simulated, and redrawn from their trials.
    can_redraw = (
        plan is not None
        and plan["tuner"] == "random"
        and plan["trials"] >= _ENOUGH_TRIALS
        and all(pipeline["space"] for pipeline in plan["pipelines"])
    )
    return known if known or not (kind == "fix-hopt" or can_redraw) else _NONE_YET


def _write(kind: str, source: str, n_replicates: int) -> str:
    listed = ", ".join(f'"{name}"' for name in source.split("+"))
    vary = "" if source == ALL else f"\nvary = [{listed}]"
    return f'kind = "{kind}"\nreplicates = {n_replicates}\nrepetitions = {N_REPETITIONS}{vary}'
