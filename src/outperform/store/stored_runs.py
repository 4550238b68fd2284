"""Runs of a study, from the store that its fits were recorded in."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from shlex import quote
from typing import Any

import numpy as np

from outperform.errors import InvalidInput, UnknownName
from outperform.runs.labels import Labels
from outperform.runs.metrics import TaskMetric, sum_up_metrics
from outperform.runs.repeated_searches import Searches
from outperform.runs.scope import SEEDS, Resplit
from outperform.runs.table import Runs, make_runs
from outperform.store.measurement import RunLabel
from outperform.store.planned_runs import (
    Description,
    Design,
    describe_left_out,
    find_needed_failures,
    get_test_score,
    is_of,
    is_planned,
)
from outperform.store.repeated_runs import collect_searches
from outperform.store.sequential_record import Attempt, describe_attempts, read_attempts
from outperform.store.store import Store
from outperform.store.stored_doubts import (
    describe_failed_trials,
    describe_surrogates,
    describe_versions,
    find_blocked_runs,
)
from outperform.study.designs import PAIRED, is_later_repetition
from outperform.study.sources import ALL
from outperform.wording import count, enumerate_names, suggest_names

SIMULATED = "simulated-hopt"
_REASONS = ("", "failed", "whose search failed")  # to have no score
_NO_FIT = ""  # in place of a key, of a run that has no hyperparameters
# What is to be said of designs that search once. Of searches redrawn from T trials, a share
# 1 - (1 - 1/T)^T chooses what the one that was done chose: 63% or more.
_ONE_SEARCH = {
    "fix-hopt": (
        ", which searches once: all share the luck of that search, and tell of the hyperparameters "
        "that it found, not of pipelines tuned anew; what tuning adds to the variance is not seen"
    ),
    SIMULATED: (
        ", which searches once and simulates all other searches on a model of it: all share the "
        "luck of that search and the errors of its model, so that they vary more than those of one "
        "search, but still tell little of pipelines tuned anew"
    ),
    "resampled-hopt": (
        ", which searches once and redraws all other searches from its trials: all share the luck "
        "of that search, whose choice most of them repeat, so that they vary more than those of "
        "one search, but still tell little of pipelines tuned anew; the others choose worse, as "
        "they have fewer trials to choose from"
    ),
}
# Where that is done several times over.
_FIRST_SEARCH = (
    " after the first of {n} searches: all share its luck, and tell of what it found; the means of "
    "all {n} searches, which `outperform compare` tests, tell of pipelines tuned anew"
)
_ADD = 'Add a [[design]] with kind = "ideal" or "fix-hopt" to the study and run it'


def load_runs(
    store: Store,
    kind: str | None = None,
    *,
    first: int | None = None,
    pipelines: Collection[str] = (),
) -> Runs:
    """Final fits of a study, as a table: of the ideal design if there is one.

    Only runs that the study has now are taken. Those that failed, or whose search did, are
    incomplete: left out, they would count against nobody where all algorithms fail. What is left
    out, and what is still to be done, is counted in the notes.

    Parameters
    ----------
    kind
        The design whose runs are wanted.
    first
        Take that many replicates at most; a store may hold more from a run before.
    pipelines
        Those whose runs are counted where they are missing: all by default, or those that were
        asked about where the run was stopped on purpose.
    """
    stored = _open_design(store, kind, first)
    table = _make_table(stored.runs, stored.scores, stored.study, store)
    simulated = None
    if stored.has_simulated:
        with suppress(InvalidInput):  # none is finished yet
            simulated = load_runs(store, SIMULATED, first=first)
    return replace(
        table,
        notes=(*stored.describe(pipelines, len(table.replicates or ())),),
        unfinished=tuple(n for n in stored.study["pipelines"] if n not in table.algorithms),
        stopped_early=bool(stored.n_stopped or stored.looked),
        ruled_out=_find_ruled_out(stored.looked),
        counted=True,
        simulated=simulated,
        one_search=stored.one_search,
        searches=stored.searches,
        **_find_scope(table.tasks, stored.design, stored.study),
    )


def _open_design(store: Store, kind: str | None, first: int | None) -> "_StoredDesign":
    """Choose one of the study's designs, which has finished runs."""
    study, labels, scores = store.get_meta("study"), store.run_labels(), store.scores()
    if study is None or not any(scores.get(label.key) for label in labels):
        raise InvalidInput(f"{store.address} holds no finished runs yet", _suggest_finishing(store))
    planned = study["designs"]
    paired = [
        design
        for design in planned
        if design["design"] in PAIRED and not is_later_repetition(design["source"])
    ]
    design = _choose_design(paired, study, kind, store.address)
    if first is not None:
        design = {**design, "replicates": min(first, design["replicates"])}
    return _StoredDesign(store, study, labels, scores, planned, paired, design, first is None)


