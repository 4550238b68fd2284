"""Pipelines: what is benchmarked, trained once per call under given seeds.

A pipeline scores the sets that its split holds: the final fit hands it an empty validation set. It
uses the seeds of the sources it honours and no other randomness, so that the same arguments give
the same scores. What a fit needs where it runs (`read_resources`) changes no score, and so no key.
"""

import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import Any

from outperform.errors import InvalidInput, InvalidScores
from outperform.study.datasets import Dataset
from outperform.study.fingerprints import fingerprint
from outperform.study.import_paths import import_object
from outperform.study.sources import LEARNING_SOURCES, list_sources
from outperform.study.spaces import Params, Space
from outperform.study.splits import Split
from outperform.study.study_file_entries import check_name, entry
from outperform.wording import enumerate_names, suggest_names

SETS = ("valid", "test")  # that are scored
# Of one fit; together far below the largest value of a store.
_MOST_SCORES = 5_000
_LONGEST_NAME = 200
_PARAMETERS = ("params", "split", "seeds")  # of a function, in this order
_EXAMPLE = 'Return a mapping such as {"valid": 0.91, "test": 0.9}'
_RESOURCES = ("gpus", "memory", "cpus")  # that every engine knows; others are its own
_MEANT = {"mem": "memory", "ram": "memory"}
_ALIKE = 0.8  # of two words, from 0 to 1: `tpus` may be meant, `gpu` is not
_UNITS = {
    **{f"{letter}b".strip(): 1000**power for power, letter in enumerate(" kmgt")},
    **{f"{letter}ib": 1024**power for power, letter in enumerate("kmgt", start=1)},
}
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*((?:[kmgt]i?)?b)\s*", re.IGNORECASE)
_LEAST_MEMORY = 1_000_000  # bytes: less was meant in another unit
_MOST_OF_ANY = 1e18  # resource
_WRITE_SIZE = 'Write a size such as "16GB", "512MB" or "1.5GiB"'


@dataclass(frozen=True, slots=True, eq=False)
class FitContext:
    """What a pipeline may ask to be told of a fit, besides its arguments."""

    task: str
    fold: int
    refit: bool  # the final fit, on training and validation data together
    data: Dataset | None


class Pipeline:
    """What is benchmarked: a learner with its search space and default hyperparameters.

    Parameters
    ----------
    name
        Name in the study and in results.
    what
        One of these:

        - a scikit-learn estimator, its import path, or a list of these: the steps of a pipeline;
        - a function `fit(params, split, seeds) -> {"valid": ..., "test": ...}`, or its import path
          `package.module:function`;
        - a command, as a text or a list of words, with placeholders:
          `"python train.py --lr {lr} --seed {seed.init} --split {split} --out {out}"`.
    space
        What is searched: `{"lr": LogUniform(1e-4, 1e-1)}`.
    sources
        Sources of variation that it honours, such as `["init", "order"]`. If not given: of an
        estimator `split`, `order`, and `init` if it has a `random_state`; of a function all; of a
        command those whose seeds it passes on.
    fixed
        Parameters of an estimator that are not searched.
    resources
        What a fit needs where it runs: `{"gpus": 1, "memory": "16GB"}`, and what else the engine
        knows. A fit that takes more memory is killed; of the others, none sees a GPU where one
        pipeline of the study asks for some.

    Examples
    --------
    >>> Pipeline("tree", "sklearn.tree.DecisionTreeClassifier").sources
    ('split', 'order', 'init')
    >>> Pipeline("net", "train --seed {seed.init}").sources
    ('init',)
    """

    __slots__ = ()
    name: str
    space: Space
    sources: tuple[str, ...]
    fingerprint: str  # hash of its code and fixed settings
    resources: Mapping[str, float]  # memory in bytes

    def __new__(  # noqa: D102
        cls,
        name: str = "",
        what: Any = None,
        space: Space | None = None,  # noqa: ARG004
        sources: Sequence[str] | None = None,  # noqa: ARG004
        *others: Any,  # noqa: ARG004
        **words: Any,
    ) -> "Pipeline":
        check_name("pipeline", name)
        return object.__new__(_choose_kind(name, what, words) if cls is Pipeline else cls)

    @property
    def gets_split(self) -> bool:
        """Whether it gets the split of a task with data, and does not make its own."""
        return True

    def hash_files(self) -> dict[str, str]:
        """Hashes of files that its fits depend on, but no fingerprint tells of, by their names."""
        return {}

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
        honoured = {name: seeds[name] for name in self.sources if name in seeds}
        scores = self._train(params, split, honoured, FitContext(task, fold, refit, dataset))
        held_out: Sequence[str] = ("test",) if refit else SETS
        if split is not None:
            held_out = [name for name in SETS if len(getattr(split, name))]
        return check_scores(scores, self.name, held_out)

    def _train(
        self, params: Params, split: Split | None, seeds: Mapping[str, int], context: "FitContext"
    ) -> object:
        raise NotImplementedError

    def _settle(self, **values: Any) -> None:
        """Set fields that were derived from others, as the last step of making it."""
        for name, value in {**values, "resources": read_resources(self.resources)}.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True)
