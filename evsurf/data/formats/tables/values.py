"""Which column of a table without names is x, y, t and p, by the numbers in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations

import numpy as np
import numpy.typing as npt

from evsurf.data.formats.columns import Column, Size
from evsurf.data.formats.damage import FormatError
from evsurf.events.checks import LONGEST_SIDE

SAMPLE = 100_000
"""How many events from the front decide what a column is."""

CONVENTIONS = ("xytp", "txyp", "xypt")
"""The orders that are in use; x stands before y in all."""

_MOST = 0.99


def order_by_value(columns: Sequence[Column], size: Size | None, where: str) -> str:
    """The roles of four columns by their values; raises where two orders are possible.

    Times do not decrease, polarities are 0 and 1 or -1 and 1, coordinates are whole numbers from 0
    on. Of what is left, the orders in use come first. x is before y unless the size says otherwise.
    """
    if not len(columns[0]):
        return CONVENTIONS[0]
    possible = [order for order in _orders() if _fits(order, columns, size)]
    if size is not None and not possible:
        swapped = (order.translate({120: "y", 121: "x"}) for order in _orders())
        possible = [order for order in swapped if _fits(order, columns, size)]
    usual = [order for order in possible if order in CONVENTIONS] or possible
    if len(usual) == 1:
        return usual[0]
    if not usual:
        reason = "no order of x, y, t and p fits its four columns"
    else:
        reason = f"its four columns may be {' or '.join(usual)}"
    raise FormatError(
        f'{where} does not say what its columns are, and {reason}: say columns="txyp"'
    )


def _orders() -> list[str]:
    """All orders with x before y."""
    every = ("".join(order) for order in permutations("xytp"))
    return [order for order in every if order.index("x") < order.index("y")]


def _fits(order: str, columns: Sequence[Column], size: Size | None) -> bool:
    height, width = size or (LONGEST_SIDE, LONGEST_SIDE)
    tests: dict[str, Callable[[Column], bool]] = {
        "x": lambda column: _mostly(_in_range(column, width)),
        "y": lambda column: _mostly(_in_range(column, height)),
        "t": _is_time,
        "p": lambda column: _mostly(is_polarity(column)),
    }
    # The cheap tests that exclude most come first.
    return all(tests[role](columns[order.index(role)]) for role in "pxyt")


def _mostly(mask: npt.NDArray[np.bool_] | np.bool_) -> bool:
    """Whether it holds for all but a few, as files may be damaged."""
    return bool(np.mean(mask) >= _MOST)


def _in_range(column: Column, side: int) -> npt.NDArray[np.bool_]:
    # A file of MATLAB counts from 1, so that the side itself may occur.
    with np.errstate(invalid="ignore"):
        within: npt.NDArray[np.bool_] = (column >= 0) & (column <= side)
        if column.dtype.kind == "f":
            within &= np.trunc(column) == column
    return within


def is_polarity(column: Column) -> npt.NDArray[np.bool_]:
    """Where a column holds 0 and 1, or -1 and 1."""
    if column.dtype.kind == "b":
        return np.ones(len(column), np.bool_)
    return np.asarray((column == 1) | (column == 0) | (column == -1))


def check_polarities(column: Column) -> None:
    """Raises where most of the values are no polarities: then the columns are others."""
    if len(column) and np.mean(is_polarity(column)) < 0.5:
        raise FormatError(
            f"the polarities start with {column[:5].tolist()}; they must be 0 and 1 or -1 and 1. "
            'Likely the columns are others: say columns="txyp"'
        )


def _is_time(column: Column) -> bool:
    if column.dtype.kind not in "iufmM":
        return False
    if column.dtype.kind == "f" and not np.isfinite(column).mean() >= _MOST:
        return False
    return len(column) < 2 or _mostly(column[1:] >= column[:-1])
