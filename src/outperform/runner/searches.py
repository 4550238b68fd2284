"""Searches on their way, and the fits that they wait for."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from outperform.study.fits import Fit, PlannedRun, Search
from outperform.study.spaces import Params
from outperform.study.tuners import Trial, best_trial

Known = Mapping[str, Mapping[str, float]]  # scores of fits by key; none where a fit failed


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
    n_assumed
        Trials counted as known without a look, as a run after the search is finished.
    trials
        What was tried so far, without scores.
    keys
        Of the fits of these trials.
    missing
        Keys of those that are not done yet.
    best
        What it has found; None: nothing yet, or nothing at all where it has failed.
    """

    search: Search
    order: int
    sign: int
    finished_run: str | None = None
    n_assumed: int = 0
    runs: list[PlannedRun] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)
    best: Params | None = None
    failed: bool = False

    def history(self, known: Known) -> list[Trial]:
        """Trials so far, higher being better; failed and unfinished ones have no score."""
        scores = [known.get(key) for key in self.keys]
        return [
            Trial(trial.params, self.sign * score["valid"] if score else None)
            for trial, score in zip(self.trials, scores, strict=True)
        ]

    def conclude(self, known: Known) -> None:
        """Find the best trial, or that every one has failed."""
        history = self.history(known)
        self.failed = all(trial.score is None for trial in history)
        self.best = None if self.failed else best_trial(history).params


@dataclass(slots=True, eq=False)
class MissingFit:
    """A fit to be done, and the searches that wait for it."""

    fit: Fit
    order: int
    searches: list[SearchState] = field(default_factory=list)
    n_attempts: int = 0
