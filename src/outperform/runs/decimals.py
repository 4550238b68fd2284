"""Decimal numbers parsed from raw bytes, thousands at a time, without a loop over rows.

Eight characters fit in one unsigned 64-bit integer. A view of the text with a stride of one byte
(`words`) therefore fetches the eight characters that start at any position, for all rows in one
indexing operation, and three multiplications turn eight digits into a number. A score such as
`0.8456444` is its digits as one integer, divided by a power of ten. The result is the double that
`float(text)` gives, bit for bit; what does not look like `-12.345` is left to `float`.
"""

import numpy as np

from outperform.runs.arrays import BoolArray, FloatArray, IntArray, WordArray

N_PADDING = 8  # bytes to append to a text so that a word can start at its last character

_MINUS, _POINT, _ZERO = (np.uint64(ord(character)) for character in "-.0")
_ASCII_ZEROS = np.uint64(0x3030303030303030)
_POINT_AS_DIGIT = _POINT ^ _ZERO
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


def view_words(text: bytes) -> WordArray:
    """View padded text as overlapping big-endian words, one per character."""
    return np.ndarray((len(text) - N_PADDING + 1,), ">u8", text, 0, (1,))


def pack(words: WordArray, start: IntArray, end: IntArray, index: int = 0) -> WordArray:
    """Pack characters of each field into one integer, right-aligned.

    Parameters
    ----------
    words
        See `view_words`.
    start, end : shape (n_fields,)
        Where each field starts, and the position after its last character.
    index
        0 packs the last eight characters of each field, 1 the eight before them, and so on.

    Returns
    -------
    Shape (n_fields,); zero bytes on the left stand for characters a field does not have, so that
    a shorter field is always the smaller integer.
    """
    begin, shift = _window(start, end, index)
    return words[begin].astype(np.uint64) >> shift


def read_digits(packed: WordArray) -> WordArray:
    """Read eight bytes, each holding 0 to 9, most significant first, as one number."""
    pairs = _merge(packed, 8, 10, 0x00FF00FF00FF00FF)
    fours = _merge(pairs, 16, 100, 0x0000FFFF0000FFFF)
    return _merge(fours, 32, 10_000, 0x00000000FFFFFFFF)


def parse_decimals(
    words: WordArray, start: IntArray, end: IntArray
) -> tuple[FloatArray, BoolArray]:
    """Parse fields such as `0.91`, `-12.5` or `7`, correctly rounded.

    Returns
    -------
    The numbers, and which of them are to be trusted; the others are not plain decimals.
    """
    first = words[start].astype(np.uint64)
    negative = first >> np.uint64(56) == _MINUS
    if not negative.any():
        return _parse_unsigned(words, start, end, first)
    start = start + negative
    values, plain = _parse_unsigned(words, start, end, words[start].astype(np.uint64))
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


def _parse_unsigned(
    words: WordArray, start: IntArray, end: IntArray, first: WordArray
) -> tuple[FloatArray, BoolArray]:
    n_decimals = _count_decimals(first, start, end)
    joined, plain = _read_with_zero_for_point(words, start, end, n_decimals)
    n_characters = end - start
    plain &= n_characters > (n_decimals >= 0)
    plain &= n_characters <= _MOST_DIGITS + (first >> np.uint64(56) == _ZERO)
    place = np.minimum(n_decimals, _MOST_DIGITS) + 1
    if (place == place[0]).all():
        place = place[:1]  # a column written with a fixed number of decimals
    mantissa = joined - _NINES[place] * (joined // _WHOLES[place])
    return divide_exactly(mantissa, _DIVISORS[place]), plain


def _window(start: IntArray, end: IntArray, index: int) -> tuple[IntArray, WordArray]:
    """Say where the word begins, and by how many bits to shift out what is not of the field."""
    if index == 0 and (end - start).max(initial=0) <= 8:
        return start, (64 - 8 * (end - start)).view(np.uint64)
    last = end - 8 * index
    begin = np.maximum(last - 8, start)
    n_bits = 64 - 8 * np.maximum(last - begin, 0)
    return begin, n_bits.view(np.uint64)  # numpy defines a shift by 64 as 0


def _merge(lanes: WordArray, width: int, base: int, low: int) -> WordArray:
    """Merge neighbouring lanes of `width` bits: left * base + right."""
    mask = np.uint64(low)
    return (lanes & mask) + np.uint64(base) * ((lanes >> np.uint64(width)) & mask)


def _count_decimals(first: WordArray, start: IntArray, end: IntArray) -> IntArray:
    """Count the characters after the decimal point, -1 where there is no point near the start."""
    n_after = end - start - 1
    n_decimals, found = np.full(len(end), -1), np.zeros(len(end), dtype=bool)
    for offset in _LIKELY_POINTS:
        here = (first >> np.uint64(56 - 8 * offset)) & np.uint64(255) == _POINT
        here &= n_after >= offset
        np.copyto(n_decimals, n_after - offset, where=here)
        found |= here
        if found.all():
            break
    return n_decimals


def _read_with_zero_for_point(
    words: WordArray, start: IntArray, end: IntArray, n_decimals: IntArray
) -> tuple[WordArray, BoolArray]:
    """Read `12.5` as 1205, and say whether the rest are digits."""
    value, is_plain = np.zeros(len(start), dtype=np.uint64), np.ones(len(start), dtype=bool)
    n_words = 1 + min(int((end - start).max()) - 1, _MOST_DIGITS) // 8
    for index in range(n_words):
        begin, shift = _window(start, end, index)
        digits = (words[begin].astype(np.uint64) ^ _ASCII_ZEROS) >> shift
        # A point in another word, or none, makes for a shift by more than the word has: 0.
        digits ^= _POINT_AS_DIGIT << (8 * (n_decimals - 8 * index)).view(np.uint64)
        is_plain &= ((digits + _TOP_AT_TEN) | digits) & _HIGH_BITS == 0
        value += read_digits(digits) * _INTEGER_POWERS[8 * index]
    return value, is_plain


def _halve(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Split each double in two of 26 bits, whose products are exact (Veltkamp)."""
    scaled = 134_217_729.0 * values
    high = scaled - (scaled - values)
    return high, values - high
