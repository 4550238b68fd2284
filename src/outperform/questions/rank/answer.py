"""Which of many algorithms are best, over many tasks: runs in, a ranking out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path
from typing import Any, get_args

import numpy as np

from outperform.errors import InvalidInput, TooFewRuns, UnknownName
from outperform.questions.compare.named_tests import TestName
from outperform.questions.rank.doubts import find_doubts
from outperform.questions.rank.grids import Gaps, Grids, ask_about, lay_out
from outperform.questions.rank.pairs import (
    Terms,
    choose_task_test,
    compare_all,
    count_tasks,
    find_task_pvalues,
)
from outperform.questions.rank.result import (
    LIKE_THESE,
    Aggregates,
    Correction,
    Normalization,
    RankedAlgorithm,
    RankedPair,
    RankedTask,
    Ranking,
)
from outperform.runs import Runs
from outperform.runs.pairing import join_equal_numbers
from outperform.runs.scope import DATA_LIKE_THESE, TASKS, TASKS_LIKE_THESE, THESE_TASKS, Scope
from outperform.runs.task_references import (
    check_references,
    check_ways,
    read_references,
    take_references,
)
from outperform.stats import (
    aggregate_scores,
    average_ranks,
    friedman,
    maybe_best,
    nemenyi,
    performance_profiles,
    rank_confidence_sets,
    skillings_mack,
)
from outperform.stats.checks import (
    FloatArray,
    check_choice,
    check_count,
    check_gamma,
    check_open_unit,
)
from outperform.stats.task_aggregates import TasksAre
from outperform.store.store import read_runs
from outperform.wording import suggest_names

TESTS = ("wins", *get_args(TestName))
_WORDS = {"tasks": get_args(TasksAre), "test": TESTS, "normalize": get_args(Normalization)}
_ENOUGH_TASKS = 10  # from which on tasks are taken for a sample, unless something else is said
_N_THRESHOLDS = 101
_N_RESAMPLES = 2_000


def rank_runs(
    runs: Any,
    tasks: TasksAre | None = None,
    baseline: str | None = None,
    correction: Correction = "holm",
    *,
    test: str | None = None,
    paired: bool | None = None,
    only: Sequence[str] = (),
    family: str | None = None,
    gaps: Gaps = "refuse",
    normalize: Normalization | None = None,
    references: Any = None,
    gamma: float = 0.75,
    confidence_level: float = 0.95,
    seed: int = 0,
) -> Ranking:
    """Rank many algorithms over many tasks, and say which may be the best.

    Parameters
    ----------
    runs
        `Runs`, or anything that `read_runs` reads: a path, a data frame, a dict.
    tasks
        ``"fixed"``: it is about these tasks; ``"sampled"``: about tasks like these, of which these
        are a sample. By default tasks are a sample where there are ten at least, or where every
        algorithm has one run on each.
    baseline
        Compare all others with this algorithm only.
    correction
        For the number of pairs: ``"holm"``, ``"bonferroni"``, ``"benjamini-hochberg"``,
        ``"none"``.
    test
        Of pairs: ``"wins"``, or any test of `compare`, such as ``"paired-t"``. By default wins for
        these tasks, and Wilcoxon's signed ranks for tasks like these.
    paired
        Whether runs with the same replicate share their seeds. By default they do where the table
        has a replicate column; otherwise runs are paired at random.
    only
        Rank these algorithms.
    family
        Column that says which tasks belong together, such as variants of one dataset.
    gaps
        ``"refuse"`` missing runs, keep ``"complete"`` replicates and tasks only, or ``"keep"``
        what there is.
    normalize
        Make scores comparable, and aggregate them over tasks: by a ``"baseline"`` and a target of
        each task, by the ``"range"`` seen, or by the ``"rank"``.
    references
        Baseline and target of each task for ``"baseline"``: a file with the columns task, baseline
        and target, two columns of the runs, or a dict ``{task: (baseline, target)}``.
    gamma
        Smallest P(A>B) that matters.
    seed
        Of what is drawn at random.

    Returns
    -------
    A `Ranking`: who may be the best on each task, ranks with their confidence sets, all pairs.

    Examples
    --------
    >>> runs = {"new": [9, 8, 9, 9, 8, 9, 8], "old": [7, 6, 8, 8, 7, 7, 5]}
    >>> rank_runs(runs).tasks[0].maybe_best
    ('new',)
    """
    check_choice("correction", correction, get_args(Correction))
    check_choice("gaps", gaps, get_args(Gaps))
    optional = {"tasks": tasks, "test": test, "normalize": normalize}
    for name, word in optional.items():
        if word is not None:
            check_choice(name, word, _WORDS[name])
    check_gamma(gamma)
    check_open_unit("confidence_level", confidence_level)
    check_count("seed", seed, at_least=0)
    only = tuple(dict.fromkeys([only] if isinstance(only, str) else only))
    known = runs if isinstance(runs, Runs) else read_runs(runs)
    table, spelled = join_equal_numbers(_pair(known, paired))
    _check_names(table, only, baseline)
    grids = lay_out(table, only or table.algorithms, family=family, gaps=gaps, seed=seed)
    answers = ask_about(grids, table)
    tasks_are, why = _choose_question(grids, tasks)
    alpha = round(1 - confidence_level, 12)
    counts = count_tasks(grids)
    on_task = choose_task_test(counts, test, alpha)
    terms = Terms(
        tasks_are, test, on_task, correction, gamma, alpha, baseline, seed, table.resplits
    )
    task_pvalues = find_task_pvalues(grids, counts, terms)
    pairs, used = compare_all(grids, counts, task_pvalues, terms)
    best = _mark_best(grids, maybe_best(task_pvalues, alpha=terms.level))
    if test == LIKE_THESE:
        every = replace(terms, baseline=None, correction="holm")
        bounds = _bound_by_pairs(grids, compare_all(grids, counts, task_pvalues, every)[0])
    else:
        bounds = _bound_ranks(grids, terms)
    ranking = Ranking(
        algorithms=_rank_algorithms(grids, best, bounds),
        tasks=_describe_tasks(grids, best),
        pairs=pairs,
        tasks_are=tasks_are,
        why=why,
        scope=_find_scope(table, grids, terms),
        test=used,
        task_test=terms.task_test,
        correction=correction,
        gamma=gamma,
        alpha=alpha,
        baseline=baseline,
        families=table.task_values(family) if family else None,
        n_units=grids.n_families,
        aggregates=aggregate(grids, table, normalize, references, terms),
        scores=grids.scores,
        **_test_all(grids, terms),
    )
    doubts = (*find_doubts(ranking, grids, counts, table), *answers, *spelled)
    return replace(ranking, caveats=doubts)


def _pair(table: Runs, paired: bool | None) -> Runs:
    """Forget which runs belong together, where they do not."""
    if paired and table.replicates is None:
        raise InvalidInput(
            f"no column of {table.source} says which runs belong together",
            "Name such a column with --replicate, or leave out --paired",
        )
    if paired is None or paired or table.replicates is None:
        return table
    nothing = np.zeros_like(table.replicate)
    return replace(table, replicates=None, replicate=nothing, replicate_columns=())


def _check_names(table: Runs, only: Sequence[str], baseline: str | None) -> None:
    for name in (*only, *([baseline] if baseline else [])):
        if name in table.unfinished:
            raise table.explain_unfinished(name)
        if name not in table.algorithms:
            raise UnknownName(
                f"no algorithm {name!r} in {table.source}", suggest_names(name, table.algorithms)
            )
    if baseline and only and baseline not in only:
        raise InvalidInput(
            f"the baseline {baseline!r} is not among the algorithms chosen: {', '.join(only)}",
            "Add it to those with --only, or name another baseline",
        )


def _choose_question(grids: Grids, tasks: TasksAre | None) -> tuple[TasksAre, str]:
    """Whether tasks are fixed or a sample, and why that is assumed."""
    n, n_units = len(grids.tasks), grids.n_families
    kind = "tasks" if n_units == n else "families of tasks" if n_units > 1 else "family of tasks"
    if tasks is not None:
        return tasks, f"--tasks {tasks} was asked for"
    if n == 1:
        return "fixed", "there is one task, and only runs vary"
    if max(grid.shape[1] for grid in grids.scores) == 1:
        return "sampled", f"with one run of each algorithm on a task, only {kind} vary"
    if n_units >= _ENOUGH_TASKS:
        return "sampled", f"{n_units} {kind} are taken for a sample; --tasks fixed: these alone"
    are = "are too few" if n_units > 1 else "is too little"
    return "fixed", f"{n_units} {kind} {are} to tell of others; --tasks sampled asks anyway"


def _find_scope(table: Runs, grids: Grids, terms: Terms) -> Scope:
    varied = dict.fromkeys(word for task in grids.tasks for word in table.scope_on(task).varied)
    if terms.tasks_are == "sampled":
        several = any(grid.shape[1] > 1 for grid in grids.scores)
        drawn = (TASKS, *varied) if several else (TASKS,)
        return Scope(drawn, TASKS_LIKE_THESE, tuned_once=table.one_search)
    about = table.scope_on(grids.tasks[0]).about if len(grids.tasks) == 1 else THESE_TASKS
    if terms.test == LIKE_THESE:
        about = DATA_LIKE_THESE if len(grids.tasks) == 1 else f"{about}, on {DATA_LIKE_THESE}"
    return Scope(tuple(varied), about, tuned_once=table.one_search)


def _mark_best(grids: Grids, may: np.ndarray) -> np.ndarray:
    """Who may be the best of each task: the one with the best mean is never ruled out."""
    means = grids.means
    nobody = ~may.any(axis=1, keepdims=True)  # all are beaten in turns: rock, paper, scissors
    marked = (may | nobody) & ~np.isnan(means)
    marked[np.arange(len(means)), np.nanargmax(means, axis=1)] = True
    return marked


def _describe_tasks(grids: Grids, best: np.ndarray) -> tuple[RankedTask, ...]:
    """Means, spreads and who may be the best, of every task."""
    described = []
    columns = (grids.tasks, grids.metrics, grids.goals, grids.scores, grids.means, best)
    for task, metric, goal, grid, means, marked in zip(*columns, strict=True):
        sign = 1 if goal == "maximize" else -1
        known = ~np.isnan(grid)
        n_runs = known.sum(axis=1)
        squares = np.where(known, grid - means[:, None], 0) ** 2
        with np.errstate(invalid="ignore", divide="ignore"):
            sds = np.where(n_runs > 1, np.sqrt(squares.sum(axis=1) / (n_runs - 1)), np.nan)
        described.append(
            RankedTask(
                task,
                metric,
                goal,
                n_runs=int(n_runs[n_runs > 0].min()),
                best=grids.algorithms[int(np.nanargmax(means))],
                maybe_best=tuple(compress(grids.algorithms, marked)),
                means=dict(zip(grids.algorithms, (sign * means).tolist(), strict=True)),
                sds=dict(zip(grids.algorithms, sds.tolist(), strict=True)),
            )
        )
    return tuple(described)


def _rank_algorithms(
    grids: Grids, best: np.ndarray, bounds: tuple[list[Any], list[Any]]
) -> tuple[RankedAlgorithm, ...]:
    """Mean ranks over tasks; with gaps, among those that a task has, stretched to all."""
    means, k = grids.means, len(grids.algorithms)
    ranks = np.full(means.shape, np.nan)
    for place, row in enumerate(means):
        known = np.flatnonzero(~np.isnan(row))
        if known.size > 1:
            among = average_ranks(row[None, known])
            ranks[place, known] = 1 + (among - 1) * (k - 1) / (known.size - 1)
    counts, averages = best.sum(axis=0).tolist(), np.nanmean(ranks, axis=0).tolist()
    columns = zip(grids.algorithms, averages, *bounds, counts, strict=True)
    ranked = (RankedAlgorithm(*each) for each in columns)
    return tuple(sorted(ranked, key=lambda algorithm: algorithm.mean_rank))


def _bound_by_pairs(grids: Grids, pairs: Sequence[RankedPair]) -> tuple[list[Any], list[Any]]:
    """Ranks below all that are told to be better, and above all that are told to be worse.

    For data like these, of which ranks within replicates tell nothing: sets by them leave out the
    true ranks of equals in 22 to 38% of studies with 8 re-splits of 200 examples, and in 55 to 95%
    with 30.
    """
    if np.isnan(grids.means).any():
        return [None] * len(grids.algorithms), [None] * len(grids.algorithms)
    won = [pair.winner_name for pair in pairs]
    lost = [{"a": pair.b, "b": pair.a, None: None}[pair.winner] for pair in pairs]
    low = [1 + lost.count(name) for name in grids.algorithms]
    return low, [len(low) - won.count(name) for name in grids.algorithms]


def _bound_ranks(grids: Grids, terms: Terms) -> tuple[list[Any], list[Any]]:
    """Where the true rank of each algorithm lies, of all at once; anywhere where nothing tells."""
    k, means = len(grids.algorithms), grids.means
    anywhere = [1] * k, [k] * k
    if np.isnan(means).any():
        return [None] * k, [None] * k
    about: dict[str, Any]
    if terms.tasks_are == "sampled":
        values, about = -_rank_rows(means), {"clusters": grids.family}
        if 0.5 ** (grids.n_families - 1) > terms.alpha:
            return anywhere
    else:
        complete = grids.complete
        if min(grid.shape[1] for grid in complete) < 2:
            return anywhere
        values = -np.concatenate([_rank_rows(grid.T) for grid in complete])
        strata = np.repeat(np.arange(len(complete)), [grid.shape[1] for grid in complete])
        about = {"strata": strata}
    sets = rank_confidence_sets(
        values,
        confidence_level=1 - terms.alpha,
        rng=np.random.default_rng(terms.seed),
        **about,
    )
    return sets.low.tolist(), sets.high.tolist()


def _rank_rows(rows: FloatArray) -> FloatArray:
    """Ranks of the competitors within each row."""
    return average_ranks(rows[:, None, :])


def _test_all(grids: Grids, terms: Terms) -> Mapping[str, Any]:
    """Tests of all algorithms at once, where tasks are a sample that is large enough."""
    means = grids.means
    enough = 0.5 ** (grids.n_families - 1) <= terms.alpha
    if terms.tasks_are == "fixed" or not enough or len(grids.algorithms) < 3:
        return {}
    if np.isnan(means).any():
        rng = np.random.default_rng(terms.seed)
        return {"skillings_mack": skillings_mack(means, rng=rng)}
    units = means
    if grids.n_families < len(grids.tasks):  # ranks, since tasks of a family may differ in metric
        ranks, families = -_rank_rows(means), np.unique(grids.family)
        units = np.stack([ranks[grids.family == each].mean(axis=0) for each in families])
    return {"friedman": friedman(units), "nemenyi": nemenyi(units, alpha=terms.alpha)}


def aggregate(
    grids: Grids, table: Runs, normalize: Normalization | None, references: Any, terms: Terms
) -> Aggregates | None:
    """Aggregate scores over tasks; None where nothing says how to compare them."""
    if normalize != "baseline" and references is not None:
        raise InvalidInput(
            "references say where 0 and 1 are for normalising by a baseline only",
            "Add --normalize baseline (normalize='baseline' in Python), or leave them out",
        )
    if normalize is None:
        return None
    complete = grids.complete
    if not all(grid.shape[1] for grid in complete):
        raise TooFewRuns(
            "scores cannot be aggregated over tasks that have no replicate of all algorithms",
            "Pass --complete to leave such tasks out, or leave out --normalize",
        )
    scaled = [*_normalize(grids, complete, table, normalize, references)]
    about = {
        "tasks": terms.tasks_are,
        "families": grids.family.tolist(),
        "shared": table.replicates is not None,
        "confidence_level": 1 - terms.alpha,
        "n_resamples": _N_RESAMPLES,
    }
    lowest = min(0.0, *(float(grid.min()) for grid in scaled))
    highest = max(1.0, *(float(grid.max()) for grid in scaled))
    thresholds = np.linspace(lowest, highest, _N_THRESHOLDS)
    return Aggregates(
        normalize,
        grids.algorithms,
        aggregate_scores(scaled, rng=np.random.default_rng(terms.seed), **about),
        performance_profiles(scaled, thresholds, rng=np.random.default_rng(terms.seed), **about),
    )


def _normalize(
    grids: Grids,
    complete: tuple[FloatArray, ...],
    table: Runs,
    normalize: Normalization,
    references: Any,
) -> Iterator[FloatArray]:
    """Scores of each task on one scale, higher is better."""
    known = _find_references(grids, table, references) if normalize == "baseline" else {}
    for task, goal, grid in zip(grids.tasks, grids.goals, complete, strict=True):
        if normalize == "rank":
            k = len(grid)
            yield (k - average_ranks(grid.T[:, None, :]).T) / (k - 1)
        elif normalize == "range":
            span = grid.max() - grid.min()
            yield (grid - grid.min()) / span if span > 0 else np.zeros_like(grid)
        else:
            baseline, target = known[task]
            own = grid if goal == "maximize" else -grid
            yield (own - baseline) / (target - baseline)


def _find_references(
    grids: Grids, table: Runs, references: Any
) -> Mapping[str, tuple[float, float]]:
    if references is None:
        raise InvalidInput(
            "nothing says which scores are 0 and 1 on each task",
            "Pass --references FILE with the columns task, baseline and target, or two columns of "
            "the runs as --references BASELINE,TARGET; or normalise by the range or by ranks",
        )
    if isinstance(references, Mapping):
        known = dict(references)
    elif not isinstance(references, str | Path):
        raise InvalidInput(
            f"references are of type {type(references).__name__}",
            "Pass a dict {task: (baseline, target)}, a file, or the names of two columns",
        )
    elif "," in str(references) and not Path(references).exists():
        names = [name.strip() for name in str(references).split(",")]
        if len(names) != 2:
            raise InvalidInput(
                f"references name {len(names)} columns, {str(references)!r}",
                "Name two: baseline and target",
            )
        known = take_references(table, *names)
    else:
        known = read_references(references)
    chosen = check_references(known, grids.tasks)
    check_ways(chosen, table)
    return chosen
