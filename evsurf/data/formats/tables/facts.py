"""What a file of arrays says of its events: the sensor's size and the unit of time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evsurf.data.formats.columns import Column, Size
from evsurf.data.formats.tables.finding import StoredArray
from evsurf.data.formats.tables.table import Table
from evsurf.data.formats.tables.time_unit import POWERS
from evsurf.events.checks import LONGEST_SIDE


def beside(arrays: Sequence[StoredArray], table: Table) -> list[StoredArray]:
    """The arrays in the place of a table, and in the places that hold it."""
    place = tuple(table.name.split("/"))
    return [array for array in arrays if array.path[:-1] == place[: len(array.path) - 1]]


def stored_size(arrays: Sequence[StoredArray]) -> Size | None:
    """Height and width from an array `size` of two, or from scalars `height` and `width`."""
    said: dict[str, list[int]] = {}
    for array in arrays:
        name = _name(array)
        if name in ("size", "height", "width") and array.dtype.kind in "iuf":
            values = _small(array, 2)
            said.setdefault(name, [int(v) for v in values if np.isfinite(v) and v == int(v)])
    pair = said.get("size") or said.get("height", []) + said.get("width", [])
    if len(pair) == 2 and all(1 <= side <= LONGEST_SIDE for side in pair):
        return pair[0], pair[1]
    return None


def stored_unit(arrays: Sequence[StoredArray]) -> str | None:
    """The unit of time from a text `time_unit`, such as "microseconds"."""
    for array in arrays:
        if _name(array) == "time_unit" and array.dtype.kind in "US":
            said = "".join(
                str(np.char.decode(v) if v.dtype.kind == "S" else v) for v in _small(array, 1)
            )
            return said if said in POWERS else None
    return None


def _name(array: StoredArray) -> str:
    return array.path[-1].lower() if array.path else ""


def _small(array: StoredArray, most: int) -> Column:
    """The elements of an array that has a few; of another array, none."""
    count = int(np.prod(array.shape, dtype=object))
    if not 1 <= count <= most or array.dtype.itemsize > 64:
        return np.zeros(0)
    return next(array.strand(array.dtype, count).blocks(count), np.zeros(0))
