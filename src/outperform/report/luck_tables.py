"""Plans, audits, the best of many and rates of error as tables of text."""

from collections.abc import Sequence

import numpy as np

from outperform.analysis.auditing import MILESTONES
from outperform.analysis.audits import Audit, SelfAudit
from outperform.analysis.best_of_n import BestOf, BestOfComparison, BestOfEach, format_estimate
from outperform.analysis.error_rates import DetectionCurve
from outperform.analysis.expected_best import ExpectedBest
from outperform.analysis.leaderboards import LeaderboardAssessment
from outperform.analysis.planning import Plan, tabulate_gammas
from outperform.analysis.predicted_leaderboards import PredictionAssessment
from outperform.analysis.seeds_curve import SeedsCurve
from outperform.report.tables import Tabulated
from outperform.stats import PickedRuns

PICKED = ("difference", "Cohen's d", "gap", "t: p", "B–M: p")  # what format_picked gives
_N_BUDGETS = 4  # shown of all algorithms
_N_ENTRIES = 10  # shown of a leaderboard
_SIZES = (2, 3, 5, 10, 15, 20, 25, 30, 40, 50)  # numbers of seeds shown


def tabulate_plan(result: Plan) -> Tabulated:
    """Pairs needed for the power and level of a plan, by gamma."""
    rows = [
        [f"{row.gamma:g}", str(row.n_noether), f"{row.power_noether:.0%}", str(row.n_required)]
        for row in tabulate_gammas(result.alpha, result.beta, interval=result.interval)
    ]
    return Tabulated(["γ", "Noether", "power of the verdict there", "pairs needed"], rows)


def tabulate_best_of(found: BestOf) -> Tabulated:
    """What to expect of the best of n, by n."""
    sign = 1 if found.goal == "maximize" else -1
    rows = []
    for n in found.shown:
        estimate, gain = found.at(n), sign * (found.at(n).value - found.at(1).value) + 0.0
        rows.append([str(n), format_estimate(estimate.value, estimate.interval), f"{gain:+.3g}"])
    return Tabulated(["n", "expected best of n", "better than one run by"], rows)


def tabulate_best_of_two(found: BestOfComparison) -> Tabulated:
    """What to expect of the best of n of each, and how they differ."""
    a, b, curve = found.a, found.b, found.curve
    rows = []
    for n in sorted({*a.shown} & {*b.shown}):
        (place,) = np.flatnonzero(curve.n == n)
        at_a, at_b = a.at(n), b.at(n)
        rows.append(
            [
                str(n),
                format_estimate(at_a.value, at_a.interval),
                format_estimate(at_b.value, at_b.interval),
                f"{curve.value[place]:+.3g} [{curve.low[place]:.3g}, {curve.high[place]:.3g}]",
            ]
        )
    return Tabulated(["n", a.algorithm, b.algorithm, "difference"], rows)


def tabulate_best_of_each(result: BestOfEach) -> Tabulated:
    """What to expect of the best of n of every algorithm, the best first."""
    asked = result.results[0].asked[:_N_BUDGETS]
    budgets = [f"best of {n}" for n in asked]
    rows = []
    for found in result.ranked:
        estimates = [format_estimate(e.value, e.interval) for e in map(found.at, asked)]
        about = [f"{found.mean:.4g} ± {found.sd:.2g}", f"{found.best_single:.4g}"]
        rows.append([found.algorithm, str(found.n_runs), *estimates, *about])
    return Tabulated(["algorithm", "runs", *budgets, "mean ± sd", "best single run"], rows)


def tabulate_expected(result: ExpectedBest) -> Tabulated:
    """How likely a truly better classifier looks better than the best of many."""
    rows = [
        [f"at least {result.mean:.4f}, the expected best", f"{result.chance_to_reach_mean:.2%}"],
        [f"at least {result.upper:.4f}, its upper bound", f"{result.chance_to_reach_upper:.2%}"],
        [f"more than {result.upper:.4f}", f"{result.chance_to_exceed_upper:.2%}"],
    ]
    return Tabulated([f"one of true accuracy {result.better:.4f} shows", "chance"], rows)


def tabulate_board(result: LeaderboardAssessment) -> Tabulated:
    """The top of a leaderboard, and who may be the truly best."""
    rows = [
        [result.entries[i], f"{result.scores[i]:.4f}", "yes" if result.contends[i] else "no"]
        for i in np.argsort(-result.scores, kind="stable")[:_N_ENTRIES]
    ]
    return Tabulated(["entry", result.metric, "may be the best"], rows)


def tabulate_predictions(result: PredictionAssessment) -> Tabulated:
    """The top of a leaderboard, how often each wins, and who may be the truly best."""
    found = result.bootstrap
    rows = [
        [
            result.entries[i],
            f"{found.scores[i]:.4f}",
            f"{found.win_shares[i]:.1%}",
            "yes" if found.contends[i] else "no",
        ]
        for i in np.argsort(-found.scores, kind="stable")[:_N_ENTRIES]
    ]
    return Tabulated(["entry", result.metric, "wins", "may be the best"], rows)


def tabulate_hidden(result: Audit) -> Tabulated:
    """How few runs must be hidden to make or undo each conclusion, by every rule."""
    rules = list(dict.fromkeys(hiding.rule for hiding in result.hidden))
    cells = {(hiding.what, hiding.rule): str(hiding) for hiding in result.hidden}
    whats = dict.fromkeys(hiding.what for hiding in result.hidden)
    header = [
        f"fewest of {result.n_runs} {result.unit} to hide until",
        *(f"by {rule}" for rule in rules),
    ]
    return Tabulated(header, [[what, *(cells[what, rule] for rule in rules)] for what in whats])


def tabulate_picked(result: SelfAudit) -> Tabulated:
    """How the n best runs of an algorithm differ from its n worst."""
    picked = result.picked
    sizes = picked.sizes.tolist()
    rows = [
        [str(n), *format_picked(picked, sizes.index(n))]
        for n in (*MILESTONES, 50, 75, 90)
        if n in sizes
    ]
    return Tabulated(["n best and worst", *PICKED], rows)


def format_picked(picked: PickedRuns, place: int) -> list[str]:
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


def tabulate_rates(curves: Sequence[DetectionCurve]) -> Tabulated:
    """How often each rule errs, by setting."""
    rows = []
    for curve in curves:
        cells = (
            (curve.false_positives, curve.false_positives_error),
            (curve.false_negatives, curve.false_negatives_error),
        )
        rates = [f"{rate:.1%}" + (f" ± {error:.1%}" if error else "") for rate, error in cells]
        setting = [curve.scenario, str(curve.n_pairs), f"{curve.gamma:g}"]
        rows.append([*setting, curve.rule, *rates, "exact" if curve.exact else "simulated"])
    errors = ["false positives", "false negatives"]
    return Tabulated(["scores", "pairs", "γ", "rule", *errors, "how"], rows)


def tabulate_seeds(result: SeedsCurve) -> Tabulated:
    """How often a test finds an algorithm to differ from itself, by number of seeds."""
    known = result.lines[0].sizes
    sizes = [n for n in known if n in _SIZES] or list(known[:10])
    rows = [
        [
            line.test,
            f"{line.alpha:g}",
            "-" if line.holds_from is None else str(line.holds_from),
            *(f"{line.shares[line.sizes.index(n)]:.2%}" for n in sizes),
        ]
        for line in result.lines
    ]
    header = ["share found different", "α", "kept from", *(f"n = {n}" for n in sizes)]
    return Tabulated(header, rows)
