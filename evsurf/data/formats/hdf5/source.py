"""Where the rows of one stream of events lie in an HDF5 file, as columns in microseconds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, final

import numpy as np

from evsurf.data.formats.columns import Column, Columns

# Of 17 minutes; a longer one stays on disk.
_LONGEST_INDEX = 2**20

BLOCK = 2**16
"""Rows that are decoded together, about: few enough for the processor's cache."""

# Spans that are read together: the library takes its time to find the first row of each.
_SPANS = 4


class Source(ABC):
    """The rows of one stream, read in any place."""

    span: int
    """How many rows are read to look for one, from a multiple of it on."""

    @property
    def block(self) -> int:
        """How many rows are best read at once, where many are."""
        return _SPANS * self.span

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def rows(self, start: int, stop: int) -> Columns:
        """These rows as they are stored, but for times, which are microseconds.

        At most a block of them, in memory that the next call but one writes to again.
        """

    def times(self, start: int, stop: int) -> Column:
        """The times of these rows in microseconds."""
        return self.rows(start, stop).t

    def bracket(self, t: int) -> tuple[int, int]:
        """Rows between which the first one not before this time is, ends included."""
        del t
        return 0, len(self)


def span_of(*datasets: Any) -> int:
    """Whole chunks of all the datasets, and about a block."""
    chunk = max((d.chunks[0] for d in datasets if d.chunks), default=BLOCK)
    return int(chunk * max(1, BLOCK // chunk))


class Desk:
    """Memory for two blocks of a dataset, used again: fresh memory costs as much as reading."""

    def __init__(self, dataset: Any, span: int) -> None:
        self._dataset = dataset
        shape = (min(_SPANS * span, len(dataset)), *dataset.shape[1:])
        self._rooms = [np.empty(shape, dataset.dtype) for _ in range(2)]

    def rows(self, start: int, stop: int) -> Column:
        """These rows, until the next but one are read."""
        self._rooms.reverse()
        room = self._rooms[0][: stop - start]
        if len(room):
            self._dataset.read_direct(room, np.s_[start:stop])
        return room


def microseconds(times: Column, offset: int = 0) -> Column:
    """Whole numbers are microseconds already, others are seconds."""
    if times.dtype.kind == "f":
        scaled: Column = np.multiply(times, 1e6, dtype=np.float64)
        np.rint(scaled, out=scaled)
        return scaled + offset if offset else scaled
    return np.add(times, offset, dtype=np.int64, casting="unsafe") if offset else times


@final
class ColumnSource(Source):
    """One dataset per column; DSEC's also has an index by the millisecond, and an offset."""

    def __init__(self, x: Any, y: Any, t: Any, p: Any) -> None:
        self.columns = x, y, t, p
        self.offset = 0
        """What to add to the times."""
        self._index: Any = None
        self.span = span_of(*self.columns)
        self._desks = [Desk(column, self.span) for column in self.columns]

    def __len__(self) -> int:
        return min(len(column) for column in self.columns)

    def rows(self, start: int, stop: int) -> Columns:
        """These rows, their times in microseconds."""
        x, y, t, p = (desk.rows(start, stop) for desk in self._desks)
        return Columns(x, y, microseconds(t, self.offset), p)

    def times(self, start: int, stop: int) -> Column:
        """The times alone, without reading the rest."""
        return microseconds(self.columns[2][start:stop], self.offset)

    def bracket(self, t: int) -> tuple[int, int]:
        """What the index says; it is checked by who asks."""
        whole = 0, len(self)
        if self._index is None:
            return whole
        millisecond = (t - self.offset) // 1000
        last = len(self._index) - 1
        low = int(self._index[min(millisecond, last)]) if millisecond >= 0 <= last else 0
        high = int(self._index[max(millisecond + 1, 0)]) if millisecond < last else len(self)
        return (low, high) if 0 <= low <= high <= len(self) else whole

    def use_index(self, index: Any) -> None:
        """Takes, for every millisecond without the offset, the first row not before it."""
        self._index = index[()] if len(index) <= _LONGEST_INDEX else index


@final
class TableSource(Source):
    """One dataset of N rows and four columns in this order, MVSEC's "xytp"."""

    def __init__(self, table: Any, order: str) -> None:
        self.table = table
        self.order = order
        self.span = span_of(table)
        self._desk = Desk(table, self.span)

    def __len__(self) -> int:
        return len(self.table)

    def rows(self, start: int, stop: int) -> Columns:
        """These rows, their times in microseconds."""
        values = self._desk.rows(start, stop)
        x, y, t, p = (values[:, self.order.index(name)] for name in "xytp")
        return Columns(x, y, microseconds(t), p)

    def times(self, start: int, stop: int) -> Column:
        """The times alone, without reading the rest."""
        return microseconds(self.table[start:stop, self.order.index("t")])


@final
class RecordSource(Source):
    """One dataset of records with named fields, as Prophesee's."""

    def __init__(self, records: Any, x: str, y: str, t: str, p: str) -> None:
        self.records = records
        self.fields = x, y, t, p
        self.span = span_of(records)
        self._desk = Desk(records, self.span)

    def __len__(self) -> int:
        return len(self.records)

    def rows(self, start: int, stop: int) -> Columns:
        """These rows, their times in microseconds."""
        records = self._desk.rows(start, stop)
        x, y, t, p = (records[field] for field in self.fields)
        return Columns(x, y, microseconds(t), p)
