"""One contract for every tuner, and what is particular to each."""

import copy
import json
import logging
import subprocess
import sys
from importlib.util import find_spec
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from outperform.errors import InvalidInput, InvalidScores, MissingExtra
from outperform.study import tuners
from outperform.study.spaces import Choices, Integers, LogUniform, Uniform
from outperform.study.tuners import (
    TUNERS,
    Trial,
    best_trial,
    count_levels,
    make_tuner,
    suggest_random,
)

needs_optuna = pytest.mark.skipif(
    find_spec("optuna") is None or find_spec("cmaes") is None, reason="needs the extra optuna"
)
NAMES = [
    pytest.param(name, marks=needs_optuna if name in ("tpe", "cma-es") else ()) for name in TUNERS
]
N_TRIALS = 18
SPACES = {
    "mixed": {
        "lr": LogUniform(1e-4, 1e-1),
        "depth": Integers(1, 8),
        "activation": Choices(["relu", "tanh", True]),
        "momentum": Uniform(-1, 1),
    },
    "one dimension": {"c": Uniform(0, 1)},
    "only choices": {"a": Choices(["x", "y", "z"]), "b": Choices([1, 2.5, "two"])},
    "one choice": {"a": Choices(["x"]), "c": Uniform(0, 1)},
    "log integers": {"n": Integers(1, 1024, log=True), "m": Integers(2, 3)},
    "nothing": {},
}
spaces = pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
every_tuner = pytest.mark.parametrize("name", NAMES)


def score(space, params):
    return sum((space[name].to_unit(value) - 0.3) ** 2 for name, value in params.items()) * -1.0


def run(name, space, *, seed=0, n_trials=N_TRIALS, history=(), fails=lambda index: False):
    """A search that goes on from its history."""
    tuner, history = make_tuner(name), list(history)
    while len(history) < n_trials:
        params = tuner.suggest(space, tuple(history), seed, n_trials)
        failed = fails(len(history))
        history.append(Trial(params, None if failed else score(space, params)))
    return history


# The contract


@every_tuner
@spaces
def test_cut_anywhere_and_resumed_gives_the_same_points(name, space):
    whole = run(name, space, fails=lambda index: index % 4 == 1)
    for cut in range(0, N_TRIALS, 3):
        # Through text and back, as a store would give it.
        text = json.dumps([[trial.params, trial.score] for trial in whole[:cut]])
        recorded = [Trial(*pair) for pair in json.loads(text)]
        assert run(name, space, history=recorded, fails=lambda index: index % 4 == 1) == whole


