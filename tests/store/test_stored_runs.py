"""Runs of a store: those of the study as it is now, and a word on all others."""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

from outperform import audit, best_of_runs, read_runs
from outperform.engines import InlineEngine
from outperform.errors import InvalidInput, InvalidScores, UnknownName
from outperform.questions.compare.answer import compare_runs
from outperform.questions.compare.until_decided import run_until_decided
from outperform.runner import describe_study, run, run_fits
from outperform.store import open_store
from outperform.store.stored_runs import load_runs
from outperform.study.designs import FixHopt, Ideal, Variance
from outperform.study.pipelines import FunctionPipeline
from outperform.study.spaces import Uniform
from outperform.study.study import Study
from outperform.study.tasks import Task


def fit(params, split, seeds):
    return {"valid": 0.5, "test": seeds["init"] / 2**32}


def fail_twice(params, split, seeds):
    if seeds["init"] > 2**31:
        raise ValueError("too large a seed")
    return {"valid": 0.5, "test": 0.25}


def make_pipelines(space=None, **functions):
    return tuple(
        FunctionPipeline(name, each, space or {}, ("init",)) for name, each in functions.items()
    )


STUDY = Study(
    make_pipelines(a=fit, b=fit),
    (Task("toy", metric="accuracy"),),
    (Ideal(6),),
)
IDEAL = "the runs are those of ideal"
FIX_HOPT = (
    "the runs are those of fix-hopt, which searches once: all share the luck of that search, and "
    "tell of the hyperparameters that it found, not of pipelines tuned anew; what tuning adds to "
    "the variance is not seen"
)
SEARCHED = replace(STUDY, pipelines=make_pipelines({"c": Uniform(0, 1)}, a=fit, b=fit), trials=2)


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "study.db") as opened:
        yield opened


def run_all(study, store):
    with InlineEngine() as engine:
        run_fits(study, store, engine)
    return load_runs(store)


def test_runs_say_which_design_they_are_of(store):
    runs = run_all(replace(SEARCHED, designs=(FixHopt(6),)), store)
    assert runs.notes == (FIX_HOPT,)
    assert FIX_HOPT in compare_runs(runs, "a", "b").caveats
    assert (runs.metric, runs.goal, runs.source) == ("accuracy", "maximize", str(store.address))
    # The best that a study can have is no reason to doubt.
    assert run_all(STUDY, store).notes == ()


def test_what_a_store_cannot_heed_is_refused(store):
    run_all(STUDY, store)
    agreed = {"metric": "accuracy", "validation": "accuracy", "goal": "maximize", "wide": False}
    assert len(read_runs(store.address, **agreed).score) == 12
    for name, value in (("task", "toy"), ("metric", "loss"), ("goal", "minimize"), ("wide", True)):
        with pytest.raises(InvalidInput) as refused:
            read_runs(store.address, **{name: value})
        assert str(refused.value) == (
            f"{name} is {value!r}, but a store knows what its runs are. Leave it out; `outperform "
            "compare` looks at one task with --on TASK."
        )


def test_where_nothing_is_searched_no_luck_is_shared(store):
    runs = run_all(replace(STUDY, designs=(FixHopt(6),)), store)
    assert (runs.notes, runs.one_search) == (("the runs are those of fix-hopt",), False)


def test_ideal_comes_first_and_others_are_named(store):
    study = replace(STUDY, designs=(FixHopt(6, ("init",)), Ideal(4), Variance(3)))
    runs = run_all(study, store)
    assert runs.notes == (f"{IDEAL}; the study has fix-hopt (init redrawn) too",)
    assert len(runs) == 8
    chosen = load_runs(store, "fix-hopt")
    assert chosen.notes[0].startswith("the runs are those of fix-hopt with only init redrawn; ")
    assert len(chosen) == 12


def test_runs_that_redraw_everything_come_first(store):
    study = replace(SEARCHED, designs=(FixHopt(6, ("init",)), FixHopt(4)))
    runs = run_all(study, store)
    assert len(runs) == 8
    assert runs.notes == (f"{FIX_HOPT}; the study has fix-hopt (init redrawn) too",)


