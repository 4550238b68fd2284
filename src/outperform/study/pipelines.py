"""Pipelines: what is benchmarked, trained once per call under given seeds.

A pipeline scores the sets that its split holds: the final fit hands it an empty validation set. It
uses the seeds of the sources it honours and no other randomness, so that the same arguments give
the same scores.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from outperform.errors import InvalidInput
from outperform.study.datasets import Dataset
from outperform.study.fingerprints import fingerprint
from outperform.study.import_paths import import_object, import_sklearn
from outperform.study.scores import check_scores, held_out, needed_sets
from outperform.study.sources import LEARNING_SOURCES, derive_seed
from outperform.study.spaces import Params, Space
from outperform.study.split_units import IntArray
from outperform.study.splits import Split
from outperform.study.study_file_entries import entry
from outperform.study.telling import find_told
from outperform.wording import enumerate_names, suggest_names


class Pipeline(Protocol):
    """What is benchmarked: a learner with its search space and default hyperparameters."""

    @property
    def name(self) -> str:
        """Name in the study."""

    @property
    def space(self) -> Space:
        """Hyperparameters that are searched."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Sources of variation that it honours."""

    @property
    def fingerprint(self) -> str:
        """Hash of its code and fixed settings."""

    def fit(
        self,
        params: Params,
        split: Split | None,
        seeds: Mapping[str, int],
        dataset: Dataset | None,
        *,
        task: str = "",
        fold: int = 0,
        refit: bool = False,
    ) -> dict[str, float]:
        """Train once; the scores on "valid" and "test", as far as they were asked for."""


@dataclass(frozen=True, slots=True)
class EstimatorPipeline:
    """A scikit-learn estimator, or anything that behaves like one.

    Every `random_state`, nested ones included, is set to one number: the seed of `init`. Where
    further sources are declared, the number is derived from all of them but `split` and `order`.
    Training rows are permuted by `order`.

    Parameters
    ----------
    estimator
        An estimator, its import path, or a list of these: the steps of a scikit-learn Pipeline.
    space
        Names as `set_params` takes them, such as `svc__C`.
    metric
        Name of a scikit-learn scorer.
    fixed
        Parameters that are not searched.
    sources
        Sources honoured. If not given: `split`, `order`, and `init` if there is a `random_state`.

    Examples
    --------
    >>> EstimatorPipeline("tree", "sklearn.tree.DecisionTreeClassifier").sources
    ('split', 'order', 'init')
    """

    name: str
    estimator: Any
    space: Space = field(default_factory=dict)
    metric: str = "accuracy"
    fixed: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    fingerprint: str = field(init=False)
    _random_states: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_metric(self.metric)
        with entry("estimator"):
            estimator = _build(self.estimator)
        known = list(estimator.get_params(deep=True))
        _check_params(self.name, known, self.space, self.fixed)
        estimator = import_sklearn("sklearn.base").clone(estimator).set_params(**self.fixed)
        states = tuple(name for name in known if _is_random_state(name))
        sources = self.sources or ("split", "order", *(["init"] if states else []))
        if not states and (idle := [s for s in sources if s not in ("split", "order")]):
            with entry("sources", sources.index(idle[0])):
                raise InvalidInput(
                    f"pipeline {self.name!r} cannot honour {enumerate_names(idle)}: its estimator "
                    "has no random_state",
                    "Leave it out of sources",
                )
        object.__setattr__(self, "estimator", estimator)
        object.__setattr__(self, "sources", tuple(sources))
        object.__setattr__(self, "_random_states", states)
        object.__setattr__(self, "fingerprint", fingerprint(estimator, self.metric, self.sources))

    def fit(
        self,
        params: Params,
        split: Split | None,
        seeds: Mapping[str, int],
        dataset: Dataset | None,
        *,
        task: str = "",
        fold: int = 0,
        refit: bool = False,
    ) -> dict[str, float]:
        """Train on the training rows; score whatever other sets the split holds."""
        data, split = require_data(self.name, dataset, split)
        honoured = {name: seeds[name] for name in self.sources if name in seeds}
        states = dict.fromkeys(self._random_states, _combine(honoured))
        model = import_sklearn("sklearn.base").clone(self.estimator).set_params(**params, **states)
        model.fit(*data.take(permute(split.train, honoured)))
        score = _find_scorer(self.metric)
        scores = {
            name: score(model, *data.take(rows)) for name, rows in held_out(split) if len(rows)
        }
        return check_scores(scores, self.name, needed_sets(split, refit=refit))


