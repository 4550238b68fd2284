"""Search spaces: what each hyperparameter may be, and its default.

Every dimension maps the unit interval onto its values, evenly on the scale it is searched on:
log-scaled dimensions are sampled, gridded and jittered in log space. As inputs of a Gaussian
process (`encode_units`), whole numbers stay whole and choices are one-hot.
"""

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from outperform.errors import InvalidInput
from outperform.wording import suggest_names

Value = float | int | str | bool
Params = dict[str, Value]
FloatArray = NDArray[np.float64]
Jitter = tuple[float, float]  # how far the ends of a grid are moved, in steps of the grid

# Beyond these, differences, ratios and steps of bounds are no finite numbers any more.
_LARGEST, _SMALLEST = 1e150, 1e-150
_GREATEST = sys.float_info.max
_LARGEST_INTEGER = 2**53  # beyond which floats do not tell whole numbers apart


@dataclass(frozen=True, slots=True)
class Uniform:
    """Any number from low to high.

    Examples
    --------
    >>> Uniform(0, 1).grid(3)
    [0.0, 0.5, 1.0]
    """

    low: float
    high: float
    default: float | None = None  # the mid-point if not given

    def __post_init__(self) -> None:
        _settle_bounds(self, _as_float)

    def from_unit(self, u: float) -> float:
        """Value at share u of the way from low to high."""
        return min(max(self.low * (1 - u) + self.high * u, self.low), self.high)

    def to_unit(self, value: Value) -> float:
        """Share of the way from low to high."""
        return (float(value) - self.low) / (self.high - self.low)

    def grid(self, n: int, *, jitter: Jitter = (0.0, 0.0)) -> list[float]:
        """Values, n of them, from low to high, evenly spaced; one: the default."""
        if n == 1:
            return [cast(float, self.default)]
        step = (self.high - self.low) / (n - 1)
        ends = self.low + jitter[0] * step, self.high + jitter[1] * step
        return cast(list[float], np.linspace(*ends, n).tolist())


@dataclass(frozen=True, slots=True)
class LogUniform:
    """Any number from low to high, all orders of magnitude alike.

    Examples
    --------
    >>> LogUniform(1, 100).grid(3)
    [1.0, 10.0, 100.0]
    """

    low: float
    high: float
    default: float | None = None  # the mid-point in log space if not given

    def __post_init__(self) -> None:
        _settle_bounds(self, _as_float, log=True)

    def from_unit(self, u: float) -> float:
        """Value at share u of the way from low to high, in log space."""
        value = math.exp(math.log(self.low) * (1 - u) + math.log(self.high) * u)
        return min(max(value, self.low), self.high)

    def to_unit(self, value: Value) -> float:
        """Share of the way from low to high, in log space."""
        return math.log(float(value) / self.low) / math.log(self.high / self.low)

    def grid(self, n: int, *, jitter: Jitter = (0.0, 0.0)) -> list[float]:
        """Values, n of them, from low to high, evenly spaced in log space; one: the default."""
        if n == 1:
            return [cast(float, self.default)]
        step = math.log(self.high / self.low) / (n - 1)
        ends = self.low * math.exp(jitter[0] * step), self.high * math.exp(jitter[1] * step)
        return cast(list[float], np.geomspace(*ends, n).tolist())