def test_replicates_beyond_the_study_are_left_out_and_counted(store):
    assert len(run_all(STUDY, store)) == 12
    fewer = run_all(replace(STUDY, designs=(Ideal(4),)), store)
    assert len(fewer) == 8
    assert fewer.notes == (
        "left out: 4 runs of replicates or sources that the study does not have any more",
    )


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
    assert runs.notes == ("left out: 6 runs of c on toy, which the study does not have any more",)


def test_runs_that_failed_for_all_are_incomplete_and_those_to_come_are_counted(store):
    study = replace(STUDY, pipelines=make_pipelines(a=fail_twice, b=fail_twice))
    runs = run_all(study, store)
    n_failed = sum(1 for _ in store.measurements("failed"))
    assert 0 < n_failed < 12
    assert len(runs) == 12
    assert int(np.isnan(runs.score).sum()) == n_failed
    assert [runs.incomplete.names[code] for code in runs.incomplete.codes] == [
        "failed" if np.isnan(score) else "" for score in runs.score
    ]
    assert runs.notes == ()
    store.set_meta("study", describe_study(replace(study, designs=(Ideal(8),))))
    runs = load_runs(store)
    assert len(runs) == 12
    assert runs.notes == (
        "4 of the study's 16 runs have no score: they failed, or are still to be done; complete "
        "them before you conclude, since whoever stops at a look that pleases errs more often than "
        "α",
    )


def test_an_algorithm_without_any_score_is_named(store):
    def fail(params, split, seeds):
        raise ValueError("no luck")

    study = replace(STUDY, pipelines=make_pipelines(a=fail, b=fit))
    runs = run(study, store, "inline")
    assert runs.unfinished == ("a",)
    assert str(runs).endswith("; no run of a has a score")
    assert runs.notes == (
        "6 of the study's 12 runs have no score, all of a among them: they failed, or are still "
        "to be done; complete them before you conclude, since whoever stops at a look that pleases "
        "errs more often than α",
    )


def fail_both_unless_a_wins(sign):
    """A run that scores an own draw, and fails wherever the other algorithm's draw is higher."""

    def run(params, split, seeds):
        a, b = np.random.default_rng(seeds["init"]).random(2)
        if a < b:
            raise ValueError("no luck")
        return {"valid": 0.5, "test": a if sign > 0 else b}

    return run


# Runs fail, or with something to search, every trial of their searches.
FAILURES = pytest.mark.parametrize(
    ("space", "reason"), [({}, "failed"), ({"c": Uniform(0, 1)}, "whose search failed")]
)


@FAILURES
def test_replicates_in_which_both_failed_count_against_the_winner(space, reason, store):
    a, b = fail_both_unless_a_wins(1), fail_both_unless_a_wins(-1)
    pipelines = make_pipelines(space, a=a, b=b)
    runs = run_all(replace(STUDY, pipelines=pipelines, designs=(Ideal(40),), trials=2), store)
    n_failed = int(np.isnan(runs.score).sum()) // 2
    assert 10 < n_failed < 30
    assert not any("have no score" in note for note in runs.notes)
    for refuse in (compare_runs, audit, best_of_runs):
        with pytest.raises(InvalidScores) as caught:
            refuse(runs, "a", "b")
        assert f"{n_failed} of 40 runs of 'a' are incomplete in " in str(caught.value)
        assert f": {n_failed} {reason} (" in str(caught.value)
    comparison = compare_runs(runs, "a", "b", drop_incomplete=True)
    assert (comparison.probability, comparison.n_pairs) == (1, 40 - n_failed)
    assert comparison.winner is None
    assert not comparison.withstands_gaps
    # Unpaired, too, the winner lacks these runs.
    apart = compare_runs(runs, "a", "b", paired=False, drop_incomplete=True)
    assert apart.winner is None


def fail_in(replicates, score):
    """A run that fails in the replicates of these numbers, and scores the same in all others."""
    count = iter(range(1000))

    def run(params, split, seeds):
        if next(count) in replicates:
            raise ValueError("no luck")
        return {"valid": 0.5, "test": score + seeds["init"] / 2**40}

    return run


