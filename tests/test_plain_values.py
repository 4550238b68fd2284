"""One walk turns any result into plain values."""

import json
import math
from dataclasses import dataclass

import numpy as np
import pytest

from outperform.plain_values import Plain, to_plain


@dataclass(frozen=True, slots=True)
class Inner(Plain):
    low: float
    scores: np.ndarray


@dataclass(frozen=True, slots=True)
class Outer(Plain):
    JSON = "inner n=inner.scores.size total"

    inner: Inner
    hidden: int = 7

    @property
    def total(self):
        return self.inner.scores.sum()


def test_fields_properties_and_renamed_parts_are_written_in_order():
    values = Outer(Inner(-math.inf, np.array([1.0, 2.0]))).to_dict()
    assert list(values) == ["inner", "n", "total"]
    assert values == {"inner": {"low": None, "scores": [1.0, 2.0]}, "n": 2, "total": 3.0}
    assert json.loads(json.dumps(values, allow_nan=False)) == values


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.float64(0.5), 0.5),
        (np.bool_(True), True),
        ({1: (np.int64(2), "ab")}, {"1": [2, "ab"]}),
        (math.nan, None),
        (np.array([[1, 2]]), [[1, 2]]),
        (None, None),
    ],
)
def test_values_of_any_kind_become_those_of_json(value, plain):
    assert to_plain(value) == plain
    assert type(to_plain(value)) is type(plain)


def test_a_part_that_is_not_there_is_an_error_not_a_gap():
    @dataclass(frozen=True, slots=True)
    class Broken(Plain):
        JSON = "missing"

        value: int = 1

    with pytest.raises(AttributeError, match="missing"):
        Broken().to_dict()
