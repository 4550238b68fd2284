"""Fits and searches on their way."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from outperform.runner.progress import Scores
from outperform.study.designs import PlannedRun, Search
from outperform.study.fits import Fit
from outperform.study.spaces import Params
from outperform.study.tuners import Trial, best_trial


@dataclass(slots=True, eq=False)
class SearchState:
    """A search as far as it is known, and the runs that wait for its outcome.

    Attributes
    ----------
    order
        Place of its first run in the study: earlier ones are done first.
    sign
        -1 where lower scores are better.
    finished_run
        Key of a recorded run that has used its outcome, if there is one.
    untold
        Trials so far, without their scores.
    keys
        Of the fits of these trials.
    """

    search: Search
    order: int
    sign: int
    finished_run: str | None
    runs: list[PlannedRun] = field(default_factory=list)
    untold: list[Trial] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)
    found: Params | None = None
    failed: bool = False

    def history(self, known: Mapping[str, Scores | None]) -> list[Trial]:
        """Trials so far, higher being better; failed and unfinished ones have no score."""
        scores = [known.get(key) for key in self.keys]
        return [
            Trial(trial.params, self.sign * score["valid"] if score else None)
            for trial, score in zip(self.untold, scores, strict=True)
        ]

    def conclude(self, known: Mapping[str, Scores | None]) -> None:
        """Find the best trial, or that every one has failed."""
        history = self.history(known)
        self.failed = all(trial.score is None for trial in history)
        self.found = None if self.failed else best_trial(history).params


@dataclass(slots=True, eq=False)
class Job:
    """A missing fit, and the searches that wait for it."""

    fit: Fit
    order: int
    searches: list[SearchState] = field(default_factory=list)
    attempts: int = 0
