"""Names for the kinds of array that runs are made of."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

BoolArray: TypeAlias = npt.NDArray[np.bool_]
FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
WordArray: TypeAlias = npt.NDArray[np.uint64]  # eight characters each
