"""Tuners: which hyperparameters to try next.

A tuner is a pure function `suggest(space, history, seed, n_trials)` that suggests trial number
`len(history)`. It keeps no state, so a search cut anywhere and resumed from its recorded trials
goes on exactly as if it had never stopped. Hyperparameters are taken in the order of their names:
the order in which a study lists them changes nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from math import isfinite, prod
from operator import attrgetter

import numpy as np

from outperform.errors import InvalidInput, InvalidScores, MissingExtra
from outperform.stats.checks import check_count
from outperform.study.sources import derive_seed
from outperform.study.spaces import (
    Choices,
    Dimension,
    Integers,
    Jitter,
    LogUniform,
    Params,
    Space,
    Uniform,
    params_at,
)
from outperform.wording import suggest_names


@dataclass(frozen=True, slots=True)
class Trial:
    """Hyperparameters tried and their score; higher is better, None: the fit failed."""

    params: Params
    score: float | None

    def __post_init__(self) -> None:
        if self.score is not None and not isfinite(self.score):
            raise InvalidScores(f"a trial's score is {self.score}", "Pass None for a failed trial")


Suggest = Callable[[Space, Sequence[Trial], int, int], Params]


@dataclass(frozen=True, slots=True)
class Tuner:
    """A way to search."""

    name: str
    suggest: Suggest
    uses_history: bool  # False: trials may run in any order, and at the same time
    draws_alike: bool = False  # trials are independent draws of one distribution


def best_trial(history: Sequence[Trial]) -> Trial:
    """Trial with the highest score; of several, the earliest."""
    scored = [trial for trial in history if trial.score is not None]
    if not scored:
        raise InvalidInput(
            f"none of the search's {len(history)} trials has a score",
            "Look at the errors of the failed fits; mend the pipeline or narrow the search space",
        )
    return max(scored, key=attrgetter("score"))


def suggest_random(space: Space, history: Sequence[Trial], seed: int, n_trials: int) -> Params:  # noqa: ARG001
    """Random search: trial i depends on the seed and i only.

    Examples
    --------
    >>> suggest_random({"c": Integers(1, 9)}, [], 0, 10)
    {'c': 1}
    """
    return params_at(space, _draw_units(space, len(history), seed))


def suggest_wide_random(space: Space, history: Sequence[Trial], seed: int, n_trials: int) -> Params:
    """Random search over all that noisy grids of as many trials may reach.

    The range of a uniform or log-uniform dimension is widened by Δ/2 at both ends, Δ being the step
    of the grid of `suggest_grid`, in log space where it is log-scaled. As with noisy grids, whole
    numbers and choices stay what they are, and so does a dimension of which the grid has one value:
    that has no step. A seed draws the points of `suggest_random`, moved apart (Bouthillier et al.
    2021, appendix E.3).

    Examples
    --------
    >>> from outperform.study.spaces import Uniform
    >>> suggest_wide_random({"c": Uniform(0, 1)}, [], 8, 2)  # of two values: from -0.5 to 1.5
    {'c': 1.121137515236403}
    """
    units = _draw_units(space, len(history), seed)
    params = params_at(space, units)
    levels = count_levels(space, n_trials)
    for name, unit in zip(sorted(space), units, strict=True):
        dimension, n_levels = space[name], levels[name]
        if isinstance(dimension, Uniform | LogUniform) and n_levels > 1:
            place = (unit * n_levels - 0.5) / (n_levels - 1)
            # The first of two values, moved that far from low: nothing else goes outside.
            params[name] = dimension.grid(2, jitter=(place, 0.0))[0]
    return params


def suggest_grid(space: Space, history: Sequence[Trial], seed: int, n_trials: int) -> Params:  # noqa: ARG001
    """Grid search: the points of `count_levels` in a fixed order, whatever the seed.

    The last hyperparameter by name changes fastest. A search of n_trials stops before the last
    points of a grid that has more: let n_trials be a product of whole numbers, such as 5 * 5. A
    search longer than the grid starts anew.

    Examples
    --------
    >>> from outperform.study.spaces import Uniform
    >>> space = {"c": Uniform(0, 1), "kernel": Choices(["rbf", "poly"])}
    >>> suggest_grid(space, [], 0, 4), suggest_grid(space, [Trial({}, 0.5)], 0, 4)
    ({'c': 0.0, 'kernel': 'rbf'}, {'c': 0.0, 'kernel': 'poly'})
    """
    return _grid_point(space, len(history), n_trials, {})


def suggest_noisy_grid(space: Space, history: Sequence[Trial], seed: int, n_trials: int) -> Params:
    """Noisy grid search: the grid of another person with similar habits.

    Both ends of the grid are moved by U(-Δ/2, Δ/2), Δ being its step, in log space where the
    dimension is log-scaled. On average this is the grid of `suggest_grid`. The points may lie
    Δ/2 outside the range of a uniform or log-uniform dimension: where the range ends at a natural
    limit, as a share does at 0, declare it half a step shorter. Whole numbers stay in their range;
    choices, and dimensions with room for one value only, are not moved (Bouthillier et al. 2021,
    appendix E.2).
    """
    jitters: dict[str, Jitter] = {}
    for name in space:
        rng = np.random.default_rng(derive_seed(seed, "noisy-grid", name))
        low, high = rng.uniform(-0.5, 0.5, size=2).tolist()
        jitters[name] = (low, high)
    return _grid_point(space, len(history), n_trials, jitters)


def count_levels(space: Space, n_trials: int) -> dict[str, int]:
    """Values per dimension of the smallest grid with n_trials points, as even as can be.

    Choices have all their options. The space may be too small for n_trials points: then all of it.

    Examples
    --------
    >>> from outperform.study.spaces import Uniform
    >>> count_levels({"a": Uniform(0, 1), "b": Uniform(0, 1), "c": Choices(["x", "y"])}, 10)
    {'a': 3, 'b': 2, 'c': 2}
    """
    check_count("n_trials", n_trials, at_least=1)
    levels = {name: len(space[name].grid(1)) for name in sorted(space)}
    while prod(levels.values()) < n_trials:
        growing = [name for name, n in levels.items() if _has_room(space[name], n)]
        if not growing:
            break
        levels[min(growing, key=lambda name: levels[name])] += 1
    return levels


def _import_when_used(name: str) -> Suggest:
    """Function of `adaptive_tuners`, which takes half a second to import."""

    def suggest(space: Space, history: Sequence[Trial], seed: int, n_trials: int) -> Params:
        adaptive = import_module("outperform.study.adaptive_tuners")
        params: Params = getattr(adaptive, name)(space, history, seed, n_trials)
        return params

    return suggest


TUNERS: Mapping[str, Tuner] = {
    tuner.name: tuner
    for tuner in (
        Tuner("random", suggest_random, uses_history=False, draws_alike=True),
        Tuner("wide-random", suggest_wide_random, uses_history=False, draws_alike=True),
        Tuner("grid", suggest_grid, uses_history=False),
        Tuner("noisy-grid", suggest_noisy_grid, uses_history=False),
        Tuner("gp-ei", _import_when_used("suggest_gp_ei"), uses_history=True),
        Tuner("tpe", _import_when_used("suggest_tpe"), uses_history=True),
        Tuner("cma-es", _import_when_used("suggest_cma_es"), uses_history=True),
    )
}
_PACKAGES = {"tpe": "optuna", "cma-es": "cmaes"}


def make_tuner(name: str) -> Tuner:
    """Tuner of that name."""
    if name not in TUNERS:
        raise InvalidInput(f"there is no tuner {name!r}", suggest_names(name, list(TUNERS)))
    package = _PACKAGES.get(name)
    if package is not None and find_spec(package) is None:
        raise MissingExtra(
            f"tuner {name!r} needs the package {package}",
            "Install it with: pip install 'outperform[optuna]'",
        )
    return TUNERS[name]


def _draw_units(space: Space, index: int, seed: int) -> list[float]:
    units: list[float] = np.random.default_rng(derive_seed(seed, index)).random(len(space)).tolist()
    return units


def _grid_point(space: Space, index: int, n_trials: int, jitters: Mapping[str, Jitter]) -> Params:
    levels = count_levels(space, n_trials)
    values = {}
    remainder = index % prod(levels.values())
    for name in sorted(space, reverse=True):
        remainder, place = divmod(remainder, levels[name])
        values[name] = space[name].grid(levels[name], jitter=jitters.get(name, (0.0, 0.0)))[place]
    return {name: values[name] for name in space}


def _has_room(dimension: Dimension, n_levels: int) -> bool:
    if isinstance(dimension, Choices):
        return False
    return not isinstance(dimension, Integers) or n_levels < dimension.n_values
