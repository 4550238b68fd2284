"""Datasets in memory, and from CSV and NPZ files."""

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outperform.errors import InvalidInput
from outperform.runs.source_table import parse_number
from outperform.study.study_file_entries import entry
from outperform.wording import enumerate_names, enumerate_rows, suggest_names

_LABELS = ("label", "labels", "target", "class", "y")
_GROUPS = ("group", "groups")
_FEATURES = ("features", "x", "data")


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """Examples to learn from.

    Parameters
    ----------
    features : shape (n_examples, ...)
        An array, a sparse matrix, or a data frame; row i is example i.
    labels : shape (n_examples, ...)
    groups : shape (n_examples,)
        Examples of the same group stay in the same set; None where examples are independent.

    Examples
    --------
    >>> Dataset([[0.0], [1.0]], ["no", "yes"]).n_examples
    2
    """

    features: Any
    labels: NDArray[Any]
    groups: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.features, list | tuple):
            object.__setattr__(self, "features", np.asarray(self.features))
        object.__setattr__(self, "labels", np.asarray(self.labels))
        if self.groups is not None:
            object.__setattr__(self, "groups", np.asarray(self.groups))
        for name in ("features", "labels", "groups"):
            values = getattr(self, name)
            if values is None:
                continue
            if not getattr(values, "shape", ()):
                kind = type(values).__name__
                raise InvalidInput(f"{name} are {kind}", "Pass one row per example")
            if values.shape[0] != self.n_examples:
                raise InvalidInput(
                    f"there are {self.n_examples} labels, but {name} for {values.shape[0]} "
                    "examples",
                    "Pass one of each per example",
                )
        if self.n_examples == 0:
            raise InvalidInput("the dataset is empty", "Pass at least a few examples")

    @property
    def n_examples(self) -> int:
        """Number of examples."""
        return len(self.labels)

    def take(self, rows: NDArray[np.int64]) -> tuple[Any, NDArray[Any]]:
        """Features and labels of some examples."""
        features = self.features
        return (features.iloc if hasattr(features, "iloc") else features)[rows], self.labels[rows]

    def protect(self) -> "Dataset":
        """The same examples for one fit, which cannot change those of others.

        Arrays cannot be written to; data frames and sparse matrices, which have no such lock, are
        copied, as their rows are in every fit.
        """
        return replace(
            self,
            features=_protect(self.features),
            labels=_protect(self.labels),
            groups=_protect(self.groups),
        )


def _protect(values: Any) -> Any:
    if isinstance(values, np.ndarray):
        view = values.view()  # whoever has the array itself may go on writing
        view.flags.writeable = False
        return view
    return values.copy() if hasattr(values, "copy") else values


def load_table(path: Path, *, label: str | None = None, group: str | None = None) -> Dataset:
    """Dataset from a CSV file with a header, or from an NPZ file.

    Columns (arrays) that hold labels and groups are those with a usual name, such as `label`,
    `target` or `y`, if not given. All other columns are features and must be numbers; an empty cell
    is NaN. In an NPZ file the features are `features`, `X` or `data`.
    """
    read = {".csv": _read_csv, ".npz": _read_npz}.get(path.suffix.casefold())
    if read is None:
        raise InvalidInput(
            f"cannot tell what {path.name} holds", "Pass a file that ends in .csv or .npz"
        )
    try:
        return read(path, label, group)
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}", "Check the path") from None


def check_header(path: Path, *, label: str | None = None, group: str | None = None) -> None:
    """Refuse a file that is not there or lacks a column, without reading its examples."""
    if not path.is_file():
        raise InvalidInput(f"there is no file {path}", "Check the path")
    if path.suffix.casefold() == ".csv":
        with path.open(newline="", encoding="utf-8-sig") as file:
            names = [name.strip() for name in next(csv.reader(file), [])]
        _find_columns(names, label, group, path)


def _read_npz(path: Path, label: str | None, group: str | None) -> Dataset:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            names = list(arrays.files)
            features = _find(_FEATURES, names, None, "features", path)
            labels, groups = _find_columns(names, label, group, path)
            return Dataset(arrays[features], arrays[labels], arrays[groups] if groups else None)
    except ValueError as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(
            f"{path.name} holds something that is not a plain array ({error})",
            "Save it with numpy.savez(path, features=..., labels=...), arrays without objects",
        ) from None


def _read_csv(path: Path, label: str | None, group: str | None) -> Dataset:
    with path.open(newline="", encoding="utf-8-sig") as file:
        header, *rows = [row for row in csv.reader(file) if row] or [[]]
    names = [name.strip() for name in header]
    ragged = [i for i, row in enumerate(rows, start=2) if len(row) != len(names)]
    if ragged:
        raise InvalidInput(
            f"{path.name} has {len(names)} columns, but not in {enumerate_rows(ragged)}",
            "Give every row one cell per column of the header",
        )
    labels, groups = _find_columns(names, label, group, path)
    columns = dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else {}
    if len(columns) < 2 + (groups is not None):
        raise InvalidInput(f"{path.name} has no examples", "Give a header, and a row per example")
    features = [name for name in names if name not in (labels, groups)]
    numbers = [_read_numbers(columns[name], name, path) for name in features]
    return Dataset(
        np.column_stack(numbers),
        _read_labels(columns[labels], labels, path),
        None if groups is None else np.array(columns[groups]),
    )


def _read_numbers(cells: Sequence[str], name: str, path: Path) -> NDArray[np.float64]:
    numbers = [parse_number(cell) for cell in cells]
    wrong = [i for i, number in enumerate(numbers) if number is None]
    if wrong:
        rows = enumerate_rows(i + 2 for i in wrong)
        raise InvalidInput(
            f"column {name!r} of {path.name} holds {cells[wrong[0]]!r} where a number should be "
            f"({rows})",
            "Encode it as numbers, or load the data with a function of your own",
        )
    return np.array(numbers, dtype=np.float64)


def _read_labels(cells: Sequence[str], name: str, path: Path) -> NDArray[Any]:
    empty = [i + 2 for i, cell in enumerate(cells) if not cell.strip()]
    if empty:
        raise InvalidInput(
            f"column {name!r} of {path.name} has no label in {enumerate_rows(empty)}",
            "Remove these rows, or label them",
        )
    numbers = [parse_number(cell) for cell in cells]
    if any(number is None or math.isnan(number) for number in numbers):
        return np.array([cell.strip() for cell in cells])
    values = np.array(numbers, dtype=np.float64)
    is_whole = np.isfinite(values).all() and (values == np.floor(values)).all()
    return values.astype(np.int64) if is_whole else values


def _find_columns(
    names: Sequence[str], label: str | None, group: str | None, path: Path
) -> tuple[str, str | None]:
    """Which holds labels, and which groups, if there are any."""
    with entry("label"):
        labels = _find(_LABELS, names, label, "labels", path)
    if group is None and not any(name.casefold() in _GROUPS for name in names):
        return labels, None
    with entry("group"):
        return labels, _find(_GROUPS, names, group, "groups", path)


def _find(
    usual: Sequence[str], names: Sequence[str], name: str | None, part: str, path: Path
) -> str:
    if name is not None:
        if name not in names:
            raise InvalidInput(f"no {name!r} in {path.name}", suggest_names(name, names))
        return name
    candidates = [each for each in names if each.casefold() in usual]
    if len(candidates) != 1:
        raise InvalidInput(
            f"cannot tell which part of {path.name} holds the {part}: "
            f"{enumerate_names(candidates or names)}",
            f"Name it {usual[0]}, or say which it is",
        )
    return candidates[0]