class FunctionPipeline(Pipeline):
    """A Python function `fit(params, split, seeds) -> {"valid": ..., "test": ...}`.

    Or the import path of one, `package.module:function`. It gets the seeds of the sources declared
    (all of learning if none are), and may return further numbers, which are kept. If it has
    parameters of these names, it is told the `task`, the `fold` of a cross-validation, whether this
    is a `refit` (the final fit, on training and validation data together), and given the task's
    `data`, a `Dataset` with `features` and `labels`.
    """

    name: str
    function: Callable[..., Mapping[str, float]] | str
    space: Space = field(default_factory=dict)
    sources: tuple[str, ...] = LEARNING_SOURCES
    resources: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    fingerprint: str = field(init=False)
    asks: tuple[str, ...] = field(init=False, repr=False)  # of task, fold, refit and data

    def __post_init__(self) -> None:
        function = self.function
        with entry("function"):
            function = import_object(function) if isinstance(function, str) else function
            if not callable(function):
                raise InvalidInput(
                    f"pipeline {self.name!r} is the {type(function).__name__} {self.function!r}",
                    "Pass a function fit(params, split, seeds)",
                )
            asks = _find_asked(self.name, function)
        sources = list_sources(self.sources)
        digest = fingerprint(function, sources)
        self._settle(function=function, asks=asks, sources=sources, fingerprint=digest)

    def _train(
        self, params: Params, split: Split | None, seeds: Mapping[str, int], context: FitContext
    ) -> object:
        function: Any = self.function
        answers = {name: getattr(context, name) for name in self.asks}
        if answers.get("data") is not None:  # which all fits of a worker share
            answers["data"] = answers["data"].protect()
        return function(dict(params), split, dict(seeds), **answers)


def check_scores(scores: object, pipeline: str, held_out: Sequence[str] = SETS) -> dict[str, float]:
    """Scores as plain floats, with every further finite number.

    One of held-out examples that is not a number is refused, and so is more than a store takes,
    while it is this fit alone that fails. Where all was trained on, there is no score to give.
    """
    returned = f"pipeline {pipeline!r} returned"
    if not isinstance(scores, Mapping):
        raise InvalidScores(f"{returned} {_show(scores)}, not scores", _EXAMPLE)
    missing = [name for name in held_out if name not in scores] if len(held_out) == 1 else []
    if missing or not any(name in scores for name in SETS):
        wanted = " and ".join(repr(name) for name in missing) or "'valid' or 'test'"
        keys = enumerate_names(map(repr, scores)) or "nothing"
        raise InvalidScores(f"{returned} no {wanted}, but {keys}", _EXAMPLE)
    numbers = {}
    for name, value in scores.items():
        try:
            numbers[str(name)] = _as_number(value)
        except OverflowError:
            raise InvalidScores(
                f"{returned} a whole number beyond all floats as {name!r}",
                "Return a number that a float can hold",
            ) from None
    for name in held_out:
        if not math.isfinite(numbers.get(name, 0.0)):
            raise InvalidScores(
                f"{returned} {_show(scores[name])} as its {name!r} score",
                "Return a finite number; a fit that fails should raise an error",
            )
    kept = {name: value for name, value in numbers.items() if math.isfinite(value)}
    if len(kept) > _MOST_SCORES:
        raise InvalidScores(
            f"{returned} {len(kept):,} scores",
            f"Return up to {_MOST_SCORES:,}, and keep anything else in files",
        )
    longest = max(kept, key=len, default="")
    if len(longest) > _LONGEST_NAME:
        raise InvalidScores(
            f"{returned} a score with a name of {len(longest):,} characters, {longest[:40]!r}...",
            f"Give it a name of up to {_LONGEST_NAME} characters",
        )
    return kept


def _choose_kind(name: str, what: Any, words: Mapping[str, Any]) -> type[Pipeline]:
    """Kind of pipeline that fits what is to be trained; options of other kinds are refused."""
    from outperform.study.command_pipeline import CommandPipeline
    from outperform.study.estimator_pipeline import EstimatorPipeline, looks_like_estimator

    imported = _import_single(what)
    kind: type[EstimatorPipeline | FunctionPipeline | CommandPipeline]
    if _looks_like_command(what):
        kind = CommandPipeline
    elif looks_like_estimator(imported):
        kind = EstimatorPipeline
    elif callable(imported) and not isinstance(imported, type):
        kind = FunctionPipeline
    else:
        raise InvalidInput(
            f"pipeline {name!r} is {_show(what)}, which cannot be trained",
            "Pass a scikit-learn estimator, a function fit(params, split, seeds), or a command "
            "with placeholders",
        )
    known = [each.name for each in fields(kind) if each.init][2:]
    for word in words:
        if word not in known:
            noun = kind.__name__.removesuffix("Pipeline").lower()
            problem = f"pipeline {name!r} is of the kind {noun}, which has no option {word!r}"
            raise InvalidInput(problem, suggest_names(word, known))
    return kind


