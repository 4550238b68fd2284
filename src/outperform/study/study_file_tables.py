"""Designs, splits, search spaces and the engine from the tables of a study file."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from outperform.errors import InvalidInput
from outperform.study.designs import (
    Crossed,
    Design,
    FixHopt,
    Ideal,
    ResampledHopt,
    SimulatedHopt,
    Variance,
)
from outperform.study.spaces import Choices, Dimension, Integers, LogUniform, Space, Uniform
from outperform.study.splits import (
    CrossValidation,
    FixedSplit,
    HoldOut,
    OutOfBootstrap,
    Splitter,
)
from outperform.study.study_file_entries import Kind, check_kind, check_words, entry
from outperform.wording import suggest_names

# What each design is made by, and its words; the first cannot be left out.
DESIGNS: dict[str, tuple[type[Any], tuple[str, ...]]] = {
    "ideal": (Ideal, ("replicates",)),
    "fix-hopt": (FixHopt, ("replicates", "vary", "repetitions")),
    "simulated-hopt": (SimulatedHopt, ("replicates", "repetitions", "best_share")),
    "resampled-hopt": (ResampledHopt, ("replicates", "repetitions")),
    "variance": (Variance, ("replicates", "searches", "sources")),
    "crossed": (Crossed, ("levels", "sources")),
}
_DESIGN_WORDS: dict[str, Kind] = {
    "replicates": int,
    "repetitions": int,
    "best_share": float,
    "levels": int,
    "searches": int,
    "vary": list,
    "sources": list,
}
# Field of a design that a word gives: a word is short for the number of what it names.
FIELDS = {word: f"n_{word}" if kind is int else word for word, kind in _DESIGN_WORDS.items()}
_SPLITS: dict[str, type[OutOfBootstrap | HoldOut | CrossValidation | FixedSplit]] = {
    "out-of-bootstrap": OutOfBootstrap,
    "hold-out": HoldOut,
    "cross-validation": CrossValidation,
    "fixed": FixedSplit,
}
_SPLIT_WORDS: dict[str, Kind] = {  # splits check their sizes themselves
    **dict.fromkeys(("train", "valid", "test", "n_folds")),
    "stratified": bool,
}

_DIMENSIONS: Mapping[str, type[Dimension]] = {
    "uniform": Uniform,
    "log-uniform": LogUniform,
    "integers": Integers,
    "choices": Choices,
}
_ENGINE_WORDS: dict[str, Kind] = {"address": str, "spool": str, "patience": float, "options": dict}


def make_design(options: Mapping[str, Any]) -> Design:
    """Design from a table of a study file."""
    kind = _find_kind("design", options, DESIGNS, _DESIGN_WORDS)
    make, words = DESIGNS[kind]
    settings = {word: value for word, value in options.items() if word != "kind"}
    check_words(settings, {word: _DESIGN_WORDS[word] for word in words}, of=kind)
    if words[0] not in settings:
        raise InvalidInput(f"{kind} does not say how many {words[0]}", f"Add {words[0]} = 29")
    values = {FIELDS[word]: value for word, value in settings.items()}
    design: Design = make(**{n: tuple(v) if isinstance(v, list) else v for n, v in values.items()})
    return design


def make_splitter(options: Mapping[str, Any] | str) -> Splitter:
    """Splitter from a study file: a table, or its kind alone.

    Ranges of a fixed split may be text, "0:50000".
    """
    if isinstance(options, str):
        options = {"kind": options}
    kind = _find_kind("split", options, _SPLITS, _SPLIT_WORDS)
    known = [field.name for field in fields(_SPLITS[kind])]
    settings = {word: value for word, value in options.items() if word != "kind"}
    check_words(settings, {word: _SPLIT_WORDS[word] for word in known}, of=kind)
    if kind == "fixed":
        settings = {word: _read_range(word, settings.get(word, [])) for word in known}
    splitter: Splitter = _SPLITS[kind](**settings)
    return splitter


def _find_kind(
    what: str, options: Mapping[str, Any], known: Mapping[str, Any], words: Mapping[str, Kind]
) -> str:
    """Kind of a design or split, refusing at once a word that was meant to say it."""
    if "kind" not in options:
        check_words(options, {"kind": str, **words}, of=f"the {what}")
        raise InvalidInput(f"the {what} has no kind", f"Give it one of {', '.join(known)}")
    kind: str = options["kind"]
    check_kind("kind", kind, str)
    if kind not in known:
        remedy = suggest_names(kind, list(known))
        raise InvalidInput(f"there is no {what} {kind!r}", remedy, where=("kind",))
    return kind


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


def make_space(options: Mapping[str, Mapping[str, Any]]) -> Space:
    """Search space from a study file's table."""
    space: dict[str, Dimension] = {}
    for name, table in options.items():
        try:
            space[name] = _make_dimension(table)
        except InvalidInput as error:
            problem = f"hyperparameter {name!r}: {error.problem}"
            raise InvalidInput(problem, error.remedy, where=(name,)) from None
    return space


