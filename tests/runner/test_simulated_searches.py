"""Running designs that redraw searches: the same table however often they are interrupted."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from outperform.engines import InlineEngine, LocalEngine, Outcome
from outperform.errors import InvalidInput
from outperform.questions.compare.answer import compare_runs
from outperform.runner import run_fits
from outperform.store import Store, open_store
from outperform.store.stored_runs import load_runs
from outperform.study.designs import FixHopt, Ideal, ResampledHopt, SimulatedHopt
from outperform.study.pipelines import FunctionPipeline
from outperform.study.simulated_searches import Simulation, resample_search, simulate
from outperform.study.spaces import Uniform
from outperform.study.study import Study
from outperform.study.tasks import Task
from outperform.study.tuners import Trial
from tests.command_line import call
from tests.interruptions import Interrupting

SPACE = {"c": Uniform(0, 1)}


def hill(params, split, seeds):
    score = 0.9 - (params["c"] - 0.4) ** 2 + seeds["init"] / 2**38
    return {"valid": score, "test": score - 0.01}


def valley(params, split, seeds):
    return {name: 1 - score for name, score in hill(params, split, seeds).items()}


def chance(params, split, seeds):
    score = (params["c"] * 7919) % 1 + seeds["init"] / 2**40
    return {"valid": score, "test": score}


def sometimes(params, split, seeds):
    if params["c"] < 0.3:
        raise ValueError("too small")
    return hill(params, split, seeds)


def study(function=hill, *designs: Any, goal="maximize", **changes: Any) -> Study:
    pipeline = FunctionPipeline("a", function, SPACE, ("init",))
    task = Task("toy", metric="quality", goal=goal)
    designs = designs or (FixHopt(4), SimulatedHopt(4, best_share=1.0), ResampledHopt(4))
    return Study((pipeline,), (task,), designs, **{"trials": 12, **changes})


def table(store: Store) -> tuple[Any, ...]:
    """All that must not depend on how a study was run: runs, fits and models of searches."""
    measured = sorted((m.key, repr(m.params), repr(m.scores)) for m in store.measurements())
    return sorted(store.run_labels()), measured, store.get_meta("surrogates")


def params_of(store: Store, kind: str) -> list[dict[str, Any]]:
    labels = sorted(label for label in store.run_labels() if label.design == kind)
    measured = store.get(label.key for label in labels)
    return [measured[label.key].params for label in labels]


class Doubling(InlineEngine):
    """Every outcome comes twice, as at-least-once execution allows."""

    def wait(self, patience: float | None = None) -> list[Outcome]:
        return [copy for outcome in super().wait(patience) for copy in (outcome, outcome)]


def read_trials(store: Store, goal: str = "maximize") -> list[Trial]:
    """The search's trials in order, from its measurements alone."""
    sign = 1 if goal == "maximize" else -1
    trials = [m for m in store.measurements() if not m.refit]
    return [Trial(m.params, sign * m.scores["valid"] if m.scores else None) for m in trials]


def test_runs_train_with_what_redrawn_searches_choose(store):
    whole = study()
    progress = run_fits(whole, store, InlineEngine())
    assert progress.n_failed == progress.n_left == progress.n_blocked == 0
    planned = [*whole.plan_runs()]
    trials = read_trials(store)
    seeds = [run.tuner_seed for run in planned if run.choice == "simulated"]
    search = planned[0].search
    about = (search.tuner, search.n_trials, search.tuner_seed)
    expected = simulate(Simulation(*about, SPACE, tuple(trials), tuple(seeds), 1.0))
    assert params_of(store, "simulated-hopt") == expected["choices"]
    seeds = [run.tuner_seed for run in planned if run.choice == "resampled"]
    assert params_of(store, "resampled-hopt") == [resample_search(trials, s) for s in seeds]
    assert len({p["c"] for p in params_of(store, "simulated-hopt")}) == 4
    assert len({p["c"] for p in params_of(store, "fix-hopt")}) == 1


def test_a_metric_to_minimise_is_simulated_downwards(store):
    run_fits(study(valley, goal="minimize"), store, InlineEngine())
    for kind in ("simulated-hopt", "resampled-hopt"):
        assert all(abs(params["c"] - 0.4) < 0.25 for params in params_of(store, kind))