def test_what_the_winner_lacks_includes_what_the_other_lacks_too(store):
    # Of 24 replicates without b's failures, a lacks 4, and would win; it lacks 12 of all 40.
    a, b = fail_in(range(12), 0.9), fail_in(range(4, 20), 0.1)
    runs = run_all(replace(STUDY, pipelines=make_pipelines(a=a, b=b), designs=(Ideal(40),)), store)
    assert runs.pair("a", "b", drop_incomplete=True).lacking == (12, 16)
    comparison = compare_runs(runs, "a", "b", drop_incomplete=True)
    assert (comparison.n_pairs, comparison.probability) == (20, 1)
    assert comparison.winner is None  # 20 of 32


def test_a_winner_that_withstands_its_failures_is_named(store):
    a, b = fail_in(range(2), 0.9), fail_in(range(2), 0.1)
    runs = run_all(replace(STUDY, pipelines=make_pipelines(a=a, b=b), designs=(Ideal(40),)), store)
    assert compare_runs(runs, "a", "b", drop_incomplete=True).winner == "a"


def test_incomplete_runs_of_a_store_are_named_by_their_replicates(store):
    a, b = fail_in((1, 3), 0.9), fail_in((), 0.1)
    runs = run_all(replace(STUDY, pipelines=make_pipelines(a=a, b=b), designs=(Ideal(6),)), store)
    with pytest.raises(InvalidScores) as caught:
        compare_runs(runs, "a", "b")
    assert str(caught.value) == (
        f"2 of 6 runs of 'a' are incomplete in task 'toy' of {runs.source}: 2 failed (replicates "
        "1, 3). Complete them, or pass --drop-incomplete to leave them out."
    )


@FAILURES
def test_to_decide_counts_runs_that_failed_for_both_against_the_winner(space, reason, store):
    a, b = fail_both_unless_a_wins(1), fail_both_unless_a_wins(-1)
    pipelines = make_pipelines(space, a=a, b=b)
    study = replace(STUDY, pipelines=pipelines, designs=(Ideal(40),), trials=2)
    decision = run_until_decided(study, store, "a", "b", engine="inline")
    assert (decision.winner, decision.exit_status) == (None, 3)
    assert decision.advice.endswith("--drop-incomplete")


def decide_between_equals(failed, store, *, n_allowed=80, gamma=0.8, **options):
    """Decide between two that tie, and of which these replicates failed."""
    pipelines = make_pipelines(a=fail_in(failed, 0.5), b=fail_in(failed, 0.5))
    study = replace(STUDY, pipelines=pipelines, designs=(Ideal(n_allowed),))
    return run_until_decided(study, store, "a", "b", engine="inline", gamma=gamma, **options)


def test_gamma_is_not_ruled_out_where_runs_that_failed_might_have_shown_it(store):
    decision = decide_between_equals(range(2), store)
    assert (decision.outcome, decision.exit_status) == ("neither", 0)
    assert decision.n_replicates > decide_between_equals((), store).n_replicates
    store.keep_labels([])
    # Every other pair might have been won by either: a, who would win soon, or b.
    decision = decide_between_equals(range(0, 80, 2), store, new_rule=True)
    assert (decision.outcome, decision.winner, decision.exit_status) == ("undecided", None, 3)
    assert "depends on incomplete pairs (" in str(decision)
    (caveat,) = [each for each in decision.caveats if "only what holds" in each]
    assert caveat.endswith("whoever had won them is decided: complete them")


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


def test_a_store_in_which_all_has_failed_names_the_command_that_says_why(store):
    def fail(params, split, seeds):
        raise ValueError("no luck")

    with suppress(InvalidInput):
        run_all(replace(STUDY, pipelines=make_pipelines(a=fail, b=fail)), store)
    with pytest.raises(InvalidInput) as caught:
        load_runs(store)
    n_failed = sum(store.counts().values())
    assert str(caught.value) == (
        f"{store.address} holds no finished runs yet. {n_failed} fits of its study failed: "
        f"`outperform status {store.address}` says why, and `outperform run` with --retry-failed "
        "tries again."
    )


def test_an_design_that_the_study_has_not_is_refused(store):
    run_all(STUDY, store)
    with pytest.raises(UnknownName) as caught:
        load_runs(store, "fix-hop")
    assert str(caught.value) == (
        f"{store.address} holds no paired runs of 'fix-hop'; its designs are ideal. It has: ideal."
    )
