"""Searches retraced from recorded scores."""

import numpy as np
import pytest

from outperform.analysis.search_curves import trace_searches
from outperform.engines import InlineEngine
from outperform.errors import TooFewRuns
from outperform.plots import figure
from outperform.runner import run
from outperform.store import SqliteStore
from outperform.study.estimators import FixHopt, Ideal, Variance
from outperform.study.pipelines import FunctionPipeline
from outperform.study.spaces import Uniform
from outperform.study.study import Study
from outperform.study.tasks import make_task


def make_study(*estimators, tuner="random", metric="accuracy", function=None, n_trials=5):
    calls = []

    def fit(params, split, seeds):
        calls.append(params["c"])
        # Distance from 0.3, so that searches come closer and closer.
        value = 1 - abs(params["c"] - 0.3) + seeds["init"] / 2**50
        return {"valid": value, "test": value - 0.1}

    pipeline = FunctionPipeline("toy", function or fit, {"c": Uniform(0, 1)}, ("init",))
    task = make_task("t", metric=metric)
    return Study((pipeline,), (task,), estimators, tuner=tuner, n_trials=n_trials), calls


def run_study(study, tmp_path):
    with SqliteStore(tmp_path / "study.db") as store:
        run(study, store, InlineEngine())
        return store.scores()


def test_a_curve_is_the_best_so_far(tmp_path):
    study, calls = make_study(Ideal(3))
    (curve,) = trace_searches(study, run_study(study, tmp_path)).curves
    assert (curve.pipeline, curve.task, curve.redrawn) == ("toy", "t", "all")
    assert curve.valid.shape == (3, 5)
    assert (np.diff(curve.valid, axis=1) >= 0).all()
    # Within rounding and the little that init adds, the first trials as they were asked for.
    first = 1 - abs(np.array(calls)[:, None] - 0.3)
    assert all(np.abs(first - score).min() < 1e-3 for score in curve.valid[:, 0])
    assert curve.test == pytest.approx(curve.valid[:, -1] - 0.1)


@pytest.mark.parametrize("tuner", ["random", "grid", "noisy-grid", "gp-ei"])
def test_every_tuner_is_retraced(tmp_path, tuner):
    study, calls = make_study(Variance(2, n_searches=3), tuner=tuner)
    scores = run_study(study, tmp_path)
    n_fits = len(calls)
    (curve,) = trace_searches(study, scores).curves
    assert len(calls) == n_fits  # nothing is fitted anew
    assert (curve.redrawn, curve.n_searches, curve.n_trials) == ("hpo", 3, 5)


def test_lower_may_be_better(tmp_path):
    study, _ = make_study(Ideal(3), metric="loss")
    result = trace_searches(study, run_study(study, tmp_path))
    assert result.goal == "minimize"
    assert (np.diff(result.curves[0].valid, axis=1) <= 0).all()


def test_the_sentence_has_both_scores(tmp_path):
    study, _ = make_study(Ideal(3))
    result = trace_searches(study, run_study(study, tmp_path))
    curve = result.curves[0]
    assert str(result) == (
        f"accuracy by random search: after 5 trials toy on t reaches {curve.mean[-1]:.4g} ± "
        f"{curve.sd[-1]:.2g} on validation and {curve.test.mean():.4g} ± "
        f"{curve.test.std(ddof=1):.2g} on test data (3 searches, all redrawn)."
    )
    assert result.caveats[-1] == "fewer than 10 searches of toy on t (3): their spread is rough"


def test_unfinished_searches_are_left_out_and_named(tmp_path):
    study, _ = make_study(Ideal(4))
    scores = run_study(study, tmp_path)
    del scores[next(key for key, score in scores.items() if score["valid"] > 0)]
    result = trace_searches(study, scores)
    assert result.curves[0].n_searches == 3
    assert (
        "searches that are unfinished, or had a failing trial, are left out: toy on t"
        in result.caveats
    )


def test_one_search_has_no_spread(tmp_path):
    study, _ = make_study(FixHopt(3))
    with pytest.raises(TooFewRuns, match="no pipeline has two finished searches on a task"):
        trace_searches(study, run_study(study, tmp_path))


def test_the_figure_draws_mean_band_and_test(tmp_path):
    study, _ = make_study(Ideal(3), Variance(2, n_searches=3))
    result = trace_searches(study, run_study(study, tmp_path))
    (ax,) = figure(result).axes
    gids = {artist.get_gid(): artist for artist in ax.get_children()}
    for index, curve in enumerate(result.curves):
        assert gids[f"mean-{index}"].get_ydata() == pytest.approx(curve.mean)
        assert gids[f"test-{index}"].get_ydata() == pytest.approx([curve.test.mean()])
        assert f"band-{index}" in gids
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["toy, all redrawn (3 searches)", "toy, hpo redrawn (3 searches)"]
