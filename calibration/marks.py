"""When a number breaks its claim."""

from calibration.cells import Cell

# Monte-Carlo standard errors that chance may do. With 3, two of the 1,500 claims on the page would
# be broken by chance alone; with 4, none in ten such pages.
N_ERRORS = 4


def excess(cell: Cell) -> float:
    """Errors beyond the claim, negative where there are fewer; less power is worse.

    Examples
    --------
    >>> cell = Cell("tests", "paired-t", "size", "normal", "5", "", 0.06, alpha=0.05)
    >>> round(excess(cell), 3), is_off(cell)
    (0.01, True)
    """
    if cell.alpha is None:
        return cell.value if cell.measure == "size" else -cell.value
    errors = cell.value if cell.measure == "size" else 1 - cell.value
    return errors - cell.alpha


def is_off(cell: Cell) -> bool:
    """Whether it errs more than claimed, beyond chance and beyond what matters."""
    if cell.alpha is None:
        return False
    # 1e-9: a sum over all outcomes may be rounded.
    return excess(cell) > max(N_ERRORS * cell.error, cell.slack * cell.alpha, 1e-9)


def badness(cell: Cell) -> tuple[bool, float]:
    """To find the worst by: what is off comes first."""
    return is_off(cell), excess(cell)
