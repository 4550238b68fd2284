"""Points of a search space as inputs of a Gaussian process.

Log dimensions lie in log space, whole numbers stay whole, choices are one-hot. A hyperparameter
that a point does not have (a network's width where the model is linear) is NaN in `units`. A
surrogate sees the dimensions in which its trials differ (`choose_inputs`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from outperform.errors import InvalidInput
from outperform.study.gaussian_process import FloatArray
from outperform.study.spaces import Choices, Dimension, Integers, Params, Space, Value
from outperform.wording import enumerate_names


def units_of(space: Space, points: Sequence[Params]) -> FloatArray:
    """Points (n, d) in the unit cube, hyperparameters in the order of their names.

    Examples
    --------
    >>> from outperform.study.spaces import LogUniform
    >>> units_of({"lr": LogUniform(0.01, 1)}, [{"lr": 0.1}, {}])
    array([[0.5],
           [nan]])
    """
    columns = [
        [space[name].to_unit(p[name]) if name in p else np.nan for p in points]
        for name in sorted(space)
    ]
    return np.array(columns, dtype=np.float64).reshape(len(space), len(points)).T


def encode_units(space: Space, units: FloatArray) -> FloatArray:
    """What the pipeline will see of each point: (n, columns), in the unit cube."""
    return np.concatenate(encode_dimensions(space, units), axis=1)


def encode_dimensions(space: Space, units: FloatArray) -> list[FloatArray]:
    """The columns of `encode_units`, dimension by dimension in the order of their names."""
    names = sorted(space)
    return [_encode(space[name], units[:, index]) for index, name in enumerate(names)]


def _encode(dimension: Dimension, column: FloatArray) -> FloatArray:
    missing = np.isnan(column)
    column = np.where(missing, 0.5, column)
    if isinstance(dimension, Choices):
        n_options = len(dimension.options)
        places = np.minimum((column * n_options).astype(int), n_options - 1)
        # None of the options, where there is nothing to choose.
        return np.eye(n_options + 1)[np.where(missing, n_options, places)][:, :n_options]
    if isinstance(dimension, Integers):
        rounded = [dimension.to_unit(dimension.from_unit(u)) for u in column.tolist()]
        column = np.where(missing, 0.5, rounded)
    return column[:, None]


@dataclass(frozen=True, slots=True)
class Inputs:
    """How points become inputs of a process: dimension by dimension, in the order of names."""

    space: Space  # the dimensions in which the trials differ
    absences: Mapping[str, tuple[str, tuple[Value, ...]]]  # name: (choice, options without it)

    def encode(self, points: Sequence[Params]) -> list[FloatArray]:
        """Points as arrays (n, columns), one per dimension."""
        present = [self._keep_present(point) for point in points]
        return encode_dimensions(self.space, units_of(self.space, present))

    def _keep_present(self, point: Params) -> Params:
        """What has an effect at the point: no width where the model is linear."""
        absent = {
            name
            for name, (choice, options) in self.absences.items()
            if point.get(choice) in options
        }
        lacking = [name for name in self.space if name not in point and name not in absent]
        if lacking:
            raise InvalidInput(
                f"a point has no {enumerate_names(map(repr, lacking))}: {point}",
                "Give every hyperparameter that the trials had",
            )
        return {name: point[name] for name in self.space if name not in absent}


def count_needed_trials(space: Space, best_share: float) -> int:
    """Trials of the shortest search whose best share is enough to fit a surrogate to."""
    least = count_least(space)
    return math.floor((least - 1) / best_share + 1e-9) + 1 if space else 0


def count_least(space: Space) -> int:
    """The fewest trials that a surrogate is fitted to: two more than there are dimensions."""
    return len(space) + 2


def choose_inputs(space: Space, points: Sequence[Params]) -> Inputs:
    """Dimensions in which the points differ, and where some of them have no effect."""
    if not points:
        return Inputs({}, {})
    columns = encode_dimensions(space, units_of(space, points))
    names = [
        name
        for name, column in zip(sorted(space), columns, strict=True)
        if np.ptp(column, axis=0).any()
    ]
    missing = {name: [name not in point for point in points] for name in names}
    return Inputs(
        {name: space[name] for name in names},
        {name: _find_choice(space, points, name) for name in names if any(missing[name])},
    )


def _find_choice(
    space: Space, points: Sequence[Params], name: str
) -> tuple[str, tuple[Value, ...]]:
    """The choice that tells where a hyperparameter is missing, and the options without it."""
    for choice in sorted(space):
        dimension = space[choice]
        if choice == name or not isinstance(dimension, Choices):
            continue
        options = tuple(
            option
            for option in dimension.options
            if any(point.get(choice) == option and name not in point for point in points)
        )
        if all((point.get(choice) in options) == (name not in point) for point in points):
            return choice, options
    n_missing = sum(name not in point for point in points)
    raise InvalidInput(
        f"{name!r} is missing in {n_missing} of {len(points)} trials, and no choice tells in which",
        "Give it in every trial, or add the choice that it depends on to the space",
    )
