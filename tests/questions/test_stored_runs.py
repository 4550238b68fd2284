"""Runs of a store: those of the study as it is now, and a word on all others."""

from dataclasses import replace

import pytest

from outperform.engines import InlineEngine
from outperform.errors import InvalidInput, UnknownName
from outperform.questions.compare.answer import compare_runs
from outperform.runner import describe_study, run_fits
from outperform.store import open_store
from outperform.store.stored_runs import load_runs
from outperform.study.designs import FixHopt, Ideal, Variance
from outperform.study.pipelines import FunctionPipeline
from outperform.study.study import Study
from outperform.study.tasks import Task


def fit(params, split, seeds):
    return {"valid": 0.5, "test": seeds["init"] / 2**32}


def fail_twice(params, split, seeds):
    if seeds["init"] > 2**31:
        raise ValueError("too large a seed")
    return {"valid": 0.5, "test": 0.25}


def make_pipelines(**functions):
    return tuple(FunctionPipeline(name, each, {}, ("init",)) for name, each in functions.items())


STUDY = Study(
    make_pipelines(a=fit, b=fit),
    (Task("toy", metric="accuracy"),),
    (Ideal(6),),
)
IDEAL = "the runs are those of ideal"
FIX_HOPT = (
    "the runs are those of fix-hopt, which searches once: what tuning adds to the variance is not "
    "seen"
)


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "study.db") as opened:
        yield opened


def run_all(study, store):
    with InlineEngine() as engine:
        run_fits(study, store, engine)
    return load_runs(store)


def test_runs_say_which_design_they_are_of(store):
    runs = run_all(replace(STUDY, designs=(FixHopt(6),)), store)
    assert runs.notes == (FIX_HOPT,)
    assert FIX_HOPT in compare_runs(runs, "a", "b").caveats
    assert (runs.metric, runs.goal, runs.source) == ("accuracy", "maximize", str(store.address))
    # The best that a study can have is no reason to doubt.
    assert run_all(STUDY, store).notes == ()


def test_ideal_comes_first_and_others_are_named(store):
    study = replace(STUDY, designs=(FixHopt(6, ("init",)), Ideal(4), Variance(3)))
    runs = run_all(study, store)
    assert runs.notes == (f"{IDEAL}; the study has fix-hopt (init redrawn) too",)
    assert len(runs) == 8
    chosen = load_runs(store, "fix-hopt")
    assert chosen.notes[0].startswith("the runs are those of fix-hopt with only init redrawn, ")
    assert len(chosen) == 12


def test_runs_that_redraw_everything_come_first(store):
    study = replace(STUDY, designs=(FixHopt(6, ("init",)), FixHopt(4)))
    runs = run_all(study, store)
    assert len(runs) == 8
    assert runs.notes == (f"{FIX_HOPT}; the study has fix-hopt (init redrawn) too",)


def test_replicates_beyond_the_study_are_left_out_and_counted(store):
    assert len(run_all(STUDY, store)) == 12
    fewer = run_all(replace(STUDY, designs=(Ideal(4),)), store)
    assert len(fewer) == 8
    assert fewer.notes == (
        "4 run(s) of replicates or sources that the study does not have any more were left out",
    )


def test_a_store_of_old_tells_what_it_has_by_its_runs(store):
    run_all(replace(STUDY, designs=(FixHopt(4, ("init",)), Ideal(6))), store)
    study = store.get_meta("study")
    del study["designs"]  # which stores did not have at first
    store.set_meta("study", study)
    runs = load_runs(store)
    assert len(runs) == 12
    assert runs.notes == (f"{IDEAL}; the study has fix-hopt (init redrawn) too",)
    run_all(replace(STUDY, designs=(FixHopt(4, ("init",)), Ideal(6))), store)
    assert "designs" in store.get_meta("study")


def test_runs_of_sources_that_are_not_redrawn_any_more_are_not_taken(store):
    run_all(replace(STUDY, designs=(FixHopt(6),)), store)
    runs = run_all(replace(STUDY, designs=(FixHopt(3, ("init",)),)), store)
    assert len(runs) == 6
    assert "with only init redrawn" in runs.notes[0]


def test_pipelines_that_are_not_in_the_study_any_more_are_left_out_and_counted(store):
    run_all(replace(STUDY, pipelines=make_pipelines(a=fit, b=fit, c=fit)), store)
    store.set_meta("study", describe_study(STUDY))  # as a person may, from Python
    runs = load_runs(store)
    assert runs.algorithms == ("a", "b")
    assert runs.notes == (
        "6 run(s) of c on toy were left out: the study does not have them any more",
    )


def test_runs_that_failed_for_all_are_counted(store):
    runs = run_all(replace(STUDY, pipelines=make_pipelines(a=fail_twice, b=fail_twice)), store)
    n_failed = sum(1 for _ in store.measurements("failed"))
    assert 0 < n_failed < 12
    assert runs.notes == (
        f"{n_failed} of the study's 12 runs have no score: they failed, or are still to be done",
    )


def test_a_store_without_runs_to_compare_is_refused(store):
    store.set_meta("study", describe_study(STUDY))
    with pytest.raises(InvalidInput) as nothing:
        load_runs(store)
    assert str(nothing.value) == (
        f"{store.address} holds no finished runs yet. Let `outperform run` finish some first."
    )
    with pytest.raises(UnknownName) as unpaired:
        run_all(replace(STUDY, designs=(Variance(2),)), store)
    assert str(unpaired.value) == (
        f"{store.address} holds no runs to compare; its designs are variance. Add a [[design]] "
        'with kind = "ideal" or "fix-hopt" to the study and run it.'
    )


def test_an_design_that_the_study_has_not_is_refused(store):
    run_all(STUDY, store)
    with pytest.raises(UnknownName) as caught:
        load_runs(store, "fix-hop")
    assert str(caught.value) == (
        f"{store.address} holds no runs to compare; its designs are ideal. It has: ideal."
    )
