"""What can be counted of events as they pass: how many, when, which polarity, which pixels."""

from __future__ import annotations

import numpy as np

from evsurf.data.formats.columns import Column, Columns, Size

# Coordinates have 15 bits each.
_ROW = 2**15
# Above as many pixels, those that are active are fewer than all: a camera with a million is large.
_MOST_PIXELS = 2**22


class Tally:
    """Counts of the pieces of one recording, in memory that does not grow with them."""

    def __init__(self) -> None:
        self.events = 0
        self.on = 0
        self.start: int | None = None
        """Time of the first event."""
        self.end: int | None = None
        """Time of the last event."""
        self.height = self.width = 0
        """The least that hold the events."""
        self._dense = np.zeros((0, 0), np.int64)
        self._codes, self._counts = np.zeros(0, np.int64), np.zeros(0, np.int64)

    def add(self, columns: Columns) -> None:
        """Counts a piece, which is no earlier than those before."""
        if not columns.length:
            return
        self.events += columns.length
        self.on += int(np.count_nonzero(columns.p))
        self.start = int(columns.t[0]) if self.start is None else self.start
        self.end = int(columns.t[-1])
        self.height = max(self.height, int(columns.y.max()) + 1)
        self.width = max(self.width, int(columns.x.max()) + 1)
        if self.height * self.width <= _MOST_PIXELS:
            self._add_dense(columns)
        else:
            self._add_sparse(columns.y.astype(np.int64) * _ROW + columns.x)

    def _add_dense(self, columns: Columns) -> None:
        height, width = self.height, self.width
        if self._dense.shape != (height, width):
            grown = np.zeros((height, width), np.int64)
            grown[: self._dense.shape[0], : self._dense.shape[1]] = self._dense
            self._dense = grown
        places = columns.y.astype(np.int64) * width + columns.x
        self._dense += np.bincount(places, minlength=height * width).reshape(height, width)

    def _add_sparse(self, codes: Column, counts: Column | None = None) -> None:
        codes = np.concatenate([self._codes, codes])
        added = np.ones(len(codes) - len(self._codes), np.int64) if counts is None else counts
        counts = np.concatenate([self._counts, added])
        self._codes, inverse = np.unique(codes, return_inverse=True)
        self._counts = np.bincount(inverse, counts).astype(np.int64)

    def hottest(self, count: int) -> list[tuple[int, int, int]]:
        """Column, row and events of the pixels with most, the first in raster order of equals."""
        rows, columns = np.nonzero(self._dense)
        self._add_sparse(rows * _ROW + columns, self._dense[rows, columns])
        self._dense = np.zeros((0, 0), np.int64)
        order = np.lexsort((self._codes, -self._counts))[:count]
        found = zip(self._codes[order].tolist(), self._counts[order].tolist(), strict=True)
        return [(code % _ROW, code // _ROW, events) for code, events in found]

    @property
    def size(self) -> Size:
        """The least height and width that hold the events."""
        return max(self.height, 1), max(self.width, 1)