@pytest.mark.parametrize("tuner", ["random", "gp-ei"])
def test_interrupted_anywhere_and_resumed_the_table_is_the_same(tuner, store, other):
    designs = (FixHopt(2), SimulatedHopt(3, n_repetitions=2, best_share=1.0))
    if tuner == "random":
        designs = (*designs, ResampledHopt(3, n_repetitions=2))
    whole = study(hill, *designs, tuner=tuner, trials=6)
    run_fits(whole, other, InlineEngine())
    for n in (*range(5, 40, 9), 1000):  # within searches, simulations and final fits
        try:
            run_fits(whole, store, Interrupting(n))
        except KeyboardInterrupt:
            continue
    assert table(store) == table(other)
    assert len(store.get_meta("surrogates")) == 2


def test_the_table_does_not_depend_on_the_number_of_workers(store, other):
    run_fits(study(), store, InlineEngine())
    with LocalEngine(2) as engine:
        run_fits(study(), other, engine)
    assert table(store) == table(other)


def test_outcomes_that_come_twice_do_no_harm(store, other):
    run_fits(study(), store, InlineEngine())
    run_fits(study(), other, Doubling())
    assert table(store) == table(other)


def test_more_replicates_go_on_with_the_recorded_model(store, other, monkeypatch):
    few, many = (study(hill, SimulatedHopt(n, best_share=1.0)) for n in (2, 5))
    run_fits(many, other, InlineEngine())
    run_fits(few, store, InlineEngine())
    monkeypatch.setattr("outperform.study.surrogate.sample_chain", None)
    assert run_fits(many, store, InlineEngine()).n_done == 3
    assert table(store) == table(other)


def test_what_a_simulated_search_chose_is_not_taken_for_the_search_s_own(store, other):
    simulated = SimulatedHopt(2, best_share=1.0)
    run_fits(study(hill, simulated), store, InlineEngine())
    both = study(hill, simulated, FixHopt(2))
    run_fits(both, store, InlineEngine())
    run_fits(both, other, InlineEngine())
    assert table(store) == table(other)


def test_a_finished_study_is_resumed_without_a_model(store, monkeypatch):
    run_fits(study(), store, InlineEngine())
    monkeypatch.setattr("outperform.runner.exchange.simulate", None)
    progress = run_fits(study(), store, InlineEngine())
    assert (progress.n_done, progress.n_left) == (0, 0)


def test_a_search_that_explains_nothing_costs_its_own_runs_only(store, monkeypatch):
    whole = study(chance)
    progress = run_fits(whole, store, InlineEngine())
    assert progress.unsimulated == {"a on toy": 4}
    assert "explain" in progress.refusals["a on toy"]
    assert progress.n_left == 0
    assert {label.design for label in store.run_labels()} == {"fix-hopt", "resampled-hopt"}
    assert store.get_meta("unsimulated") == {"a on toy": 4}
    # It is not tried again when the study is resumed, and is counted again.
    monkeypatch.setattr("outperform.runner.exchange.simulate", None)
    assert run_fits(whole, store, InlineEngine()).unsimulated == {"a on toy": 4}


def test_failed_trials_are_left_out(store):
    run_fits(study(sometimes), store, InlineEngine())
    for kind in ("simulated-hopt", "resampled-hopt"):
        chosen = params_of(store, kind)
        assert len(chosen) == 4
    assert all(params["c"] >= 0.3 for params in params_of(store, "resampled-hopt"))


def test_fits_that_are_tried_again_make_the_model_anew(store, other, monkeypatch):
    lucky = {"is": False}

    def recovering(params, split, seeds):
        if not lucky["is"] and params["c"] < 0.3:
            raise ValueError("too small")
        return hill(params, split, seeds)

    whole = study(recovering)
    run_fits(whole, store, InlineEngine())
    before = store.get_meta("surrogates")
    lucky["is"] = True
    run_fits(whole, store, InlineEngine(), retry_failed=True)
    run_fits(whole, other, InlineEngine())
    assert store.get_meta("surrogates") != before
    assert table(store) == table(other)


def test_changed_code_has_another_model(store):
    run_fits(study(), store, InlineEngine())
    (before,) = store.get_meta("surrogates")
    run_fits(study(sometimes), store, InlineEngine())
    assert len(store.get_meta("surrogates")) == 2
    assert before in store.get_meta("surrogates")


def test_an_error_in_a_simulation_costs_its_own_runs_and_is_tried_again(store, other, monkeypatch):
    def crash(simulation):
        raise MemoryError("no memory left")

    run_fits(study(), other, InlineEngine())
    with monkeypatch.context() as patched:
        patched.setattr("outperform.runner.exchange.simulate", crash)
        progress = run_fits(study(), store, InlineEngine())
    assert progress.unsimulated == {"a on toy": 4}
    assert "no memory left" in progress.refusals["a on toy"]
    assert run_fits(study(), store, InlineEngine()).n_blocked == 0
    assert table(store) == table(other)


