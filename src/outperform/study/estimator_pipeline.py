"""Pipelines of scikit-learn: an estimator, or anything that behaves like one."""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from outperform.errors import InvalidInput
from outperform.study.fingerprints import fingerprint
from outperform.study.import_paths import import_object, import_sklearn, refuse_failures
from outperform.study.pipelines import SETS, FitContext, Pipeline
from outperform.study.sources import derive_seed, list_sources
from outperform.study.spaces import Params, Space
from outperform.study.splits import Split
from outperform.study.study_file_entries import entry
from outperform.wording import enumerate_names, suggest_names


@dataclass(frozen=True, slots=True)
class EstimatorPipeline(Pipeline):
    """A scikit-learn estimator, or anything that behaves like one.

    Every `random_state`, nested ones included, is set to one number: the seed of `init`. Where
    further sources are declared, the number is derived from all of them but `split` and `order`.
    Training rows are permuted by `order`. A list of estimators, or of their import paths, is one of
    steps. If not given, the metric is that of the study's tasks, and the sources are `split`,
    `order`, and `init` if there is a `random_state`.
    """

    name: str
    estimator: Any
    space: Space = field(default_factory=dict)
    metric: str | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    resources: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    fingerprint: str = field(init=False)
    _random_states: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.metric is not None:
            check_metric(self.metric)
        with entry("estimator"):
            estimator = _build(self.estimator)
        own_code = f"the estimator of pipeline {self.name!r}"
        with refuse_failures(own_code, "Mend its get_params"):
            known = list(estimator.get_params(deep=True))
        _check_params(self.name, known, self.space, self.fixed)
        with refuse_failures(own_code, "Mend its set_params, or what fixed gives it"):
            estimator = import_sklearn("sklearn.base").clone(estimator).set_params(**self.fixed)
        states = tuple(name for name in known if _is_random_state(name))
        sources = list_sources(self.sources) or ("split", "order", *(["init"] if states else []))
        if not states and (idle := [s for s in sources if s not in ("split", "order")]):
            raise InvalidInput(
                f"pipeline {self.name!r} cannot honour {enumerate_names(idle)}: its estimator "
                "has no random_state",
                "Leave it out of sources",
                where=("sources", sources.index(idle[0])),
            )
        digest = fingerprint(estimator, self.metric, sources)
        self._settle(
            estimator=estimator, sources=sources, _random_states=states, fingerprint=digest
        )

    def score_by(self, metric: str) -> "EstimatorPipeline":
        """The same estimator, scored by a metric that scikit-learn knows."""
        scored = copy(self)
        digest = fingerprint(self.estimator, metric, self.sources)
        scored._settle(metric=metric, fingerprint=digest)
        return scored

    def _train(
        self, params: Params, split: Split | None, seeds: Mapping[str, int], context: FitContext
    ) -> object:
        """Train on the training rows; score whatever other sets the split holds."""
        data = context.data
        if data is None or split is None:
            raise InvalidInput(
                f"pipeline {self.name!r} needs data, and the task has none",
                "Give the task its data",
            )
        states = dict.fromkeys(self._random_states, _combine(seeds))
        model = import_sklearn("sklearn.base").clone(self.estimator).set_params(**params, **states)
        rows = split.train
        if "order" in seeds:
            rows = np.random.default_rng(seeds["order"]).permutation(rows)
        model.fit(*data.take(rows))
        score = import_sklearn("sklearn.metrics").check_scoring(model, self.metric)
        sets = {name: getattr(split, name) for name in SETS}
        return {name: score(model, *data.take(rows)) for name, rows in sets.items() if len(rows)}


def looks_like_estimator(what: Any) -> bool:
    """Whether it is an estimator, a class of estimators, or a list of steps."""
    return isinstance(what, list | tuple) or (hasattr(what, "fit") and hasattr(what, "set_params"))


def _build(what: Any) -> Any:
    """Make one estimator of an estimator, an import path, or a list of steps."""
    if isinstance(what, list | tuple):
        steps = [_build(step) for step in what]
        return import_sklearn("sklearn.pipeline").make_pipeline(*steps)
    imported = import_object(what) if isinstance(what, str) else what
    estimator = imported
    if isinstance(imported, type):
        try:
            with refuse_failures(f"making a {imported.__name__}", "Mend the class"):
                estimator = imported()
        except InvalidInput as error:
            if not isinstance(error.__cause__, TypeError):
                raise
            raise InvalidInput(
                f"cannot make a {imported.__name__} ({error.__cause__})",
                "Pass an estimator instead of its class",
            ) from None
    if not looks_like_estimator(estimator):
        raise InvalidInput(
            f"{what!r} is no estimator: it has no fit and set_params",
            "Pass a scikit-learn estimator, or wrap your code in a function",
        )
    return estimator


def _combine(seeds: Mapping[str, int]) -> int:
    """One number for every `random_state`, from all seeds but those of split and order."""
    names = sorted(name for name in seeds if name not in ("split", "order"))
    if len(names) == 1:
        return seeds[names[0]]
    return derive_seed(*(f"{name}={seeds[name]}" for name in names))


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
