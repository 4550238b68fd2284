"""The split that others published."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from outperform.errors import InvalidInput
from outperform.study.entries import entry
from outperform.study.split import IntArray, Split, check_fold
from outperform.wording import enumerate_names


@dataclass(frozen=True, slots=True)
class FixedSplit:
    """The split that others published: always the same, whatever the seed.

    Examples
    --------
    >>> FixedSplit([0, 1, 2], [3], [4, 5]).split(6, seed=0).test.tolist()
    [4, 5]
    """

    train: Sequence[int]
    valid: Sequence[int]
    test: Sequence[int]
    n_folds: ClassVar[int] = 1

    def __post_init__(self) -> None:
        for name in ("train", "valid", "test"):
            with entry(name):
                positions = _check_positions(name, getattr(self, name))
            object.__setattr__(self, name, positions)
        for first, second in combinations(("train", "valid", "test"), 2):
            shared = sorted(set(getattr(self, first)) & set(getattr(self, second)))
            if shared:
                with entry(second):
                    raise InvalidInput(
                        f"{first} and {second} share {len(shared)} example(s): "
                        f"{enumerate_names(map(str, shared), limit=5)}",
                        "Remove them from one of the two",
                    )

    def split(
        self,
        n_examples: int,
        *,
        seed: int,
        fold: int = 0,
        labels: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Split:
        """The sets as given, checked against the dataset."""
        check_fold(fold, self.n_folds)
        sets = [np.array(part, dtype=np.int64) for part in (self.train, self.valid, self.test)]
        largest = int(np.concatenate(sets).max())
        if largest >= n_examples:
            raise InvalidInput(
                f"the fixed split has example {largest}, but there are {n_examples} examples",
                f"Count from 0 to {n_examples - 1}",
            )
        if groups is not None:
            _check_straddling(sets, np.asarray(groups))
        return Split(*sets)


def _check_positions(name: str, positions: Any) -> tuple[int, ...]:
    array = np.asarray(positions)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InvalidInput(f"{name} is {positions!r}", "List the positions of its examples")
    if not array.size and name != "valid":
        raise InvalidInput(f"{name} is empty", "List the positions of its examples")
    if array.size and array.min() < 0:
        raise InvalidInput(f"{name} has example {array.min()}", "Count examples from 0")
    return tuple(array.tolist())


def _check_straddling(sets: list[IntArray], groups: Any) -> None:
    for first, second in combinations(sets, 2):
        shared = np.intersect1d(groups[first], groups[second])
        if len(shared):
            raise InvalidInput(
                f"{len(shared)} group(s) are in two sets of the fixed split: "
                f"{enumerate_names(map(str, shared), limit=5)}",
                "Move each group into one set, or pass no groups",
            )