@dataclass(frozen=True, slots=True)
class Integers:
    """Whole numbers from low to high, both included.

    Examples
    --------
    >>> Integers(1, 100, log=True).grid(3)
    [1, 10, 100]
    """

    low: int
    high: int
    default: int | None = None  # the mid-point if not given
    log: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.log, bool):
            raise InvalidInput(f"log is {self.log!r}", "Pass true or false")
        _settle_bounds(self, _as_int, log=self.log)

    def from_unit(self, u: float) -> int:
        """Whole number at share u of the way; each has its own equally long piece."""
        start, stop = self._ends()
        place = start * (1 - u) + stop * u
        value = math.exp(place) if self.log else place
        return min(max(math.floor(value + 0.5), self.low), self.high)

    def to_unit(self, value: Value) -> float:
        """Share of the way, inside the piece that belongs to the value."""
        start, stop = self._ends()
        return (self._scale(float(value)) - start) / (stop - start)

    def grid(self, n: int, *, jitter: Jitter = (0.0, 0.0)) -> list[int]:
        """Different values from low to high, at most n; one: the default."""
        n = min(n, self.n_values)
        if n == 1:
            return [cast(int, self.default)]
        first, last = self._scale(self.low), self._scale(self.high)
        step = (last - first) / (n - 1)
        places = np.linspace(first + jitter[0] * step, last + jitter[1] * step, n)
        index = np.arange(n)
        values = np.floor((np.exp(places) if self.log else places) + 0.5)
        # Different and in range: each value leaves room for those before it and those after it.
        values = np.maximum.accumulate(np.maximum(values, self.low) - index) + index
        return cast(list[int], np.minimum(values, self.high - index[::-1]).astype(int).tolist())

    @property
    def n_values(self) -> int:
        """How many whole numbers there are."""
        return self.high - self.low + 1

    def _ends(self) -> tuple[float, float]:
        return self._scale(self.low - 0.5), self._scale(self.high + 0.5)

    def _scale(self, value: float) -> float:
        return math.log(value) if self.log else value


@dataclass(frozen=True, slots=True)
class Choices:
    """One of several options without an order.

    Examples
    --------
    >>> Choices(["relu", "tanh"]).default
    'relu'
    """

    options: Sequence[Value]
    default: Value | None = None  # the first option if not given

    def __post_init__(self) -> None:
        options = _check_options(self.options)
        object.__setattr__(self, "options", options)
        if self.default is None:
            object.__setattr__(self, "default", options[0])
        self._index(cast(Value, self.default))

    def from_unit(self, u: float) -> Value:
        """Option at share u of the list."""
        return self.options[min(max(int(u * len(self.options)), 0), len(self.options) - 1)]

    def to_unit(self, value: Value) -> float:
        """Share of the list, inside the piece that belongs to the option."""
        return (self._index(value) + 0.5) / len(self.options)

    def grid(self, n: int, *, jitter: Jitter = (0.0, 0.0)) -> list[Value]:
        """All options, whatever n: none may be left out, none lies between two others."""
        return list(self.options)

    def _index(self, value: Value) -> int:
        for index, option in enumerate(self.options):
            if option == value and type(option) is type(value):  # True is not 1
                return index
        raise InvalidInput(
            f"{value!r} is not among the choices",
            f"Take one of {', '.join(map(repr, self.options))}, or add it",
        )


Dimension = Uniform | LogUniform | Integers | Choices
Space = Mapping[str, Dimension]

_DIMENSIONS: Mapping[str, type[Dimension]] = {  # by their words in study files
    "uniform": Uniform,
    "log-uniform": LogUniform,
    "integers": Integers,
    "choices": Choices,
}


def default_params(space: Space) -> Params:
    """Every hyperparameter at its default."""
    return {name: cast(Value, dimension.default) for name, dimension in space.items()}


def params_at(space: Space, units: Sequence[float]) -> Params:
    """Values at a point of the unit cube, whose coordinates are in the order of the names."""
    at = dict(zip(sorted(space), units, strict=True))
    return {name: dimension.from_unit(at[name]) for name, dimension in space.items()}


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


def describe_dimension(dimension: Dimension) -> dict[str, Any]:
    """As a study file says it, so that `make_space` makes the same."""
    if isinstance(dimension, Choices):
        return {"choices": list(dimension.options), "default": dimension.default}
    word = next(word for word, kind in _DIMENSIONS.items() if type(dimension) is kind)
    table = {word: [dimension.low, dimension.high], "default": dimension.default}
    return table | ({"log": dimension.log} if isinstance(dimension, Integers) else {})


