"""Searches on a function instead of fits, and searches redrawn from the trials of one."""

import re
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.stats import binomtest, ks_2samp

from outperform.errors import InvalidInput
from outperform.study.designs import FixHopt, Ideal, ResampledHopt, SimulatedHopt, make_design
from outperform.study.pipelines import FunctionPipeline
from outperform.study.simulated_searches import (
    Simulation,
    resample_search,
    simulate,
    simulate_searches,
)
from outperform.study.spaces import LogUniform, Uniform
from outperform.study.study import Study, describe_plan, plan_study
from outperform.study.surrogate import fit_surrogate
from outperform.study.tasks import Task
from outperform.study.tuners import TUNERS, Trial, best_trial, make_tuner

SPACE = {"lr": LogUniform(1e-4, 1), "dropout": Uniform(0, 1)}


@dataclass(frozen=True)
class Known:
    """A function in the place of fits: searches on it are real ones."""

    space = SPACE

    def predict(self, points):
        lr = np.log10([point["lr"] for point in points])
        dropout = np.array([point["dropout"] for point in points])
        return 0.9 - 0.1 * (lr + 1.5) ** 2 - 0.2 * (dropout - 0.3) ** 2


def search(predictor, tuner, seed, n_trials):
    """What a runner does: suggest, score, record, in turn."""
    history = []
    for _ in range(n_trials):
        params = tuner.suggest(predictor.space, history, seed, n_trials)
        history.append(Trial(params, float(predictor.predict([params])[0])))
    return history


@pytest.fixture(scope="module")
def surrogate():
    return fit_surrogate(SPACE, search(Known(), TUNERS["random"], 99, 50), seed=0)


@pytest.mark.parametrize("name", ["random", "wide-random", "noisy-grid", "gp-ei", "tpe", "cma-es"])
def test_a_simulated_search_is_the_real_one_with_predictions_for_scores(surrogate, name):
    if name in ("tpe", "cma-es"):
        pytest.importorskip("optuna")
    tuner = make_tuner(name)
    n_trials = 8 if tuner.uses_history else 30
    expected = [best_trial(search(surrogate, tuner, seed, n_trials)).params for seed in (1, 2)]
    assert simulate_searches(surrogate, tuner, [1, 2], n_trials) == expected
    assert simulate_searches(surrogate, tuner, [1], n_trials) == expected[:1]
    assert expected[0] != expected[1]


def test_simulated_searches_choose_as_real_ones_do(surrogate):
    random = TUNERS["random"]
    real = simulate_searches(Known(), random, range(1000, 1200), 30)
    simulated = simulate_searches(surrogate, random, range(2000, 2200), 30)
    for name in SPACE:
        ours, theirs = [[params[name] for params in chosen] for chosen in (simulated, real)]
        assert ks_2samp(ours, theirs).pvalue > 0.001
    true_scores = [Known().predict(chosen) for chosen in (simulated, real)]
    assert ks_2samp(*true_scores).pvalue > 0.001


def test_the_comparison_of_searches_sees_searches_of_another_length(surrogate):
    """Negative control of the test above."""
    real = simulate_searches(Known(), TUNERS["random"], range(1000, 1200), 30)
    shorter = simulate_searches(surrogate, TUNERS["random"], range(2000, 2200), 10)
    assert ks_2samp(Known().predict(shorter), Known().predict(real)).pvalue < 0.001


class Flat(Known):
    def predict(self, points):
        return np.zeros(len(points))


def test_of_equal_predictions_the_earliest_is_chosen():
    random = TUNERS["random"]
    assert simulate_searches(Flat(), random, [5], 20) == [random.suggest(SPACE, [], 5, 20)]


@pytest.mark.parametrize(
    ("tuner", "n_trials", "message"),
    [
        (
            "random",
            1,
            "a search of 1 trials is to be simulated, which chooses nothing. Simulate searches as "
            "long as the real ones, of at least 2 trials.",
        ),
        (
            "grid",
            9,
            "tuner 'grid' tries the same points whatever the seed, so that simulated searches all "
            "choose the same. Search with 'noisy-grid' or 'random', or hold the hyperparameters "
            "fixed.",
        ),
    ],
)
def test_searches_that_say_nothing_are_refused(tuner, n_trials, message):
    with pytest.raises(InvalidInput, match=f"^{re.escape(message)}$"):
        simulate_searches(Known(), TUNERS[tuner], [0], n_trials)


TASK = Task("toy", metric="accuracy")
SPACE_OF_RUNS = {"c": Uniform(0, 1), "rate": LogUniform(1e-3, 1)}
REDRAWN = (SimulatedHopt, ResampledHopt)


def fit(params, split, seeds):
    return {"valid": 0.5, "test": 0.5}


