"""Trials of searches as runs."""

from dataclasses import replace

import numpy as np
import pytest

from outperform.engines import InlineEngine
from outperform.errors import InvalidInput, InvalidScores
from outperform.questions.best_of.answer import best_of_runs
from outperform.questions.best_of.search_trials import collect_trials
from outperform.runner import run_fits
from outperform.store import open_store
from outperform.study.designs import FixHopt, Ideal, Variance
from outperform.study.pipelines import FunctionPipeline
from outperform.study.spaces import Uniform
from outperform.study.study import Study
from outperform.study.tasks import Task
from tests.command_line import call, refused

ALONE = (
    "all trials share one split and one set of seeds: intervals are of other hyperparameters, not "
    "of other splits"
)
OTHERS = (
    "left out: 2 other searches of the study, on other splits, whose validation scores cannot be "
    "compared"
)
UNTESTED = "searches recorded no test scores: validation scores choose, and are reported"


def make_study(*designs, tuner="random", metric="accuracy", trials=5, limit=0.9, fit=None):
    def climb(params, split, seeds):
        if params["c"] > limit:
            raise ValueError("diverged")
        return {"valid": params["c"], "test": params["c"] - 0.1}

    pipeline = FunctionPipeline("toy", fit or climb, {"c": Uniform(0, 1)}, ("init",))
    return Study((pipeline,), (Task("t", metric=metric),), designs, tuner=tuner, trials=trials)


def record(study, tmp_path, *, tested):
    """Scores of a finished study, whose trials have test scores or not."""
    with open_store(tmp_path / "study.db") as store:
        run_fits(study, store, InlineEngine())
        found = store.scores()
    searched = {key: s for key, s in found.items() if "valid" in s}
    # Whether trials have test scores is the runner's affair.
    return found | {
        key: {"valid": s["valid"]} | ({"test": s["valid"] - 0.1} if tested else {})
        for key, s in searched.items()
    }


def test_trials_of_one_split_are_runs(tmp_path):
    study = make_study(Ideal(3), limit=1)
    runs = collect_trials(study, record(study, tmp_path, tested=True))
    found = runs.select_validated("toy", "t")
    assert found.validation is not None
    assert found.score == pytest.approx(found.validation - 0.1)
    assert len(set(found.score)) == found.score.size  # each drawn afresh
    assert (runs.metric, runs.goal, runs.source) == (
        "accuracy",
        "maximize",
        "the searches of study",
    )
    assert len(runs) == 5
    assert runs.notes[:2] == (ALONE, OTHERS)


def test_failed_trials_are_incomplete_runs(tmp_path):
    study = make_study(Ideal(3), trials=30, metric="R2")
    runs = collect_trials(study, record(study, tmp_path, tested=True))
    n_failed = np.count_nonzero(np.isnan(runs.score))
    assert len(runs) == 30
    assert n_failed > 0
    assert (runs.validation[np.isfinite(runs.score)] <= 0.9).all()
    with pytest.raises(InvalidScores, match=f"{n_failed} of 30 runs of 'toy' are incomplete in"):
        best_of_runs(runs)
    assert best_of_runs(runs, drop_incomplete=True).n_runs == 30 - n_failed


def test_a_tuner_that_looks_back_is_followed_beyond_failed_trials(tmp_path):
    study = make_study(FixHopt(1), tuner="gp-ei", trials=8, limit=0.5)
    recorded = record(study, tmp_path, tested=True)
    n_done = sum("valid" in scores for scores in recorded.values()) - 1  # final fit
    assert 0 < n_done < 8
    runs = collect_trials(study, recorded)
    assert (len(runs), np.count_nonzero(np.isfinite(runs.score))) == (8, n_done)


def test_without_test_scores_validation_is_reported(tmp_path):
    study = make_study(Ideal(3), trials=3, limit=1)
    runs = collect_trials(study, record(study, tmp_path, tested=False))
    assert runs.validation is None
    assert UNTESTED in runs.notes
    result = best_of_runs(runs, n=2, n_resamples=100)
    assert result.same_scores
    assert UNTESTED in result.caveats


def test_a_search_shared_by_designs_is_read_once(tmp_path):
    study = make_study(FixHopt(3), Variance(2, n_searches=1))
    runs = collect_trials(study, record(study, tmp_path, tested=True))
    assert len(runs) <= 5
    assert runs.notes[0] == ALONE


def test_searches_that_redraw_the_tuner_alone_are_put_together(tmp_path):
    study = make_study(Variance(2, n_searches=3), limit=1)
    runs = collect_trials(study, record(study, tmp_path, tested=True))
    assert len(runs) == 15
    assert runs.notes == (ALONE,)


def test_an_unfinished_search_gives_way_to_the_next(tmp_path):
    study = make_study(Ideal(3), limit=1)
    recorded = record(study, tmp_path, tested=True)
    first = collect_trials(study, recorded)
    rest = {k: s for k, s in recorded.items() if s.get("valid") not in set(first.validation)}
    second = collect_trials(study, rest)
    assert len(second) == 5
    assert not set(first.validation) & set(second.validation)


def test_trials_of_other_tuners_are_said_to_depend_on_each_other(tmp_path):
    study = make_study(Ideal(3), tuner="gp-ei", trials=4, limit=1)
    runs = collect_trials(study, record(study, tmp_path, tested=True))
    assert runs.notes[:2] == (
        "trials of gp-ei search are not independent draws, so n of them are no n fresh candidates: "
        "only random search makes trials that are",
        ALONE,
    )


def test_trials_of_widened_random_search_are_independent(tmp_path):
    study = make_study(Ideal(3), tuner="wide-random", trials=4, limit=1)
    assert collect_trials(study, record(study, tmp_path, tested=True)).notes[0] == ALONE


def test_lower_may_be_better(tmp_path):
    study = make_study(Ideal(3), metric="loss", limit=1)
    result = best_of_runs(collect_trials(study, record(study, tmp_path, tested=True)), n=3)
    assert (result.goal, result.validation_goal) == ("minimize", "minimize")
    assert result.value < result.mean


def test_what_trials_of_a_store_raise_can_be_accepted(tmp_path):
    def diverge(params, split, seeds):
        return dict.fromkeys(("valid", "test"), -1e13 if params["c"] > 0.8 else params["c"])

    study, path = make_study(Ideal(1), metric="loss", trials=20, fit=diverge), tmp_path / "study.db"
    with open_store(path) as store:
        run_fits(study, store, InlineEngine())
    assert "pass --accept outlier" in refused(call("best-of", path, "--trials"))
    assert call("best-of", path, "--trials", "--accept", "outlier").exit_code == 0
    runs = collect_trials(study, path, accept="outlier")
    assert any(note.endswith("accepted as right") for note in best_of_runs(runs, n=3).caveats)


def test_trials_may_repeat_where_a_setting_changes_nothing(tmp_path):
    study = make_study(Ideal(1), tuner="grid", trials=24, limit=1)
    runs = collect_trials(study, record(study, tmp_path, tested=True))
    repeated = replace(runs, score=np.tile(np.linspace(0.6, 0.8, 8) ** 2, 3))
    assert any("change nothing there" in note for note in best_of_runs(repeated, n=3).caveats)


def test_nothing_recorded_is_refused():
    with pytest.raises(InvalidInput) as caught:
        collect_trials(make_study(Ideal(3)), {})
    assert str(caught.value) == (
        "no trial of a search of study 'study' is recorded. Run it first, with pipelines that have "
        "a search space."
    )
