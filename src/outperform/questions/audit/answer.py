"""What an adversary could show by picking seeds, and how safe a conclusion is from it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import Any, TypeVar

import numpy as np

from outperform.errors import InvalidInput, TooFewRuns
from outperform.questions.audit.doubts import doubt_hiding, note_seeds
from outperform.questions.audit.result import (
    MILESTONES,
    Audit,
    Hiding,
    SelfAudit,
    claim_rule,
    take_sides,
)
from outperform.questions.audit.task_results import TaskAudits, TaskSelfAudits
from outperform.questions.compare.answer import compare_runs
from outperform.questions.compare.conclusion import Winner
from outperform.questions.compare.doubts import doubt_scores, doubt_tasks
from outperform.questions.compare.result import Comparison
from outperform.runs import Runs
from outperform.runs.pairing import question_alone
from outperform.stats import (
    SubsetShares,
    brunner_munzel,
    count_rejections,
    count_verdicts,
    hide_runs_to_show,
    hide_runs_to_undo,
    hide_to_show,
    hide_to_show_by_t,
    hide_to_undo,
    hide_to_undo_by_t,
    paired_t_test,
    pick_best_against_worst,
    pick_best_pairs,
    welch_t_test,
)
from outperform.stats.checks import IntArray, as_generator, check_open_unit
from outperform.stats.outperforming import PairedMethod, count_wins
from outperform.store.store import read_runs
from outperform.wording import count

_FEWEST = 4  # runs of which some can be picked
_MOST_PAIRS = 20_000  # among which those to hide are searched, in a time that grows by squares
_MOST_RUNS = 5_000  # of independent ones, likewise
_MOST_SIZES = 16  # of seed sets on a curve, besides the milestones
_LARGEST_SET = 200  # seeds: beyond, every set concludes what all runs do

_One = TypeVar("_One", Audit, SelfAudit)
_Joined = TypeVar("_Joined", TaskAudits, TaskSelfAudits)


def audit(
    runs: Any,
    a: str,
    b: str | None = None,
    *,
    task: str | None = None,
    paired: bool | None = None,
    drop_incomplete: bool = False,
    gamma: float = 0.75,
    confidence_level: float = 0.95,
    interval: PairedMethod = "exact",
    train_size: int | None = None,
    test_size: int | None = None,
    n_resamples: int = 10_000,
    rng: np.random.Generator | None = None,
) -> Audit | SelfAudit | TaskAudits | TaskSelfAudits:
    """Find out how far picking seeds could move a conclusion.

    Parameters
    ----------
    runs
        `Runs`, or anything that `read_runs` reads: a path, a data frame, a dict.
    a, b
        Names of the algorithms; without b, how different from itself a can be made to look.
    task
        Look at this task only.
    paired, drop_incomplete, gamma, confidence_level, interval, train_size, test_size
        As in `compare_runs`.
    n_resamples
        Random seed sets per size, for the tests; those of the verdict on pairs are counted.
    rng
        Draws the seed sets; by default seeded with 0, so that the same runs give the same audit.

    Returns
    -------
    An `Audit` with its verdict, robust, fragile or undecided; a `SelfAudit` without b. Of several
    tasks `TaskAudits`, or `TaskSelfAudits`.

    References
    ----------
    Gundersen et al. (2023), On Reporting Robust and Trustworthy Conclusions from Model Comparison
    Studies Involving Neural Networks and Randomness.

    Examples
    --------
    >>> runs = {"new": [9, 8, 9, 7, 8, 9, 8, 9], "old": [7, 6, 8, 8, 7, 7, 5, 8]}
    >>> print(audit(runs, "new", "old", n_resamples=100))
    Undecided: new has the better mean, but is not shown to beat old more often; hiding 1 of 8 \
