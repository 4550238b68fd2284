"""Results as plain values, ready for JSON: one walk over what each says of itself."""

import math
from collections.abc import Collection, Mapping
from dataclasses import fields
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np


class Plain:
    """A dataclass that can be written as JSON.

    Its `JSON` lists the fields and properties that are written, in order; without one, all fields
    are. `n=scores.size` writes the size of the field `scores` as `n`.
    """

    __slots__ = ()
    JSON: ClassVar[str] = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        words = self.JSON.split() or [field.name for field in fields(self)]  # type: ignore[arg-type]
        parts = (word.partition("=") for word in words)
        return {key: to_plain(attrgetter(name or key)(self)) for key, _, name in parts}


def to_plain(value: Any) -> Any:
    """Turn a value into what JSON can hold; what is not finite becomes None.

    Examples
    --------
    >>> to_plain({"scores": np.array([1.0, np.nan]), "sizes": (2, 3)})
    {'scores': [1.0, None], 'sizes': [2, 3]}
    """
    if isinstance(value, Plain):
        return Plain.to_dict(value)
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, Collection) and not isinstance(value, str):
        return [to_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