@dataclass(frozen=True)  # without slots, so that what is asked for again is found once
class _StoredDesign:
    """One design of a study, and what the store holds of it."""

    store: Store
    study: Description
    labels: Sequence[RunLabel]
    scores: Mapping[str, Mapping[str, float]]
    every_design: Sequence[Design]
    paired_designs: Sequence[Design]  # without further repetitions of one
    design: Design
    is_whole: bool  # not the first replicates only, which tell nothing of searches and looks

    @cached_property
    def failed_trials(self) -> Sequence[RunLabel]:
        return self.store.failed_trials()

    @cached_property
    def planned(self) -> list[RunLabel]:
        """Runs that the study has now, and those of them that can never be done."""
        every = (*self.labels, *_label_blocked(self.labels, self.failed_trials, self.study))
        return [label for label in every if is_planned(label, [self.design], self.study)]

    @cached_property
    def runs(self) -> list[RunLabel]:
        return _choose_ended(self.planned, self.scores, self.design, self.store)

    @cached_property
    def one_search(self) -> bool:
        """Whether all runs are after one search."""
        return self.design["design"] in _ONE_SEARCH and _has_searched(self.study)

    @cached_property
    def searches(self) -> Searches | None:
        """Runs after several searches, where they are told of."""
        if not (self.is_whole and _has_searched(self.study)):
            return None
        searched = _choose_searched(self.design, self.paired_designs)
        if searched is None:
            return None
        return collect_searches(searched, self.every_design, self.labels, self.scores)

    @property
    def has_simulated(self) -> bool:
        """Whether runs of fix-hopt are paired with others, whose searches are simulated."""
        kinds = [each["design"] for each in self.paired_designs]
        return _is_kind(self.design, "fix-hopt", ALL) and SIMULATED in kinds

    @cached_property
    def _looks(self) -> tuple[list[Attempt], int | None]:
        if not self.is_whole:
            return [], None
        return _find_looks(self.store, len(self.runs), self.design, self.study)

    @property
    def looked(self) -> list[Attempt]:
        """Sequential tests that have looked at the runs."""
        return self._looks[0]

    @property
    def n_stopped(self) -> int | None:
        """Replicates at the last stop; None where the runs went on to their end."""
        return self._looks[1]

    def describe(self, pipelines: Collection[str], n_replicates: int) -> Iterator[str]:
        """Say whose runs these are, and what is left out, missing or doubtful."""
        study, design, looked = self.study, self.design, self.looked
        asked = pipelines or [
            each["rule"][side] for each in looked if self.n_stopped for side in "ab"
        ]
        wanted = [name for name in study["pipelines"] if name in asked or not asked]
        is_cut_short = bool(self.n_stopped)
        yield from _describe_design(
            design, self.paired_designs, self.searches, has_searched=self.one_search
        )
        if self.is_whole:
            own = [label for label in self.labels if is_of(label, design)]
            yield from describe_left_out(own, [design], study)
        yield from _describe_missing(self.store, self.runs, design, wanted, self.n_stopped)
        yield from _describe_looks(looked, design, n_replicates, is_cut_short=is_cut_short)
        begun = {label[:5] for label in self.planned if label.key != _NO_FIT}
        yield from describe_failed_trials(self.failed_trials, begun, study)
        if self.has_simulated or design["design"] == SIMULATED:
            yield from describe_surrogates(self.store, study)
        yield from describe_versions(self.store)