def study(*designs, **changes):
    pipeline = FunctionPipeline("net", fit, SPACE_OF_RUNS, ("init", "order"))
    return Study((pipeline,), (TASK,), designs, **{"trials": 10, **changes})


def plan(*designs):
    return [*study(*designs).plan_runs()]


# Planning


@pytest.mark.parametrize("design", REDRAWN)
def test_runs_are_paired_with_those_of_fix_hopt(design):
    redrawn, fixed = plan(design(4, n_repetitions=3)), plan(FixHopt(4, n_repetitions=3))
    for ours, theirs in zip(redrawn, fixed, strict=True):
        assert ours.search == theirs.search
        assert ours.role[1:] == theirs.role[1:]
        learning = {name: seed for name, seed in ours.seeds if name != "hpo"}
        assert learning == {name: seed for name, seed in theirs.seeds if name != "hpo"}


@pytest.mark.parametrize("design", REDRAWN)
def test_every_run_has_a_search_of_its_own_redrawn(design):
    runs = plan(design(5, n_repetitions=3))
    assert len({run.tuner_seed for run in runs}) == len(runs)
    assert len({run.search for run in runs}) == 3
    assert len({run.tuner_seed for run in plan(FixHopt(5, n_repetitions=3))}) == 3  # control


def test_searches_are_those_of_the_ideal_design():
    searches = {run.search for run in plan(SimulatedHopt(2, n_repetitions=3))}
    assert searches <= {run.search for run in plan(Ideal(3))}


@pytest.mark.parametrize("design", REDRAWN)
def test_k_and_t_fits_are_enough(design):
    assert study(design(20)).count_fits() == 20 + 10
    # Beside fix-hopt the search is done once.
    assert study(FixHopt(20), design(20)).count_fits() == 20 + 20 + 10


@pytest.mark.parametrize("design", [SimulatedHopt(4, 2, 0.5), ResampledHopt(4, n_repetitions=2)])
def test_a_store_can_plan_them_without_their_code(design):
    first = study(design)
    fingerprints = {"pipeline net": "a", "task toy": "b"}
    second = plan_study(describe_plan(first), fingerprints, "study")
    assert second.designs == (design,)
    assert [run.role for run in second.plan_runs()] == [run.role for run in first.plan_runs()]


@pytest.mark.parametrize(
    ("designs", "changes", "message"),
    [
        ([SimulatedHopt(5)], {"tuner": "grid"}, "grid search, which tries the same points"),
        ([ResampledHopt(5)], {"tuner": "gp-ei"}, "gp-ei search, which are not exchangeable"),
        ([ResampledHopt(5)], {"tuner": "noisy-grid"}, "are not exchangeable. Search with"),
        ([SimulatedHopt(5)], {"trials": 1}, "a search of 1 trial, which chooses nothing"),
        ([ResampledHopt(5)], {"trials": 1}, "a search of 1 trial, which chooses nothing"),
        ([SimulatedHopt(5)], {"trials": 3}, "3 trials, too few for the 2 hyperparameters of"),
        ([SimulatedHopt(5, best_share=0.2)], {"trials": 15}, "Let trials be 16 at the very least"),
        (
            [SimulatedHopt(5), SimulatedHopt(5, best_share=1.0)],
            {},
            "is there with best_share 0.85, 1.0. Make a study per share",
        ),
    ],
)
def test_searches_that_cannot_be_redrawn_are_refused_before_any_fit(designs, changes, message):
    with pytest.raises(InvalidInput) as caught:
        study(*designs, **changes)
    assert message in str(caught.value)


def test_pipelines_without_a_space_need_no_search():
    plain = FunctionPipeline("net", fit, {}, ("init",))
    runs = [*Study((plain,), (TASK,), (SimulatedHopt(3),), trials=1).plan_runs()]
    assert [run.search for run in runs] == [None] * 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "simulated-hopt"}, "does not say how many replicates"),
        (
            {"kind": "simulated-hopt", "replicates": 3, "best_share": 0},
            "best_share is 0. Write the",
        ),
        ({"kind": "simulated-hopt", "replicates": 3, "best_share": 85}, "best_share is 85. Write"),
        ({"kind": "resampled-hopt", "replicates": 3, "best_share": 0.5}, "unknown word 'best_sha"),
        ({"kind": "resampled-hopt", "replicates": 3, "repetitions": 0}, "repetitions is 0. Pass"),
        ({"kind": "simulated-hopt", "replicates": 3, "vary": ["init"]}, "unknown word 'vary'"),
    ],
)
def test_words_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InvalidInput) as caught:
        make_design(options)
    assert message in str(caught.value)


# Resampling


def rank_trials(n, failed=()):
    return [Trial({"rank": i}, None if i in failed else -float(i)) for i in range(n)]


