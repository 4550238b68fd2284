"""Decimal numbers parsed from raw bytes, thousands at a time, without a loop over rows.

Eight characters fit in one unsigned 64-bit integer. A view of the text with a stride of one byte
fetches the characters at any position, for all rows in one indexing operation, and three
multiplications turn eight digits into a number. A score such as `0.8456444` is its digits as one
integer, divided by a power of ten. The result is the double that `float(text)` gives, bit for bit;
what does not look like `-12.345` is left to `float`.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from outperform.runs.arrays import BoolArray, FloatArray, IntArray, WordArray

N_BEFORE, N_AFTER = 24, 8  # bytes of padding, so that windows may reach beyond the text
_MINUS, _POINT, _ZERO = (ord(character) for character in "-.0")
_ASCII_ZEROS = np.uint64(0x3030303030303030)
_POINT_AS_DIGIT = np.uint64(_POINT ^ _ZERO)
_HIGH_BITS = np.uint64(0x8080808080808080)
_TOP_AT_TEN = np.uint64(0x7676767676767676)  # added to a byte, sets its high bit from 10 on
_LIKELY_POINTS = (1, 2, 3, 4, 5, 0)  # places of the decimal point, the most usual first
_MOST_DIGITS = 19  # the largest count that always fits in 64 bits
_INTEGER_POWERS = np.array([10**k for k in range(_MOST_DIGITS + 1)], dtype=np.uint64)

# Indexed by the number of decimals plus one, 0 where there is no point. With a zero for its point
# 12.5 reads 1205 = 12 * 10**2 + 5; less 12 * 9 * 10**1 it is 125, to be divided by 10**1.
_WHOLES = np.array([10 ** min(k, _MOST_DIGITS) for k in range(_MOST_DIGITS + 2)], dtype=np.uint64)
_NINES = np.array([0] + [9 * 10 ** min(k, 18) for k in range(_MOST_DIGITS + 1)], dtype=np.uint64)
_DIVISORS = np.array([1] + [10**k for k in range(_MOST_DIGITS + 1)], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Text:
    """Text whose characters can be fetched from many positions at once."""

    padded: bytes
    characters: npt.NDArray[np.uint8]

    def fetch(self, position: IntArray, n_words: int) -> WordArray:
        """Fetch the characters from each position on, packed in words (n_words, n_positions)."""
        width = 8 * n_words
        shape = (len(self.padded) - width + 1,)
        windows: npt.NDArray[np.void] = np.ndarray(shape, f"V{width}", self.padded, 0, (1,))
        words = windows[position].view(">u8").reshape(len(position), n_words)
        return words.T.astype(np.uint64, order="C")


def pad(*parts: bytes | memoryview) -> Text:
    """Make characters accessible; their positions count from the padding's start."""
    padded = b"".join((bytes(N_BEFORE), *parts, bytes(N_AFTER)))
    return Text(padded, np.frombuffer(padded, dtype=np.uint8))


def pack(text: Text, start: IntArray, end: IntArray) -> WordArray:
    """Pack the characters of each field into integers, right-aligned.

    Parameters
    ----------
    start, end : shape (n_fields,)
        Where each field starts, and the position after its last character.

    Returns
    -------
    Shape (n_words, n_fields): the last eight characters of each field, the eight before them, and
    so on. Zero bytes stand for characters a field does not have, so that a shorter field is always
    the smaller integer.
    """
    n_characters = end - start
    n_words = 1 + max(int(n_characters.max()) - 1, 0) // 8
    if n_words == 1:
        # numpy defines a shift by 64 bits as 0.
        return text.fetch(start, 1) >> (64 - 8 * n_characters).view(np.uint64)
    packed = np.empty((n_words, len(start)), dtype=np.uint64)
    for index in range(n_words):
        last = end - 8 * index
        begin = np.maximum(last - 8, start)
        n_surplus = 64 - 8 * np.maximum(last - begin, 0)
        packed[index] = text.fetch(begin, 1)[0] >> n_surplus.view(np.uint64)
    return packed


def read_digits(packed: WordArray) -> WordArray:
    """Read eight bytes, each holding 0 to 9, most significant first, as one number."""
    pairs = packed * np.uint64(10 + (1 << 8)) >> np.uint64(8) & np.uint64(0x00FF00FF00FF00FF)
    fours = pairs * np.uint64(100 + (1 << 16)) >> np.uint64(16) & np.uint64(0x0000FFFF0000FFFF)
    return fours * np.uint64(10_000 + (1 << 32)) >> np.uint64(32)


