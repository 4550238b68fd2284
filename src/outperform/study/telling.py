"""What functions and commands may ask to be told of a fit, besides its arguments."""

import inspect
from collections.abc import Callable
from typing import Any

from outperform.errors import InvalidInput

TOLD = ("task", "fold", "refit")


def find_told(pipeline: str, function: Callable[..., Any]) -> tuple[str, ...]:
    """What a function asks for by its parameters; refused if it cannot be called at all."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some that are written in C say nothing of themselves
        return ()
    told = tuple(name for name in TOLD if name in signature.parameters)
    try:
        signature.bind({}, None, {}, **dict.fromkeys(told))
    except TypeError as error:
        raise InvalidInput(
            f"the function of pipeline {pipeline!r} cannot be called with (params, split, seeds): "
            f"{error}",
            f"Let it take these three and, if it likes, {', '.join(TOLD)} by name",
        ) from None
    return told
