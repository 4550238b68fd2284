"""How few runs must be hidden until a comparison concludes something else."""

from collections.abc import Iterator

from outperform.questions.audit.advice import claim_rule
from outperform.questions.audit.result import Hiding
from outperform.questions.compare.result import Comparison
from outperform.stats import (
    hide_runs_to_show,
    hide_runs_to_undo,
    hide_to_show,
    hide_to_show_by_t,
    hide_to_undo,
    hide_to_undo_by_t,
)
from outperform.stats.checks import FloatArray
from outperform.stats.outperforming import count_wins


def find_hidden(comparison: Comparison) -> Iterator[Hiding]:
    """Fewest runs to hide: to undo the verdict and to turn it, or to make one either way."""
    sides = ("b", "a") if comparison.winner == "b" else ("a", "b")
    names = [getattr(comparison, side) for side in sides]
    first, second = (getattr(comparison, f"higher_{side}") for side in sides)
    does, did = ("outperforms", "no longer outperforms")
    if comparison.verdict == "significant, not meaningful":
        does, did = ("is better than", "is no longer better than")
    hide, undo = _hide_pairs if comparison.paired else _hide_runs, comparison.winner is not None
    what = f"{names[0]} {did if undo else does} {names[1]}"
    yield from hide(first, second, comparison, what, undo=undo)
    yield from hide(second, first, comparison, f"{names[1]} {does} {names[0]}", undo=False)


def _hide_pairs(
    first: FloatArray, second: FloatArray, comparison: Comparison, what: str, *, undo: bool
) -> Iterator[Hiding]:
    rule, (wins, ties, n) = claim_rule(comparison), count_wins(first, second)
    losses = n - wins - ties
    if undo:
        yield Hiding(what, "verdict", hide_to_undo(wins, ties, losses, rule=rule), True)
        at_least, enough = hide_to_undo_by_t(first - second, alpha=comparison.alpha) or (None, None)
        yield Hiding(what, "paired t", enough, enough == at_least)
    else:
        yield Hiding(what, "verdict", hide_to_show(wins, ties, losses, rule=rule), True)
        n_hidden = hide_to_show_by_t(first - second, alpha=comparison.alpha)
        yield Hiding(what, "paired t", n_hidden, True)


def _hide_runs(
    first: FloatArray, second: FloatArray, comparison: Comparison, what: str, *, undo: bool
) -> Iterator[Hiding]:
    hide = hide_runs_to_undo if undo else hide_runs_to_show
    n_hidden = hide(first, second, rule=claim_rule(comparison))
    yield Hiding(what, "verdict", n_hidden, n_hidden is not None and n_hidden <= 1)
