"""What a fit of a pipeline needs where it runs; no score depends on it, and so no key."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from outperform.errors import InvalidInput
from outperform.study.study_file_entries import entry

_KNOWN = ("gpus", "memory", "cpus")
_MEANT = {"mem": "memory", "ram": "memory"}
_ALIKE = 0.8  # of two words, from 0 to 1: `tpus` may be meant, `gpu` is not
_UNITS = {
    **{f"{letter}b".strip(): 1000**power for power, letter in enumerate(" kmgt")},
    **{f"{letter}ib": 1024**power for power, letter in enumerate("kmgt", start=1)},
}
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*((?:[kmgt]i?)?b)\s*", re.IGNORECASE)
_LEAST_MEMORY = 1_000_000  # bytes: less was meant in another unit
_MOST = 1e18  # of anything
_SIZES = 'Write a size such as "16GB", "512MB" or "1.5GiB"'


def read_resources(resources: Mapping[str, Any]) -> dict[str, float]:
    """Resources as plain numbers, memory in bytes; refused where they make no sense.

    Examples
    --------
    >>> read_resources({"gpus": 1, "memory": "1.5GiB", "cpus": 4})
    {'gpus': 1, 'memory': 1610612736, 'cpus': 4}
    """
    with entry("resources"):
        if not isinstance(resources, Mapping):
            raise InvalidInput(
                f"resources are {resources!r}", 'Name them: {"gpus": 1, "memory": "16GB"}'
            )
        return {name: _read(name, value) for name, value in resources.items()}


def _read(name: str, value: Any) -> float:
    with entry(name):
        _check_spelling(name)
        if name == "memory":
            return _read_memory(value)
        _check_number(name, value)
        if name == "gpus" and value > 1 and value != int(value):
            raise InvalidInput(
                f"gpus is {value}", "Give a whole number of them, or less than one to share it"
            )
        return int(value) if value == int(value) else float(value)


def _check_spelling(name: str) -> None:
    """Refuse a word that was meant for one that every engine knows; others are its own."""
    if not isinstance(name, str) or not name:
        raise InvalidInput(f"resources name {name!r}", "Name each by a text")
    word = name.casefold()
    near = [_MEANT[word]] if word in _MEANT else get_close_matches(word, _KNOWN, 1, _ALIKE)
    if near and name not in _KNOWN:
        raise InvalidInput(f"resources name {name!r}", f"Write {near[0]}")


def _check_number(name: str, value: Any) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= _MOST or (value == 0 and name != "gpus"):
        wanted = "zero or more" if name == "gpus" else "a positive number"
        raise InvalidInput(f"{name} is {value!r:.80}", f"Give {wanted}")


def _read_memory(value: Any) -> int:
    """Bytes of a size, which is a number of them or a text with its unit."""
    if isinstance(value, str):
        size = _SIZE.fullmatch(value)
        if size is None:
            raise InvalidInput(f"memory is {value!r}", _SIZES)
        n_bytes: float = float(size[1]) * _UNITS[size[2].casefold()]
    else:
        _check_number("memory", value)
        n_bytes = float(value)
    if not _LEAST_MEMORY <= n_bytes <= _MOST:
        raise InvalidInput(f"memory is {value!r:.80}, which is {n_bytes:g} bytes", _SIZES)
    return round(n_bytes)