# What is said of the runs


def test_runs_say_how_their_searches_came_about(store):
    run_fits(study(hill, SimulatedHopt(4, best_share=1.0)), store, InlineEngine())
    (kind, *doubts) = load_runs(store).notes
    assert kind == (
        "the runs are those of simulated-hopt, which searches once and simulates all other "
        "searches on a model of it: all share the luck of that search and the errors of its model, "
        "so that they vary more than those of one search, but still tell little of pipelines tuned "
        "anew"
    )
    assert any("a's search on toy: the surrogate is fitted to 12 trials" in each for each in doubts)
    run_fits(study(hill, ResampledHopt(4)), store, InlineEngine())
    assert load_runs(store).notes == (
        "the runs are those of resampled-hopt, which searches once and redraws all other searches "
        "from its trials: all share the luck of that search, whose choice most of them repeat, so "
        "that they vary more than those of one search, but still tell little of pipelines tuned "
        "anew; the others choose worse, as they have fewer trials to choose from",
    )


@pytest.mark.parametrize(("design", "is_doubted"), [(ResampledHopt, True), (Ideal, False)])
def test_a_winner_after_one_search_is_no_winner_for_pipelines_tuned_anew(store, design, is_doubted):
    whole = replace(study(hill, design(20)), pipelines=TWO)
    run_fits(whole, store, InlineEngine())
    comparison = compare_runs(load_runs(store), "a", "b")
    assert comparison.winner == "a"
    # 20 pairs of equals: P(|W - 10| > 4), W's chance being Φ(z/3) with z normal.
    doubt = (
        "a wins with what one search found: if the luck of searches makes up 10% of the variance "
        "of a pair, 20 pairs find a winner between equals, were both tuned anew, in 18% of studies "
        "instead of 5%; only more searches tell"
    )
    assert (doubt in comparison.caveats) == is_doubted


def test_the_rate_of_such_winners_is_that_of_simulated_studies():
    rng = np.random.default_rng(3)
    luck = rng.normal(0, 0.1**0.5, (4000, 1))
    wins = (luck + rng.normal(0, 0.9**0.5, (4000, 20)) > 0).sum(axis=1)
    assert np.mean((wins < 6) | (wins > 14)) == pytest.approx(0.18, abs=0.02)


def test_comparisons_prefer_ideal_and_fixed_searches(store):
    run_fits(replace(study(), designs=(*study().designs, Ideal(2))), store, InlineEngine())
    assert "those of ideal" in load_runs(store).notes[0]
    assert "those of resampled-hopt" in load_runs(store, "resampled-hopt").notes[0]


# The combined estimate


def slope(params, split, seeds):
    score = 0.8 - (params["c"] - 0.6) ** 2 + seeds["order"] / 2**36
    return {"valid": score, "test": score - 0.01}


TWO = (
    FunctionPipeline("a", hill, SPACE, ("init",)),
    FunctionPipeline("b", slope, SPACE, ("order",)),
)


