"""Points of a search space as inputs of a Gaussian process.

Log dimensions lie in log space, whole numbers stay whole, choices are one-hot. A hyperparameter
that a point does not have (a network's width where the model is linear) is NaN in `units`.
"""

from collections.abc import Sequence

import numpy as np

from outperform.study.gaussian_process import FloatArray
from outperform.study.spaces import Choices, Dimension, Integers, Params, Space


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
