"""Leaderboards as tables of text."""

from collections.abc import Callable
from typing import Any

import numpy as np

from outperform.questions.sota.expected_best import ExpectedBest
from outperform.questions.sota.leaderboards import LeaderboardAssessment
from outperform.questions.sota.predicted_leaderboards import PredictionAssessment
from outperform.questions.tabulated import Tabulated

_N_ENTRIES = 10  # shown


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


TABLES: dict[type, Callable[[Any], Tabulated]] = {
    ExpectedBest: tabulate_expected,
    LeaderboardAssessment: tabulate_board,
    PredictionAssessment: tabulate_predictions,
}
