"""Which examples train, validate and test; no example is ever in two of these sets.

Every splitter draws examples, or groups of examples that stay together where groups are given:
then sizes and fractions count groups. Stratified splitters draw class by class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import combinations
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from outperform.errors import InvalidInput
from outperform.stats.checks import check_count
from outperform.study.split_units import (
    IntArray,
    Size,
    Units,
    apportion,
    check_size,
    count_of,
    make_units,
    refuse_class,
    take_sets,
)
from outperform.study.study_file_entries import Kind, check_words, entry, find_kind
from outperform.wording import count, enumerate_names

_MOST_EXAMPLES = 20_000_000  # of a fixed set: positions are kept one by one


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Positions of the examples in each set, in the order in which they train."""

    train: IntArray
    valid: IntArray
    test: IntArray

    def refit(self) -> Split:
        """The split for the final fit: validation examples train too."""
        joined = np.concatenate([self.train, self.valid])
        return Split(joined, np.empty(0, dtype=np.int64), self.test)


class Splitter(Protocol):
    """Divides a dataset into three sets."""

    @property
    def n_folds(self) -> int:
        """Number of folds; 1 where only the seed changes the split."""

    def split(
        self,
        n_examples: int,
        *,
        seed: int,
        fold: int = 0,
        labels: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Split:
        """Split the examples; the same arguments give the same split."""


# Units that train, and those of the other sets.
_Drawn = tuple[IntArray, Mapping[str, IntArray]]


class _DrawnSplit(ABC):
    """What splitters share that draw the units of a dataset anew with every seed."""

    __slots__ = ()
    n_folds: ClassVar[int] = 1
    stratified: bool

    def split(
        self,
        n_examples: int,
        *,
        seed: int,
        fold: int = 0,
        labels: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Split:
        """Split the examples; the same arguments give the same split."""
        _check_fold(fold, self.n_folds)
        units = make_units(n_examples, stratified=self.stratified, labels=labels, groups=groups)
        rng = np.random.default_rng(seed)
        train, sets = self._draw(units, fold, rng)
        return Split(
            rng.permutation(units.expand(train)),  # for learners that do not shuffle
            np.sort(units.expand(sets["valid"])),
            np.sort(units.expand(sets["test"])),
        )

    @abstractmethod
    def _draw(self, units: Units, fold: int, rng: np.random.Generator) -> _Drawn: ...


@dataclass(frozen=True, slots=True)
class OutOfBootstrap(_DrawnSplit):
    """Train on a bootstrap sample; validate and test on examples that it never drew.

    Parameters
    ----------
    train
        Draws with replacement: a number, or a fraction of all examples.
    valid, test
        Drawn without replacement: a number, or a fraction of the examples never drawn.
    stratified
        Draw class by class.

    References
    ----------
    Bouthillier et al. (2021), Accounting for Variance in ML Benchmarks, appendix B.

    Examples
    --------
    >>> split = OutOfBootstrap().split(1000, seed=0)
    >>> len(split.train), len(split.valid), len(split.test)
    (1000, 189, 189)
    """

    train: Size = 1.0
    valid: Size = 0.5
    test: Size = 0.5
    stratified: bool = False

    def __post_init__(self) -> None:
        check_size("train", self.train)
        _check_held_out(self.valid, self.test, of="the examples never drawn")

    def _draw(self, units: Units, fold: int, rng: np.random.Generator) -> _Drawn:
        counts = self.count_draws(units)
        drawn = [rng.choice(s, n) for s, n in zip(units.strata, counts, strict=True)]
        pool = [
            rng.permutation(np.setdiff1d(stratum, draws))
            for stratum, draws in zip(units.strata, drawn, strict=True)
        ]
        return np.concatenate(drawn), self.take_undrawn(pool, units)

    def take_undrawn(self, pool: list[IntArray], units: Units) -> dict[str, IntArray]:
        """Take test and validation sets from the units of each class that were never drawn."""
        sizes = {"test": self.test, "valid": self.valid}
        return take_sets(pool, sizes, units, keep_one=False, state="never drawn")[0]

    def count_draws(self, units: Units) -> IntArray:
        """How often each class is drawn from."""
        total = int(units.sizes.sum())
        n_draws = count_of(self.train, total)
        if n_draws > total:
            raise InvalidInput(
                f"train is {n_draws}, but there are {total} {units.noun}",
                f"Draw {total} at most, as train = 1.0 does",
            )
        counts = apportion(units.sizes, n_draws)
        if (counts < 1).any():
            index = int(np.argmin(counts))
            raise refuse_class(units, index, f"its share of {n_draws} draws for train is none")
        return counts


@dataclass(frozen=True, slots=True)
class HoldOut(_DrawnSplit):
    """Hold out a random part for validation and for testing, anew with every seed.

    Parameters
    ----------
    valid, test
        A number, or a fraction of all examples.
    train
        The same; None: all the others.
    stratified
        Draw class by class.

    Examples
    --------
    >>> split = HoldOut(valid=0.1, test=0.3).split(100, seed=0)
    >>> len(split.train), len(split.valid), len(split.test)
    (60, 10, 30)
    """

    valid: Size = 0.2
    test: Size = 0.2
    train: Size | None = None
    stratified: bool = False

    def __post_init__(self) -> None:
        if self.train is not None:
            check_size("train", self.train)
        _check_held_out(self.valid, self.test, of="the examples", train=self.train)

    def _draw(self, units: Units, fold: int, rng: np.random.Generator) -> _Drawn:
        pool = [rng.permutation(stratum) for stratum in units.strata]
        sizes = {"test": self.test, "valid": self.valid}
        if self.train is not None:
            sizes["train"] = self.train
        sets, rest = take_sets(pool, sizes, units, keep_one=self.train is None, state="left")
        return sets.pop("train", np.concatenate(rest)), sets


@dataclass(frozen=True, slots=True)
class CrossValidation(_DrawnSplit):
    """Test on each fold in turn; the seed decides which examples form the folds.

    Parameters
    ----------
    n_folds
        Number of folds.
    valid
        A number, or a fraction of the examples outside the test fold.
    stratified
        Make the folds class by class.

    Examples
    --------
    >>> split = CrossValidation(n_folds=5, valid=0.25).split(100, seed=0, fold=4)
    >>> len(split.train), len(split.valid), len(split.test)
    (60, 20, 20)
    """

    n_folds: int = 5  # type: ignore[misc]
    valid: Size = 0.2
    stratified: bool = False

    def __post_init__(self) -> None:
        with entry("n_folds"):
            check_count("n_folds", self.n_folds, at_least=2)
        check_size("valid", self.valid, empty=True)
        if isinstance(self.valid, float) and self.valid == 1:
            raise InvalidInput(
                "valid is 1.0, which leaves nothing to train", "Pass less", where=("valid",)
            )

    def _draw(self, units: Units, fold: int, rng: np.random.Generator) -> _Drawn:
        for index in np.flatnonzero(units.sizes < self.n_folds):
            raise refuse_class(units, int(index), f"too few for {self.n_folds} folds")
        test, pool, n_before = [], [], 0
        for stratum in units.strata:
            order = rng.permutation(stratum)
            # Dealing goes on from class to class, so that folds differ by one unit at most.
            turns = (np.arange(n_before, n_before + len(order)) - fold) % self.n_folds
            n_before += len(order)
            test.append(order[turns == 0])
            # The folds after the test fold come first, so that validation sets rotate too.
            pool.append(order[np.argsort(turns, kind="stable")][len(test[-1]) :])
        sets, rest = take_sets(pool, {"valid": self.valid}, units, keep_one=True, state="left")
        return np.concatenate(rest), sets | {"test": np.concatenate(test)}


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
                raise InvalidInput(
                    f"{first} and {second} share {count(len(shared), 'example')}: "
                    f"{enumerate_names(map(str, shared), limit=5)}",
                    "Remove them from one of the two",
                    where=(second,),
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
        _check_fold(fold, self.n_folds)
        sets = [np.array(part, dtype=np.int64) for part in (self.train, self.valid, self.test)]
        largest = int(np.concatenate(sets).max())
        if largest >= n_examples:
            raise InvalidInput(
                f"the fixed split has example {largest}, but there are {n_examples} examples",
                f"Count from 0 to {n_examples - 1}",
            )
        for first, second in combinations(sets, 2) if groups is not None else ():
            shared = np.intersect1d(np.asarray(groups)[first], np.asarray(groups)[second])
            if len(shared):
                raise InvalidInput(
                    f"{count(len(shared), 'group is', 'groups are')} in two sets of the fixed "
                    f"split: {enumerate_names(map(str, shared), limit=5)}",
                    "Move each group into one set, or pass no groups",
                )
        return Split(*sets)


def _check_fold(fold: int, n_folds: int) -> None:
    """Refuse a fold that the split does not have."""
    if not 0 <= fold < n_folds:
        raise InvalidInput(
            f"fold is {fold}, but the split has {count(n_folds, 'fold')}",
            "Pass fold = 0" if n_folds == 1 else f"Pass a fold from 0 to {n_folds - 1}",
        )


def _check_held_out(valid: Size, test: Size, *, of: str, train: Size | None = 0) -> None:
    check_size("valid", valid, empty=True)
    check_size("test", test)
    fractions = [size for size in (train, valid, test) if isinstance(size, float)]
    total = sum(fractions)
    if total > 1 + 1e-9 or (train is None and total > 1 - 1e-9):
        rest = "and nothing is left to train" if train is None else "which is more than there is"
        raise InvalidInput(
            f"valid is {valid} and test is {test} of {of}, {rest}", "Make the fractions smaller"
        )


def _check_positions(name: str, positions: Any) -> tuple[int, ...]:
    if isinstance(positions, Sequence | np.ndarray) and len(positions) > _MOST_EXAMPLES:
        raise InvalidInput(
            f"{name} has {len(positions):,} examples", f"List {_MOST_EXAMPLES:,} at most"
        )
    try:
        array = np.asarray(positions)
    except ValueError:  # lists in lists, of different lengths
        array = np.empty((0, 0))
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InvalidInput(f"{name} is {positions!r}", "List the positions of its examples")
    if not array.size and name != "valid":
        raise InvalidInput(f"{name} is empty", "List the positions of its examples")
    if array.size and array.min() < 0:
        raise InvalidInput(f"{name} has example {array.min()}", "Count examples from 0")
    return tuple(array.tolist())


_SPLITS: dict[str, type[OutOfBootstrap | HoldOut | CrossValidation | FixedSplit]] = {
    "out-of-bootstrap": OutOfBootstrap,
    "hold-out": HoldOut,
    "cross-validation": CrossValidation,
    "fixed": FixedSplit,
}
_WORDS: dict[str, Kind] = {  # splits check their sizes themselves
    **dict.fromkeys(("train", "valid", "test", "n_folds")),
    "stratified": bool,
}


def make_splitter(options: Mapping[str, Any] | str) -> Splitter:
    """Splitter from a study file: a table, or its kind alone.

    Ranges of a fixed split may be text, "0:50000".
    """
    if isinstance(options, str):
        options = {"kind": options}
    kind = find_kind("split", options, _SPLITS, _WORDS)
    known = [field.name for field in fields(_SPLITS[kind])]
    settings = {word: value for word, value in options.items() if word != "kind"}
    check_words(settings, {word: _WORDS[word] for word in known}, of=kind)
    if kind == "fixed":
        settings = {word: _read_range(word, settings.get(word, [])) for word in known}
    splitter: Splitter = _SPLITS[kind](**settings)
    return splitter


def _read_range(word: str, value: Any) -> Any:
    """Positions as listed, or those of a range given as text."""
    if not isinstance(value, str):
        return value
    start, colon, stop = value.partition(":")
    if not (colon and start.strip().isdecimal() and stop.strip().isdecimal()):
        raise InvalidInput(
            f"{word} is {value!r}",
            'Write a range as "0:50000", or list positions',
            where=(word,),
        )
    return range(int(start), int(stop))
