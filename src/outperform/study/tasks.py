"""Tasks: a dataset with its metric, how it is split, and whether it can be."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from math import log
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np

from outperform.errors import InvalidInput, UnknownDirection, UnknownName
from outperform.runs.metrics import Goal, known_goal, resolve_goal
from outperform.runs.scope import FOLDS, SPLITS, Resplit
from outperform.study.datasets import Dataset, load_table
from outperform.study.fingerprints import fingerprint
from outperform.study.import_paths import import_object, import_sklearn, refuse_failures
from outperform.study.pipelines import Pipeline
from outperform.study.split_units import make_units
from outperform.study.splits import (
    CrossValidation,
    FixedSplit,
    HoldOut,
    OutOfBootstrap,
    Split,
    Splitter,
)
from outperform.study.study_file_entries import Kind, check_name, check_words, entry
from outperform.wording import find_near, suggest_names

BUNDLED = ("digits", "breast_cancer", "wine", "iris", "diabetes")

_TABLE_WORDS: dict[str, Kind] = {"path": None, "label": str, "group": str}
_CHANCE = 1e-9  # that a study goes unchecked in which a bootstrap leaves too few examples


Data: TypeAlias = str | Path | Mapping[str, Any] | tuple[Any, ...] | Dataset | Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Task:
    """A dataset with its metric, and how it is split.

    Parameters
    ----------
    name
        Name in the study and in results. A task that is called like a bundled dataset (digits,
        breast_cancer, wine, iris, diabetes) has it as its data unless other data is given.
    metric
        For scikit-learn, the name of a scorer; otherwise what the pipelines report. Scores are
        kept in the metric's own sign.
    goal
        "maximize" or "minimize"; found out from the metric's name if not given.
    data
        Name of a bundled dataset, path of a CSV or NPZ file (or a mapping with path, label and
        group), features and labels (and groups) or a `Dataset`, or a function that returns these
        (or its import path, `package.module:function`). None: the pipelines fetch and split their
        data themselves, from the seed of `split`.
    splitter
        `OutOfBootstrap`, `HoldOut`, `CrossValidation` or `FixedSplit`.

    Examples
    --------
    >>> Task("digits", metric="accuracy").goal
    'maximize'
    """

    name: str
    metric: str
    goal: Goal = None  # type: ignore[assignment]  # settled below
    data: Any = None  # a function that loads the dataset, or None; settled below
    splitter: Splitter = field(default_factory=OutOfBootstrap)

    def __post_init__(self) -> None:
        check_name("task", self.name)
        data = self.name if self.data is None and self.name in BUNDLED else self.data
        with entry("metric" if self.goal is None else "goal"):
            object.__setattr__(self, "goal", find_goal(self.metric, self.goal))
        object.__setattr__(self, "data", None if data is None else make_data(data))
        if self.splitter is None:
            object.__setattr__(self, "splitter", OutOfBootstrap())
        if not hasattr(self.splitter, "split") or isinstance(self.splitter, str | type):
            raise InvalidInput(
                f"the splitter of task {self.name!r} is {self.splitter!r}",
                "Pass one such as HoldOut(test=0.3) or CrossValidation(5)",
            )

    @property
    def sign(self) -> int:
        """What makes scores higher where they are better: -1 where lower is."""
        return 1 if self.goal == "maximize" else -1

    @property
    def redraws_split(self) -> bool:
        """Whether another seed of `split` gives other sets of its data."""
        return self.data is not None and not isinstance(self.splitter, FixedSplit)

    @property
    def fingerprint(self) -> str:
        """Hash of the data (a file: of its content) and of how it is split."""
        loader = getattr(self.data, "load", self.data)  # a person's own may know its content
        return fingerprint(getattr(loader, "fingerprint", self.data), self.splitter)


@dataclass(frozen=True, slots=True)
class BundledData:
    """A dataset that comes with scikit-learn, so that it works offline."""

    name: str

    def __call__(self) -> Dataset:
        """Load it, once per process."""
        return _load_bundled(self.name)


@dataclass(frozen=True, slots=True)
class TableData:
    """A dataset in a CSV or NPZ file."""

    path: Path
    label: str | None = None
    group: str | None = None

    def __call__(self) -> Dataset:
        """Read the file."""
        return load_table(self.path, label=self.label, group=self.group)

    @property
    def fingerprint(self) -> str:
        """Hash of the file's content: it may move, but not change."""
        try:
            return fingerprint(self.path.read_bytes(), self.label, self.group)
        except OSError as error:
            raise InvalidInput(
                f"cannot read {self.path}: {error.strerror}", "Check the path"
            ) from None


@dataclass(frozen=True, slots=True)
class GivenData:
    """A dataset that is in memory already."""

    dataset: Dataset

    def __call__(self) -> Dataset:
        """Hand it out."""
        return self.dataset


@dataclass(frozen=True, slots=True)
class LoadedData:
    """A dataset that the person's own function loads."""

    load: Callable[[], Any]

    def __call__(self) -> Dataset:
        """Call the function."""
        name = getattr(self.load, "__name__", type(self.load).__name__)
        with refuse_failures(f"the data function {name!r}", "Mend it, and call it by itself first"):
            return make_dataset(self.load())


