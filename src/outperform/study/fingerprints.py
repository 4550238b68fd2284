"""What a result depends on besides its hyperparameters and seeds, as a short hash.

A fingerprint changes when the code or a setting changes, and is the same in every process: it is
made of names, values and source text, never of memory addresses or of the order of a set. Code of
the person's own (a script, a notebook, a module that is not installed) enters by its source,
together with the functions, classes and plain constants that it names, also those in dicts, lists
and tuples; code of installed packages enters by its import path only, since the versions are
recorded with every measurement.
"""

import ast
import functools
import hashlib
import inspect
import json
import math
import sys
import sysconfig
import textwrap
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from pathlib import Path
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from outperform.errors import InvalidInput
from outperform.wording import split_words

_STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
_CODE = (type, ModuleType, FunctionType, MethodType, BuiltinFunctionType)
_CONTAINER = (list, tuple, set, frozenset, Mapping, np.ndarray, bytes, CodeType)
_PLAIN = (bool, int, float, str)
_DEEPEST = 20  # of constants in constants
# Methods that change a container.
_CHANGING = split_words(
    """
    add append clear difference_update discard extend insert intersection_update pop popitem remove
    reverse setdefault sort symmetric_difference_update update
    """
)


def fingerprint(*parts: object) -> str:
    """Hash anything to 32 hexadecimal digits, the same in every process.

    Examples
    --------
    >>> fingerprint({"a": 1, "b": 2.0}) == fingerprint({"b": 2.0, "a": 1})
    True
    """
    return hash_text(write_canonical(_Describer().describe(parts)))


