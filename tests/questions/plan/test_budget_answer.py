"""What a budget buys by each design, planned from stores and studies."""

import json
from dataclasses import replace

import numpy as np
import pytest

from outperform.engines import InlineEngine
from outperform.errors import InvalidInput, OutperformError
from outperform.questions.decompose.search_curves import trace_searches
from outperform.questions.plan.budget_answer import plan_budget
from outperform.questions.plan.budget_result import (
    BudgetPlan,
    Costs,
    DesignOption,
    ErrorRates,
    list_options,
)
from outperform.questions.plan.constants import (
    CASE_STUDIES,
    Constants,
    SearchLength,
    estimate_typical,
    find_moments,
    find_squared_bias,
    make_typical,
    measure_search_lengths,
    trace_trials,
)
from outperform.runner import run_fits
from outperform.stats import repeated_means
from outperform.store import Measurement, RunLabel, open_store
from outperform.store.repeated_runs import LEFT_OUT
from outperform.study.designs import FixHopt, Ideal, name_repetition
from outperform.study.pipelines import FunctionPipeline
from outperform.study.spaces import Uniform
from outperform.study.study import Study
from outperform.study.study_file import read_study
from outperform.study.tasks import Task
from outperform.wording import count

SOURCES = ("split", "init")
NAMES = ("vgg", "segmentation", "bert-sst2", "bert-rte", "bio-task2")


def fit(params, split, seeds):
    """Scores fall with the distance from 0.3, and searches see it through noise of their own."""
    by_split, by_init = (np.random.default_rng(seeds[name]).normal() for name in ("split", "init"))
    noise = np.random.default_rng([seeds["init"], int(params["c"] * 1e9)]).normal()
    value = -3 * abs(params["c"] - 0.3)
    return {"valid": value + noise / 2, "test": 10 + value + by_split / 2 + by_init / 3}


