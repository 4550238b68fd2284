"""Many rows, a few at a time."""


def divide_rows(n_rows: int, row_size: int, *, limit: int) -> list[int]:
    """Numbers of rows of blocks that hold at most `limit` numbers each, but one row at least.

    Examples
    --------
    >>> divide_rows(10, 250, limit=1000)
    [4, 4, 2]
    """
    block = max(1, limit // row_size)
    return [min(block, n_rows - start) for start in range(0, n_rows, block)]
