"""What the runs of one algorithm are asked, by whatever question looks at them alone."""

from typing import TYPE_CHECKING

import numpy as np

from outperform.runs.confounders import find_confounders, note_settings
from outperform.runs.mismatches import note_spellings
from outperform.runs.scope import HYPERPARAMETERS
from outperform.runs.suspicions import Doubt, Sides, ask, find_suspicions

if TYPE_CHECKING:
    from outperform.runs.table import Runs

# What trials of a search are not asked, and what is taken for the answer.
_OF_A_SEARCH: dict[Doubt, str] = {
    "pooled": (
        "it is taken for a setting that was searched; if it names data, look at each with --task"
    ),
    "repeated": "settings are taken to change nothing there; if rows are copies, remove them",
}


def question_alone(
    runs: "Runs", algorithm: str, task: str | None = None, *, are_trials: bool = False
) -> tuple[str, ...]:
    """Refuse runs that raise a question, as comparing them would; note what else speaks of them.

    Parameters
    ----------
    are_trials
        Whether they may be trials of a search, which differ in their settings.
    """
    task = runs.tasks[0] if task is None else task
    is_own = runs.algorithm == runs.algorithms.index(algorithm)
    rows = np.flatnonzero(is_own & (runs.task == runs.tasks.index(task)))
    scores = runs.score[rows]
    scores = scores[np.isfinite(scores)]
    if scores.size < 2:
        return ()
    place = f"task {task!r} of {runs.source}" if task else runs.source
    sides = Sides((algorithm,), (scores,), runs.metric_on(task), place, order="")
    # One algorithm that never varies is compared with nobody, and a caveat says so of it.
    suspicions = (each for each in find_suspicions(sides) if each.doubt != "constant")
    confounders = find_confounders(runs, rows, place, paired=False)
    settings = [*note_settings(runs, algorithm, rows)]
    # Nearly every search has settings whose names nobody knows, and others that change nothing.
    is_search = are_trials and (settings or HYPERPARAMETERS in runs.varied)
    answers = _OF_A_SEARCH if is_search else {}
    asked, answered = [], []
    for each in (*suspicions, *confounders):
        if each.doubt in answers and each.doubt not in runs.accepted:
            answered.append(f"{each.fact}: {answers[each.doubt]}")
        else:
            asked.append(each)
    return (
        *ask(asked, runs.accepted),
        *answered,
        *note_spellings(runs.algorithms, (algorithm,)),
        *(() if are_trials else settings),
    )
