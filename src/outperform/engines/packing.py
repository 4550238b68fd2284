"""Work and items as bytes, for workers."""

from collections.abc import Callable
from types import MethodType
from typing import Any

from outperform.errors import InvalidInput


class Works:
    """Every work that was submitted, pickled once and numbered."""

    def __init__(self) -> None:
        self._works: dict[tuple[int, ...], tuple[Any, int, bytes]] = {}

    def pack(self, work: Callable[[Any], Any]) -> tuple[int, bytes]:
        """Number and bytes of a work."""
        # A bound method is a new object every time it is named.
        parts = (work.__self__, work.__func__) if isinstance(work, MethodType) else (work,)
        identity = tuple(id(part) for part in parts)
        if identity not in self._works:
            # Keeping the work keeps its id from being given to another object.
            self._works[identity] = (work, len(self._works), pack(work))
        _, number, code = self._works[identity]
        return number, code


def pack(thing: Any) -> bytes:
    """Anything as bytes, InvalidInput where that cannot be."""
    import cloudpickle

    try:
        pickled: bytes = cloudpickle.dumps(thing)
    except Exception as error:
        raise InvalidInput(
            f"cannot send {thing!r:.200} to a worker: {error}",
            "Let it make what cannot be sent, such as open files and locks, when it runs",
        ) from error
    return pickled
