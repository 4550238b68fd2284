"""Leaderboards and tables of predictions, read from files."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from outperform.errors import InvalidInput, InvalidScores, UnknownColumn, UnreadableRuns
from outperform.runs.columns import ALGORITHM, TASK, find_column, recognise, require_score
from outperform.runs.files import open_file
from outperform.runs.labels import FloatArray
from outperform.runs.metrics import Goal, known_goal
from outperform.runs.source_table import SourceTable
from outperform.runs.suspicions import mixes_scales
from outperform.wording import enumerate_names, enumerate_rows

ENTRY = ("team", "teamname", "team_name", "name", "entry", "participant", "submission", *ALGORITHM)
TEST_SET = (*TASK, "split", "fold")
RANK = ("rank", "place", "position", "#")
_BARE = {"score", "scores", "value", "result", "test", "public", "private"}  # say no metric
_ERRORS = {"err", "error", "errors"}
_NUMBERS_ROWS = re.compile(r"(.*[\W_])?(id|idx|index|uid)|unnamed: 0", re.IGNORECASE)
_FEWEST_SORTED = 5  # different scores, that one in 120 orders has from worst to best
LABEL = ("label", "labels", "target", "truth", "y", "y_true", "true", "class", "ground_truth")


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Scores of many entries on one test set."""

    entries: tuple[str, ...]
    scores: FloatArray = field(compare=False, repr=False)
    metric: str
    goal: Goal


def read_leaderboard(
    path: str | Path, *, metric: str | None = None, entry: str | None = None
) -> Leaderboard:
    """Read a table with one row per entry, whose rank serves as a name where it has none."""
    table = open_file(Path(path))
    called = recognise(table.names, ENTRY)
    named = [find_column(entry, table.names, table.source)] if entry else called
    ranks = recognise(table.names, RANK)
    column = next(iter(named or ranks), None)
    others = [name for name in table.names if name not in {"", column, *ranks}]
    score = require_score(table, others, metric)
    _check_test_set(table, [name for name in others if name != score])
    (scores,) = table.parse([score])
    if np.isnan(scores).any():
        rows = table.rows[np.isnan(scores)]
        raise InvalidScores(
            f"column {score!r} of {table.source} has no score in {enumerate_rows(rows)}",
            "Remove the entries that were never scored",
        )
    if known_goal(score) != "minimize":
        _check_order(table, score, scores, ranks)
    names = [str(place) for place in range(1, len(scores) + 1)]
    if column is not None:
        names = table.label_runs(column).spell()
    if not named:
        names = [f"{column or 'entry'} {name}" for name in names]
    return Leaderboard(tuple(names), scores, score, known_goal(score) or "maximize")


def _check_order(table: SourceTable, score: str, scores: FloatArray, ranks: Sequence[str]) -> None:
    """Refuse scores that rise from the first entry to the last, as errors do: lower is better."""
    by_rank = [name for name in ranks if table.holds_numbers(name)][:1]
    if by_rank:
        scores = scores[np.argsort(table.parse(by_rank)[0], kind="stable")]
    elif not {*re.split(r"[\W_]+", score.casefold())} <= _BARE:
        return
    if len(np.unique(scores)) < _FEWEST_SORTED or (np.diff(scores) < 0).any():
        return
    raise InvalidScores(
        f"the scores of {table.source} rise from {scores[0]:g} of the first entry to "
        f"{scores[-1]:g} of the last, as if lower were better",
        "Name the column by its metric, such as error or log loss; if higher is better, "
        f"{'turn the ranks round' if by_rank else 'call it accuracy, or begin with the best'}",
    )


def _check_test_set(table: SourceTable, names: list[str]) -> None:
    """Refuse scores of several tasks or splits: entries of a leaderboard share their examples."""
    for name in recognise(names, TEST_SET):
        values = dict.fromkeys(table.label_runs(name).spell())
        if len(values) > 1:
            raise InvalidScores(
                f"the scores of {table.source} come from several test sets: column {name!r} holds "
                f"{enumerate_names(values, limit=3)}",
                "Keep the rows of one; for runs of several algorithms ask `outperform rank`",
            )


