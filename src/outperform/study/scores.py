"""Scores that a fit must give, and what counts as a score."""

import math
from collections.abc import Mapping, Sequence

from outperform.errors import InvalidScores
from outperform.study.split_units import IntArray
from outperform.study.splits import Split
from outperform.wording import enumerate_names

SETS = ("valid", "test")


def held_out(split: Split) -> list[tuple[str, IntArray]]:
    """Sets that are scored, with their names."""
    return [("valid", split.valid), ("test", split.test)]


def needed_sets(split: Split | None, *, refit: bool = False) -> tuple[str, ...]:
    """Which scores there must be: for each one of these sets, or for any if there are none."""
    if split is None:
        return ("test",) if refit else ()
    held = [name for name, rows in held_out(split) if len(rows)]
    return tuple(held) if len(held) == 1 else ()


def check_scores(scores: object, pipeline: str, needed: Sequence[str] = ()) -> dict[str, float]:
    """Scores as plain floats, with every further finite number; what is not a number is refused.

    Examples
    --------
    >>> check_scores({"test": 1, "epochs": 7, "path": "model.bin"}, "svm")
    {'test': 1.0, 'epochs': 7.0}
    """
    if not isinstance(scores, Mapping):
        raise InvalidScores(
            f"pipeline {pipeline!r} returned {_show(scores)}, not scores",
            'Return a mapping such as {"valid": 0.91, "test": 0.9}',
        )
    missing = [name for name in needed if name not in scores]
    if missing or not any(name in scores for name in SETS):
        wanted = " and ".join(repr(name) for name in missing) or "'valid' or 'test'"
        keys = enumerate_names(map(repr, scores)) or "nothing"
        raise InvalidScores(
            f"pipeline {pipeline!r} returned no {wanted}, but {keys}",
            'Return a mapping such as {"valid": 0.91, "test": 0.9}',
        )
    found = {str(name): _as_number(value) for name, value in scores.items()}
    for name in SETS:
        number = found.get(name, 0.0)
        if number is None or not math.isfinite(number):
            raise InvalidScores(
                f"pipeline {pipeline!r} returned {_show(scores[name])} as its {name!r} score",
                "Return a finite number; a fit that fails should raise an error",
            )
    return {
        name: value for name, value in found.items() if value is not None and math.isfinite(value)
    }


def _as_number(value: object) -> float | None:
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()  # numpy, torch and jax scalars
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def _show(value: object) -> str:
    text = repr(value)
    return f"a {type(value).__name__}" if len(text) > 80 or " at 0x" in text else text
