"""Whether the coordinates in a file of MATLAB count from 1, as MATLAB does."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evsurf.data.formats.columns import Size
from evsurf.data.formats.tables.table import BLOCK, Roles, Table

SENSORS = (
    (128, 128),
    (180, 240),
    (240, 304),
    (240, 320),
    (260, 346),
    (320, 320),
    (480, 640),
    (720, 1280),
)
"""Heights and widths of the cameras that are in use."""


class Range(NamedTuple):
    """The smallest and largest column and row of some events."""

    left: float
    right: float
    top: float
    bottom: float


def range_of(table: Table, roles: Roles) -> Range | None:
    """The range of all coordinates; None without events."""
    found: list[Range] = []
    for x, y in table.blocks(BLOCK, only=[roles.column("x"), roles.column("y")]):
        # NaN, which is damage, does not count.
        values = [float(f.reduce(c)) for c in (x, y) for f in (np.fmin, np.fmax)]
        found.append(Range(*values))
    if not found:
        return None
    low = np.fmin.reduce([(one.left, one.top) for one in found])
    high = np.fmax.reduce([(one.right, one.bottom) for one in found])
    return Range(float(low[0]), float(high[0]), float(low[1]), float(high[1]))


def counts_from(found: Range | None, size: Size | None) -> int:
    """1 where no coordinate is 0 and the largest are the sides of the sensor, else 0.

    Of a sensor whose size is known, one side is enough; otherwise it must be a camera in use.
    """
    if found is None or not (found.left >= 1 and found.top >= 1):
        return 0
    corner = (found.bottom, found.right)
    if size is None:
        return int(corner in SENSORS)
    within = corner[0] <= size[0] and corner[1] <= size[1]
    return int(within and (corner[0] == size[0] or corner[1] == size[1]))
