import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outperform.runs.decimals import (
    LARGEST_MANTISSA,
    divide_exactly,
    pack,
    pad,
    parse_decimals,
    read_digits,
)


def parse(texts):
    """Parse texts that stand one after another, as in a file."""
    joined = ",".join(texts) + "\n"
    lengths = np.array([len(text) for text in texts])
    starts = np.cumsum(lengths + 1) - lengths - 1
    return parse_decimals(pad(joined.encode()), starts, lengths)


def same_double(one, other):
    return one == other and math.copysign(1, one) == math.copysign(1, other)


PLAIN = ["0.5", "7", "7.", ".5", "-0.0", "-12.345", "00.10", "99999.9999999999999", "0", "-3"]
PLAIN += ["0.4640318509407345", "0.06436915372198456", "12345678", "0.0000000000001"]
PLAIN += ["0.051234567890123456", "9.000000000000000000"]
NOT_PLAIN = [
    "",
    ".",
    "-",
    "--1",
    "-.",
    "+1",
    "1e-3",
    "nan",
    "1.2.3",
    "1,2",
    "0x1",
    "inf",
    "1 ",
]
NOT_PLAIN += [
    "123456789",
    "9.000000000000000001",
    "123456789012345678901",
    "1.23456789012345678901",
    "/",
    ":",
    "1_0",
    "\x7f",
]


@pytest.mark.parametrize("text", PLAIN)
def test_plain_decimals_are_what_float_says(text):
    values, plain = parse(["8.25", text, "3"])
    assert plain.all()
    assert same_double(values[1], float(text))


@pytest.mark.parametrize("text", NOT_PLAIN)
def test_anything_else_is_not_trusted(text):
    _, plain = parse(["8.25", text, "3"])
    assert plain.tolist() == [True, False, True]


@given(st.lists(st.floats(-1e5, 1e5).map(repr), min_size=1))
def test_doubles_come_back_bit_for_bit(texts):
    values, plain = parse(texts)
    for text, value, is_plain in zip(texts, values, plain, strict=True):
        assert not is_plain or same_double(value, float(text))


@given(st.lists(st.from_regex(r"-?\d{0,7}(\.\d{0,19})?", fullmatch=True), min_size=1))
def test_decimals_are_rounded_as_float_rounds_them(texts):
    texts = [text.encode("ascii", "ignore").decode() for text in texts]
    values, plain = parse(texts)
    for text, value, is_plain in zip(texts, values, plain, strict=True):
        assert not is_plain or same_double(value, float(text))


@given(st.integers(0, LARGEST_MANTISSA), st.integers(0, 19))
def test_division_by_a_power_of_ten_is_rounded_correctly(mantissa, k):
    quotient = divide_exactly(np.array([mantissa], dtype=np.int64), 10.0**k)
    assert quotient[0] == float(f"{mantissa}e-{k}")


@given(st.integers(2**52, 2**53 - 1), st.integers(0, 10), st.integers(-1, 1))
def test_quotients_at_and_beside_a_midpoint_are_rounded_correctly(whole, halvings, nudge):
    # (2 * whole + 1) / 2**(halvings + 1) lies midway between two doubles.
    k = halvings + 1
    mantissa = (2 * whole + 1) * 5**k + nudge
    if mantissa <= LARGEST_MANTISSA:
        quotient = divide_exactly(np.array([mantissa], dtype=np.int64), 10.0**k)
        assert quotient[0] == float(f"{mantissa}e-{k}")


@given(st.from_regex(r"[ -~]{1,24}", fullmatch=True))
def test_packed_words_hold_the_text(text):
    padded = pad(b"xyz," + text.encode() + b"\n")
    parts = pack(padded, np.array([4]), np.array([len(text)]))[:, 0].tolist()
    packed = sum(part << (64 * index) for index, part in enumerate(parts))
    assert packed.to_bytes(24, "big").lstrip(b"\0") == text.encode()


def test_eight_digits_make_a_number():
    assert read_digits(np.array([0x0102030405060708], dtype=np.uint64)).tolist() == [12345678]