@pytest.mark.parametrize("name", NAMES)
def test_another_process_gives_the_same_points(name):
    whole = run(name, SPACES["mixed"])
    code = (
        "from outperform.study.spaces import *\nfrom outperform.study.tuners import *\n"
        f"space = {SPACES['mixed']!r}\nhistory = {whole[:-1]!r}\n"
        f"print(make_tuner({name!r}).suggest(space, history, 0, {N_TRIALS}))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout == f"{whole[-1].params}\n", result.stderr
    assert result.stderr == ""  # optuna announces its studies unless told not to


@every_tuner
def test_same_seed_repeats_and_another_differs(name):
    space = SPACES["mixed"]
    assert run(name, space, seed=1) == run(name, space, seed=1)
    assert (run(name, space, seed=1) == run(name, space, seed=2)) == (name == "grid")


@every_tuner
@spaces
def test_suggestions_stay_inside_the_space(name, space):
    levels = count_levels(space, N_TRIALS)
    for trial in run(name, space, seed=3):
        assert list(trial.params) == list(space)
        for key, value in trial.params.items():
            dimension = space[key]
            if isinstance(dimension, Choices):
                assert any(value is option for option in dimension.options)
            else:
                jitters = name in ("noisy-grid", "wide-random") and not isinstance(
                    dimension, Integers
                )
                half_step = 0.5 / (levels[key] - 1) if jitters and levels[key] > 1 else 1e-9
                assert -half_step <= dimension.to_unit(value) <= 1 + half_step
                assert type(value) is (int if isinstance(dimension, Integers) else float)


@every_tuner
def test_nothing_passed_in_is_changed(name):
    space, history = SPACES["mixed"], run(name, SPACES["mixed"])[:-1]
    before = copy.deepcopy((space, history))
    make_tuner(name).suggest(space, history, 0, N_TRIALS)
    assert (space, history) == before


@every_tuner
def test_the_global_random_state_is_neither_read_nor_changed(name):
    state = np.random.get_state()[1].tolist()  # noqa: NPY002
    history = run(name, SPACES["mixed"])
    assert np.random.get_state()[1].tolist() == state  # noqa: NPY002
    np.random.seed(12345)  # noqa: NPY002
    try:
        assert run(name, SPACES["mixed"]) == history
    finally:
        np.random.seed(None)  # noqa: NPY002


@every_tuner
@spaces
def test_a_search_of_failures_goes_on(name, space):
    history = run(name, space, fails=lambda index: True)
    assert len(history) == N_TRIALS
    if not TUNERS[name].uses_history:
        assert [t.params for t in history] == [t.params for t in run(name, space)]


@every_tuner
def test_a_history_longer_than_planned_is_no_obstacle(name):
    tuner, history = make_tuner(name), run(name, SPACES["mixed"])
    for n_trials in (1, 5):
        assert tuner.suggest(SPACES["mixed"], history, 0, n_trials).keys() == SPACES["mixed"].keys()


@every_tuner
def test_the_order_of_hyperparameters_changes_nothing(name):
    space = SPACES["mixed"]
    turned = dict(reversed(space.items()))
    assert [t.params for t in run(name, space)] == [t.params for t in run(name, turned)]


@every_tuner
def test_tuners_say_truly_whether_they_use_history(name):
    """Those that do not may run at the same time, so their points may not depend on scores."""
    space = SPACES["one dimension"]
    history = [trial.params for trial in run(name, space)]
    other = [
        make_tuner(name).suggest(
            space, [Trial(params, 5.0 - index) for params in history[:index]], 0, N_TRIALS
        )
        for index in range(N_TRIALS)
    ]
    assert (history != other) == TUNERS[name].uses_history


@pytest.mark.parametrize(
    "name", [param for param in NAMES if param.values[0] in ("gp-ei", "tpe", "cma-es")]
)
def test_tuners_with_history_learn_from_it(name):
    """They come near the optimum; with meaningless scores they do not."""
    space = {"a": Uniform(0, 1), "b": Uniform(0, 1), "c": LogUniform(1, 100)}

    def miss(seed, meaningless):
        history, rng = [], np.random.default_rng(seed)
        for _ in range(24):
            params = make_tuner(name).suggest(space, history, seed, 24)
            history.append(Trial(params, rng.normal() if meaningless else score(space, params)))
        return min(-score(space, trial.params) for trial in history[12:])

    learnt = [miss(seed, meaningless=False) for seed in range(6)]
    not_learnt = [miss(seed, meaningless=True) for seed in range(6)]
    assert np.mean(learnt) < np.mean(not_learnt) / 2


# Random search


def test_random_search_is_uniform():
    space = {"a": LogUniform(1, 1000), "b": Uniform(0, 1)}
    draws = [suggest_random(space, [Trial({}, None)] * i, 0, 1) for i in range(1000)]
    a, b = np.log10([d["a"] for d in draws]) / 3, np.array([d["b"] for d in draws])
    assert kstest(a, "uniform").pvalue > 0.01
    assert kstest(b, "uniform").pvalue > 0.01
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.1
    assert abs(np.corrcoef(a[1:], a[:-1])[0, 1]) < 0.1


# Grids


@given(st.lists(st.sampled_from(["u", "i", "c"]), min_size=1, max_size=5), st.integers(1, 200))
def test_grids_are_the_smallest_even_ones(kinds, n_trials):
    of_kind = {"u": Uniform(0, 1), "i": Integers(1, 3), "c": Choices(["a", "b"])}
    space = {str(index): of_kind[kind] for index, kind in enumerate(kinds)}
    levels = count_levels(space, n_trials)
    free = [n for name, n in levels.items() if isinstance(space[name], Uniform)]
    size = int(np.prod(list(levels.values())))
    if free:
        assert max(free) - min(free) <= 1
        assert size >= n_trials
        if max(free) > 1:  # one level less in one dimension would be too few
            assert size // max(free) * (max(free) - 1) < n_trials
    whole = [n for name, n in levels.items() if isinstance(space[name], Integers)]
    assert all(n <= 3 for n in whole)
    assert all(n >= min(3, max(free, default=1) - 1) for n in whole)


def test_the_grid_is_full_and_in_order():
    space = {"b": Uniform(0, 2), "a": Integers(1, 3), "c": Choices(["x", "y"])}
    points = [tuple(trial.params.values()) for trial in run("grid", space, n_trials=18)]
    expected = [(b, a, c) for a, b, c in product([1, 2, 3], [0.0, 1.0, 2.0], ["x", "y"])]
    assert points == expected


def test_a_search_longer_than_the_grid_starts_anew():
    space = {"a": Integers(1, 3)}
    assert [trial.params["a"] for trial in run("grid", space, n_trials=5)] == [1, 2, 3, 1, 2]


def test_the_noisy_grid_is_the_grid_on_average():
    """E[p̃_ij] = p_ij, in log space where the dimension is log-scaled (000, appendix E.2)."""
    space = {"c": Uniform(0, 4), "lr": LogUniform(1, 10**4)}
    histories = [[Trial({}, None)] * index for index in (0, 6, 12, 18, 24)]  # the diagonal

    def diagonal(name, seed):
        points = [make_tuner(name).suggest(space, history, seed, 25) for history in histories]
        return [[point["c"], np.log10(point["lr"])] for point in points]

    exact = np.array(diagonal("grid", 0))
    noisy = np.array([diagonal("noisy-grid", seed) for seed in range(1000)])
    assert exact == pytest.approx(np.repeat(np.arange(5), 2).reshape(5, 2))
    # Steps are 1: a point's standard deviation is at most that of U(±1/2), 0.289.
    assert np.abs(noisy.mean(axis=0) - exact).max() < 4 * 0.289 / np.sqrt(1000)
    assert noisy.min(axis=(0, 1)) == pytest.approx([-0.5, -0.5], abs=0.01)
    assert noisy.max(axis=(0, 1)) == pytest.approx([4.5, 4.5], abs=0.01)
    # Ends are moved on their own, and so are dimensions; what lies between moves with both ends.
    spread = 0.289 * np.sqrt([1, 10 / 16, 1 / 2, 10 / 16, 1])
    assert pytest.approx(np.tile(spread, (2, 1)), abs=0.02) == noisy.std(axis=0).T
    assert abs(np.corrcoef(noisy[:, 0, 0], noisy[:, 4, 0])[0, 1]) < 0.13
    assert abs(np.corrcoef(noisy[:, 0, 0], noisy[:, 0, 1])[0, 1]) < 0.13


def test_noisy_grids_are_evenly_spaced_in_one_search():
    for seed in range(5):
        trials = run("noisy-grid", {"c": Uniform(0, 4)}, seed=seed, n_trials=6)
        steps = np.diff([trial.params["c"] for trial in trials])
        assert steps == pytest.approx(steps[0])


WIDENED = {"c": Uniform(0, 4), "lr": LogUniform(1, 10**4), "d": Choices(["x"])}


def draw_many(name, space, n_trials, seeds=range(400)):
    suggest = make_tuner(name).suggest
    histories = [[Trial({}, None)] * index for index in range(n_trials)]
    return [suggest(space, history, seed, n_trials) for seed in seeds for history in histories]


def test_wide_random_search_covers_what_noisy_grids_cover():
    """000, appendix E.3: steps are 1 in both dimensions, so that both reach from -0.5 to 4.5."""
    for name in ("wide-random", "noisy-grid"):
        points = draw_many(name, WIDENED, 25)
        for places in (
            np.array([point["c"] for point in points]),
            np.log10([point["lr"] for point in points]),
        ):
            assert places.min() == pytest.approx(-0.5, abs=0.02)
            assert places.max() == pytest.approx(4.5, abs=0.02)
            if name == "wide-random":
                assert kstest((places + 0.5) / 5, "uniform").pvalue > 0.001
    places = [point["c"] for point in draw_many("random", WIDENED, 25)]  # negative control
    assert (min(places) > 0, max(places) < 4) == (True, True)


@given(st.integers(2, 200), st.integers(0, 10**6), st.integers(0, 200))
def test_wide_random_search_never_leaves_the_widest_noisy_grid(n_trials, seed, index):
    space = SPACES["mixed"]
    point = make_tuner("wide-random").suggest(space, [Trial({}, None)] * index, seed, n_trials)
    for name, n_levels in count_levels(space, n_trials).items():
        if name in ("lr", "momentum"):
            low, *_, high = space[name].grid(max(n_levels, 2), jitter=(-0.5, 0.5))
            assert low * (1 - 1e-12) - 1e-12 <= point[name] <= high * (1 + 1e-12) + 1e-12


def test_wide_random_search_widens_nothing_without_a_step():
    """Whole numbers and choices stay what they are, and so do dimensions of one value."""
    space = {"n": Integers(1, 1024, log=True), "k": Choices(["x", "y"]), "z": Uniform(0, 1)}
    wide, narrow = (
        draw_many(name, space, 4, seeds=range(50)) for name in ("wide-random", "random")
    )
    assert count_levels(space, 4) == {"k": 2, "n": 2, "z": 1}
    assert wide == narrow


# TPE and CMA-ES


@needs_optuna
def test_optuna_s_logger_is_left_as_it_was():
    import optuna

    level = optuna.logging.get_verbosity()
    try:
        for ours in (logging.INFO, logging.ERROR):
            optuna.logging.set_verbosity(ours)
            run("tpe", SPACES["mixed"], n_trials=2)
            assert optuna.logging.get_verbosity() == ours
    finally:
        optuna.logging.set_verbosity(level)


@needs_optuna
def test_failures_rank_last_in_cma_es():
    """A strategy whose trials fail wherever x > 1/2 moves below."""
    space = {"x": Uniform(0, 1), "y": Uniform(0, 1)}
    history = []
    for _ in range(60):
        params = make_tuner("cma-es").suggest(space, history, 0, 60)
        history.append(Trial(params, None if params["x"] > 0.5 else params["x"]))
    late = [trial.params["x"] for trial in history[-20:]]
    assert 0.35 < np.mean(late) < 0.55


@pytest.mark.parametrize(("name", "package"), [("tpe", "optuna"), ("cma-es", "cmaes")])
def test_a_missing_package_is_named(name, package, monkeypatch):
    monkeypatch.setattr(tuners, "find_spec", lambda package: None)
    with pytest.raises(MissingExtra) as caught:
        make_tuner(name)
    assert str(caught.value) == (
        f"tuner {name!r} needs the package {package}. "
        "Install it with: pip install 'outperform[optuna]'."
    )


def test_nothing_slow_is_imported_before_it_is_needed():
    code = (
        "import sys, outperform.study.tuners, outperform.study.splits\n"
        "print([n for n in ('scipy.optimize', 'scipy.linalg', 'optuna', 'cmaes', 'sklearn') "
        "if n in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout == "[]\n", result.stderr


# The best trial


@settings(max_examples=50)
@given(st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=1))
def test_the_best_trial_is_the_earliest_of_the_best(scores):
    history = [Trial({"i": i}, score) for i, score in enumerate(scores)]
    given_scores = [score for score in scores if score is not None]
    if given_scores:
        assert best_trial(history).params == {"i": scores.index(max(given_scores))}
    else:
        with pytest.raises(InvalidInput):
            best_trial(history)


# Refusals


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: make_tuner("randon"),
            InvalidInput,
            "there is no tuner 'randon'. Did you mean 'random'? It has: random, "
            "wide-random, grid, noisy-grid, gp-ei, tpe, cma-es.",
        ),
        (
            lambda: best_trial([Trial({}, None), Trial({}, None)]),
            InvalidInput,
            "none of the search's 2 trials has a score. Look at the errors of the failed fits; "
            "mend the pipeline or narrow the search space.",
        ),
        (
            lambda: Trial({}, float("nan")),
            InvalidScores,
            "a trial's score is nan. Pass None for a failed trial.",
        ),
        (
            lambda: count_levels({}, 0),
            InvalidInput,
            "n_trials is 0. Pass a whole number not less than 1.",
        ),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message
