"""Searches of a study retraced: what its tuners suggested, and what was recorded of it."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from outperform.store import Store
from outperform.store.store import use_store
from outperform.study.fits import PlannedRun, Search, gather_fingerprints
from outperform.study.spaces import Params
from outperform.study.study import Study
from outperform.study.tuners import Trial, make_tuner

FitScores = Mapping[str, float]  # empty where the fit is missing or has failed
Recorded = str | Path | Store | Mapping[str, FitScores]  # a store, its address, or its scores


class Retracer:
    """Follows the searches of a study, which are pure functions of what its store has recorded."""

    def __init__(self, study: Study, recorded: Recorded) -> None:
        self.study = study
        self.scores = recorded if isinstance(recorded, Mapping) else _read_scores(recorded)
        self.fingerprints = gather_fingerprints(study.pipelines, study.tasks)

    def follow(self, search: Search) -> Iterator[tuple[Params, FitScores]]:
        """Hyperparameters and scores of each trial; no scores where it failed or is not done yet.

        A search goes on after a trial that failed. After one that is not done yet nothing is
        recorded, so that what the tuner is told of it does not matter.
        """
        tuner, space = make_tuner(search.tuner), self.study.pipeline(search.pipeline).space
        sign = 1 if self.study.task(search.task).goal == "maximize" else -1
        history: list[Trial] = []
        for _ in range(search.n_trials):
            params = tuner.suggest(space, history, search.tuner_seed, search.n_trials)
            scores = self.find_scores(search, params, refit=False)
            yield params, scores
            history.append(Trial(params, sign * scores["valid"] if "valid" in scores else None))

    def find_scores(
        self, planned: PlannedRun | Search, params: Params, *, refit: bool
    ) -> FitScores:
        """Scores of a fit; none where it is missing or has failed."""
        fit = self.study.make_fit(planned, params, refit=refit)
        return self.scores.get(fit.key(self.fingerprints), {})


def _read_scores(store: str | Path | Store) -> Mapping[str, FitScores]:
    with use_store(store) as opened:
        return opened.scores()
