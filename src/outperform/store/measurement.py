"""One recorded fit, and what became of the attempt to record it."""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

from outperform.errors import InvalidInput, InvalidScores

Status = Literal["done", "failed"]
Params = dict[str, float | int | str | bool]
FAILED_TRIAL = "failed trial"  # in place of a design: the fit is no run


@dataclass(frozen=True, slots=True)
class Measurement:
    """One recorded fit: all that it depended on, and what came out."""

    key: str  # hash of all that the fit depends on; the same fit always has the same
    pipeline: str
    task: str
    params: Params
    seeds: dict[str, int]  # by source
    fold: int  # of a cross-validation
    refit: bool  # validation examples were trained on too
    status: Status  # "done", with scores and no error, or "failed", with an error and no scores
    scores: dict[str, float]  # each in its metric's sign; NaN and infinite scores are failures
    seconds: float
    error: str | None  # the traceback
    started: float  # seconds since 1970
    versions: dict[str, str]  # of what the fit ran on

    def __post_init__(self) -> None:
        for name, score in self.scores.items():
            if not math.isfinite(score):
                raise InvalidScores(
                    f"the {name} score of fit {self.key} is {score}",
                    "Record the fit as failed: NaN and infinite scores are failures",
                )
        if (self.status == "done") != bool(self.scores):
            raise InvalidScores(
                f"fit {self.key} is {self.status} and has {len(self.scores)} scores",
                "Give scores to a fit that is done, and none to one that failed",
            )
        if (self.status == "done") != (self.error is None):
            raise InvalidInput(
                f"fit {self.key} is {self.status} and its error is {self.error!r}",
                "Give an error to a fit that failed, and none to one that is done",
            )


class RunLabel(NamedTuple):
    """A fit in its role as a run: replicate of a design, for a pipeline on a task.

    With `FAILED_TRIAL` as its design it is a trial that failed instead, of the search that its
    source names and of that number in it.

    One fit may be a run of several designs.
    """

    design: str
    source: str  # the sources of variation that were drawn anew
    replicate: int
    pipeline: str
    task: str
    key: str


@dataclass(frozen=True, slots=True)
class Added:
    """What became of a measurement handed to a store.

    Attributes
    ----------
    kind
        `"new"`: recorded, perhaps in place of an earlier failure. The others leave the store as it
        was: `"same"`, the scores recorded before are equal; `"differs"`, they are not, which is
        numerical noise; `"kept"`, the fit failed this time, and had succeeded before.
    difference
        Largest absolute difference between the scores; infinite where their names differ.

    Examples
    --------
    >>> print(Added("differs", 1e-9))
    a fit with the same seeds gave scores that differ by 1e-09: the first ones are kept
    """

    kind: Literal["new", "same", "differs", "kept"]
    difference: float = 0.0

    def __str__(self) -> str:
        differing = f"a fit with the same seeds gave scores that differ by {self.difference:g}"
        return {
            "new": "recorded",
            "same": "recorded before with equal scores",
            "kept": "a fit that had succeeded failed when done again: its scores are kept",
            "differs": f"{differing}: the first ones are kept",
        }[self.kind]


def compare_scores(first: dict[str, float], second: dict[str, float]) -> Added:
    """Tell equal scores of one fit from numerical noise.

    Examples
    --------
    >>> compare_scores({"test": 0.5}, {"test": 0.75})
    Added(kind='differs', difference=0.25)
    """
    if first.keys() != second.keys():
        return Added("differs", math.inf)
    difference = max((abs(first[name] - second[name]) for name in first), default=0.0)
    return Added("differs", difference) if difference else Added("same")
