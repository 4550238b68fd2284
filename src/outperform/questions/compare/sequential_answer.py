"""Does A outperform B, decided by Wald's test: pairs in the order of replicates, one by one."""

from dataclasses import replace
from typing import Any

import numpy as np

from outperform.errors import InvalidInput, UnpairedScores
from outperform.questions.compare.answer import Terms, compare_on_task, make_resplit
from outperform.questions.compare.sequential_result import SequentialComparison
from outperform.questions.compare.sequential_rule import SequentialRule, plan_rule
from outperform.runs import Runs
from outperform.runs.pairing import PairedScores
from outperform.stats import trace_path
from outperform.stats.checks import FloatArray, as_pairs
from outperform.store.store import read_runs
from outperform.wording import enumerate_names

_PAIR_THEM = (
    "Give every replicate a run of both, name the column that pairs them with --replicate, or pass "
    "--drop-incomplete"
)
_FIXED_BEFORE = (
    "the decision errs as rarely as it says only if its rule, with γ, α and β, was fixed before "
    "anybody looked at these runs; they are taken in the order of {}, of which none may be left out"
)


def compare_sequentially(
    runs: Any,
    a: str,
    b: str,
    *,
    task: str | None = None,
    drop_incomplete: bool = False,
    gamma: float = 0.75,
    confidence_level: float = 0.95,
    beta: float = 0.05,
    train_size: int | None = None,
    test_size: int | None = None,
) -> SequentialComparison:
    """Replay a sequential test on runs at hand, pair by pair in the order of replicates.

    Parameters
    ----------
    runs, a, b, task, train_size, test_size
        As in `compare_runs`; several tasks are decided one by one.
    drop_incomplete
        Take incomplete pairs for what they are: pairs that either side might have won.
    gamma
        Smallest P(A>B) that matters, which ½ is told from.
    beta
        Accepted chance not to find it.

    Examples
    --------
    >>> runs = {"new": [9, 8, 9, 9, 8, 9, 8, 9, 8, 9], "old": [7, 6, 8, 8, 7, 7, 5, 6, 7, 8]}
    >>> result = compare_sequentially(runs, "new", "old")
    >>> result.winner_name, result.n_pairs, result.n_beyond
    ('new', 9, 1)
    """
    table = runs if isinstance(runs, Runs) else read_runs(runs)
    rule = plan_rule(gamma, 1 - confidence_level, beta)
    tasks = table.tasks_of(a, b) if task is None else (task,)
    if len(tasks) > 1:
        raise InvalidInput(
            f"{table.source} has {len(tasks)} tasks ({enumerate_names(tasks)}), and a sequential "
            "test decides on one",
            "Name it with --on TASK (task= in Python)",
        )
    terms = _make_terms(rule, train_size, test_size)
    result = follow_runs(
        table, (a, b), tasks[0], rule, terms=terms, drop_incomplete=drop_incomplete
    )
    order = "rows" if table.replicates is None else table.replicate_name
    return replace(result, notes=(_FIXED_BEFORE.format(order),))


def follow_runs(
    table: Runs,
    names: tuple[str, str],
    task: str,
    rule: SequentialRule,
    *,
    terms: Terms | None = None,
    drop_incomplete: bool = True,
) -> SequentialComparison:
    """Follow the pairs of a table by a rule, on one task."""
    a, b = names
    try:
        scores = table.pair(a, b, task, drop_incomplete=drop_incomplete)
    except UnpairedScores as error:  # a test that looks after every pair needs pairs
        raise UnpairedScores(error.problem, _PAIR_THEM) from None
    outcomes = _find_outcomes(scores, is_loss=table.goal_on(task) == "minimize")
    path = trace_path(rule.test, outcomes, rule.n_last)
    about = {"a": a, "b": b, "metric": table.metric_on(task), "task": task}
    seen = _cut(scores, path.n_pairs)
    comparison = compare_on_task(table, seen, about, terms or _make_terms(rule))
    return SequentialComparison(comparison, path, rule, one_search=table.one_search)


def _make_terms(
    rule: SequentialRule, train_size: int | None = None, test_size: int | None = None
) -> Terms:
    return Terms(
        paired=True,
        gamma=rule.gamma,
        confidence_level=1 - rule.alpha,
        ties="half",
        interval="anytime",
        margin=None,
        sizes=make_resplit(train_size, test_size),
        tests=(),
        equivalence=None,
        rng=None,
    )


def _find_outcomes(scores: PairedScores, *, is_loss: bool) -> FloatArray:
    """1 where a wins, 0 where b does, ½ where they tie, in the order of replicates; NaN of gaps."""
    first, second = as_pairs(scores.a, scores.b)
    sign = np.sign(second - first if is_loss else first - second)
    outcomes = np.full(scores.n_places, np.nan)
    outcomes[scores.places] = (sign + 1) / 2
    return outcomes


def _cut(scores: PairedScores, n_pairs: int) -> PairedScores:
    """Leave out what came after so many pairs; two are kept, without which nothing is estimated.

    What is incomplete has been counted against the decision, so nobody is flattered by it.
    """
    n_kept = max(2, int(np.count_nonzero(scores.places < n_pairs)))
    return replace(
        scores,
        a=scores.a[:n_kept],
        b=scores.b[:n_kept],
        replicates=scores.replicates[:n_kept],
        n_dropped=0,
        lacking=(0, 0),
    )
