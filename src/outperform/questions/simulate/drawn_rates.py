"""What simulations of rules share: how often each decides for A, over samples that are drawn."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count as count_from

import numpy as np

from outperform.errors import InvalidInput
from outperform.stats.checks import FloatArray, check_count, check_gamma, check_list
from outperform.stats.decision_rules import (
    RULES,
    Criteria,
    CriticalValue,
    Rule,
    decide,
    permutation_critical_value,
)
from outperform.stats.numerics import divide_rows
from outperform.wording import suggest_names

Report = Callable[[int, int], None]  # steps done, of how many
Samples = Callable[[int], tuple[FloatArray, FloatArray]]  # of A and of B, by column
Rates = dict[Rule, tuple[FloatArray, FloatArray]]  # and their standard errors, by column

# True P(A>B) that rules are looked at.
PROBABILITIES = tuple(round(0.4 + 0.025 * i, 3) for i in range(25))
EITHER_SIDE = (
    "a false positive is A declared better although both are equal; that A or B is declared better "
    "happens about twice as often"
)
_BLOCK = 1_000_000  # scores drawn at a time, to bound the memory
_MOST_PAIRS = 1_000_000  # of which samples still fit into the memory
_MOST_DRAWS = 1_000_000_000
_PERMUTATION: Rule = "brunner-munzel-permutation"


def find_rates(
    draw: Callable[[int, int], Samples],
    n_columns: int,
    rules: Sequence[Rule],
    criteria: Criteria,
    *,
    n_pairs: Sequence[int],
    n_draws: int,
    rng: np.random.Generator,
    report: Report | None,
) -> dict[int, Rates]:
    """Apply rules whose rates nobody knows to samples: rates by number of pairs.

    There is a column for each truth, such as a P(A>B). Given how many samples and how many pairs in
    each, `draw` draws what serves every column.
    """
    if not rules:
        return {}

    def count(samples: Samples, critical: CriticalValue | None, column: int) -> list[int]:
        """Samples that each rule decides for A, and the borderline ones of the permutation test."""
        decisions = decide(*samples(column), rules, criteria, critical=critical)
        marks = (*(decisions.for_a[rule] for rule in rules), decisions.borderline)
        return [int(np.count_nonzero(each)) for each in marks]

    blocks = {n: divide_rows(n_draws, 2 * n, limit=_BLOCK) for n in n_pairs}
    step = count_steps(report, n_columns * sum(map(len, blocks.values())))
    rates: dict[int, Rates] = {}
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        for n, sizes in blocks.items():
            critical = None
            if _PERMUTATION in rules:
                critical = permutation_critical_value(n, criteria.alpha, rng=rng)
            hits = np.zeros((len(rules) + 1, n_columns))
            for size in sizes:
                decided = partial(count, draw(size, n), critical)
                for column, counts in enumerate(threads.map(decided, range(n_columns))):
                    hits[:, column] += counts
                    step()
            *by_rule, borderline = hits / n_draws
            rates[n] = {
                rule: (share, _find_error(share, n_draws, borderline * (rule == _PERMUTATION)))
                for rule, share in zip(rules, by_rule, strict=True)
            }
    return rates


def _find_error(rate: FloatArray, n_draws: int, borderline: FloatArray) -> FloatArray:
    """Standard error of a simulated share; not 0 where it was seen always, or never."""
    cautious = (rate * n_draws + 1) / (n_draws + 2)
    error = np.sqrt(cautious * (1 - cautious) / n_draws)
    return np.hypot(error, borderline / 2)


def count_steps(report: Report | None, n_steps: int) -> Callable[[], None]:
    """What to call after each step, to report how many are done."""
    steps = count_from(1)
    return lambda: report(next(steps), n_steps) if report else None


def check_rules(rules: Sequence[str], known: Sequence[str] = RULES) -> tuple[Rule, ...]:
    """Rules in the order in which results list them, refusing unknown ones."""
    check_list("rules", rules)
    check_any("rule", rules)
    for rule in rules:
        if rule not in known:
            raise InvalidInput(f"there is no rule {rule!r} here", suggest_names(rule, known))
    return tuple(rule for rule in RULES if rule in rules)


def check_settings(n_pairs: Sequence[int], gammas: Sequence[float], n_draws: int) -> None:
    """Refuse sample sizes, smallest P(A>B) that matter and draws which nobody could look at."""
    check_count("n_draws", n_draws, at_least=100, at_most=_MOST_DRAWS)
    check_list("n_pairs", n_pairs)
    check_list("gammas", gammas)
    check_any("number of pairs", n_pairs)
    check_any("gamma", gammas)
    for n in n_pairs:
        check_count("n_pairs", n, at_least=2, at_most=_MOST_PAIRS)
    for gamma in gammas:
        check_gamma(gamma)


def check_any(what: str, values: Sequence[object]) -> None:
    """Refuse to look at nothing."""
    if not values:
        raise InvalidInput(f"there is no {what} to look at", "Name one or more")