def make_data(data: Data) -> Callable[[], Dataset]:
    """Something that loads the dataset when it is needed."""
    # Ready already; so is what knows by itself whether it has changed.
    if isinstance(data, BundledData | GivenData | LoadedData) or hasattr(data, "fingerprint"):
        return cast("Callable[[], Dataset]", data)
    if isinstance(data, str) and data in BUNDLED:
        return BundledData(data)
    if isinstance(data, str) and Path(data).suffix.casefold() not in (".csv", ".npz"):
        if ":" in data:
            return LoadedData(import_object(data))
        raise UnknownName(
            f"there is no dataset {data!r}",
            f"{suggest_names(data, BUNDLED)}; a path must end in .csv or .npz",
        )
    if isinstance(data, str | Path):
        return TableData(Path(data))
    if isinstance(data, Mapping):
        check_words(data, _TABLE_WORDS, of="data")
        if "path" not in data:
            raise InvalidInput("data has no path", "Give the path of a CSV or NPZ file as path")
        return TableData(Path(data["path"]), data.get("label"), data.get("group"))
    return LoadedData(data) if callable(data) else GivenData(make_dataset(data))


def make_dataset(data: Any) -> Dataset:
    """Dataset from features and labels (and groups)."""
    if isinstance(data, Dataset):
        return data
    if isinstance(data, tuple | list) and len(data) in (2, 3):
        return Dataset(*data)
    raise InvalidInput(
        f"a {type(data).__name__} is no dataset", "Pass (features, labels) or add groups as third"
    )


def find_goal(metric: str, goal: Goal | None = None) -> Goal:
    """Direction in which the metric is better; scikit-learn's scorers all go up."""
    if goal is None and metric.startswith(("neg_", "d2_")):
        return "maximize"
    if goal is None and known_goal(metric) is None and metric in _scorers():
        return "maximize"
    try:
        return resolve_goal(metric, goal)
    except UnknownDirection as error:
        near = find_near(metric, _scorers()) if goal is None else ()
        guess = f"Did you mean {near[0]!r}? Otherwise set" if near else "Set"
        remedy = f'{guess} goal = "maximize" or goal = "minimize" for the task'
        raise UnknownDirection(error.problem, remedy) from None


def _scorers() -> list[str]:
    """Metrics that scikit-learn knows, if it is there."""
    if find_spec("sklearn") is None:
        return []
    names: list[str] = import_sklearn("sklearn.metrics").get_scorer_names()
    return names


@lru_cache
def _load_bundled(name: str) -> Dataset:
    load = getattr(import_sklearn("sklearn.datasets"), f"load_{name}")
    features, labels = load(return_X_y=True)
    return Dataset(np.ascontiguousarray(features), labels)


def check_feasible(
    splitter: Splitter, dataset: Dataset, draws: Collection[tuple[int, int]]
) -> None:
    """Refuse a split that is impossible with any of these seeds and folds.

    The seed decides which examples are in a set, not how many; so one split of each fold stands
    for all. Only a bootstrap may happen to leave too few examples undrawn: where that is likely at
    all, every split is drawn.
    """
    fixed_sizes = isinstance(splitter, FixedSplit | HoldOut | CrossValidation)
    if fixed_sizes or is_spacious(splitter, dataset, len(draws)):
        draws = {fold: (seed, fold) for seed, fold in draws}.values()
    for seed, fold in draws:
        split_dataset(splitter, dataset, seed=seed, fold=fold)


def split_dataset(splitter: Splitter, dataset: Dataset, *, seed: int, fold: int) -> Split:
    """Split a dataset by its labels and groups."""
    with refuse_failures(f"the splitter {type(splitter).__name__}", "Mend it"):
        return splitter.split(
            dataset.n_examples, seed=seed, fold=fold, labels=dataset.labels, groups=dataset.groups
        )


def is_spacious(splitter: Splitter, dataset: Dataset, n_draws: int) -> bool:
    """Whether none of so many bootstraps leaves too few examples, but for a chance of 1e-9.

    Each of d draws changes the number of examples never drawn, n·(1 - 1/n)^d on average, by one at
    most. So it falls short of its mean by t with a chance of exp(-2t²/d) at most (McDiarmid).
    """
    if not isinstance(splitter, OutOfBootstrap):
        return False
    units = make_units(
        dataset.n_examples,
        stratified=splitter.stratified,
        labels=dataset.labels,
        groups=dataset.groups,
    )
    counts, sizes = splitter.count_draws(units), units.sizes
    shortfall = np.sqrt(counts * log(n_draws * len(sizes) / _CHANCE) / 2)
    left = np.floor(sizes * (1 - 1 / sizes) ** counts - shortfall).astype(np.int64)
    left -= 1  # as shares are rounded
    pool = [stratum[: max(n, 0)] for stratum, n in zip(units.strata, left, strict=True)]
    try:
        splitter.take_undrawn(pool, units)
    except InvalidInput:
        return False
    return True


def name_division(task: Task, pipelines: Sequence[Pipeline]) -> str | None:
    """What another seed of `split` gives: splits or folds of this dataset; None if the same.

    Without data, pipelines divide their own by that seed, if they honour it.
    """
    splits_itself = any("split" in pipeline.sources for pipeline in pipelines)
    if not (splits_itself if task.data is None else task.redraws_split):
        return None
    return FOLDS if isinstance(task.splitter, CrossValidation) else SPLITS


def measure_resplit(splitter: Splitter, dataset: Dataset, *, seed: int) -> Resplit:
    """Sizes of the sets that final fits train and are tested on, in examples or in groups.

    Final fits train on validation data too, and what a bootstrap draws twice counts once. How many
    examples it never draws depends on the seed a little: one split stands for all.
    """
    split = split_dataset(splitter, dataset, seed=seed, fold=0)
    units = np.arange(dataset.n_examples) if dataset.groups is None else dataset.groups
    train, test = units[split.refit().train], units[split.test]
    return Resplit(len(np.unique(train)), len(np.unique(test)))