def _choose_ended(
    planned: Sequence[RunLabel], scores: Mapping[str, Any], design: Design, store: Store
) -> list[RunLabel]:
    """Runs that have a score or can get none, of the pipelines that have finished any."""
    finished = {label.pipeline for label in planned if scores.get(label.key)}
    if not finished:
        raise InvalidInput(
            f"{store.address} holds no finished runs of {design['design']} yet",
            _suggest_finishing(store),
        )
    # Without scores, fits have failed, or are not recorded at all.
    return [
        label
        for label in planned
        if (label.key in scores or label.key == _NO_FIT) and label.pipeline in finished
    ]


def _suggest_finishing(store: Store) -> str:
    """Say how to get runs; another run helps nobody where what they need has failed."""
    status = f"`outperform status {quote(store.address)}`"
    if store.get_meta("unsimulated"):
        return (
            f"See with {status} why searches cannot be simulated, or compare the runs of another "
            "design"
        )
    if failed := find_needed_failures(store):
        return (
            f"{count(len(failed), 'fit')} of its study failed: {status} says why, and "
            "`outperform run` with --retry-failed tries again"
        )
    return "Let `outperform run` finish some first"


def _label_blocked(
    labels: Sequence[RunLabel], trials: Sequence[RunLabel], study: Description
) -> list[RunLabel]:
    """Runs that can never be done, since their searches found no hyperparameters for a fit."""
    blocked = find_blocked_runs(trials, study)
    begun = {label[:5] for label in labels} if blocked else set()
    return [RunLabel(*role, _NO_FIT) for role in blocked if role not in begun]


def _make_table(
    runs: Sequence[RunLabel],
    scores: Mapping[str, Mapping[str, float]],
    study: Description,
    store: Store,
) -> Runs:
    """Put runs into a table, those that failed as incomplete ones."""
    _, _, replicates, pipelines, tasks, keys = zip(*runs, strict=True)
    about = study["tasks"]
    measured = {task: TaskMetric(about[task]["metric"], about[task]["goal"]) for task in tasks}
    metric, goal = measured[tasks[0]]
    of_runs = [scores.get(key) for key in keys]
    test = [
        get_test_score(own, key, store) if own else np.nan
        for key, own in zip(keys, of_runs, strict=True)
    ]
    table = make_runs(
        pipelines, tasks, replicates, test, metric=metric, goal=goal, source=store.address
    )
    reasons = np.array([2 if own is None else 1 if not own else 0 for own in of_runs])
    incomplete = Labels(_REASONS, reasons) if reasons.any() else None
    return replace(table, incomplete=incomplete, **sum_up_metrics(measured))


def _find_scope(tasks: Sequence[str], design: Design, study: Description) -> dict[str, Any]:
    """What the design redraws."""
    source = design["source"]
    redrawn = source == ALL or "split" in source.split("+")
    divided, sizes = study["divided"], study["sizes"]
    anew = {task: divided[task] for task in tasks if redrawn and divided[task]}
    seeds = () if source == "split" and anew else (SEEDS,)
    return {
        "varied": (*dict.fromkeys(anew.values()), *seeds),
        "resplits": {task: Resplit(*sizes[task]) for task in anew if task in sizes},
        "fixed_splits": tuple(task for task in tasks if task not in anew),
    }


def _choose_design(
    designs: Sequence[Design], study: Description, kind: str | None, address: str
) -> Design:
    """One design with one set of sources redrawn: all of them if there is such."""
    kinds = [each for each in PAIRED if any(design["design"] == each for design in designs)]
    kind = kind or next(iter(kinds), None)
    if kind not in kinds:
        what = "runs to compare" if kind is None else f"paired runs of {kind!r}"
        problem = f"{address} holds no {what}; its designs are {', '.join(study['kinds'])}"
        raise UnknownName(problem, suggest_names(str(kind), kinds) if kinds else _ADD)
    same = [design for design in designs if design["design"] == kind]
    return max(same, key=lambda design: (design["source"] == ALL, design["replicates"]))


def _has_searched(study: Description) -> bool:
    """Whether any pipeline has hyperparameters to search, as far as is known."""
    plan = study["plan"]
    return plan is None or any(each["space"] for each in plan["pipelines"])


def _choose_searched(design: Design, designs: Sequence[Design]) -> Design | None:
    """The design whose searches are told of: of ideal runs, those that add replicates to theirs."""
    if design["design"] != "ideal":
        return design
    return next((each for each in designs if _is_kind(each, "fix-hopt", design["source"])), None)


