"""Search spaces: scales, grids, defaults and refusals."""

import json
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import kstest

from outperform.errors import InvalidInput
from outperform.study.spaces import (
    Choices,
    Integers,
    LogUniform,
    Uniform,
    default_params,
    make_space,
)

units = st.floats(0, 1)
finite = st.floats(-1e6, 1e6)
positive = st.floats(1e-6, 1e6)


@st.composite
def ranges(draw, numbers):
    low, high = sorted([draw(numbers), draw(numbers)])
    assume(high - low > 1e-6 * max(abs(low), abs(high), 1e-6))
    return low, high


@st.composite
def integers(draw):
    log = draw(st.booleans())
    low = draw(st.integers(1 if log else -100, 100))
    return Integers(low, low + draw(st.integers(1, 300)), log=log)


dimensions = st.one_of(
    ranges(finite).map(lambda ends: Uniform(*ends)),
    ranges(positive).map(lambda ends: LogUniform(*ends)),
    integers(),
    st.lists(st.text(), min_size=1, unique=True).map(Choices),
)


# By hand


def test_log_dimensions_are_even_in_log_space():
    assert LogUniform(1e-4, 1.0).from_unit(0.25) == pytest.approx(1e-3)
    assert LogUniform(1e-4, 1.0).grid(5) == pytest.approx([1e-4, 1e-3, 1e-2, 1e-1, 1])
    assert Integers(1, 1000, log=True).grid(4) == [1, 10, 100, 1000]


def test_linear_grids():
    assert Uniform(0, 2).grid(5) == [0, 0.5, 1, 1.5, 2]
    assert Integers(1, 9).grid(3) == [1, 5, 9]
    assert Integers(1, 3).grid(10) == [1, 2, 3]
    assert Choices(["a", "b"]).grid(1) == ["a", "b"]


def test_a_grid_of_one_is_the_default():
    assert Uniform(0, 2, default=0.3).grid(1) == [0.3]
    assert LogUniform(1, 2, default=1.3).grid(1) == [1.3]
    assert Integers(0, 9, default=8).grid(1) == [8]


def test_defaults_are_in_the_middle_unless_given():
    space = {
        "a": Uniform(0, 1),
        "b": LogUniform(0.01, 1),
        "c": Integers(1, 9),
        "d": Integers(1, 100, log=True),
        "e": Choices(["x", "y"]),
        "f": Choices(["x", "y"], default="y"),
    }
    expected = {"a": 0.5, "b": pytest.approx(0.1), "c": 5, "d": 10, "e": "x", "f": "y"}
    assert default_params(space) == expected


def test_jitter_moves_the_ends_by_steps():
    assert Uniform(0, 4).grid(5, jitter=(0.5, -0.5)) == pytest.approx(np.linspace(0.5, 3.5, 5))
    moved = LogUniform(1, 1e4).grid(5, jitter=(0.5, -0.5))
    assert moved == pytest.approx(np.geomspace(10**0.5, 10**3.5, 5))


def test_true_is_not_1():
    options = Choices([1, True, "1", 1.0])
    assert [options.to_unit(option) for option in options.options] == [1 / 8, 3 / 8, 5 / 8, 7 / 8]


# Properties


@given(dimensions, units)
def test_values_survive_the_round_trip(dimension, u):
    value = dimension.from_unit(u)
    again = dimension.from_unit(dimension.to_unit(value))
    assert type(again) is type(value)
    if isinstance(value, float):
        assert again == pytest.approx(value, rel=1e-9, abs=1e-9 * abs(dimension.high))
        tolerance = 1e-9 * (1 + max(abs(dimension.low), abs(dimension.high)) / 1e-6)
        assert dimension.to_unit(value) == pytest.approx(u, abs=tolerance)
    else:
        assert again == value


@given(dimensions, units)
def test_values_stay_in_range_and_fit_into_json(dimension, u):
    value = dimension.from_unit(u)
    assert json.loads(json.dumps(value)) == value
    if not isinstance(dimension, Choices):
        assert dimension.low <= value <= dimension.high
        assert dimension.from_unit(0) == pytest.approx(dimension.low)
        assert dimension.from_unit(1) == pytest.approx(dimension.high)


@given(dimensions, st.integers(2, 40))
def test_grids_are_different_values_from_low_to_high(dimension, n):
    grid = dimension.grid(n)
    assert len(set(grid)) == len(grid)
    if isinstance(dimension, Choices):
        assert grid == list(dimension.options)
        return
    assert (grid[0], grid[-1]) == (dimension.low, dimension.high)
    assert grid == sorted(grid)
    n_values = dimension.high - dimension.low + 1 if isinstance(dimension, Integers) else math.inf
    assert len(grid) == min(n, n_values)


@given(integers(), st.integers(2, 40), st.floats(-0.5, 0.5), st.floats(-0.5, 0.5))
def test_whole_numbers_stay_in_range_and_different_when_jittered(dimension, n, low, high):
    grid = dimension.grid(n, jitter=(low, high))
    assert len(set(grid)) == len(dimension.grid(n))
    assert dimension.low <= min(grid) <= max(grid) <= dimension.high


