"""What to do after a ranking."""

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from outperform.questions.rank.result import Ranking


def suggest_next(ranking: "Ranking") -> str:
    """The one thing that would tell most."""
    undecided = [pair for pair in ranking.pairs if not pair.winner]
    if not undecided:
        return "`--format latex` writes the table for a paper, `--plot` draws it."
    if ranking.tasks_are == "sampled":
        return "more tasks tell more apart; more runs on these tasks hardly do."
    return (
        f"more runs tell more apart: `outperform plan` says how many; `outperform compare RUNS "
        f"{shlex.join(ranking.names[:2])}` says more about the two first."
    )