def _is_kind(design: Design, kind: str, source: str) -> bool:
    return (design["design"], design["source"]) == (kind, source)


def _describe_design(
    design: Design, designs: Sequence[Design], searches: Searches | None, *, has_searched: bool
) -> Iterator[str]:
    """Say whose runs they are, unless they are all that a study could have: those of ideal."""
    kind, source = design["design"], design["source"]
    only = "" if source == ALL else f" with only {source} redrawn"
    others = [
        f"{other['design']} ({other['source']} redrawn)"
        for other in designs
        if (other["design"], other["source"]) != (kind, source)
    ]
    beside = f"; the study has {enumerate_names(others)} too" if others else ""
    if kind != "ideal" or others:
        searching = _ONE_SEARCH[kind] if has_searched else ""
        if has_searched and searches is not None:
            searching = _FIRST_SEARCH.format(n=searches.n_searches)
        yield f"the runs are those of {kind}{only}{searching}{beside}"


def _describe_missing(
    store: Store,
    runs: Sequence[RunLabel],
    design: Design,
    pipelines: Sequence[str],
    n_stopped: int | None,
) -> Iterator[str]:
    """Count what is missing of these pipelines.

    After a run that was stopped on purpose, what it left out is not.
    """
    if n_stopped:
        yield (
            f"the run stopped after {n_stopped} of {design['replicates']} replicates, as soon as "
            f"{store.get_meta('stopped')['reason']}: only an anytime interval allows for that"
        )
    n_replicates = n_stopped or design["replicates"]
    n_planned = len(pipelines) * len(store.get_meta("study")["tasks"]) * n_replicates
    n_runs = sum(run.pipeline in pipelines for run in runs)
    if n_planned > n_runs:
        unfinished = [name for name in pipelines if all(run.pipeline != name for run in runs)]
        none = f", all of {enumerate_names(unfinished)} among them" if unfinished else ""
        yield (
            f"{n_planned - n_runs} of the study's {n_planned} runs have no score{none}: they "
            "failed, or are still to be done; complete them before you conclude, since whoever "
            "stops at a look that pleases errs more often than α"
        )


def _find_looks(
    store: Store, n_runs: int, design: Design, study: Description
) -> tuple[list[Attempt], int | None]:
    """Sequential tests that have looked at the runs of a design, and replicates at the last stop.

    There is no such number where the runs went on to their end.
    """
    looked = [each for each in read_attempts(store) if each["rule"]["design"] == design["design"]]
    stopped = store.get_meta("stopped")
    if stopped is None or stopped["design"] != design["design"]:
        return looked, None
    n_cells, n_replicates = len(study["pipelines"]) * len(study["tasks"]), design["replicates"]
    # A study cut down to where it was stopped was stopped there all the same.
    went_on = n_runs >= n_cells * n_replicates > n_cells * stopped["replicates"]
    return looked, None if went_on else int(min(stopped["replicates"], n_replicates))


def _find_ruled_out(looked: Sequence[Attempt]) -> dict[tuple[str, str, str], float]:
    """What tests that ended for neither of two pipelines ruled out, by their names and the task."""
    return {
        (*names, decision["task"]): attempt["rule"]["gamma"]
        for attempt in looked
        for decision in attempt["decisions"]
        if decision["outcome"] == "neither"
        for names in permutations((attempt["rule"]["a"], attempt["rule"]["b"]))
    }


def _describe_looks(
    looked: Sequence[Attempt], design: Design, n_replicates: int, *, is_cut_short: bool
) -> Iterator[str]:
    """Say that whoever compares runs after a sequential test has had its chance to err too."""
    allowed = sorted({each["n_allowed"] for each in looked} - {design["replicates"]})
    if allowed:
        yield (
            f"the study allowed {', '.join(map(str, allowed))} replicates when its runs were "
            f"looked at, and allows {design['replicates']} now: only an anytime interval allows "
            "for that"
        )
    elif looked and not is_cut_short:
        yield (
            "a sequential test looked at these runs first: only an anytime interval allows for that"
        )
    yield from describe_attempts(looked, n_replicates)
