"""Leaderboards and tables of predictions, read from files."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from outperform.errors import InvalidInput, InvalidScores, UnknownColumn, UnreadableRuns
from outperform.runs.arrays import FloatArray
from outperform.runs.cells import Table
from outperform.runs.columns import ALGORITHM, Wanted, find_column, find_score, recognise
from outperform.runs.files import open_file
from outperform.runs.labels import Labels
from outperform.runs.metrics import Goal, known_goal
from outperform.wording import enumerate_names, enumerate_rows

ENTRY = ("team", "teamname", "team_name", "name", "entry", "participant", "submission", *ALGORITHM)
RANK = ("rank", "place", "position", "#")
_BARE = {"score", "scores", "value", "result", "test", "public", "private"}  # say no metric
_ERRORS = {"err", "error", "errors"}
LABEL = ("label", "labels", "target", "truth", "y", "y_true", "true", "class", "ground_truth")


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Scores of many entries on one test set."""

    entries: tuple[str, ...]
    scores: FloatArray = field(compare=False, repr=False)
    metric: str
    goal: Goal


@dataclass(frozen=True, slots=True)
class Predictions:
    """What many entries predict for the same examples."""

    by_entry: dict[str, NDArray[np.generic]] = field(repr=False)
    labels: NDArray[np.generic] = field(repr=False)


def read_leaderboard(
    path: str | Path, *, metric: str | None = None, entry: str | None = None
) -> Leaderboard:
    """Read a table with one row per entry.

    Parameters
    ----------
    metric, entry
        Columns with scores and names, where they are not recognised; a rank serves as a name.
    """
    table = open_file(Path(path))
    named = [find_column(entry, table.names, table.source)] if entry else _recognise_names(table)
    taken = {"", *named[:1], *recognise(table.names, RANK)}
    score = _find_score(table, metric, [name for name in table.names if name not in taken])
    columns = table.take(named[:1], [score])
    scores = columns.numbers[0]
    if np.isnan(scores).any():
        rows = columns.rows[np.isnan(scores)]
        raise InvalidScores(
            f"column {score!r} of {table.source} has no score in {enumerate_rows(rows)}",
            "Remove the entries that were never scored",
        )
    names = _spell(columns.labels[0]) if named else [str(n + 1) for n in range(len(scores))]
    if not entry and not recognise(table.names, ENTRY):
        names = [f"{named[0] if named else 'entry'} {name}" for name in names]
    return Leaderboard(tuple(names), scores, score, known_goal(score) or "maximize")


def standardise(board: Leaderboard, *, percent: bool = False, is_auc: bool = False) -> Leaderboard:
    """Accuracies, or areas under the ROC curve, as shares of 1, whatever a file calls them."""
    # Errors of less than one per cent are common, accuracies are not.
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


def read_predictions(path: str | Path, *, label: str | None = None) -> Predictions:
    """Read a table with one row per example, one column per entry and one with the labels.

    Columns that number the rows (id, index) are left out.
    """
    table = open_file(Path(path))
    truth = _find_label(table, label)
    names = [n for n in table.names if n and n != truth and n.casefold() not in ("id", "index")]
    head = table.head()
    numeric = [name for name in (truth, *names) if head.holds_numbers(name)]
    text = [name for name in names if name not in numeric]
    if text and truth in numeric:
        raise UnreadableRuns(
            f"the labels of {table.source} are numbers, but {enumerate_names(text)} holds text",
            "Spell predictions as the labels are",
        )
    columns = _take(table, [truth, *names], numeric)
    return Predictions({name: columns[name] for name in names}, columns[truth])


def _recognise_names(table: Table) -> list[str]:
    return recognise(table.names, ENTRY) or recognise(table.names, RANK)


def _find_score(table: Table, metric: str | None, others: list[str]) -> str:
    head = table.head()
    texts = [name for name in others if head.holds_text(name)]
    candidates = list(table.names) if metric else others
    score = find_score(candidates, Wanted(metric=metric), table.source, texts=texts)
    if score is None:
        listed = enumerate_names(name for name in table.names if name)
        raise UnknownColumn(
            f"no column of {table.source} looks like a score (it has: {listed})",
            "Name it with --metric",
        )
    return score


def _find_label(table: Table, label: str | None) -> str:
    if label is not None:
        return find_column(label, table.names, table.source)
    found = recognise(table.names, LABEL)
    if len(found) == 1:
        return found[0]
    listed = enumerate_names(name for name in table.names if name)
    problem = (
        f"columns {enumerate_names(found)} of {table.source} may all be the labels"
        if found
        else f"no column of {table.source} is called label (it has: {listed})"
    )
    raise UnknownColumn(problem, "Name the column with the true classes: --label COLUMN")


def _take(table: Table, names: list[str], numeric: list[str]) -> dict[str, NDArray[np.generic]]:
    """Columns as numbers where they are, else as text."""
    texts = [name for name in names if name not in numeric]
    columns = table.take(texts, numeric)
    found: dict[str, NDArray[np.generic]] = dict(
        zip(texts, (np.array(_spell(label)) for label in columns.labels), strict=True)
    )
    return found | dict(zip(numeric, columns.numbers, strict=True))


def _spell(labels: Labels) -> list[str]:
    return [labels.names[code] for code in labels.codes]
