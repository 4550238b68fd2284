"""Decimal numbers parsed from raw bytes, thousands at a time, without a loop over rows.

Eight characters fit in one unsigned 64-bit integer, a word. A view of the text with a stride of
one byte fetches the words at any position, for all rows in one indexing operation, and three
multiplications turn eight digits into a number. Rows whose decimal point stands at the same place
are parsed together: what comes before it and what comes after, filled up with zeros, make one
integer, divided by a power of ten. The result is the double that `float(text)` gives, bit for bit;
what does not look like `-12.345` is left to `float`.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from outperform.runs.arrays import BoolArray, FloatArray, IntArray, WordArray

N_AFTER = 32  # bytes behind a text that its windows may reach into
_MINUS, _POINT = np.uint64(ord("-")), np.uint64(ord("."))
_ASCII_ZEROS = np.uint64(0x3030303030303030)
_HIGH_BITS = np.uint64(0x8080808080808080)
_TOP_AT_TEN = np.uint64(0x7676767676767676)  # added to a byte, sets its high bit from 10 on
_LIKELY_POINTS = (1, 2, 3, 4, 5, 0)  # places of the decimal point, the most usual first
LARGEST_MANTISSA = 9 * 10**18  # signed, since unsigned integers are slow to become doubles
_MOST_DIGITS = 19  # the largest count that always fits in 64 bits
_FIRST_26_BITS = np.uint64(~((1 << 27) - 1) & (1 << 64) - 1)  # of the mantissa of a double
_FIRST_BYTES = np.array([(1 << 64) - (1 << 64 - 8 * n) for n in range(9)], dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Text:
    """A stretch of bytes, with `N_AFTER` more behind it; positions count from its start."""

    data: bytes = field(repr=False)
    begin: int
    end: int

    @property
    def characters(self) -> npt.NDArray[np.uint8]:
        """All bytes, one by one."""
        return np.frombuffer(self.data, np.uint8, self.end - self.begin, self.begin)

    def decode(self, start: int, n_characters: int) -> str:
        """Give the characters of one field."""
        begin = self.begin + start
        return self.data[begin : begin + n_characters].decode()

    def fetch(self, position: IntArray, n_words: int) -> WordArray:
        """Fetch the characters from each position on, packed in words (n_words, n_positions)."""
        shape = (self.end - self.begin + 1,)
        windows: npt.NDArray[np.void] = np.ndarray(
            shape, f"V{8 * n_words}", self.data, self.begin, (1,)
        )
        words = windows[position].view(">u8").reshape(len(position), n_words)
        return words.T.astype(np.uint64, order="C")


def pad(*parts: bytes) -> Text:
    """Make a text of parts that have nothing behind them."""
    data = b"".join((*parts, bytes(N_AFTER)))
    return Text(data, 0, len(data) - N_AFTER)


def pack(text: Text, start: IntArray, n_characters: IntArray) -> WordArray:
    """Pack the characters of each field into integers, right-aligned.

    Parameters
    ----------
    start, n_characters : shape (n_fields,)
        Where each field starts, and how long it is.

    Returns
    -------
    Shape (n_words, n_fields): the last eight characters of each field, the eight before them, and
    so on. Zero bytes stand for characters a field does not have, so that a shorter field is always
    the smaller integer.
    """
    n_words = 1 + max(int(n_characters.max()) - 1, 0) // 8
    if n_words == 1:
        # numpy defines a shift by 64 bits as 0.
        return text.fetch(start, 1) >> (64 - 8 * n_characters).view(np.uint64)
    packed = np.empty((n_words, len(start)), dtype=np.uint64)
    for index in range(n_words):
        n_before = n_characters - 8 * (index + 1)
        n_surplus = np.maximum(-8 * n_before, 0).view(np.uint64)
        packed[index] = text.fetch(start + np.maximum(n_before, 0), 1)[0] >> n_surplus
    return packed


def read_digits(packed: WordArray) -> WordArray:
    """Read eight bytes, each holding 0 to 9, most significant first, as one number."""
    pairs = packed * np.uint64(10 + (1 << 8))
    pairs >>= np.uint64(8)
    pairs &= np.uint64(0x00FF00FF00FF00FF)
    pairs *= np.uint64(100 + (1 << 16))
    pairs >>= np.uint64(16)
    pairs &= np.uint64(0x0000FFFF0000FFFF)
    pairs *= np.uint64(10_000 + (1 << 32))
    pairs >>= np.uint64(32)
    return pairs


def parse_integers(text: Text, start: IntArray, n_characters: IntArray) -> IntArray | None:
    """Parse fields that all are integers of at most eight digits, spelled as `str` does."""
    if n_characters.min() < 1 or n_characters.max() > 8:
        return None
    n_surplus = (64 - 8 * n_characters).view(np.uint64)
    digits = text.fetch(start, 1)[0]
    digits ^= _ASCII_ZEROS
    digits >>= n_surplus
    starts_with_zero = digits << n_surplus < np.uint64(1 << 56)
    if not _are_digits(digits).all() or (starts_with_zero & (n_characters > 1)).any():
        return None
    return read_digits(digits).view(np.int64)


def parse_decimals(
    text: Text, start: IntArray, n_characters: IntArray
) -> tuple[FloatArray, BoolArray]:
    """Parse fields such as `0.91`, `-12.5` or `7`, correctly rounded.

    Returns
    -------
    The numbers, and which of them are to be trusted; the others are not plain decimals.
    """
    first = text.fetch(start, 1)[0]
    negative = first >> np.uint64(56) == _MINUS
    if not negative.any():
        return _parse_unsigned(text, start, n_characters, first)
    start, n_characters = start + negative, n_characters - negative
    values, plain = _parse_unsigned(text, start, n_characters, text.fetch(start, 1)[0])
    return np.where(negative, -values, values), plain


def divide_exactly(mantissa: IntArray, power: float) -> FloatArray:
    """Divide integers, at most `LARGEST_MANTISSA`, by a power of ten, correctly rounded.

    Below 2**53 one division is exact to the last bit. Above, the quotient of the rounded mantissa
    is corrected by its remainder and by what rounding took from the mantissa. The remainder is
    exact: with both factors halved every product has at most 53 bits, and so has every difference
    in turn, since powers up to 10**19 have 45. The sum is off by less than 2**-104 of its value
    before its final rounding, while a quotient M / 10**k with k <= 19 that is no midpoint between
    two doubles is at least 5**-19 * 2**-54 > 2**-99 of its value away from every midpoint; at a
    midpoint all steps are exact. So the final rounding goes the right way.
    """
    high = mantissa.astype(np.float64)
    quotient = high / power
    if mantissa.size == 0 or mantissa.max() < 2**53:
        return quotient
    low = (mantissa - high.astype(np.int64)).astype(np.float64)
    (q1, q2), (p1, p2) = _halve(quotient), _halve(np.array([power]))
    remainder = high
    for q, p in ((q1, p1), (q1, p2), (q2, p1), (q2, p2)):
        remainder -= q * p
    remainder += low
    remainder /= power
    return quotient + remainder


def _parse_unsigned(
    text: Text, start: IntArray, n_characters: IntArray, first: WordArray
) -> tuple[FloatArray, BoolArray]:
    n_whole = n_characters  # before the decimal point, or all where there is none near
    for offset in _LIKELY_POINTS:
        here = first >> np.uint64(56 - 8 * offset) & np.uint64(0xFF) == _POINT
        here &= n_characters > offset
        if here.all():
            return _parse_aligned(text, start, n_characters, first, offset)
        n_whole = np.where(here, offset, n_whole)
    values, plain = np.empty(len(start)), np.empty(len(start), dtype=bool)
    for count in np.unique(n_whole).tolist():
        rows = np.flatnonzero(n_whole == count)
        values[rows], plain[rows] = _parse_aligned(
            text, start[rows], n_characters[rows], first[rows], count
        )
    return values, plain


def _parse_aligned(
    text: Text, start: IntArray, n_characters: IntArray, first: WordArray, n_whole: int
) -> tuple[FloatArray, BoolArray]:
    """Parse numbers with equally many characters before the decimal point, or before the end."""
    if n_whole > 8:
        return np.zeros(len(start)), np.zeros(len(start), dtype=bool)
    whole = (first ^ _ASCII_ZEROS) >> np.uint64(64 - 8 * n_whole)
    plain = _are_digits(whole)
    mantissa = whole if n_whole < 2 else read_digits(whole)
    n_decimals = n_characters - (n_whole + 1)
    n_read = min(max(int(n_decimals.max()), 0), _MOST_DIGITS - n_whole)
    n_words = 1 + max(n_read - 1, 0) // 8
    decimals = text.fetch(start + (n_whole + 1), n_words)
    decimals ^= _ASCII_ZEROS
    for index, digits in enumerate(decimals):
        n_wanted, width = n_decimals - 8 * index, min(n_read - 8 * index, 8)
        if n_wanted.min() < 8:
            digits &= np.take(_FIRST_BYTES, n_wanted, mode="clip")
        plain &= _are_digits(digits)
        mantissa *= np.uint64(10**width)
        mantissa += read_digits(digits >> np.uint64(64 - 8 * width))
    plain &= n_decimals <= n_read
    plain &= mantissa <= LARGEST_MANTISSA
    if n_whole == 0:
        plain &= n_decimals > 0
    if not plain.all():
        mantissa[~plain] = 0
    return divide_exactly(mantissa.view(np.int64), 10.0**n_read), plain


def _are_digits(words: WordArray) -> BoolArray:
    """Say which words have 0 to 9 in each of their eight bytes."""
    if words.view(np.uint8).max(initial=0) <= 9:
        return np.ones(len(words), dtype=bool)
    flags = words + _TOP_AT_TEN
    flags |= words
    plain: BoolArray = flags & _HIGH_BITS == 0
    return plain


def _halve(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Split each double in its first 26 bits and the others."""
    high = (values.view(np.uint64) & _FIRST_26_BITS).view(np.float64)
    return high, values - high