@pytest.fixture(scope="module")
def two_pipelines(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Store of a study with both designs of two pipelines, one of which cannot be simulated."""
    pipelines = [*TWO, FunctionPipeline("c", chance, SPACE, ("init",))]
    designs = [FixHopt(8), SimulatedHopt(8, best_share=1.0)]
    whole = Study(pipelines, [Task("toy", metric="accuracy")], designs, trials=12)
    address = str(tmp_path_factory.mktemp("two") / "study.db")
    with open_store(address) as opened:
        run_fits(whole, opened, InlineEngine())
    return address


def test_a_comparison_combines_both_designs(two_pipelines):
    comparison = compare_runs(two_pipelines, "a", "b")
    with open_store(two_pipelines) as store:
        fixed, simulated = (load_runs(store, kind) for kind in ("fix-hopt", "simulated-hopt"))
    spreads = []
    for runs in (fixed, simulated):
        pairs = runs.pair("a", "b", "toy")
        spreads.append(float(np.std(pairs.a - pairs.b, ddof=1)))
    combined = comparison.combined
    assert combined.value == pytest.approx(comparison.mean_a - comparison.mean_b)
    assert [combined.sd_fixed, combined.sd_redrawn] == pytest.approx(spreads)
    assert spreads[1] > spreads[0]  # simulated searches choose differently
    assert comparison.to_dict()["combined"]["sd"] == pytest.approx(sum(spreads) / 2)
    assert any("share one search" in caveat for caveat in comparison.caveats)
    (table,) = comparison.tables
    assert any("with simulated searches" in row[0] for row in table.rows)


def test_what_cannot_be_simulated_is_compared_without_it(two_pipelines):
    comparison = compare_runs(two_pipelines, "a", "c")
    assert comparison.combined is None
    assert any("c's search on toy cannot be simulated" in each for each in comparison.caveats)
    assert not any("share one search" in each for each in comparison.caveats)


def test_one_simulated_pair_is_no_reason_to_refuse_a_comparison(store):
    designs = (FixHopt(8), SimulatedHopt(1, best_share=1.0))
    run_fits(replace(study(hill, *designs), pipelines=TWO), store, InlineEngine())
    comparison = compare_runs(load_runs(store), "a", "b")
    assert (comparison.n_pairs, comparison.combined) == (8, None)


@pytest.mark.parametrize("designs", [(), (FixHopt(2),)], ids=["alone", "beside another"])
def test_what_cannot_be_simulated_at_all_is_not_asked_to_be_run_again(designs, store):
    run_fits(study(chance, *designs, SimulatedHopt(4)), store, InlineEngine())
    with pytest.raises(InvalidInput) as refused:
        load_runs(store, "simulated-hopt")
    assert refused.value.remedy == (
        f"See with `outperform status {store.address}` why searches cannot be simulated, or "
        "compare the runs of another design"
    )


def test_few_pairs_are_not_said_to_hold_more_than_they_claim(two_pipelines):
    def find_doubt(runs):
        (caveat,) = [each for each in compare_runs(runs, "a", "b").caveats if "share one" in each]
        return caveat.split("share one search: ")[1]

    assert find_doubt(two_pipelines) == (
        "if that makes up 10% of their variance, it holds the mean over other searches in 92% "
        "instead of 95%; several searches tell"
    )
    with open_store(two_pipelines) as store:
        few = load_runs(store, first=5)
    assert find_doubt(few) == (
        "the more there are, the less often it holds the mean over other searches; several "
        "searches tell"
    )


def test_files_have_no_combined_estimate():
    runs = {"new": [9, 8, 9, 9, 8, 9, 8], "old": [7, 6, 8, 8, 7, 7, 5]}
    assert compare_runs(runs, "new", "old").combined is None


# The command line


def test_the_command_line_takes_any_design_and_says_what_could_not_be_simulated(two_pipelines):
    names = ("a", "b")
    said = {
        kind: call("compare", two_pipelines, *names, "--runs-of", kind)
        for kind in ("fix-hopt", "simulated-hopt", "resampled-hopt")
    }
    assert "with simulated searches" in said["fix-hopt"].stdout
    assert "the runs are those of simulated-hopt" in " ".join(said["simulated-hopt"].stdout.split())
    assert "holds no paired runs of 'resampled-hopt'" in said["resampled-hopt"].stderr
    status = call("status", two_pipelines).stdout
    assert "8 runs of c on toy cannot be done, as their search cannot be simulated: " in status
    assert "explains" in status
    assert json.loads(call("status", two_pipelines, "--json").stdout)["unsimulated"] == {
        "c on toy": 8
    }


def test_a_file_has_no_designs(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("algorithm,seed,accuracy\na,1,0.5\nb,1,0.6\n")
    result = call("compare", path, "a", "b", "--runs-of", "ideal")
    assert result.exit_code == 2
    assert "only the store of a study has designs" in result.stderr


STUDY = """
name = "toy"
[tuning]
trials = 12
[[task]]
name = "toy"
metric = "accuracy"
[[pipeline]]
name = "a"
function = "learning:fit"
sources = ["init"]
[pipeline.space]
c = {uniform = [0.0, 1.0]}
[[design]]
kind = "simulated-hopt"
replicates = 3
"""


def test_a_study_file_is_run_and_says_what_cannot_be_simulated(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "learning.py").write_text(
        "def fit(params, split, seeds):\n"
        "    score = (params['c'] * 7919) % 1 + seeds['init'] / 2**40\n"
        "    return {'valid': score, 'test': score}\n"
    )
    result = call("run", tmp_path / "study.toml", "--engine", "inline")
    assert result.exit_code == 4
    said = " ".join(result.stdout.split())
    assert "12 fits done now" in said
    assert "3 runs of a on toy cannot be done, as their search cannot be simulated: " in said
