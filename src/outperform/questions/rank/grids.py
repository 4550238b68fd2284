"""All scores of runs as one grid per task, algorithms by replicates, and what is odd about them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal, NoReturn
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from outperform.errors import InvalidInput, TooFewRuns, UnpairedScores
from outperform.runs import Goal, Runs
from outperform.runs.columns import read_name
from outperform.runs.confounders import find_confounders, note_confounders
from outperform.runs.score_grids import find_grid_nesting, find_grid_suspicions
from outperform.runs.suspicions import Suspicion, ask
from outperform.stats.checks import FloatArray
from outperform.wording import count, enumerate_names

Gaps = Literal["refuse", "complete", "keep"]
_MOST_ALGORITHMS = 300  # of which there are 44,850 pairs
_MOST_NAMED = 5  # gaps
_MOST_NOTES = 3  # on scores that were accepted as right


@dataclass(frozen=True, slots=True)
class Grids:
    """Scores of the same algorithms on several tasks: higher is better, NaN is missing."""

    algorithms: tuple[str, ...]
    tasks: tuple[str, ...]
    goals: tuple[Goal, ...]
    metrics: tuple[str, ...]
    scores: tuple[FloatArray, ...]  # of each task, (n_algorithms, n_replicates)
    replicates: tuple[Sequence[str], ...]  # labels of each task's
    family: NDArray[np.intp]  # number of the one that each task belongs to
    gaps: tuple[str, ...] = ()  # what is missing, in words
    # Replicates of each task that each algorithm lacks; 0 where it was not run at all.
    missing: NDArray[np.intp] | None = None

    @property
    def complete(self) -> tuple[FloatArray, ...]:
        """The replicates of each task that all algorithms have."""
        return tuple(grid[:, ~np.isnan(grid).any(axis=0)] for grid in self.scores)

    @property
    def n_families(self) -> int:
        """Families of tasks; every task is one of its own unless something else is said."""
        return len(np.unique(self.family))

    @property
    def means(self) -> FloatArray:
        """Mean of what each algorithm has on each task, shape (n_tasks, n_algorithms)."""
        sums = [np.nansum(grid, axis=1) for grid in self.scores]
        n = np.array([(~np.isnan(grid)).sum(axis=1) for grid in self.scores])
        means = np.full(n.shape, np.nan)
        np.divide(sums, n, where=n > 0, out=means)
        return means

    def keep(self, chosen: Sequence[int]) -> "Grids":
        """Keep some of the tasks."""
        return replace(
            self,
            **{
                name: tuple(getattr(self, name)[place] for place in chosen)
                for name in ("tasks", "goals", "metrics", "scores", "replicates")
            },
            family=self.family[list(chosen)],
            missing=None if self.missing is None else self.missing[list(chosen)],
        )

    @property
    def lacking(self) -> NDArray[np.intp]:
        """Replicates that each lacks on each task, shape (n_tasks, n_algorithms)."""
        if self.missing is None:
            return np.zeros((len(self.tasks), len(self.algorithms)), dtype=np.intp)
        return self.missing


def lay_out(
    runs: Runs, algorithms: Sequence[str], *, family: str | None, gaps: Gaps, seed: int
) -> Grids:
    """Lay runs out as grids, and refuse or leave out what is missing, as asked for."""
    if len(algorithms) < 2:
        raise TooFewRuns(
            f"there is one algorithm only, {algorithms[0]}, of {runs.source}",
            "Join the files of others with --with FILE (from Python: join_runs), or name the "
            "column that tells them apart with --algorithm",
        )
    if len(algorithms) > _MOST_ALGORITHMS:
        raise InvalidInput(
            f"{runs.source} has {len(algorithms):,} algorithms, of which at most "
            f"{_MOST_ALGORITHMS} can be ranked",
            "Check that --algorithm names the right column, choose some of them with --only, or "
            "read them as a leaderboard with `outperform sota`",
        )
    chosen = [runs.algorithms.index(name) for name in algorithms]
    grids, labels = [], []
    for task in runs.tasks:
        scores, replicates = runs.score_grid(task)
        scores = scores[chosen]
        if runs.replicates is None:
            scores = _shuffle(scores, algorithms, task, seed)
        grids.append(scores if runs.goal_on(task) == "maximize" else -scores)
        labels.append(replicates)
    # In the order of names, so that what is drawn at random for each is the same however rows lie.
    own = {task: task for task in runs.tasks}
    families = own if family is None else runs.task_values(family)
    laid = Grids(
        tuple(algorithms),
        runs.tasks,
        tuple(map(runs.goal_on, runs.tasks)),
        tuple(map(runs.metric_on, runs.tasks)),
        tuple(grids),
        tuple(labels),
        np.unique([families[task] for task in runs.tasks], return_inverse=True)[1],
    )
    played = [place for place, grid in enumerate(grids) if not np.isnan(grid).all()]
    if not played:
        raise TooFewRuns(
            f"no run of {enumerate_names(algorithms)} in {runs.source} has a score",
            "Find out why all failed, and rank them once some are finished",
        )
    return _mind_gaps(laid.keep(played) if len(played) < len(grids) else laid, runs, gaps)


def _shuffle(scores: FloatArray, algorithms: Sequence[str], task: str, seed: int) -> FloatArray:
    """Pair runs at random where nothing says which belong together.

    Independent runs may be paired in any way that their scores have no part in; the order of rows
    may be that of their scores. A run's place depends on its own algorithm and task alone.
    """
    shuffled = np.full_like(scores, np.nan)
    for place, name in enumerate(algorithms):
        known = scores[place][~np.isnan(scores[place])]
        rng = np.random.default_rng([seed, crc32(name.encode()), crc32(task.encode())])
        shuffled[place, : known.size] = rng.permutation(known)
    return shuffled


def _mind_gaps(grids: Grids, runs: Runs, gaps: Gaps) -> Grids:
    missing = _list_gaps(grids, runs)
    if not missing:
        return grids
    named = "; ".join(missing[:_MOST_NAMED])
    more = f"; and {len(missing) - _MOST_NAMED} more" if len(missing) > _MOST_NAMED else ""
    if gaps == "refuse":
        _refuse(grids, runs, named + more)
    grids = replace(grids, gaps=tuple(missing))
    if runs.replicates is not None:
        lacking = np.array([np.isnan(grid).sum(axis=1) for grid in grids.scores])
        absent = np.array([np.isnan(grid).all(axis=1) for grid in grids.scores])
        grids = replace(grids, missing=np.where(absent, 0, lacking))
    if gaps == "keep":
        return grids
    has_all = [place for place, grid in enumerate(grids.complete) if grid.shape[1]]
    if not has_all:
        raise TooFewRuns(
            f"no replicate of any task has a run of all {len(grids.algorithms)} algorithms: "
            f"{named}{more}",
            "Leave out the algorithms with gaps by --only, or pass --gaps",
        )
    kept = grids.keep(has_all)
    return replace(kept, scores=kept.complete)


def _refuse(grids: Grids, runs: Runs, missing: str) -> NoReturn:
    """Refuse gaps, and name rows that are there but do not count."""
    rows = np.flatnonzero(~np.isfinite(runs.score))
    have = "has no finite score" if len(rows) == 1 else "have no finite scores"
    unfinished = f" ({runs.locate(rows)} {have}, or did not finish)" if len(rows) else ""
    advice = (
        "Add the missing runs, pass --complete to leave out the replicates and tasks that not all "
        "algorithms have, or --gaps to rank with the gaps"
    )
    shared = any((~np.isnan(grid)).sum(axis=0).max() > 1 for grid in grids.scores)
    if runs.replicates is not None and not shared:  # nothing pairs what has replicates of its own
        advice = (
            f"Run all with the same {runs.replicate_name}s; if no runs belong together, leave out "
            f"the column {runs.replicate_name}: they are then paired at random"
        )
    raise UnpairedScores(f"{runs.source} has gaps: {missing}{unfinished}", advice)


def _list_gaps(grids: Grids, runs: Runs) -> list[str]:
    """Name what is missing: algorithms without a run on a task, and single runs."""
    gaps = []
    for task, grid, labels in zip(grids.tasks, grids.scores, grids.replicates, strict=True):
        on = f" on {task}" if task else ""
        lacking = np.isnan(grid)
        absent = np.asarray(lacking.all(axis=1))
        if absent.any():
            names = [grids.algorithms[place] for place in np.flatnonzero(absent)]
            gaps.append(f"no run of {enumerate_names(names, limit=3)}{on}")
        for place in np.flatnonzero(lacking.any(axis=1) & ~absent).tolist():
            which = np.flatnonzero(lacking[place]).tolist()
            if runs.replicates is None:
                what = f"{count(len(which), 'run')} fewer than others"
            else:
                listed = enumerate_names([str(labels[each]) for each in which], limit=3)
                what = f"no {runs.replicate_name} {listed}"
            gaps.append(f"{what} of {grids.algorithms[place]}{on}")
    return gaps


def ask_about(grids: Grids, table: Runs) -> tuple[str, ...]:
    """Refuse the first question that runs raise unanswered; note the answers, the first ones."""
    rows = np.flatnonzero(
        np.isin(table.algorithm, [*map(table.algorithms.index, grids.algorithms)])
    )
    confounders = find_confounders(table, rows, table.source, paired=True)
    questions = chain(_find_suspicions(grids, table), confounders)
    notes = tuple(dict.fromkeys(ask(questions, table.accepted)))
    more = len(notes) - _MOST_NOTES
    rest = [f"{more} more were accepted as right"] if more > 0 else []
    return (*notes[:_MOST_NOTES], *rest, *note_confounders(table, rows, paired=True))


def _find_suspicions(grids: Grids, table: Runs) -> Iterator[Suspicion]:
    columns = table.replicate_columns
    grouped = len(columns) > 1 or "setting" in [read_name(each).kind for each in columns]
    # Runs without replicates were paired at random: their order says nothing.
    order = "" if table.replicates is None else table.replicate_name
    for task, goal, metric, labels, grid in zip(
        grids.tasks, grids.goals, grids.metrics, grids.replicates, grids.scores, strict=True
    ):
        scores = grid if goal == "maximize" else -grid
        if grouped:
            yield from find_grid_nesting(columns, labels, scores, len(grids.tasks))
        place = f"task {task!r} of {table.source}" if task else table.source
        yield from find_grid_suspicions(
            scores, grids.algorithms, metric=metric, place=place, order=order, goal=goal
        )