def make_study(*designs, function=fit, tuner="random", trials=6, spaces=(True, True)):
    pipelines = [
        FunctionPipeline(name, function, {"c": Uniform(0, 1)} if is_searched else {}, SOURCES)
        for name, is_searched in zip(("a", "b"), spaces, strict=True)
    ]
    tasks = (Task("toy", metric="accuracy"),)
    return Study(pipelines, tasks, designs or (Ideal(2),), tuner=tuner, trials=trials)


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "study.db") as opened:
        yield opened


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Path of the store of a study with repeated fix-hopt, and the study."""
    path, study = tmp_path_factory.mktemp("finished") / "study.db", make_study(FixHopt(3, (), 6))
    with open_store(path) as opened, InlineEngine() as engine:
        run_fits(study, opened, engine)
    return path, study


def run(study, store):
    with InlineEngine() as engine:
        run_fits(study, store, engine)
    return store


def find_plan(result, name):
    return next(plan for plan in result.plans if plan.name == name)


def test_rho_is_that_of_the_recorded_repetitions(finished):
    path, _ = finished
    with open_store(path) as store:
        scores, labels = store.scores(), store.run_labels()
    rows = [
        [
            scores[label.key]["test"]
            for label in sorted(labels, key=lambda label: label.replicate)
            if (label.pipeline, label.source) == ("a", name_repetition("all", repetition))
        ]
        for repetition in range(6)
    ]
    measured = repeated_means(rows)
    result = plan_budget(path, budget=200, pipelines=["a"])
    (constants,) = result.constants
    assert not constants.typical
    assert constants.estimate == pytest.approx(max(0, measured.correlation.value))
    assert constants.correlation == measured.expected_correlation
    assert constants.high == pytest.approx(measured.correlation.interval.high)
    (variation,) = result.variations
    assert variation.sd**2 == pytest.approx(measured.within_variance + measured.shared_variance)


def test_errors_by_hand():
    # ρ = 0.1; two pipelines, 50 trials, 2,000 fits, hence 1,000 of each pipeline:
    # ideal 19 × 51: 1/√19; one search, k = 950: √(0.1 + 0.9/950).
    constants = Constants("fix-hopt", 0.1, 0.1, 0.0, 0.4)
    costs = Costs(2.0, 2.0, "fits", 2, 2)
    ideal = DesignOption("ideal", constants, (None,), 50, {"n_replicates": 1})
    one = DesignOption("one", constants, (None,), 50, {"n_searches": 1})
    plans = [option.plan(2000, costs, ErrorRates()) for option in (ideal, one)]
    assert [plan.n_fits for plan in plans] == [1938, 2000]
    assert plans[0].error == plans[0].error_high == pytest.approx(19**-0.5)
    assert plans[1].error == pytest.approx((0.1 + 0.9 / 950) ** 0.5)
    assert plans[1].error_high == pytest.approx((0.4 + 0.6 / 950) ** 0.5)
    # One search of each shows nothing of others, at any cost.
    assert plans[1].shown is plans[1].cost_for_gamma is None
    # 30 ideal pairs show 0.752 and 31 show less than 0.75: 31·51·2 = 3,162 fits.
    assert plans[0].cost_for_gamma == 3162


def test_ideal_runs_are_what_others_are_off_from():
    constants, costs = Constants("fix-hopt", 0.1, 0.1, 0.0, 0.4, squared_bias=0.5), Costs(1.0, 1.0)
    ideal, one, _ = (
        option.plan(510, costs, ErrorRates()) for option in list_options((constants,), (), 50)
    )
    assert ideal.error == pytest.approx(10**-0.5)
    assert one.error == pytest.approx((0.1 + 0.9 / 460 + 0.5) ** 0.5)


def test_runs_that_vary_more_are_worth_less():
    # A run of resampled-hopt varies by 1.6, of which 0.3 are shared as after fix-hopt: ρ is less,
    # the error is not.
    fixed = Constants("fix-hopt", 0.3, 0.3, 0.3, 0.3)
    redrawn = Constants("resampled-hopt", 0.1875, 0.1875, 0.1875, 0.1875, variance=1.6)
    constants, costs, rates = (fixed, redrawn), Costs(1.0, 1.0), ErrorRates()
    options = tuple(list_options(constants, (), 50))
    plans = tuple(option.plan(250, costs, rates) for option in options)
    result = BudgetPlan(250, costs, 50, rates, constants, plans, options)
    one = find_plan(result, "resampled-hopt, one search")
    assert one.error == pytest.approx((0.3 + 1.3 / 200) ** 0.5)
    assert one.effective_runs == pytest.approx(1 / (0.3 + 1.3 / 200))
    assert one.compare_about == "one search, and others redrawn from it"
    fewer = find_plan(result, "fix-hopt, one search")
    assert one.error > fewer.error
    # The difference that is shown, in runs tuned anew.
    several = [option.plan(2000, costs, rates) for option in options[3:]]
    assert [plan.design for plan in several] == ["fix-hopt", "resampled-hopt"]
    assert several[0].shown < several[1].shown < 1
    assert result.recommended.design != "resampled-hopt"


def test_false_alarms_of_wins_after_one_search_are_as_simulated():
    constants, costs = Constants("fix-hopt", 0.1, 0.1, 0.0, 0.4), Costs(1.0, 1.0)
    option = DesignOption("one", constants, (None,), 50, {"n_searches": 1})
    plan = option.plan(100, costs, ErrorRates())
    rng, n_draws = np.random.default_rng(2), 20_000
    luck = rng.normal(scale=0.1**0.5, size=(2, n_draws, 1))
    a, b = luck + rng.normal(scale=0.9**0.5, size=(2, n_draws, 50))
    wins = (a > b).sum(axis=1)
    # Of 50 pairs 33 wins are significant: P(W ≥ 33) = 0.0164 < 0.025 < 0.0325 = P(W ≥ 32).
    alarms = ((wins >= 33) | (wins <= 17)).mean()
    assert alarms > 0.25
    assert plan.compare_false_alarms == pytest.approx(alarms, abs=0.012)


def test_the_bias_counts_as_far_as_it_is_beyond_chance():
    # Means of repetitions 1 and 3: 2 ± 1, and V = 2 + (2 − 2/2) = 3. Ideal: 8 ± √(2/2) = 8 ± 1.
    means = repeated_means([[0.0, 2.0], [2.0, 4.0]])
    assert (means.mean_error, means.within_variance, means.shared_variance) == (1, 2, 1)
    assert find_squared_bias(means, np.array([7.0, 9.0])) == pytest.approx((36 - 1 - 1) / 3)
    assert find_squared_bias(means, np.array([2.0, 4.0])) == 0
    assert find_squared_bias(means, np.array([9.0])) == 0


def test_a_shorter_search_adds_luck_and_bias():
    constants = Constants("fix-hopt", 0.2, 0.2, 0.0, 0.4, squared_bias=0.01)
    varied = constants.vary(length=SearchLength(5, 0.04, 0.25))
    # V = 1.25, of which 0.2 + 0.25 = 0.45 are shared.
    assert (varied.variance, varied.correlation) == (1.25, pytest.approx(0.36))
    assert varied.squared_bias == pytest.approx(0.05)


def test_wins_after_one_search_are_about_that_search(finished):
    result = plan_budget(finished[0], budget=1000)
    one, ideal = find_plan(result, "fix-hopt, one search"), find_plan(result, "ideal")
    assert one.compare_about == "the hyperparameters that one search found"
    assert one.n_pairs == one.split.n_replicates
    assert ideal.compare_about == "pipelines tuned anew"
    assert ideal.compare_false_alarms < 0.05
    # Read as of pipelines tuned anew, more pairs only make the search's luck significant.
    assert one.compare_false_alarms > ideal.compare_false_alarms


@pytest.mark.parametrize("budget", [14, 60, 200, 1000])
def test_the_lines_for_the_study_file_cost_what_they_say(finished, tmp_path, budget):
    result = plan_budget(finished[0], budget=budget)
    lines = "\n".join(result.study_lines)
    text = (
        f'name = "toy"\n{lines}\n[[task]]\ndata = "iris"\nmetric = "accuracy"\n'
        '[[pipeline]]\nname = "a"\nestimator = "sklearn.svm.SVC"\n'
        "[pipeline.space]\nC = {log-uniform = [0.1, 10.0], default = 1.0}\n"
        '[[pipeline]]\nname = "b"\nestimator = "sklearn.tree.DecisionTreeClassifier"\n'
        "[pipeline.space]\nmax_depth = {integers = [1, 9], default = 5}\n"
    )
    (tmp_path / "study.toml").write_text(text)
    study = read_study(tmp_path / "study.toml")
    assert study.count_fits() == result.recommended.n_fits <= budget


def test_searches_without_luck_have_no_correlation(store):
    # The hyperparameter changes nothing, so that all searches find the same.
    def ignore(params, split, seeds):
        return fit({"c": 0.3}, split, seeds)

    study = make_study(FixHopt(10, (), 12), function=ignore, trials=2)
    (constants,) = plan_budget(run(study, store), budget=400, pipelines=["a"]).constants
    assert constants.estimate < 0.1
    assert constants.low == 0


@pytest.mark.parametrize(
    ("rho", "name"),
    [(0.0, "fix-hopt, one search"), (0.1, "fix-hopt, several searches"), (1.0, "ideal")],
)
def test_how_much_luck_matters_decides(rho, name):
    constants, costs = (Constants("fix-hopt", rho, rho, rho, rho),), Costs(2.0, 2.0, "fits", 2, 2)
    options = tuple(list_options(constants, (), 50))
    plans = tuple(option.plan(3000, costs, ErrorRates()) for option in options)
    result = BudgetPlan(3000, costs, 50, ErrorRates(), constants, plans, options)
    assert result.recommended.name == name


def test_of_designs_that_are_as_good_the_simplest_is_recommended():
    # Searches of 49 trials, as good as those of 50, are a little cheaper, and no reason to change.
    constants, costs = (Constants("fix-hopt", 0.1, 0.1, 0.1, 0.1),), Costs(1.0, 1.0)
    options = tuple(list_options(constants, (SearchLength(49, 0.0, 0.0),), 50))
    plans = tuple(option.plan(3000, costs, ErrorRates()) for option in options)
    result = BudgetPlan(3000, costs, 50, ErrorRates(), constants, plans, options)
    assert plans[-1].error < result.recommended.error
    assert result.recommended.name == "fix-hopt, several searches"
    # Searches of 5 that find as much are one.
    options = tuple(list_options(constants, (SearchLength(5, 0.0, 0.0),), 50))
    plans = tuple(option.plan(3000, costs, ErrorRates()) for option in options)
    result = BudgetPlan(3000, costs, 50, ErrorRates(), constants, plans, options)
    assert result.recommended.name == "fix-hopt, shorter searches"
    assert result.study_lines[1] == "trials = 5"


def test_rho_of_several_pipelines_is_their_mean(finished):
    pooled = plan_budget(finished[0], budget=200)
    values = [each.correlation.value for each in pooled.variations]
    highs = [each.correlation.interval.high for each in pooled.variations]
    assert pooled.constants[0].estimate == pytest.approx(max(0, np.mean(values)))
    assert pooled.constants[0].high == pytest.approx(np.mean(highs))


def test_more_budget_is_never_worse(finished):
    results = [plan_budget(finished[0], budget=budget) for budget in (50, 80, 170, 600, 2500)]
    for name in ("ideal", "fix-hopt, one search"):
        errors = [find_plan(result, name).error for result in results]
        assert errors == sorted(errors, reverse=True)
    least = [min(plan.error for plan in result.plans) for result in results]
    assert least == sorted(least, reverse=True)


def test_only_pipelines_with_a_space_pay_for_trials():
    costs = plan_budget(make_study(spaces=(True, False)), hours=1, seconds_per_fit=2).costs
    assert (costs.trial, costs.fit) == (2, 4)


def test_hours_are_fits_of_so_many_seconds():
    study = make_study(trials=50)
    by_hours = plan_budget(study, hours=2, seconds_per_fit=3.6)
    by_fits = plan_budget(study, budget=2000)
    for timed, counted in zip(by_hours.plans, by_fits.plans, strict=True):
        assert (timed.split.n_searches, timed.n_fits) == (
            counted.split.n_searches,
            counted.n_fits,
        )
    assert by_hours.costs.unit == "seconds"
    assert str(by_hours).startswith("2.0 h of fits are best spent on ")


def test_recorded_seconds_are_taken_before_those_told(finished):
    with open_store(finished[0]) as store:
        recorded = store.mean_seconds()
    seconds = sum(recorded.values())  # of a fit of each
    result = plan_budget(finished[0], hours=300 * seconds / 3600, seconds_per_fit=1e6)
    assert result.costs.fit == pytest.approx(seconds)


def test_a_pipeline_without_hyperparameters_costs_no_trials():
    result = plan_budget(make_study(spaces=(True, False), trials=10), budget=120)
    assert (result.costs.trial, result.costs.fit) == (1, 2)
    assert find_plan(result, "ideal").n_fits == 120


def test_a_study_without_any_fit_is_planned_with_typical_constants():
    result = plan_budget(make_study(trials=50), budget=2000)
    assert result.constants == (make_typical(),)
    assert result.caveats[0].startswith(
        "ρ is typical of published case studies, not measured on yours: ρ = 0.16 on average, "
        "from 0 to 0.59"
    )
    assert result.caveats[1] == (
        'a pilot of 1,100 fits would measure it: kind = "fix-hopt", replicates = 5, '
        "repetitions = 10"
    )
    assert result.variations == ()


def test_a_pilot_that_does_not_tell_rho_says_what_would(store):
    result = plan_budget(run(make_study(FixHopt(4)), store), budget=500)
    assert result.constants[0].typical
    assert "(fix-hopt was not repeated, or its runs do not vary)" in result.caveats[0]
    assert result.caveats[1].startswith("a pilot of 220 fits, ")
    # How much runs vary is known all the same.
    assert all(each.sd > 0 and each.correlation is None for each in result.variations)
    assert "not known" in str(result.tables[2])


def test_one_run_tells_nothing_of_how_runs_vary(store):
    result = plan_budget(run(make_study(FixHopt(1)), store), budget=500)
    assert [each.sd for each in result.variations] == [None, None]
    assert len(result.tables) == 3


def test_repetitions_with_failed_runs_are_left_out_and_counted(store):
    def fail_once(params, split, seeds):
        scores = fit(params, split, seeds)
        if scores["test"] > 10.5:
            raise ValueError("too good")
        return scores

    result = plan_budget(run(make_study(FixHopt(2, (), 12), function=fail_once), store), budget=99)
    left = sum(12 - each.n_repetitions for each in result.variations)
    assert left > 0
    doubt = f"left out {count(left, 'repetition')} of fix-hopt {LEFT_OUT}"
    assert doubt in result.caveats


def test_a_metric_to_minimize_is_planned_as_its_mirror_image(finished, store):
    def mirror(params, split, seeds):
        return {name: -score for name, score in fit(params, split, seeds).items()}

    study = replace(
        make_study(FixHopt(3, (), 6), function=mirror), tasks=(Task("toy", metric="error"),)
    )
    mirrored, result = (
        plan_budget(run(study, store), budget=500),
        plan_budget(finished[0], budget=500),
    )
    assert mirrored.recommended.error == pytest.approx(result.recommended.error)
    for length, other in zip(mirrored.search_lengths, result.search_lengths, strict=True):
        assert length.squared_bias == pytest.approx(other.squared_bias)


def test_few_repetitions_are_doubted(finished):
    caveats = plan_budget(finished[0], budget=200).caveats
    assert "6 repetitions are few: ρ is rough, as its interval says" in caveats


FIRST_ALONE = (
    "of several searches of simulated-hopt `outperform compare` counts the wins after the first"
)


def plan_with_simulated(path, tmp_path, noise):
    """Plan with runs of simulated-hopt, labelled as those of fix-hopt are, luck 1; their scores."""
    rng = np.random.default_rng(0)
    with open_store(path) as original:
        original.backup(tmp_path / "copy.db")
    with open_store(tmp_path / "copy.db") as store:
        description = store.get_meta("study")
        sources = [name_repetition("all", i) for i in range(6)]
        description["designs"] += [
            {"design": "simulated-hopt", "source": source, "replicates": 3} for source in sources
        ]
        store.set_meta("study", description)
        some = next(iter(store.measurements()))
        drawn = {"a": [], "b": []}
        for source in sources:
            luck = rng.normal()
            for name in ("a", "b"):
                for i in range(3):
                    key = f"{name}{source}{i}"
                    scores = {"test": 10 + luck + noise * rng.normal()}
                    drawn[name].append(scores["test"])
                    store.add(
                        [_copy(some, key, name, scores)],
                        [RunLabel("simulated-hopt", source, i, name, "toy", key)],
                    )
        return plan_budget(store, budget=1000), drawn


def test_designs_with_constants_of_their_own_are_planned_with_them(finished, tmp_path):
    result, drawn = plan_with_simulated(finished[0], tmp_path, noise=0.01)
    fixed, simulated = result.constants
    assert simulated.design == "simulated-hopt"
    assert fixed.correlation < 0.9 < simulated.correlation
    # All in the unit of fix-hopt.
    ratios = [
        repeated_means(np.reshape(drawn[each.pipeline], (6, 3))).variance / each.sd**2
        for each in result.variations
    ]
    assert (fixed.variance, simulated.variance) == pytest.approx((1, np.mean(ratios)))
    # With as many searches as runs, it is no design of its own.
    assert "simulated-hopt, several searches" not in [plan.name for plan in result.plans]
    assert not [caveat for caveat in result.caveats if FIRST_ALONE in caveat]
    one = find_plan(result, "simulated-hopt, one search")
    assert one.error > find_plan(result, "fix-hopt, one search").error
    doubt = "their mean is taken to be as precise"
    assert doubt not in str(result.caveats)
    assert doubt in str(plan_budget(finished[0], budget=1000).caveats)


def test_wins_after_several_searches_that_are_simulated_are_about_the_first(finished, tmp_path):
    result, _ = plan_with_simulated(finished[0], tmp_path, noise=3)
    several = find_plan(result, "simulated-hopt, several searches")
    assert several.split.n_searches > 1
    assert several.compare_about == "one search, and others redrawn from it"
    (caveat,) = [each for each in result.caveats if FIRST_ALONE in each]
    assert caveat == (
        f"{FIRST_ALONE} alone, which tell nothing of pipelines tuned anew; the means of all of "
        "them, which it tests, do"
    )


def _copy(measurement, key, pipeline, scores):
    made = replace(measurement, key=key, pipeline=pipeline, scores=scores)
    assert isinstance(made, Measurement)
    return made


def test_shorter_searches_find_less(finished):
    path, study = finished
    with open_store(path) as store:
        lengths = measure_search_lengths(study, store, [("a", "toy")])
    assert [each.n_trials for each in lengths] == [1, 2, 3, 4, 5]
    assert lengths[0].squared_bias > lengths[-1].squared_bias
    assert lengths[0].extra_luck > 0


def test_a_search_of_one_trial_by_hand(finished):
    # Any trial is a search of one: its expected score is the mean of all trials.
    path, study = finished
    with open_store(path) as store:
        found = np.array(trace_trials(study, store, [("a", "toy")])["a", "toy"])
        curve = trace_searches(study, store).curves[0]
    mean, variance = find_moments(found, [1, 6])
    centre = found[:, 1].mean()
    assert mean[0] == pytest.approx(0, abs=1e-12)
    # All six trials: what the search did find.
    assert mean[1] + centre == pytest.approx(curve.test.mean[-1])
    assert variance[1] == pytest.approx(curve.test.sd[-1] ** 2)


@pytest.mark.slow
def test_moments_of_short_searches_are_those_of_short_searches():
    def draw(n_searches, n_trials):
        valid = rng.normal(size=(n_searches, n_trials))
        split = rng.normal(size=(n_searches, 1))
        return np.stack([valid, valid + split + rng.normal(size=valid.shape)], axis=1)

    rng = np.random.default_rng(3)
    mean, variance = find_moments(long := draw(4000, 12), [3])
    short = draw(40_000, 3)
    chosen = np.take_along_axis(short[:, 1], short[:, 0].argmax(axis=1)[:, None], axis=1)
    assert mean[0] + long[:, 1].mean() == pytest.approx(chosen.mean(), abs=0.06)
    assert variance[0] == pytest.approx(chosen.var(), rel=0.06)


@pytest.mark.parametrize(
    ("tuner", "trials", "n_repetitions"), [("gp-ei", 3, 5), ("random", 3, 4), ("random", 1, 5)]
)
def test_lengths_are_not_known_without_five_random_searches(store, tuner, trials, n_repetitions):
    study = make_study(FixHopt(2, (), n_repetitions), tuner=tuner, trials=trials)
    result = plan_budget(run(study, store), budget=100)
    assert result.search_lengths == ()
    assert not any("shorter" in plan.name for plan in result.plans)


def test_typical_constants_are_those_published(shared_data):
    published = json.loads((shared_data / "variance_constants" / "stats.json").read_text())
    for name, (sigma, error, k) in zip(NAMES, CASE_STUDIES.values(), strict=True):
        assert sigma == pytest.approx(published[name]["sigma"], rel=1e-3)
        assert error == pytest.approx(published[name]["sigma_epsilon"][str(k)]["biased"], rel=1e-3)


def test_typical_rho_by_hand():
    # (100·(0.002982/0.003859)² − 1)/99 = (59.71 − 1)/99 = 0.593; a negative one is none.
    typical = estimate_typical()
    assert typical["CIFAR10 VGG11"] == pytest.approx(0.593, abs=0.001)
    assert typical["MHC MLP"] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": -3}, "budget is -3. Pass a positive number."),
        ({"hours": 0, "seconds_per_fit": 1}, "hours is 0. Pass a positive number."),
        ({}, "the budget is None fits and None hours. Pass one of the two: budget or hours."),
        (
            {"budget": 9, "hours": 1},
            "the budget is 9 fits and 1 hours. Pass one of the two: budget or hours.",
        ),
        (
            {"budget": 101},
            "the budget is 101 fits, but one search of 50 trials for each of 2 pipelines on a "
            "task, with one final fit, takes 102 fits. Plan for 102 fits or more, or let the study "
            "search with fewer trials.",
        ),
        (
            {"budget": 1_000_001},
            "the budget is 1,000,001 fits, but no study has more than 1,000,000 runs, which take "
            "1,000,000 fits. Plan for less.",
        ),
        (
            {"hours": 1},
            "how long a fit of a on toy takes is not known. Pass --seconds-per-fit "
            "(seconds_per_fit in Python), or a budget of fits.",
        ),
        ({"budget": 500, "task": "toi"}, "the study of study has no task 'toi'. Did you mean"),
        ({"budget": 500, "pipelines": ["z"]}, "the study of study has no pipeline 'z'."),
    ],
)
def test_what_cannot_be_planned_is_refused(options, message):
    with pytest.raises(OutperformError) as caught:
        plan_budget(make_study(trials=50), **options)
    assert str(caught.value).startswith(message)


def test_nothing_to_search_is_nothing_to_split():
    with pytest.raises(InvalidInput) as caught:
        plan_budget(make_study(spaces=(False, False)), budget=100)
    assert str(caught.value) == (
        "no pipeline of study has hyperparameters to search, so that all runs are independent and "
        "there is nothing to split. Plan the number of pairs: `outperform plan` without a budget."
    )
