"""Search spaces as a study file writes them: a table per hyperparameter."""

from collections.abc import Mapping, Sequence
from typing import Any

from outperform.errors import InvalidInput
from outperform.study.entries import entry
from outperform.study.spaces import Choices, Dimension, Integers, LogUniform, Space, Uniform
from outperform.wording import suggest_names

_KINDS: Mapping[str, type[Dimension]] = {
    "uniform": Uniform,
    "log-uniform": LogUniform,
    "integers": Integers,
    "choices": Choices,
}


def make_space(options: Mapping[str, Mapping[str, Any]]) -> Space:
    """Search space from a study file's table.

    Examples
    --------
    >>> make_space({"lr": {"log-uniform": [1e-4, 1e-1], "default": 1e-2}})
    {'lr': LogUniform(low=0.0001, high=0.1, default=0.01)}
    """
    space: dict[str, Dimension] = {}
    for name, table in options.items():
        with entry(name):
            try:
                space[name] = _make_dimension(table)
            except InvalidInput as error:
                problem = f"hyperparameter {name!r}: {error.problem}"
                raise InvalidInput(problem, error.remedy) from None
    return space


def _make_dimension(table: Mapping[str, Any]) -> Dimension:
    if not isinstance(table, Mapping):
        raise InvalidInput(
            f"{table!r} says not how to search it",
            "Write for example {log-uniform = [0.0001, 0.1]}",
        )
    kinds = [word for word in table if word in _KINDS]
    extra = ["default", "log"] if kinds == ["integers"] else ["default"]
    for word in table:
        if word not in _KINDS and word not in extra:
            known = [*(kinds or _KINDS), *extra]
            raise InvalidInput(f"there is no option {word!r}", suggest_names(word, known))
    if len(kinds) != 1:
        raise InvalidInput(
            f"it is searched in {len(kinds)} ways{': ' if kinds else ''}{', '.join(kinds)}",
            f"Give one of {', '.join(_KINDS)}",
        )
    return _build(kinds[0], table[kinds[0]], {word: table[word] for word in extra if word in table})


def _build(kind: str, bounds: Any, extra: dict[str, Any]) -> Dimension:
    if kind == "choices":
        return Choices(bounds, **extra)
    if isinstance(bounds, str) or not isinstance(bounds, Sequence) or len(bounds) != 2:
        raise InvalidInput(f"{kind} is {bounds!r}", f"Give low and high: {kind} = [low, high]")
    return _KINDS[kind](*bounds, **extra)