def hash_text(content: str | bytes) -> str:
    """Hash a text, as UTF-8, or bytes to 32 hexadecimal digits (BLAKE2b)."""
    content = content.encode() if isinstance(content, str) else content
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def write_canonical(value: object) -> str:
    """JSON of which there is one way only: keys sorted, floats by their repr, no spaces.

    Examples
    --------
    >>> write_canonical({"lr": 1e-3, "depth": 2})
    '{"depth":2,"lr":0.001}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


@dataclass
class _Describer:
    """Turns values into plain JSON that is equal for equal values only, whatever the process."""

    path: list[int] = field(default_factory=list)  # values being described, outermost first
    seen: dict[int, int] = field(default_factory=dict)  # functions and classes, as they were met

    def describe(self, value: Any) -> Any:
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": repr(value)}
        if id(value) in self.path:
            return {"cycle": len(self.path) - self.path.index(id(value))}
        self.path.append(id(value))
        try:
            if isinstance(value, _CODE):
                return self._code(value)
            return self._container(value) if isinstance(value, _CONTAINER) else self._object(value)
        finally:
            self.path.pop()

    def _container(self, value: Any) -> Any:
        if isinstance(value, bytes):
            return {"bytes": hash_text(value)}
        if isinstance(value, np.ndarray) and value.dtype.kind != "O":
            content = hash_text(np.ascontiguousarray(value).tobytes())
            return {"array": content, "dtype": value.dtype.str, "shape": list(value.shape)}
        if isinstance(value, CodeType):
            parts = (value.co_code, value.co_consts, value.co_names, value.co_varnames)
            return {"code": [self.describe(part) for part in parts]}
        if isinstance(value, Mapping):
            pairs = [[self.describe(key), self.describe(item)] for key, item in value.items()]
            return {"mapping": sorted(pairs, key=write_canonical)}
        items = [self.describe(item) for item in value]
        if isinstance(value, set | frozenset):
            return {"set": sorted(items, key=write_canonical)}
        return items

    def _code(self, value: Any) -> Any:
        if isinstance(value, MethodType):
            return {"method": [self.describe(value.__func__), self.describe(value.__self__)]}
        name = getattr(value, "__qualname__", value.__name__)
        if not _is_own(value):
            return {"installed": f"{getattr(value, '__module__', '')}.{name}"}
        if id(value) in self.seen:
            return {"seen": self.seen[id(value)]}
        self.seen[id(value)] = len(self.seen)
        if isinstance(value, FunctionType):
            return {"function": self._function(value)}
        if isinstance(value, type):
            return {"class": name, "members": self._members(value)}
        return {"module": _source(value) or name}

    def _function(self, function: FunctionType) -> Any:
        # The source of a lambda is its line, which may hold another lambda too.
        source = None if function.__name__ == "<lambda>" else _source(function.__code__)
        empty = CellType()
        cells = [cell.cell_contents for cell in function.__closure__ or () if cell != empty]
        parts = [function.__defaults__, function.__kwdefaults__, cells]
        code = source or self.describe(function.__code__)
        known = [
            (name, function.__globals__.get(name)) for name in sorted(_names(function.__code__))
        ]
        changed = _find_changed(source)
        named = [
            [name, self.describe(item)]
            for name, item in known
            if (isinstance(item, _CODE) and _is_own(item))
            or (_is_constant(item) and not (isinstance(item, _CONTAINER) and name in changed))
        ]
        return [code, [self.describe(part) for part in parts], named]

    def _members(self, kind: type) -> Any:
        bases = [self.describe(base) for base in kind.__bases__]
        members = []
        for name, member in sorted(vars(kind).items()):
            function = getattr(member, "fget", None) or getattr(member, "__func__", member)
            if isinstance(function, FunctionType):
                members.append([name, self.describe(function)])
            elif _is_constant(member) and not name.startswith("__"):
                members.append([name, self.describe(member)])
        return [bases, members]

    def _object(self, value: Any) -> Any:
        kind = self.describe(type(value))
        if hasattr(value, "__wrapped__"):  # a function behind a cache
            return {"class": kind, "wrapped": self.describe(value.__wrapped__)}
        if hasattr(value, "__name__") and not _is_own(value):  # a function written in C
            return {"class": kind, "installed": f"{value.__module__}.{value.__name__}"}
        if isinstance(value, functools.partial):
            return {"partial": self.describe([value.func, value.args, value.keywords])}
        if hasattr(value, "get_params"):
            signature = inspect.signature(type(value).__init__).parameters
            defaults = {name: parameter.default for name, parameter in signature.items()}
            params = _keep_changed(value.get_params(deep=False), defaults)
            fixed = {name: item for name, item in params.items() if name != "random_state"}
            return {"class": kind, "params": self.describe(fixed)}
        if is_dataclass(value):
            settings = [each for each in fields(value) if each.init]
            defaults = {each.name: each.default for each in settings}
            values = {each.name: getattr(value, each.name) for each in settings}
            return {"class": kind, "fields": self.describe(_keep_changed(values, defaults))}
        state = _reduce(value)
        return {"class": kind, "state": state if isinstance(state, str) else self.describe(state)}


def _is_constant(value: object, depth: int = 0) -> bool:
    """Whether a value is plain, or holds plain ones; what is empty waits to be filled."""
    if not isinstance(value, dict | list | tuple | set | frozenset):
        return isinstance(value, _PLAIN)
    items = [*value, *value.values()] if isinstance(value, dict) else [*value]
    if not items or depth == _DEEPEST:  # perhaps it holds itself
        return False
    return all(item is None or _is_constant(item, depth + 1) for item in items)


def _find_changed(source: str | None) -> set[str]:
    """Names of what code changes at work, such as a list of its calls: that is no constant.

    Examples
    --------
    >>> sorted(_find_changed("seen[1] = x.append(len(config)); log.lines.clear()"))
    ['log', 'seen', 'x']
    """
    try:
        nodes = [*ast.walk(ast.parse(source or ""))]
    except SyntaxError:  # a part of a statement, such as a decorated line
        return set()
    changed = set()
    for node in nodes:
        place: ast.AST | None = node.target if isinstance(node, ast.AugAssign) else None
        if isinstance(node, ast.Subscript | ast.Attribute):
            calls = getattr(node, "attr", "") in _CHANGING
            place = node.value if calls or not isinstance(node.ctx, ast.Load) else None
        while isinstance(place, ast.Subscript | ast.Attribute):
            place = place.value
        if isinstance(place, ast.Name):
            changed.add(place.id)
    return changed


def _names(code: CodeType) -> set[str]:
    nested = [_names(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*nested)


def _reduce(value: Any) -> Any:
    """What pickle would keep of an object: the name of a global, or how to build it again."""
    try:
        reduced = value.__reduce_ex__(4)
    except Exception:
        raise InvalidInput(
            f"nothing says whether a {type(value).__qualname__} is the same in the next process",
            "Make it inside the function, or pass it as a plain value",
        ) from None
    if isinstance(reduced, str):
        return reduced
    return [list(part) if hasattr(part, "__next__") else part for part in reduced]


def _keep_changed(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """What is not at its default: a setting that a newer version adds changes no fingerprint."""
    changed = {}
    for name, value in values.items():
        default = defaults.get(name, MISSING)
        same_kind = type(value) is type(default) and isinstance(value, _PLAIN)
        if value is not default and not (same_kind and value == default):
            changed[name] = value
    return changed


def _is_own(value: Any) -> bool:
    """Whether the person wrote it: neither built in, nor installed, nor ours."""
    if isinstance(value, BuiltinFunctionType):
        return False
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    module = sys.modules.get(name or "builtins")
    if name == "__main__" or module is None:
        return True
    file = getattr(module, "__file__", None)
    if file is None or (name or "").partition(".")[0] == "outperform":
        return False
    is_installed = {"site-packages", "dist-packages"} & set(Path(file).parts)
    return not is_installed and not Path(file).is_relative_to(_STANDARD_LIBRARY)


def _source(value: Any) -> str | None:
    try:
        return textwrap.dedent(inspect.getsource(value))
    except (OSError, TypeError):
        return None