pairs would show that new outperforms old.
    """
    table = runs if isinstance(runs, Runs) else read_runs(runs)
    if a == b:
        raise InvalidInput(
            f"cannot audit {a!r} against itself as if it were two",
            "Name it once: its best runs are compared with its worst",
        )
    if b is None and (train_size, test_size) != (None, None):
        raise InvalidInput(
            f"sizes of splits say nothing about {a!r} and itself",
            "Leave out --train-size and --test-size, or name two algorithms",
        )
    tasks = table.tasks_of(a, a if b is None else b) if task is None else (task,)
    notes = () if task is not None else tuple(doubt_tasks(table, tasks))
    if b is None:
        alone = partial(_audit_alone, table, a, drop_incomplete, confidence_level)
        return _audit_each(tasks, alone, TaskSelfAudits, notes)
    options = {
        "paired": paired,
        "drop_incomplete": drop_incomplete,
        "gamma": gamma,
        "confidence_level": confidence_level,
        "interval": interval,
        "train_size": train_size,
        "test_size": test_size,
    }
    of_pair = partial(_audit_pair, table, (a, b), options, n_resamples, as_generator(rng))
    return _audit_each(tasks, of_pair, TaskAudits, notes)


def _audit_each(
    tasks: Sequence[str],
    audit_one: Callable[[str], _One],
    join: Callable[[tuple[_One, ...], tuple[str, ...]], _Joined],
    notes: tuple[str, ...],
) -> _One | _Joined:
    """Audit the only task; of several, all that have enough runs, naming the others."""
    if len(tasks) == 1:
        return audit_one(tasks[0])
    audits: list[_One] = []
    too_few: dict[str, TooFewRuns] = {}
    for task in tasks:
        try:
            audits.append(audit_one(task))
        except TooFewRuns as error:
            too_few[task] = error
    if not audits:
        raise TooFewRuns(
            f"none of {len(tasks)} tasks has enough runs to pick from: on {tasks[0]!r}, "
            f"{too_few[tasks[0]].problem}",
            too_few[tasks[0]].remedy,
        )
    left_out = tuple(f"{task} is left out: {each.problem}" for task, each in too_few.items())
    return join(tuple(audits), notes + left_out)


def _audit_alone(
    table: Runs, algorithm: str, drop_incomplete: bool, confidence_level: float, task: str
) -> SelfAudit:
    check_open_unit("confidence_level", confidence_level)
    scores = table.select(algorithm, task, drop_incomplete=drop_incomplete)
    _check_enough(scores.size, f"{algorithm!r} has {count(scores.size, 'run')}")
    notes = question_alone(table, algorithm, task)
    goal = table.goal_on(task)
    higher = scores if goal == "maximize" else -scores
    return SelfAudit(
        algorithm=algorithm,
        scores=scores,
        goal=goal,
        picked=pick_best_against_worst(higher, higher, sizes=_pick_sizes(scores.size - 1)),
        alpha=1 - confidence_level,
        metric=table.metric_on(task),
        task=task,
        scope=table.scope_on(task),
        caveats=(
            *note_seeds(table, (algorithm,), task),
            *doubt_scores(algorithm, scores),
            *notes,
            *table.notes,
        ),
    )


def _audit_pair(
    table: Runs,
    names: tuple[str, str],
    options: Mapping[str, Any],
    n_resamples: int,
    rng: np.random.Generator,
    task: str,
) -> Audit:
    comparison = compare_runs(table, *names, task=task, **options)
    assert isinstance(comparison, Comparison)  # of one task
    a, b = comparison.higher
    smaller = min(a.size, b.size)
    what = f"{smaller} pairs" if comparison.paired else f"{a.size} and {b.size} runs"
    _check_enough(smaller, f"{comparison.a!r} and {comparison.b!r} have {what}")
    most = _MOST_PAIRS if comparison.paired else _MOST_RUNS
    if max(a.size, b.size) > most:
        raise InvalidInput(
            f"{comparison.a!r} and {comparison.b!r} have {what}, and which of them to hide is "
            f"searched among {most:,} at most",
            "Audit a part of the runs, such as those of the first seeds",
        )
    picks = _pick_sizes(smaller - (a.size == b.size))
    own = [pick_best_against_worst(x, x, sizes=_pick_sizes(x.size - 1)) for x in (a, b)]
    crossed = [pick_best_against_worst(x, y, sizes=picks) for x, y in ((a, b), (b, a))]
    ways = ((a, b), (b, a)) if comparison.paired else ()
    hidden = tuple(_find_hidden(comparison))
    return Audit(
        comparison=comparison,
        hidden=hidden,
        within=(own[0], own[1]),
        between=(crossed[0], crossed[1]),
        same_seeds=tuple(pick_best_pairs(x, y, sizes=picks) for x, y in ways),
        # Every task draws the same, so that none depends on those before it.
        sets=_draw_sets(comparison, n_resamples, deepcopy(rng)),
        caveats=(
            *note_seeds(table, names, task),
            *doubt_hiding(comparison, hidden),
            *comparison.caveats,
        ),
    )


def _draw_sets(
    comparison: Comparison, n_resamples: int, rng: np.random.Generator
) -> tuple[SubsetShares, ...]:
    a, b = comparison.higher
    n = min(a.size, b.size)
    curve = np.geomspace(2, min(n, _LARGEST_SET), _MOST_SIZES).round().astype(np.int64)
    sizes = np.union1d(curve, [size for size in MILESTONES if size <= n])
    tests = (paired_t_test if comparison.paired else welch_t_test, brunner_munzel)
    drawn = count_rejections(
        a,
        b,
        sizes,
        tests=tests,
        paired=comparison.paired,
        alpha=comparison.alpha,
        n_resamples=n_resamples,
        rng=rng,
    )
    if not comparison.paired:
        return drawn[::-1]  # the verdict on independent runs is Brunner and Munzel's
    wins, ties, n = count_wins(a, b)
    rule = claim_rule(comparison)
    # Counted, not drawn, so every size can be had: the chance to conclude is a sawtooth in n.
    every = np.union1d(sizes, _pick_sizes(int(sizes[-1])))
    return (count_verdicts((wins, ties, n - wins - ties), every, rule=rule), *drawn)


def _check_enough(n: int, what: str) -> None:
    if n < _FEWEST:
        raise TooFewRuns(
            what,
            f"Picking needs at least {_FEWEST}; `outperform plan` says how many a verdict needs",
        )


def _pick_sizes(n: int) -> IntArray:
    """Numbers of runs to pick: each up to 100, then 100 more up to all, evenly spread."""
    few = min(n, 100)
    return np.union1d(np.arange(2, few + 1), np.linspace(few, n, 100).round().astype(np.int64))


def _find_hidden(comparison: Comparison) -> Iterator[Hiding]:
    """Fewest runs to hide: to undo the verdict and to turn it, or to make one either way."""
    does, did = ("outperforms", "no longer outperforms")
    if comparison.verdict == "significant, not meaningful":
        does, did = ("is better than", "is no longer better than")
    rule, alpha, undo = claim_rule(comparison), comparison.alpha, comparison.winner is not None
    sides: Sequence[Winner] = ("b", "a") if comparison.winner == "b" else ("a", "b")
    x, y = ({"a": comparison.a, "b": comparison.b}[side] for side in sides)
    for side, what, undoes in (
        (sides[0], f"{x} {did if undo else does} {y}", undo),
        (sides[1], f"{y} {does} {x}", False),
    ):
        better, worse = take_sides(comparison, side)
        if not comparison.paired:
            hide = hide_runs_to_undo if undoes else hide_runs_to_show
            n_hidden = hide(better, worse, rule=rule)
            yield Hiding(what, "verdict", n_hidden, n_hidden is not None and n_hidden <= 1)
            continue
        wins, ties, n = count_wins(better, worse)
        hide_pairs = hide_to_undo if undoes else hide_to_show
        yield Hiding(what, "verdict", hide_pairs(wins, ties, n - wins - ties, rule=rule), True)
        differences = better - worse
        if undoes:
            at_least, enough = hide_to_undo_by_t(differences, alpha=alpha) or (None, None)
            yield Hiding(what, "paired t", enough, enough == at_least)
        else:
            yield Hiding(what, "paired t", hide_to_show_by_t(differences, alpha=alpha), True)