def _settle_bounds(dimension: Any, convert: Any, *, log: bool = False) -> None:
    """Check low, high and default, and store them as plain Python numbers."""
    low, high = convert("low", dimension.low), convert("high", dimension.high)
    if low >= high:
        raise InvalidInput(
            f"low is {low} and high is {high}",
            "Make low smaller than high; a fixed value is choices with one option",
        )
    if log and low <= 0:
        raise InvalidInput(
            f"low is {low}, which has no logarithm", "Start above 0, or search without log"
        )
    if log and low < _SMALLEST:
        raise InvalidInput(f"low is {low}", f"Start at {_SMALLEST:g} or above")
    object.__setattr__(dimension, "low", low)
    object.__setattr__(dimension, "high", high)
    default = dimension.default
    if default is None:
        middle = math.sqrt(low) * math.sqrt(high) if log else low / 2 + high / 2
        default = math.floor(middle + 0.5) if isinstance(low, int) else middle
    default = convert("default", default)
    if not low <= default <= high:
        raise InvalidInput(
            f"the default {default} is outside {low} to {high}",
            "Move the default into the range, or widen the range",
        )
    object.__setattr__(dimension, "default", default)


def _as_float(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise InvalidInput(f"{name} is {value!r}", "Pass a number")
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInput(f"{name} is {value}", "Pass a finite number")
    if not -_LARGEST <= value <= _LARGEST:
        raise InvalidInput(
            f"{name} is {value}", f"Pass a number from {-_LARGEST:g} to {_LARGEST:g}"
        )
    return float(value)


def _as_int(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InvalidInput(
            f"{name} is {value!r}", "Pass a whole number, or search it as uniform or log-uniform"
        )
    if abs(int(value)) > _LARGEST_INTEGER:
        raise InvalidInput(
            f"{name} is {value}",
            f"Pass a whole number from {-_LARGEST_INTEGER:,} to {_LARGEST_INTEGER:,}, or search "
            "it as uniform or log-uniform",
        )
    return int(value)


def _check_options(options: Any) -> tuple[Value, ...]:
    if isinstance(options, str) or not isinstance(options, Sequence) or not options:
        raise InvalidInput(f"choices are {options!r}", "List at least one option")
    for index, option in enumerate(options):
        if not isinstance(option, int | float | str | bool) or option != option:
            raise InvalidInput(
                f"the choice {option!r} is neither a number nor a text nor true or false",
                "Name it by a text, and let the pipeline translate it",
            )
        if isinstance(option, int | float) and not abs(option) <= _GREATEST:
            raise InvalidInput(
                f"the choice {option} is too large for a number",
                "Name it by a text, and let the pipeline translate it",
            )
        if any(option == other and type(option) is type(other) for other in options[:index]):
            raise InvalidInput(f"the choice {option!r} is listed twice", "List it once")
    return tuple(options)


def units_of(space: Space, points: Sequence[Params]) -> FloatArray:
    """Points (n, d) in the unit cube, hyperparameters in the order of their names.

    Examples
    --------
    >>> units_of({"lr": LogUniform(0.01, 1)}, [{"lr": 0.1}, {}])
    array([[0.5],
           [nan]])
    """
    columns = [
        [space[name].to_unit(p[name]) if name in p else np.nan for p in points]
        for name in sorted(space)
    ]
    return np.array(columns, dtype=np.float64).reshape(len(space), len(points)).T


def encode_units(space: Space, units: FloatArray) -> FloatArray:
    """What the pipeline will see of each point: (n, columns), in the unit cube."""
    return np.concatenate(encode_dimensions(space, units), axis=1)


def encode_dimensions(space: Space, units: FloatArray) -> list[FloatArray]:
    """The columns of `encode_units`, dimension by dimension in the order of their names."""
    names = sorted(space)
    return [_encode(space[name], units[:, index]) for index, name in enumerate(names)]


def _encode(dimension: Dimension, column: FloatArray) -> FloatArray:
    missing = np.isnan(column)
    column = np.where(missing, 0.5, column)
    if isinstance(dimension, Choices):
        n_options = len(dimension.options)
        places = np.minimum((column * n_options).astype(int), n_options - 1)
        # None of the options, where there is nothing to choose.
        return np.eye(n_options + 1)[np.where(missing, n_options, places)][:, :n_options]
    if isinstance(dimension, Integers):
        rounded = [dimension.to_unit(dimension.from_unit(u)) for u in column.tolist()]
        column = np.where(missing, 0.5, rounded)
    return column[:, None]