def _make_dimension(table: Mapping[str, Any]) -> Dimension:
    if not isinstance(table, Mapping):
        raise InvalidInput(
            f"{table!r} says not how to search it",
            "Write for example {log-uniform = [0.0001, 0.1]}",
        )
    kinds = [word for word in table if word in _DIMENSIONS]
    extra = ["default", "log"] if kinds == ["integers"] else ["default"]
    for word in table:
        if word not in _DIMENSIONS and word not in extra:
            known = [*(kinds or _DIMENSIONS), *extra]
            raise InvalidInput(f"there is no option {word!r}", suggest_names(word, known))
    if len(kinds) != 1:
        raise InvalidInput(
            f"it is searched in {len(kinds)} ways{': ' if kinds else ''}{', '.join(kinds)}",
            f"Give one of {', '.join(_DIMENSIONS)}",
        )
    kind, bounds = kinds[0], table[kinds[0]]
    options = {word: table[word] for word in extra if word in table}
    if kind == "choices":
        return Choices(bounds, **options)
    if isinstance(bounds, str) or not isinstance(bounds, Sequence) or len(bounds) != 2:
        raise InvalidInput(f"{kind} is {bounds!r}", f"Give low and high: {kind} = [low, high]")
    return _DIMENSIONS[kind](*bounds, **options)


@dataclass(frozen=True, slots=True)
class EngineTable:
    """Where the fits of a study run, as its file says; nothing of it is ever recorded."""

    # Neither is shown: they may hold credentials.
    address: str | None = field(default=None, repr=False)  # None: the file does not say
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)  # go to it untouched
    spool: Path | None = None  # folder that workers write their results to before returning them
    patience: float | None = None  # seconds that workers go on without their coordinator


def make_engine_table(document: Mapping[str, Any], folder: Path) -> EngineTable:
    """Table [engine] of a study file, empty where it has none; its spool lies in the folder."""
    table = document.get("engine", {})
    if not isinstance(table, dict):
        remedy = 'Write [engine], and address = "local:4" below'
        raise InvalidInput("engine is no table", remedy, where=("engine",))
    if not isinstance(table.get("options", {}), dict):  # it may hold a password: do not show it
        remedy = "Write [engine.options], and what goes to the engine below"
        raise InvalidInput("options is no table", remedy, where=("engine", "options"))
    with entry("engine"):
        check_words(table, _ENGINE_WORDS, of="the engine")
    patience = table.get("patience")
    if patience is not None and not 0 <= patience < math.inf:
        remedy = "Give seconds, 0 or more"
        raise InvalidInput(f"patience is {patience}", remedy, where=("engine", "patience"))
    spool = folder / table["spool"] if "spool" in table else None
    return EngineTable(table.get("address"), table.get("options", {}), spool, patience)
