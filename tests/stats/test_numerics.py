"""Blocks of rows: nothing twice, nothing left out, and no more at a time than allowed."""

from hypothesis import given
from hypothesis import strategies as st

from outperform.stats.numerics import divide_rows


@given(st.integers(0, 500), st.integers(1, 50), st.integers(1, 1000))
def test_blocks_hold_every_row_within_the_limit(n_rows, row_size, limit):
    blocks = divide_rows(n_rows, row_size, limit=limit)
    assert sum(blocks) == n_rows
    assert all(n == 1 or 1 < n * row_size <= limit for n in blocks)
    assert all(n == max(1, limit // row_size) for n in blocks[:-1])
