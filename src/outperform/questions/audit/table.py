"""What an audit shows, as text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from outperform.questions.result import Table
from outperform.stats import PickedRuns, SubsetShares
from outperform.wording import describe_goal, shorten_apart

if TYPE_CHECKING:
    from outperform.questions.audit.result import Audit, SelfAudit

MILESTONES = (3, 5, 10, 25)  # sizes of seed sets that papers use
_PICKED = ("difference", "Cohen's d", "gap", "t: p", "B–M: p")  # what _format_picked gives


def tabulate_audit(result: "Audit") -> list[Table | str]:
    """How few runs undo the verdict, how seed sets conclude, and what picked runs would show."""
    return [
        str(result.comparison),
        _tabulate_hidden(result),
        _tabulate_sets(result),
        _tabulate_picked(result),
    ]


def tabulate_audits(audits: "Sequence[Audit]") -> Table:
    """One row a task: its verdict, and how few hidden runs undo it, or show either better."""
    first = audits[0]
    names = _short_names(first)
    header = ["task", first.unit, "P(A > B)", "verdict", "undone by"]
    header += [f"{name} by" for name in names]
    title = f"Fewest {first.unit} to hide until a verdict is undone, or either is made to win"
    note = "" if first.comparison.paired else "  ≤: fewer may do"
    note = "\n".join(filter(None, [f"  A: {names[0]}, B: {names[1]}", note]))
    return Table(header, [_tabulate_task(audit) for audit in audits], title, note)


def _tabulate_task(audit: "Audit") -> list[str]:
    compared = audit.comparison
    moves = [str(each) for each in audit.hidden if each.rule == audit.hidden[0].rule]
    # Of a verdict: what undoes it, then what makes the loser win. Of none: what makes either win.
    undone, better = "–", {"a": "–", "b": "–"}
    if compared.winner is None:
        better["a"], better["b"] = moves
    else:
        undone, better["b" if compared.winner == "a" else "a"] = moves
    winner = f", {compared.winner_name}" if compared.winner else ""
    return [
        compared.task or "-",
        str(audit.n_runs),
        f"{compared.probability:.3g} {compared.interval}",
        f"{audit.verdict}{winner}",
        undone,
        *better.values(),
    ]


def tabulate_self_audits(audits: "Sequence[SelfAudit]") -> Table:
    """One row a task: what picked runs of one algorithm would show."""
    rows = [
        [each.task or "-", str(each.scores.size), *_summarise(each.picked, each.alpha)]
        for each in audits
    ]
    first = audits[0]
    title = (
        f"Its about 5 best runs and as many worst, picked by score ({first.metric}, "
        f"{describe_goal(first.goal)})"
    )
    header = ["task", "runs", *_PICKED, "significant up to"]
    return Table(header, rows, title, _explain_picked(first.picked))


def _tabulate_hidden(result: "Audit") -> Table:
    """How few runs must be hidden to make or undo each conclusion, by every rule."""
    rules = list(dict.fromkeys(hiding.rule for hiding in result.hidden))
    cells = {(hiding.what, hiding.rule): str(hiding) for hiding in result.hidden}
    whats = dict.fromkeys(hiding.what for hiding in result.hidden)
    header = [
        f"fewest of {result.n_runs} {result.unit} to hide until",
        *(f"by {rule}" for rule in rules),
    ]
    return Table(header, [[what, *(cells[what, rule] for rule in rules)] for what in whats])


def _tabulate_sets(result: "Audit") -> Table:
    """Shares of random seed sets that find either side better, by every rule."""
    a, b = _short_names(result)
    largest = int(result.sets[0].sizes[-1])
    sizes = [*(n for n in MILESTONES if n < largest), largest]
    error = max(float(shares.error.max()) for shares in result.sets)
    title = (
        f"Random seed sets of n {result.unit}: share that finds {a} / {b} better "
        f"(α = {result.comparison.alpha:.2g}; ± {error:.1%} where drawn)"
    )
    header = ["n", *(shares.rule for shares in result.sets)]
    rows = [[str(n), *(_format_shares(each, n) for each in result.sets)] for n in sizes]
    return Table(header, rows, title)


def _format_shares(shares: SubsetShares, n: int) -> str:
    place = shares.sizes.tolist().index(n)
    return f"{shares.share_a[place]:.1%} / {shares.share_b[place]:.1%}"


def _tabulate_picked(result: "Audit") -> Table:
    a, b = _short_names(result)
    rows = [
        (f"best and worst of {a}", result.within[0]),
        (f"best and worst of {b}", result.within[1]),
        (f"best of {a}, worst of {b}", result.between[0]),
        (f"best of {b}, worst of {a}", result.between[1]),
    ]
    if result.same_seeds:
        names = [f"same seeds, picked for {name}" for name in (a, b)]
        rows += zip(names, result.same_seeds, strict=True)
    return Table(
        ["", *_PICKED, "significant up to"],
        [[label, *_summarise(picked, result.comparison.alpha)] for label, picked in rows],
        f"What {_near_five(result.between[0])} runs of each, picked by score, would show",
        _explain_picked(result.between[0]),
    )


def _short_names(result: "Audit") -> list[str]:
    return shorten_apart([result.comparison.a, result.comparison.b], 14)


def _near_five(picked: PickedRuns) -> int:
    return int(picked.sizes[np.abs(picked.sizes - 5).argmin()])


def _summarise(picked: PickedRuns, alpha: float) -> list[str]:
    place = picked.sizes.tolist().index(_near_five(picked))
    largest = picked.largest_significant(alpha)
    return [*_format_picked(picked, place), f"{largest} runs" if largest else "never"]


def tabulate_alone(result: "SelfAudit") -> Table:
    """How the n best runs of an algorithm differ from its n worst."""
    picked = result.picked
    sizes = picked.sizes.tolist()
    rows = [
        [str(n), *_format_picked(picked, sizes.index(n))]
        for n in (*MILESTONES, 50, 75, 90)
        if n in sizes
    ]
    title = f"{result.metric}, {describe_goal(result.goal)}"
    return Table(["n best and worst", *_PICKED], rows, title, _explain_picked(picked))


def _explain_picked(picked: PickedRuns) -> str:
    return (
        f"  gap: between the {picked.confidence_level:.1%} intervals of the two means, negative "
        "where they overlap\n"
        "  B–M: Brunner–Munzel by its t approximation, too liberal with fewer than about 10 runs"
    )


def _format_picked(picked: PickedRuns, place: int) -> list[str]:
    """What the picked runs of one size show."""
    return [
        f"{picked.difference[place]:+.3g}",
        f"{picked.effect_size[place]:.3g}",
        f"{picked.gap[place]:+.3g}",
        _format_pvalue(picked.t_pvalue[place]),
        _format_pvalue(picked.rank_pvalue[place]),
    ]


def _format_pvalue(pvalue: float) -> str:
    return f"{pvalue:.2g}" if pvalue >= 1e-10 else "< 1e-10"
