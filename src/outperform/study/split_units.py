"""What splits draw: examples, or groups kept together, class by class if stratified."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outperform.errors import InvalidInput
from outperform.wording import count

IntArray = NDArray[np.int64]
Size = int | float  # a number of units, or a fraction


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """What is drawn as one: single examples, or groups of examples."""

    noun: str  # "examples" or "groups"
    strata: tuple[IntArray, ...]  # the units of each class; all in one where not stratified
    classes: tuple[Any, ...]  # the class of each stratum; empty where not stratified
    examples: IntArray | None  # the examples sorted by unit; None: units are examples
    starts: IntArray  # where each unit starts in `examples`, and where the last one ends

    @property
    def sizes(self) -> IntArray:
        """How many units each class has."""
        return np.array([len(stratum) for stratum in self.strata])

    def expand(self, units: IntArray) -> IntArray:
        """Examples of these units, as often as the units are listed."""
        if self.examples is None or not len(units):
            return units
        return np.concatenate(
            [self.examples[self.starts[unit] : self.starts[unit + 1]] for unit in units]
        )


def make_units(
    n_examples: int, *, stratified: bool, labels: ArrayLike | None, groups: ArrayLike | None
) -> Units:
    """Units of a dataset: its examples, or its groups where given."""
    if n_examples < 2:
        raise InvalidInput(
            f"the dataset has {count(n_examples, 'example')}",
            "At least 2 are needed to train and test",
        )
    if groups is None:
        examples, starts, n_units = None, np.empty(0, dtype=np.int64), n_examples
    else:
        group_of = _per_example("groups", groups, n_examples)
        unit_of = np.unique(group_of, return_inverse=True)[1]
        examples = np.argsort(unit_of, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(unit_of))])
        n_units = len(starts) - 1
    noun = "examples" if groups is None else "groups"
    if not stratified:
        return Units(noun, (np.arange(n_units),), (), examples, starts)
    if labels is None:
        raise InvalidInput(
            "a stratified split needs the label of every example, and there are none",
            "Pass labels, or set stratified = false",
        )
    of_example = _per_example("labels", labels, n_examples)
    of_unit = of_example
    if examples is not None:
        of_unit = _label_groups(of_example, group_of, examples, starts)
    classes, class_of = np.unique(of_unit, return_inverse=True)
    strata = tuple(np.flatnonzero(class_of == index) for index in range(len(classes)))
    return Units(noun, strata, tuple(classes.tolist()), examples, starts)


def check_size(name: str, size: Any, *, empty: bool = False) -> None:
    """Refuse what is neither a count nor a fraction."""
    if isinstance(size, bool) or not isinstance(size, int | float):
        remedy = "Pass a number of examples, or a fraction"
        raise InvalidInput(f"{name} is {size!r}", remedy, where=(name,))
    good = size > 0 or (empty and size == 0)
    if not good or (isinstance(size, float) and not size <= 1):
        remedy = f"Pass a whole number not less than {0 if empty else 1}, or a fraction up to 1.0"
        raise InvalidInput(f"{name} is {size}", remedy, where=(name,))


def count_of(size: Size, total: int) -> int:
    """Number of units: the size itself, or a fraction of the total, rounded."""
    return size if isinstance(size, int) else int(size * total + 0.5)


def apportion(weights: IntArray, total: int) -> IntArray:
    """Divide a total in proportion to the weights, each part rounded up or down.

    Examples
    --------
    >>> apportion(np.array([7, 7, 7]), 4).tolist()
    [1, 2, 1]
    """
    # Rounding the running total keeps the sum right, and every part within 1 of its share.
    running = np.cumsum(weights) * (total / max(int(np.sum(weights)), 1))
    parts: IntArray = np.diff(np.floor(running + 0.5).astype(np.int64), prepend=0)
    return parts


def take_sets(
    pool: list[IntArray], sizes: Mapping[str, Size], units: Units, *, keep_one: bool, state: str
) -> tuple[dict[str, IntArray], list[IntArray]]:
    """Take each set in turn from the front of the pool, class by class; give them and the rest.

    The pool has the units of each class in random order; `state` says what they are, for messages:
    "never drawn". A fraction is one of the whole pool. Every class gets at least one unit in every
    set that is not empty and, with `keep_one`, in the rest.
    """
    total = sum(map(len, pool))
    sets = {name: np.empty(0, dtype=np.int64) for name in sizes}
    wanted = [name for name, size in sizes.items() if size]
    for place, name in enumerate(wanted):
        available = np.array([len(part) for part in pool])
        room = available - (len(wanted) - 1 - place) - keep_one
        size = sizes[name]
        if isinstance(size, int):
            counts = apportion(units.sizes, size)
        else:
            n_wanted = min(count_of(size, total), int(available.sum()))
            counts = np.minimum(np.maximum(apportion(available, n_wanted), 1), room)
        if ((counts < 1) | (counts > room)).any():
            raise _refuse_set(name, counts, room, units, available, state)
        sets[name] = np.concatenate([part[:n] for part, n in zip(pool, counts, strict=True)])
        pool = [part[n:] for part, n in zip(pool, counts, strict=True)]
    return sets, pool


def refuse_class(units: Units, index: int, reason: str) -> InvalidInput:
    """Say which class is too small, or which dataset where classes do not matter."""
    size = units.sizes[index]
    if not units.classes:
        return InvalidInput(
            f"there are {size} {units.noun}: {reason}",
            f"Ask for smaller sets, or get more {units.noun}",
        )
    return InvalidInput(
        f"class {units.classes[index]!r} has {size} {units.noun}: {reason}",
        "Merge or leave out rare classes, ask for other sizes, or set stratified = false",
    )


def _refuse_set(
    name: str, counts: IntArray, room: IntArray, units: Units, available: IntArray, state: str
) -> InvalidInput:
    index = int(np.flatnonzero((counts < 1) | (counts > room))[0])
    count, room_here = int(counts[index]), max(int(room[index]), 0)
    if room_here < 1 or count > room_here:
        others = available[index] - room_here
        others_need = f" and other sets at least {others}" if others else ""
        needed = f"{name} needs {max(count, 1)}{others_need}"
        return refuse_class(units, index, f"{available[index]} {state}, but {needed}")
    return refuse_class(units, index, f"its share of {name} rounds to none")


def _per_example(name: str, values: ArrayLike, n_examples: int) -> NDArray[Any]:
    array = np.asarray(values)
    if array.shape != (n_examples,):
        raise InvalidInput(
            f"{name} has shape {array.shape}, but there are {n_examples} examples",
            "Pass one value per example",
        )
    return array


def _label_groups(
    labels: NDArray[Any], groups: NDArray[Any], examples: IntArray, starts: IntArray
) -> NDArray[Any]:
    """Label of each group, refusing groups of several classes."""
    first = labels[examples[starts[:-1]]]
    mixed = np.flatnonzero(
        np.bincount(
            np.repeat(np.arange(len(first)), np.diff(starts)),
            weights=labels[examples] != np.repeat(first, np.diff(starts)),
        )
    )
    if len(mixed):
        name = groups[examples[starts[mixed[0]]]]
        raise InvalidInput(
            f"{len(mixed)} of {len(first)} groups have examples of several classes "
            f"(the first: {name.item()!r})",
            "Set stratified = false: groups stay together, so such classes cannot be balanced",
        )
    return first