def standardise(board: Leaderboard, *, percent: bool = False, is_auc: bool = False) -> Leaderboard:
    """Accuracies, or areas under the ROC curve, as shares of 1, whatever a file calls them."""
    # Errors of less than one per cent are common, accuracies are not.
    if board.goal == "maximize" and mixes_scales(board.scores):
        raise InvalidScores(
            f"{np.count_nonzero(board.scores <= 1)} of {board.scores.size} scores look like shares "
            "of 1, the others like per cent",
            "Give all in one unit",
        )
    if percent and board.goal == "maximize" and board.scores.max() <= 1:
        raise InvalidScores(
            f"the scores are said to be per cent, but go only up to {board.scores.max():g}",
            "Leave out --percent: they look like shares of 1",
        )
    name, scores = board.metric, board.scores / 100 if percent else board.scores
    words = set(re.split(r"[\W_]+", name.casefold()))
    if words <= _BARE:
        name = "AUC" if is_auc else "accuracy"
    elif not is_auc and any("auc" in word or "auroc" in word for word in words):
        raise InvalidInput(
            f"the scores are called {name!r}, but nothing says how many examples are positive",
            "Say how many (--positives N, from Python n_positives); if they are accuracies after "
            "all, rename the column",
        )
    elif not is_auc and _ERRORS & words and board.goal == "minimize":
        check_shares(scores, "errors")
        name, scores = f"accuracy (1 − {name})", 1 - scores
    elif not is_auc and not any(word.startswith("acc") for word in words):
        raise InvalidInput(
            f"the scores are called {name!r}, and only accuracies, errors and AUC follow from the "
            "size of the test set",
            "Give the entries' predictions instead; if they are accuracies, rename the column",
        )
    return Leaderboard(board.entries, scores, name, "maximize")


def check_shares(values: FloatArray, called: str) -> None:
    """Refuse what cannot be shares of 1."""
    low, high = float(values.min()), float(values.max())
    if low >= 0 and 1 < high <= 100:
        raise InvalidScores(
            f"the {called} go up to {high:g}, so they look like per cent",
            "Divide them by 100 (on the command line: --percent)",
        )
    if low < 0 or high > 1:
        raise InvalidScores(
            f"the {called} go from {low:g} to {high:g}", "Pass shares of 1, between 0 and 1"
        )


def read_predictions(
    path: str | Path, *, label: str | None = None
) -> tuple[dict[str, NDArray[np.generic]], NDArray[np.generic]]:
    """Predictions by entry, and labels, of a table with a row per example and a column for each.

    Columns that number the rows (id, index, example_id) are left out.
    """
    table = open_file(Path(path))
    truth = _find_label(table, label)
    names = [n for n in table.names if n and n != truth and not _NUMBERS_ROWS.fullmatch(n)]
    numeric = [name for name in (truth, *names) if table.holds_numbers(name)]
    text = [name for name in names if name not in numeric]
    if text and truth in numeric:
        raise UnreadableRuns(
            f"the labels of {table.source} are numbers, but {enumerate_names(text)} holds text",
            "Spell predictions as the labels are",
        )
    columns: dict[str, NDArray[np.generic]] = dict(zip(numeric, table.parse(numeric), strict=True))
    for name in text if truth in numeric else (truth, *text):
        columns[name] = np.array(table.label_runs(name).spell())
    return {name: columns[name] for name in names}, columns[truth]


def _find_label(table: SourceTable, label: str | None) -> str:
    if label is not None:
        return find_column(label, table.names, table.source)
    candidates = recognise(table.names, LABEL)
    if len(candidates) == 1:
        return candidates[0]
    listed = enumerate_names(filter(None, table.names))
    problem = f"no column of {table.source} is called label (it has: {listed})"
    if candidates:
        problem = f"columns {enumerate_names(candidates)} of {table.source} may all be the labels"
    raise UnknownColumn(problem, "Name the column with the true classes: --label COLUMN")