def _looks_like_command(what: Any) -> bool:
    """Whether a text, or one in a list, is no import path: these have no blanks and no braces."""
    words = [what] if isinstance(what, str) else what
    if not isinstance(words, list | tuple):
        return False
    return not words or any(isinstance(word, str) and not _is_import_path(word) for word in words)


def _is_import_path(word: str) -> bool:
    parts = word.replace(":", ".").split(".")
    return len(parts) > 1 and all(part.isidentifier() for part in parts)


def _import_single(what: Any) -> Any:
    """What a single import path points at; anything else as it is."""
    if not (isinstance(what, str) and _is_import_path(what)):
        return what
    try:
        return import_object(what)
    except InvalidInput as error:
        remedy = f"{error.remedy}; a command has blanks: 'python train.py --seed {{seed.init}}'"
        raise InvalidInput(error.problem, remedy) from None


def _find_asked(pipeline: str, function: Callable[..., Any]) -> tuple[str, ...]:
    """What a function asks for by its parameters; refused if it cannot be called at all."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some that are written in C say nothing of themselves
        return ()
    asks = tuple(name for name in FitContext.__slots__ if name in signature.parameters)
    for wanted, name in zip(_PARAMETERS, signature.parameters, strict=False):
        if name != wanted and name in _PARAMETERS:
            raise InvalidInput(
                f"the function of pipeline {pipeline!r} has its {name!r} where {wanted!r} is put",
                f"Let it take ({', '.join(_PARAMETERS)}) in this order",
            )
    try:
        signature.bind({}, None, {}, **dict.fromkeys(asks))
    except TypeError as error:
        raise InvalidInput(
            f"the function of pipeline {pipeline!r} cannot be called with (params, split, seeds): "
            f"{error}",
            f"Let it take these three and, if it likes, {', '.join(FitContext.__slots__)} by name",
        ) from None
    return asks


def _as_number(value: object) -> float:
    """NaN where it is no number."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()  # numpy, torch and jax scalars
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    return float(value)


def _show(value: object) -> str:
    text = repr(value)
    return f"a {type(value).__name__}" if len(text) > 80 or " at 0x" in text else text


def read_resources(resources: Mapping[str, Any]) -> dict[str, float]:
    """Resources as plain numbers, memory in bytes; refused where they make no sense."""
    with entry("resources"):
        if not isinstance(resources, Mapping):
            raise InvalidInput(
                f"resources are {resources!r}", 'Name them: {"gpus": 1, "memory": "16GB"}'
            )
        return {name: _read_resource(name, value) for name, value in resources.items()}


def _read_resource(name: str, value: Any) -> float:
    with entry(name):
        if not isinstance(name, str) or not name:
            raise InvalidInput(f"resources name {name!r}", "Name each by a text")
        word = name.casefold()
        near = [_MEANT[word]] if word in _MEANT else get_close_matches(word, _RESOURCES, 1, _ALIKE)
        if near and name not in _RESOURCES:  # meant for one that every engine knows
            raise InvalidInput(f"resources name {name!r}", f"Write {near[0]}")
        if name == "memory":
            return _read_memory(value)
        _check_number(name, value)
        if name == "gpus" and value > 1 and value != int(value):
            raise InvalidInput(
                f"gpus is {value}", "Give a whole number of them, or less than one to share it"
            )
        return int(value) if value == int(value) else float(value)


def _check_number(name: str, value: Any) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= _MOST_OF_ANY or (value == 0 and name != "gpus"):
        wanted = "zero or more" if name == "gpus" else "a positive number"
        raise InvalidInput(f"{name} is {value!r:.80}", f"Give {wanted}")


def _read_memory(value: Any) -> int:
    """Bytes of a size, which is a number of them or a text with its unit."""
    if isinstance(value, str):
        size = _SIZE.fullmatch(value)
        if size is None:
            raise InvalidInput(f"memory is {value!r}", _WRITE_SIZE)
        n_bytes: float = float(size[1]) * _UNITS[size[2].casefold()]
    else:
        _check_number("memory", value)
        n_bytes = float(value)
    if not _LEAST_MEMORY <= n_bytes <= _MOST_OF_ANY:
        raise InvalidInput(f"memory is {value!r:.80}, which is {n_bytes:g} bytes", _WRITE_SIZE)
    return round(n_bytes)