def test_whole_numbers_are_equally_likely():
    u = np.linspace(0, 1, 60_000, endpoint=False)
    values, counts = np.unique([Integers(1, 6).from_unit(x) for x in u], return_counts=True)
    assert values.tolist() == [1, 2, 3, 4, 5, 6]
    assert counts == pytest.approx(10_000, abs=1)


def test_options_are_equally_likely():
    u = np.linspace(0, 1, 30_000, endpoint=False)
    _, counts = np.unique([Choices(["a", "b", "c"]).from_unit(x) for x in u], return_counts=True)
    assert counts == pytest.approx(10_000, abs=1)


def test_draws_are_uniform_on_their_scale_and_only_there():
    u = np.random.default_rng(3).random(2000)
    log = LogUniform(1e-4, 1e-1)
    draws = np.array([log.from_unit(x) for x in u])
    assert kstest(np.log10(draws), "uniform", args=(-4, 3)).pvalue > 0.01
    assert kstest(draws, "uniform", args=(1e-4, 1e-1)).pvalue < 1e-6  # negative control


# From a study file


def test_make_space_makes_every_kind():
    space = make_space(
        {
            "lr": {"log-uniform": [1e-4, 1e-1], "default": 1e-2},
            "momentum": {"uniform": [0, 0.99]},
            "width": {"integers": [8, 512], "log": True, "default": 64},
            "depth": {"integers": [1, 5]},
            "activation": {"choices": ["relu", "tanh"]},
            "bias": {"choices": [True, False], "default": False},
        }
    )
    assert space == {
        "lr": LogUniform(1e-4, 1e-1, default=1e-2),
        "momentum": Uniform(0.0, 0.99),
        "width": Integers(8, 512, default=64, log=True),
        "depth": Integers(1, 5),
        "activation": Choices(("relu", "tanh")),
        "bias": Choices((True, False), default=False),
    }
    assert make_space({}) == {}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"unifrom": [0, 1]},
            "there is no option 'unifrom'. Did you mean 'uniform' or 'log-uniform'? It has: "
            "uniform, log-uniform, integers, choices, default.",
        ),
        (
            {"uniform": [0, 1], "defualt": 0.5},
            "there is no option 'defualt'. Did you mean 'default'? It has: uniform, default.",
        ),
        (
            {"uniform": [0, 1], "log": True},
            "there is no option 'log'. It has: uniform, default.",
        ),
        (
            {"uniform": [0, 1], "choices": [1]},
            "it is searched in 2 ways: uniform, choices. Give one of uniform, log-uniform, "
            "integers, choices.",
        ),
        (
            {"default": 1},
            "it is searched in 0 ways. Give one of uniform, log-uniform, integers, choices.",
        ),
        (
            0.1,
            "0.1 says not how to search it. Write for example {log-uniform = [0.0001, 0.1]}.",
        ),
        ({"uniform": [1]}, "uniform is [1]. Give low and high: uniform = [low, high]."),
        ({"uniform": "01"}, "uniform is '01'. Give low and high: uniform = [low, high]."),
        ({"uniform": ["a", 1]}, "low is 'a'. Pass a number."),
        ({"uniform": [True, 2]}, "low is True. Pass a number."),
        ({"uniform": [0, math.inf]}, "high is inf. Pass a finite number."),
        (
            {"uniform": [1, 1]},
            "low is 1.0 and high is 1.0. Make low smaller than high; a fixed value is choices "
            "with one option.",
        ),
        (
            {"log-uniform": [0, 1]},
            "low is 0.0, which has no logarithm. Start above 0, or search without log.",
        ),
        (
            {"integers": [0, 9], "log": True},
            "low is 0, which has no logarithm. Start above 0, or search without log.",
        ),
        ({"integers": [0, 9], "log": "yes"}, "log is 'yes'. Pass true or false."),
        (
            {"integers": [0.5, 9]},
            "low is 0.5. Pass a whole number, or search it as uniform or log-uniform.",
        ),
        (
            {"uniform": [0, 1], "default": 2},
            "the default 2.0 is outside 0.0 to 1.0. Move the default into the range, or widen "
            "the range.",
        ),
        ({"choices": []}, "choices are []. List at least one option."),
        ({"choices": "relu"}, "choices are 'relu'. List at least one option."),
        ({"choices": ["a", "a"]}, "the choice 'a' is listed twice. List it once."),
        (
            {"choices": ["a", None]},
            "the choice None is neither a number nor a text nor true or false. Name it by a "
            "text, and let the pipeline translate it.",
        ),
        (
            {"choices": ["a", "b"], "default": "c"},
            "'c' is not among the choices. Take one of 'a', 'b', or add it.",
        ),
    ],
)
def test_refusals(table, message):
    with pytest.raises(InvalidInput) as caught:
        make_space({"lr": table})
    assert str(caught.value) == f"hyperparameter 'lr': {message}"
