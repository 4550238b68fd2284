"""The numbers behind what a top score is worth, as text."""

from typing import TYPE_CHECKING

import numpy as np

from outperform.questions.result import Table

if TYPE_CHECKING:
    from outperform.questions.sota.result import (
        BestOfEquals,
        LeaderboardAssessment,
        PredictionAssessment,
    )
    from outperform.stats import Interval

_N_ENTRIES = 10  # shown


def tabulate_equals(result: "BestOfEquals") -> list[Table | str]:
    """What the best of equals shows, and how likely a truly better one shows more."""
    level, alone, upper = describe_level(result.interval), result.alone, f"{result.upper:.4f}"
    best = [
        ("expected best", f"{result.mean:.4f} ± {result.distribution.sd:.6f}"),
        (f"{level} of the best", f"{result.interval.low:.4f} to {upper}"),
        (f"{level} of one alone", f"{alone.low:.4f} to {alone.high:.4f}"),
    ]
    chances = [
        ("at least the expected best", f"{result.chance_to_reach_mean:.2%}"),
        (f"at least {upper}", f"{result.chance_to_reach_upper:.2%}"),
        (f"more than {upper}", f"{result.chance_to_exceed_upper:.2%}"),
    ]
    better = f"A truly better classifier, of accuracy {result.better:.4f}, has a chance to show"
    needed = (
        f"To show at least the expected best with a chance of {result.power:.0%}, its true "
        f"accuracy must be {result.needed:.4f}."
    )
    return [Table((), best), Table((), chances, title=better), needed]


def tabulate_leaderboard(result: "LeaderboardAssessment") -> list[Table | str]:
    """What the top score is worth, and how many may be the truly best."""
    level, interval = describe_level(result.interval), result.interval
    share = "all" if result.luck_share == 1 else f"{result.luck_share:.0%}"
    ahead = f", {share} of the lead over the median ({result.median:.4f})"
    n_shown = f"{result.n_shown:,}"
    if result.is_cut_off:
        ahead, n_shown = "", f"{n_shown} shown"
    values = {
        "top score": f"{result.top:.5g} ({result.best})",
        "sober, if all are equally good": f"{result.sober:.4f}, {level} interval "
        f"[{interval.low:.4f}, {interval.high:.4f}]",
        "sober, if each is as good as its score": f"{result.sober_if_different:.4f}",
        "luck, if all are equally good": f"{result.luck:.4f}{ahead}",
        "lead over the second": f"{result.lead:.5f}; if all are equally good, the chance "
        f"of such a lead is {result.lead_chance:.0%}",
        "may be the truly best": f"{int(result.contends.sum()):,} of {n_shown}, at {level} "
        f"confidence: scores from {max(0.0, result.top - result.gap):.4f} up",
    }
    order = np.argsort(-result.scores, kind="stable")[:_N_ENTRIES]
    rows = [
        [result.entries[i], f"{result.scores[i]:.4f}", "yes" if result.contends[i] else "no"]
        for i in order
    ]
    n_more = len(result.entries) - len(rows)
    note = f"  and {n_more:,} more" if n_more else ""
    entries = Table(["entry", result.metric, "may be the best"], rows, note=note)
    return [Table((), [*values.items()]), entries]


def tabulate_predictions(result: "PredictionAssessment") -> list[Table | str]:
    """The top of a leaderboard, how often each wins, and who may be the truly best."""
    bootstrap = result.bootstrap
    rows = [
        (
            result.entries[i],
            f"{result.scores[i]:.4f}",
            f"{bootstrap.win_shares[i]:.1%}",
            "yes" if result.contends[i] else "no",
        )
        for i in np.argsort(-result.scores, kind="stable")[:_N_ENTRIES]
    ]
    luck = f"luck in the top score: {bootstrap.bias:.4f} ({bootstrap.n_resamples:,} resamples)"
    n_more = result.n_entries - len(rows)
    header = ("entry", result.metric, "wins", "may be the best")
    return [Table(header, rows, title=luck, note=f"  and {n_more} more" if n_more else "")]


def describe_level(interval: "Interval") -> str:
    """Confidence level of an interval, in per cent."""
    return f"{100 * interval.confidence_level:g}%"
