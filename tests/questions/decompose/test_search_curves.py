"""Searches retraced from recorded scores."""

from dataclasses import replace

import numpy as np
import pytest

from outperform.engines import InlineEngine
from outperform.errors import TooFewRuns
from outperform.questions.decompose.search_curves import (
    Course,
    SearchCurve,
    SearchCurves,
    trace_searches,
)
from outperform.render.figures import figure
from outperform.runner import run_fits
from outperform.store import open_store
from outperform.study.designs import FixHopt, Ideal, Variance
from outperform.study.pipelines import FunctionPipeline
from outperform.study.spaces import Uniform
from outperform.study.study import Study
from outperform.study.tasks import Task
from outperform.study.tuners import Trial, make_tuner


def make_study(*designs, tuner="random", metric="accuracy", function=None, trials=5):
    calls = []

    def fit(params, split, seeds):
        calls.append(params["c"])
        # Distance from 0.3, so that searches come closer and closer.
        value = 1 - abs(params["c"] - 0.3) + seeds["init"] / 2**50
        return {"valid": value, "test": value - 0.1}

    pipeline = FunctionPipeline("toy", function or fit, {"c": Uniform(0, 1)}, ("init",))
    task = Task("t", metric=metric)
    return Study((pipeline,), (task,), designs, tuner=tuner, trials=trials), calls


def run_study(study, tmp_path):
    with open_store(tmp_path / "study.db") as store:
        run_fits(study, store, InlineEngine())
        return store.scores()


def test_a_curve_is_the_best_so_far(tmp_path):
    study, calls = make_study(Ideal(3))
    (curve,) = trace_searches(study, run_study(study, tmp_path)).curves
    assert (curve.pipeline, curve.task, curve.redrawn) == ("toy", "t", "all")
    assert curve.valid.scores.shape == (3, 5)
    assert (np.diff(curve.valid.scores, axis=1) >= 0).all()
    # Within rounding and the little that init adds, the first trials as they were asked for.
    first = 1 - abs(np.array(calls)[:, None] - 0.3)
    assert all(np.abs(first - score).min() < 1e-3 for score in curve.valid.scores[:, 0])
    assert curve.test.scores == pytest.approx(curve.valid.scores - 0.1)
    assert curve.final == pytest.approx(curve.valid.scores[:, -1] - 0.1)


def test_the_test_score_is_that_of_the_best_on_validation_so_far(tmp_path):
    def fit(params, split, seeds):
        # Only tenths count on validation, so that there are equals: the earliest stays the best.
        return {"valid": round(params["c"], 1), "test": -params["c"]}

    study, _ = make_study(Ideal(6), function=fit, trials=12)
    scores = run_study(study, tmp_path)
    (curve,) = trace_searches(study, scores).curves
    tuner = make_tuner("random")
    searches = [run.search for run in study.plan_runs()]
    n_equals = 0
    for search, valid, test in zip(searches, curve.valid.scores, curve.test.scores, strict=True):
        space = study.pipelines[0].space
        asked = [
            tuner.suggest(space, [Trial({}, None)] * n, search.tuner_seed, 12)["c"]
            for n in range(12)
        ]
        for n in range(1, 13):
            rounded = [round(c, 1) for c in asked[:n]]
            best = rounded.index(max(rounded))
            n_equals += rounded.count(max(rounded)) > 1
            assert (valid[n - 1], test[n - 1]) == (rounded[best], -asked[best])
    assert n_equals  # else the rule about equals is not tried
    assert (np.diff(curve.test.scores, axis=1) < 0).any()  # chosen by validation alone


def test_spread_by_hand():
    course = Course(np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 4.0]]))
    assert course.to_dict() == {
        "mean": [1.0, 2.0],
        "sd": [1.0, pytest.approx(np.sqrt(3))],
        "low": pytest.approx([0.2, 1.0]),
        "high": pytest.approx([1.8, 3.4]),
    }


def test_without_test_scores_of_trials_there_is_no_test_curve_and_a_caveat(tmp_path):
    study, _ = make_study(Ideal(3))
    scores = run_study(study, tmp_path)
    trials = [score for score in scores.values() if "valid" in score]
    del trials[0]["test"]  # as a store of an earlier version, or a thrifty pipeline, would have it
    result = trace_searches(study, scores)
    assert result.curves[0].test is None
    assert result.curves[0].n_searches == 3
    assert result.to_dict()["curves"][0]["test"] is None
    assert result.caveats[1] == (
        "no curve of test scores of toy on t: not every trial has one; pipelines that return "
        '"test" beside "valid" get it, and searches never use it'
    )
    _, right = figure(result).axes
    assert "mean-0" not in {artist.get_gid() for artist in right.get_children()}


@pytest.mark.parametrize("tuner", ["random", "wide-random", "grid", "noisy-grid", "gp-ei"])
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
    assert (np.diff(result.curves[0].valid.scores, axis=1) <= 0).all()


def test_the_sentence_has_both_scores(tmp_path):
    study, _ = make_study(Ideal(3))
    result = trace_searches(study, run_study(study, tmp_path))
    curve = result.curves[0]
    assert str(result) == (
        f"accuracy by random search: after 5 trials toy on t reaches {curve.valid.mean[-1]:.4g} ± "
        f"{curve.valid.sd[-1]:.2g} on validation and, trained on that too, "
        f"{curve.final.mean():.4g} ± {curve.final_sd:.2g} on test data (3 searches, all "
        "redrawn)."
    )
    assert result.caveats[-1] == "fewer than 10 searches of toy on t (3): their spread is rough"


def test_many_groups_of_searches_do_not_make_a_sentence_without_end(tmp_path):
    study, _ = make_study(Ideal(3))
    result = trace_searches(study, run_study(study, tmp_path))
    said = str(replace(result, curves=result.curves[:1] * 9))
    assert said.count("after 5 trials") == 3
    assert said.endswith("redrawn); and 6 more groups of searches.")


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


def test_the_figure_draws_mean_and_band_of_both_sets_and_the_final_fits(tmp_path):
    study, _ = make_study(Ideal(3), Variance(2, n_searches=3))
    result = trace_searches(study, run_study(study, tmp_path))
    left, right = figure(result).axes
    drawn = [{artist.get_gid(): artist for artist in ax.get_children()} for ax in (left, right)]
    for index, curve in enumerate(result.curves):
        for gids, course in zip(drawn, (curve.valid, curve.test), strict=True):
            assert gids[f"mean-{index}"].get_ydata() == pytest.approx(course.mean)
            assert f"band-{index}" in gids
        assert drawn[1][f"final-{index}"].get_ydata() == pytest.approx([curve.final.mean()])
    assert left.get_ylim() == right.get_ylim()
    labels = [text.get_text() for text in left.get_legend().get_texts()]
    assert labels == ["toy, all redrawn (3 searches)", "toy, hpo redrawn (3 searches)"]


def test_every_task_has_a_row_on_a_scale_of_its_own():
    course = Course(np.array([[0.5, 0.6], [0.55, 0.7]]))
    curves = tuple(
        SearchCurve("toy", task, "all", Course(course.scores * unit), None, np.array([1.0, 2.0]))
        for task, unit in (("small", 1), ("large", 100))
    )
    made = figure(SearchCurves("score", "maximize", "random", curves))
    assert [ax.get_title(loc="left") for ax in made.axes] == ["small", "", "large", ""]
    assert made.axes[0].get_ylim()[1] < 10 < made.axes[2].get_ylim()[1]