def parse_decimals(text: Text, start: IntArray, end: IntArray) -> tuple[FloatArray, BoolArray]:
    """Parse fields such as `0.91`, `-12.5` or `7`, correctly rounded.

    Returns
    -------
    The numbers, and which of them are to be trusted; the others are not plain decimals.
    """
    negative = text.characters[start] == _MINUS
    if not negative.any():
        return _parse_unsigned(text, start, end)
    values, plain = _parse_unsigned(text, start + negative, end)
    return np.where(negative, -values, values), plain


def divide_exactly(mantissa: WordArray, power: FloatArray) -> FloatArray:
    """Divide integers by powers of ten, correctly rounded.

    Below 2**53 one division is exact to the last bit. Above, the quotient of the rounded mantissa
    is corrected by its exact remainder (Dekker's product) and by what rounding took from the
    mantissa. The sum is off by less than 2**-104 of its value before its final rounding, while a
    quotient M / 10**k with k <= 19 that is no midpoint between two doubles is at least
    5**-19 * 2**-54 > 2**-99 of its value away from every midpoint; at a midpoint all steps are
    exact. So the final rounding goes the right way.
    """
    high = mantissa.astype(np.float64)
    quotient = high / power
    if mantissa.size == 0 or mantissa.max() < 2**53:
        return quotient
    low = (mantissa - high.astype(np.uint64)).view(np.int64).astype(np.float64)
    product = quotient * power
    (q1, q2), (p1, p2) = _halve(quotient), _halve(power)
    product_error = ((q1 * p1 - product) + q1 * p2 + q2 * p1) + q2 * p2
    remainder = (high - product) - product_error
    return quotient + (remainder + low) / power


def _parse_unsigned(text: Text, start: IntArray, end: IntArray) -> tuple[FloatArray, BoolArray]:
    n_characters = end - start
    n_decimals = _count_decimals(text, start, n_characters)
    joined, plain = _read_with_zero_for_point(text, end, n_characters, n_decimals)
    if n_characters.min() < 2:
        plain &= n_characters > (n_decimals >= 0)
    if n_characters.max() > _MOST_DIGITS:
        plain &= n_characters <= _MOST_DIGITS + (text.characters[start] == _ZERO)
    place = np.minimum(n_decimals, _MOST_DIGITS) + 1
    if (place == place[0]).all():
        place = place[:1]  # a column written with a fixed number of decimals
    mantissa = joined - _NINES[place] * (joined // _WHOLES[place])
    return divide_exactly(mantissa, _DIVISORS[place]), plain


def _count_decimals(text: Text, start: IntArray, n_characters: IntArray) -> IntArray:
    """Count the characters after the decimal point, -1 where there is no point near the start."""
    n_decimals, found = np.full(len(start), -1), np.zeros(len(start), dtype=bool)
    for offset in _LIKELY_POINTS:
        here = text.characters[start + offset] == _POINT
        here &= n_characters > offset
        np.copyto(n_decimals, n_characters - (offset + 1), where=here)
        found |= here
        if found.all():
            break
    return n_decimals


def _read_with_zero_for_point(
    text: Text, end: IntArray, n_characters: IntArray, n_decimals: IntArray
) -> tuple[WordArray, BoolArray]:
    """Read `12.5` as 1205, and say whether the rest are digits."""
    n_words = 1 + min(max(int(n_characters.max()) - 1, 0), _MOST_DIGITS) // 8
    words = text.fetch(end - 8 * n_words, n_words)[::-1]
    shortest, fewest_decimals = n_characters.min(), n_decimals.min()
    value, wrong = np.zeros_like(words[0]), np.zeros_like(words[0])
    for index in range(n_words):
        digits = words[index] ^ _ASCII_ZEROS
        if shortest < 8 * index + 8:
            n_surplus = np.maximum(64 * (index + 1) - 8 * n_characters, 0).view(np.uint64)
            digits = digits << n_surplus >> n_surplus
        if fewest_decimals < 8 * index + 8:
            # A point in another word, or none, makes for a shift by more than the word has: 0.
            digits ^= _POINT_AS_DIGIT << (8 * (n_decimals - 8 * index)).view(np.uint64)
        wrong |= (digits + _TOP_AT_TEN) | digits
        value += read_digits(digits) * _INTEGER_POWERS[8 * index]
    return value, wrong & _HIGH_BITS == 0


def _halve(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Split each double in two of 26 bits, whose products are exact (Veltkamp)."""
    scaled = 134_217_729.0 * values
    high = scaled - (scaled - values)
    return high, values - high
