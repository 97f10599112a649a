"""Spike trains of touch, as ST-MNIST has them: a row per sensor of 10 x 10, and a row of times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from evsurf.data.formats.columns import Size
from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.tables.finding import StoredArray
from evsurf.data.formats.tables.strands import Records, Strand
from evsurf.data.formats.tables.table import Place, Table

SIZE: Size = (10, 10)

_SENSORS = SIZE[0] * SIZE[1]
_EVENT = np.dtype([("x", "i2"), ("y", "i2"), ("t_s", "f8"), ("p", "i1")])


def touches(arrays: Sequence[StoredArray]) -> Table | None:
    """The events of a matrix `spiketrain` with 101 rows, if there is one."""
    for array in arrays:
        rows = array.shape[0] if len(array.shape) == 2 else 0
        trains = array.name == "spiketrain" and rows == _SENSORS + 1
        if trains and array.column_major and array.dtype.kind in "if":
            record = np.dtype((np.void, rows * array.dtype.itemsize))
            strand = _Touches(array.strand(record, array.shape[1]), array.dtype)
            names = list(_EVENT.names or ())
            places = [Place(0, name) for name in names]
            return Table(array.name, [strand], places, names, {"sensor": "touch, 10 x 10"})
    return None


class _Touches(Strand):
    """One event for each column of the matrix: where it is not 0, and its sign."""

    record = _EVENT
    seekable = False

    def __init__(self, columns: Strand, dtype: np.dtype[Any]) -> None:
        self.length = columns.length
        self._columns = columns
        self._dtype = dtype

    def blocks(self, count: int, start: int = 0) -> Iterator[Records]:
        """The events from `start` on."""
        for block in self._columns.blocks(count, start):
            values = block.view(self._dtype).reshape(len(block), -1)
            signs = values[:, :-1]
            if not ((signs != 0).sum(axis=1) == 1).all():
                raise FormatError("a column of a spike train has one event, and some have others")
            sensor = (signs != 0).argmax(axis=1)
            found = np.empty(len(block), _EVENT)
            found["y"], found["x"] = np.divmod(sensor, SIZE[1])
            found["t_s"] = values[:, -1]
            found["p"] = np.take_along_axis(signs, sensor[:, None], axis=1)[:, 0]
            yield found
