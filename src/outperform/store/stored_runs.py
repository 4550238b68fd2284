"""Runs of a study, from the store that its fits were recorded in."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from shlex import quote
from typing import Any

import numpy as np

from outperform.errors import InvalidInput, UnknownName
from outperform.runs.labels import Labels
from outperform.runs.metrics import TaskMetric, sum_up_metrics
from outperform.runs.repeated_searches import Searches
from outperform.runs.scope import SEEDS, SPLITS, Resplit
from outperform.runs.table import Runs, make_runs
from outperform.store.damage import name_fit, report_damage
from outperform.store.measurement import RunLabel
from outperform.store.searched_runs import collect_searches
from outperform.store.sequential_record import Attempt, describe_attempts, read_attempts
from outperform.store.store import Store
from outperform.store.stored_doubts import (
    choose_planned_trials,
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

Description = Mapping[str, Any]  # of a study, as `describe_study` makes it
Design = Mapping[str, Any]  # kind, source and replicates, as the store describes them


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
    study, labels, scores = store.get_meta("study"), store.run_labels(), store.scores()
    if study is None or not any(scores.get(label.key) for label in labels):
        raise InvalidInput(f"{store.address} holds no finished runs yet", _suggest_finishing(store))
    planned_designs = list_designs(study, labels)
    designs = [
        design
        for design in planned_designs
        if design["design"] in PAIRED and not is_later_repetition(design["source"])
    ]
    design = _choose_design(designs, study, kind, store.address)
    if first is not None:
        design = {**design, "replicates": min(first, design["replicates"])}
    trials = store.failed_trials()
    every = (*labels, *_label_blocked(labels, trials, study))
    planned = [label for label in every if is_planned(label, [design], study)]
    runs = _choose_ended(planned, scores, design, store)
    table = _make_table(runs, scores, study, store)
    one_search = design["design"] in _ONE_SEARCH and _has_searched(study)
    searched = _choose_searched(design, designs) if first is None and _has_searched(study) else None
    searches = None
    if searched is not None:
        searches = collect_searches(searched, planned_designs, labels, scores)
    looked, n_stopped = (
        ([], None) if first is not None else _find_looks(store, len(runs), design, study)
    )
    # Runs of fix-hopt are paired with others whose searches are simulated.
    has_beside = (design["design"], design["source"]) == ("fix-hopt", ALL) and any(
        each["design"] == SIMULATED for each in designs
    )
    uses_simulated = has_beside or design["design"] == SIMULATED
    others = [label for label in labels if first is None and _is_of(label, design)]
    begun = {label[:5] for label in planned if label.key != _NO_FIT}
    asked = pipelines or [each["rule"][side] for each in looked if n_stopped for side in "ab"]
    wanted = [name for name in study["pipelines"] if name in asked or not asked]
    notes = (
        *_describe_design(design, designs, searches, has_searched=one_search),
        *describe_left_out(others, [design], study),
        *_describe_missing(store, runs, design, wanted, n_stopped),
        *_describe_looks(looked, design, len(table.replicates or ()), is_cut_short=bool(n_stopped)),
        *describe_failed_trials(trials, begun, study),
        *(describe_surrogates(store, study) if uses_simulated else ()),
        *describe_versions(store),
    )
    simulated = None
    if has_beside:
        with suppress(InvalidInput):  # none is finished yet
            simulated = load_runs(store, SIMULATED, first=first)
    return replace(
        table,
        notes=notes,
        unfinished=tuple(name for name in study["pipelines"] if name not in table.algorithms),
        stopped_early=bool(n_stopped or looked),
        counted=True,
        simulated=simulated,
        one_search=one_search,
        searches=searches,
        **_find_scope(table.tasks, design, study),
    )


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
    """Say how to get runs; another run helps nobody where their searches cannot be simulated."""
    if store.get_meta("unsimulated"):
        return (
            f"See with `outperform status {quote(store.address)}` why searches cannot be "
            "simulated, or compare the runs of another design"
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


def has_failures(store: Store) -> bool:
    """Whether any fit failed, without a look at each."""
    return any(status == "failed" for *_, status in store.counts())


def find_needed_failures(store: Store) -> set[str]:
    """Keys of the failed fits that the study, as it is now, still needs.

    The others are of code, spaces or designs of before. Stores of old do not tell them apart.
    """
    if not has_failures(store):
        return set()
    failed = {key for key, scores in store.scores().items() if not scores}
    study = store.get_meta("study")
    if not failed or study is None or "plan" not in study:
        return failed
    labels = store.run_labels()
    designs = list_designs(study, labels)
    runs = [label for label in labels if is_planned(label, designs, study)]
    trials = choose_planned_trials(store.failed_trials(), study)
    return failed & {label.key for label in (*runs, *trials)}


def get_test_score(scores: Mapping[str, float], key: str, store: Store) -> float:
    """Score on test data of a fit that is a run, without which no run is recorded."""
    if "test" not in scores:
        raise report_damage(store.address, f"{name_fit(key)} is a run and has no test score")
    return scores["test"]


def list_designs(study: Description, labels: Sequence[RunLabel]) -> list[Design]:
    """What the study redraws, and how often; stores of old tell it by their runs only."""
    if "designs" in study:
        return list(study["designs"])
    return [*count_replicates((label.design, label.source, label.replicate) for label in labels)]


def count_replicates(runs: Iterable[tuple[str, str, int]]) -> list[dict[str, Any]]:
    """Replicates of every design, for each set of sources that it redraws.

    Parameters
    ----------
    runs
        Design, source and replicate of each.

    Examples
    --------
    >>> count_replicates([("ideal", "all", 0), ("ideal", "all", 1)])
    [{'design': 'ideal', 'source': 'all', 'replicates': 2}]
    """
    counts: dict[tuple[str, str], int] = {}
    for design, source, replicate in runs:
        counts[design, source] = max(counts.get((design, source), 0), replicate + 1)
    return [
        {"design": design, "source": source, "replicates": n}
        for (design, source), n in counts.items()
    ]


def is_planned(label: RunLabel, designs: Sequence[Design], study: Description) -> bool:
    """Whether the study, as it is now, has this run."""
    return not _is_foreign(label, study) and any(
        _is_of(label, design) and label.replicate < design["replicates"] for design in designs
    )


def describe_left_out(
    labels: Sequence[RunLabel], designs: Sequence[Design], study: Description
) -> Iterator[str]:
    """Count the runs that the study does not have any more."""
    foreign = [label for label in labels if _is_foreign(label, study)]
    if foreign:
        names = sorted({f"{label.pipeline} on {label.task}" for label in foreign})
        yield (
            f"left out: {count(len(foreign), 'run')} of {enumerate_names(names)}, which the study "
            "does not have any more"
        )
    n_others = sum(not is_planned(label, designs, study) for label in labels) - len(foreign)
    if n_others:
        yield (
            f"left out: {count(n_others, 'run')} of replicates or sources that the study does not "
            "have any more"
        )


def _find_scope(tasks: Sequence[str], design: Design, study: Description) -> dict[str, Any]:
    """What the design redraws; stores of old do not know how their data were divided."""
    source = design["source"]
    redrawn = source == ALL or "split" in source.split("+")
    divided = study.get("divided", dict.fromkeys(study["tasks"], SPLITS))
    anew = {task: divided[task] for task in tasks if redrawn and divided[task]}
    seeds = () if source == "split" and anew else (SEEDS,)
    sizes = study.get("sizes", {})
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


def _is_of(label: RunLabel, design: Design) -> bool:
    return (label.design, label.source) == (design["design"], design["source"])


def _is_foreign(label: RunLabel, study: Description) -> bool:
    return label.pipeline not in study["pipelines"] or label.task not in study["tasks"]


def _has_searched(study: Description) -> bool:
    """Whether any pipeline has hyperparameters to search; stores of old do not tell."""
    plan = study.get("plan")
    return plan is None or any(each["space"] for each in plan["pipelines"])


def _choose_searched(design: Design, designs: Sequence[Design]) -> Design | None:
    """The design whose searches are told of: of ideal runs, those that add replicates to theirs."""
    if design["design"] != "ideal":
        return design
    wanted = "fix-hopt", design["source"]
    return next((each for each in designs if (each["design"], each["source"]) == wanted), None)


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