def test_resampling_chooses_the_best_as_often_as_a_bootstrap_holds_it():
    trials, n = rank_trials(8), 4000
    chosen = [resample_search(trials, seed)["rank"] for seed in range(n)]
    # The best of 8 draws with replacement has rank i or worse with probability (1 - i/8)^8.
    for rank in range(3):
        share = (1 - rank / 8) ** 8 - (1 - (rank + 1) / 8) ** 8
        assert binomtest(chosen.count(rank), n, share).pvalue > 1e-3


def test_failed_trials_count_as_drawn_and_are_never_chosen():
    trials, n = rank_trials(4, failed=(0, 1)), 4000
    chosen = [resample_search(trials, seed)["rank"] for seed in range(n)]
    assert set(chosen) == {2, 3}
    some = 1 - 0.5**4  # of four draws, one at least has a score
    assert binomtest(chosen.count(2), n, (1 - 0.75**4) / some).pvalue > 1e-3


def test_a_search_without_scores_cannot_be_resampled():
    with pytest.raises(InvalidInput, match="none of the search's 3 trials has a score"):
        resample_search([Trial({"c": 1}, None)] * 3, 0)


# Simulating


def simulation(noise=0.01, tuner="random", seeds=(11, 12, 13), n=20):
    rng = np.random.default_rng(5)
    seed = next(iter(plan(FixHopt(1)))).search.tuner_seed
    trials, history = [], []
    for _ in range(n):
        params = TUNERS["random"].suggest(SPACE_OF_RUNS, history, 3, n)
        score = 0.9 - (params["c"] - 0.4) ** 2 - 0.1 * (np.log10(params["rate"]) + 1.5) ** 2
        trials.append(Trial(params, float(score + noise * rng.standard_normal())))
        history.append(trials[-1])
    return Simulation(tuner, n, seed, SPACE_OF_RUNS, tuple(trials), tuple(seeds), 0.85)


def test_choices_are_those_of_searches_on_the_surrogate():
    asked = simulation()
    given = simulate(asked)
    surrogate = fit_surrogate(SPACE_OF_RUNS, asked.trials, seed=asked.seed)
    expected = simulate_searches(surrogate.process, TUNERS["random"], asked.seeds, 20)
    assert given["choices"] == expected
    assert len({choice["c"] for choice in given["choices"]}) == 3


def test_a_recorded_chain_gives_the_same_surrogate_without_sampling(monkeypatch):
    asked = simulation(seeds=(11, 12))
    first = simulate(asked)
    monkeypatch.setattr("outperform.study.surrogate.sample_chain", None)
    chain = first["record"]["chain"]
    more = simulate(replace(asked, seeds=(12, 11), chain=chain))
    assert more["choices"] == first["choices"][::-1]
    assert more["record"]["chain"] == chain


def test_a_search_that_explains_nothing_is_refused_and_says_what_to_do():
    asked = simulation()
    rng = np.random.default_rng(1)
    noise = tuple(Trial(trial.params, float(rng.standard_normal())) for trial in asked.trials)
    given = simulate(replace(asked, trials=noise))
    assert given["choices"] == []
    problem, remedy = given["record"]["refused"]
    assert "explain" in problem
    assert remedy


def test_doubts_are_recorded():
    record = simulate(simulation(n=12))["record"]
    assert any("fewer than 20" in doubt for doubt in record["doubts"])


@pytest.mark.parametrize("tuner", ["random", "noisy-grid"])
def test_doubts_do_not_hang_on_how_many_searches_are_asked_for(tuner):
    few, many = (simulate(simulation(tuner=tuner, seeds=range(11, n))) for n in (12, 20))
    assert few["record"] == many["record"]
    assert few["choices"] == many["choices"][:1]


def test_searches_to_doubt_a_model_are_simulated_once(monkeypatch):
    asked = simulation()
    record = simulate(asked)["record"]
    assert len(record["chain"])
    monkeypatch.setattr("outperform.study.surrogate.simulate_searches", None)
    again = simulate(replace(asked, chain=record["chain"]))
    assert again["record"] == {"chain": record["chain"], "doubts": []}


def test_doubts_are_those_of_searches_by_the_tuner_itself():
    """A noisy grid of two goes where neither the trials nor random searches ever were."""
    space, places = {"c": Uniform(0, 1)}, np.linspace(0, 0.5, 30).tolist()
    trials = tuple(Trial({"c": c}, float(np.sin(40 * c))) for c in places)
    record = simulate(Simulation("noisy-grid", 2, 4, space, trials, (1,), 1.0))["record"]
    assert "of the simulated optima lie more than a length scale" in record["doubts"][-1]
    by_random_search = fit_surrogate(space, trials, seed=4, best_share=1.0)
    assert not any("of the simulated optima" in doubt for doubt in by_random_search.doubts)