@dataclass(frozen=True, slots=True)
class FunctionPipeline:
    """A Python function `fit(params, split, seeds) -> {"valid": ..., "test": ...}`.

    Parameters
    ----------
    function
        A function, from a notebook too, or its import path `package.module:function`. It gets the
        seeds of the sources declared, and may return further numbers, which are kept. If it has
        parameters of these names, it is told the `task`, the `fold` of a cross-validation, and
        whether this is a `refit`: the final fit, on training and validation data together.
    sources
        Sources honoured: all learning sources if not given.

    Examples
    --------
    >>> def fit(params, split, seeds):
    ...     return {"test": seeds["init"] / 10}
    >>> FunctionPipeline("toy", fit).fit({}, None, {"init": 9, "hpo": 3}, None)
    {'test': 0.9}
    >>> def fit_anywhere(params, split, seeds, *, task):
    ...     return {"test": len(task)}
    >>> FunctionPipeline("toy", fit_anywhere).told
    ('task',)
    """

    name: str
    function: Callable[..., Mapping[str, float]] | str
    space: Space = field(default_factory=dict)
    sources: tuple[str, ...] = LEARNING_SOURCES
    fingerprint: str = field(init=False)
    told: tuple[str, ...] = field(init=False, repr=False)  # of task, fold and refit

    def __post_init__(self) -> None:
        given = self.function
        with entry("function"):
            function = import_object(given) if isinstance(given, str) else given
            if not callable(function):
                raise InvalidInput(
                    f"pipeline {self.name!r} is the {type(function).__name__} {given!r}",
                    "Pass a function fit(params, split, seeds)",
                )
            told = find_told(self.name, function)
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "told", told)
        object.__setattr__(self, "sources", tuple(self.sources))
        object.__setattr__(self, "fingerprint", fingerprint(function, self.sources))

    def fit(
        self,
        params: Params,
        split: Split | None,
        seeds: Mapping[str, int],
        dataset: Dataset | None,
        *,
        task: str = "",
        fold: int = 0,
        refit: bool = False,
    ) -> dict[str, float]:
        """Call the function; check what it returns."""
        honoured = {name: seeds[name] for name in self.sources if name in seeds}
        function: Any = self.function
        known = {"task": task, "fold": fold, "refit": refit}
        told = {name: known[name] for name in self.told}
        scores = function(dict(params), split, honoured, **told)
        return check_scores(scores, self.name, needed_sets(split, refit=refit))


def permute(rows: IntArray, seeds: Mapping[str, int]) -> IntArray:
    """Rows in the order that the seed of `order` gives."""
    return np.random.default_rng(seeds["order"]).permutation(rows) if "order" in seeds else rows


def require_data(
    pipeline: str, dataset: Dataset | None, split: Split | None
) -> tuple[Dataset, Split]:
    """Refuse to train on nothing."""
    if dataset is None or split is None:
        raise InvalidInput(
            f"pipeline {pipeline!r} needs data, and the task has none", "Give the task its data"
        )
    return dataset, split


def _build(given: Any) -> Any:
    """Make one estimator of an estimator, an import path, or a list of steps."""
    if isinstance(given, list | tuple):
        steps = [_build(step) for step in given]
        return import_sklearn("sklearn.pipeline").make_pipeline(*steps)
    found = import_object(given) if isinstance(given, str) else given
    estimator = _construct(found) if isinstance(found, type) else found
    if not (hasattr(estimator, "fit") and hasattr(estimator, "set_params")):
        raise InvalidInput(
            f"{given!r} is no estimator: it has no fit and set_params",
            "Pass a scikit-learn estimator, or wrap your code in a function",
        )
    return estimator


def _construct(kind: type) -> Any:
    try:
        return kind()
    except TypeError as error:
        raise InvalidInput(
            f"cannot make a {kind.__name__} ({error})", "Pass an estimator instead of its class"
        ) from None


def _combine(seeds: Mapping[str, int]) -> int:
    """One number for every `random_state`, from all seeds but those of split and order."""
    names = sorted(name for name in seeds if name not in ("split", "order"))
    if len(names) == 1:
        return seeds[names[0]]
    return derive_seed(*(f"{name}={seeds[name]}" for name in names))


@lru_cache
def _find_scorer(metric: str) -> Any:
    return import_sklearn("sklearn.metrics").get_scorer(metric)


def _check_params(pipeline: str, known: list[str], space: Space, fixed: Mapping[str, Any]) -> None:
    for name in [*space, *fixed]:
        with entry("fixed" if name in fixed else "space", name):
            if _is_random_state(name):
                raise InvalidInput(
                    f"pipeline {pipeline!r} sets {name}, which the study seeds",
                    "Leave it out; to keep it fixed, do not vary the source init",
                )
            if name not in known:
                problem = f"the estimator of pipeline {pipeline!r} has no parameter {name!r}"
                raise InvalidInput(problem, suggest_names(name, known))
            if name in space and name in fixed:
                raise InvalidInput(
                    f"pipeline {pipeline!r} both searches and fixes {name!r}", "Do one of the two"
                )


def check_metric(metric: str) -> None:
    """Refuse a metric of which scikit-learn has no scorer."""
    known = import_sklearn("sklearn.metrics").get_scorer_names()
    if metric not in known:
        raise InvalidInput(f"scikit-learn has no scorer {metric!r}", suggest_names(metric, known))


def _is_random_state(name: str) -> bool:
    return name == "random_state" or name.endswith("__random_state")
