"""Readers of tables: rows to events, in order or at any place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evsurf.data.formats.columns import Column, Columns, Sieve, Size
from evsurf.data.formats.damage import Damage, FormatError
from evsurf.data.formats.reader import Header, Options, Reader, SeekableReader, SizeSource
from evsurf.data.formats.tables.table import BLOCK, Roles, Table, in_roles, positions, roles_of
from evsurf.data.formats.tables.time_unit import microseconds, time_unit
from evsurf.data.formats.tables.values import check_polarities
from evsurf.events.checks import EARLIEST


class Meaning(NamedTuple):
    """What the columns of a table mean."""

    roles: Roles
    unit: str
    """Of time, such as "seconds"."""
    origin: int = 0
    """The number of the first row and column of pixels."""

    def facts(self) -> dict[str, str]:
        """What a person may want to check."""
        found = {
            "columns": f"{self.roles.order} ({self.roles.source})",
            "time unit": self.unit,
        }
        if self.origin:
            found["coordinates"] = f"counted from {self.origin} in the file"
        return found

    def applied(self, columns: Columns) -> Columns:
        """Rows as they are stored to rows as `Sieve` takes them."""
        x, y, t, p = columns
        if self.origin:
            x, y = (_shifted(column, -self.origin) for column in (x, y))
        return Columns(x, y, microseconds(t, self.unit), p)


def _shifted(column: Column, by: int) -> Column:
    wide = column if column.dtype.kind == "f" else column.astype(np.int64)
    return wide + by


def meaning_of(table: Table, options: Options, *, unit: str | None = None) -> Meaning:
    """What a table's columns are, by its first rows; raises where they cannot be events.

    `unit` is that of time, if the file says it.
    """
    head = table.head()
    roles = roles_of(table, head, options.columns, options.size)
    p = head[roles.column("p")]
    for role in "xytp":
        kind = head[roles.column(role)].dtype.kind
        if kind not in ("biufmM" if role == "t" else "biuf"):
            raise FormatError(f"the column {role} holds no numbers, but {head[0].dtype}")
    check_polarities(p)
    t = roles.column("t")
    return Meaning(roles, unit or time_unit(head[t], table.names[t]))


class TableReader(Reader):
    """Reads the rows of one table in order."""

    def __init__(
        self,
        path: Path,
        options: Options,
        table: Table,
        *,
        size: Size | None = None,
        meaning: Meaning | None = None,
        facts: Mapping[str, str] | None = None,
        close: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(path, options)
        self.table = table
        self._meaning = meaning_of(table, options) if meaning is None else meaning
        self._close = close
        source: SizeSource = "guess" if size is None else "header"
        told = {**table.facts, **self._meaning.facts(), **(facts or {})}
        self.header = Header(size=size, size_source=source, facts=told)
        self._size = options.size or size
        self._rows_read = 0

    def pieces(self, count: int) -> Iterator[Columns]:
        """All events from the front."""
        sieve = Sieve(self._size, self.damage, keep_unsorted=self.options.keep_unsorted)
        rows = 0
        for columns in self._rows(min(count, BLOCK)):
            rows += columns.length
            self._rows_read = rows
            yield sieve.sift(self._meaning.applied(columns))
        self._note_missing(rows, self.damage)

    @property
    def consumed(self) -> int | None:
        """As many bytes of the file as there are rows among all that were read."""
        if not self.table.length:
            return None
        return self.path.stat().st_size * self._rows_read // self.table.length

    def _rows(self, count: int, start: int = 0) -> Iterator[Columns]:
        only = positions(self._meaning.roles)
        return (in_roles(columns) for columns in self.table.blocks(count, start, only=only))

    def _note_missing(self, rows: int, damage: Damage) -> None:
        damage.note("truncated", self.table.length - rows, rows, place="event")

    def close(self) -> None:
        """Lets go of the file."""
        if self._close is not None:
            self._close()


class SeekableTableReader(TableReader, SeekableReader):
    """Reads the rows of one table at any place, once it has looked at all of them."""

    _index: _Index | None = None

    def _looked(self) -> _Index:
        """An index of the table, made once: where which events are, if some rows are none."""
        if self._index is None:
            self._index = self._make_index()
        return self._index

    def _make_index(self) -> _Index:
        # What is wrong, reading from the front notes; here it would be noted twice.
        damage = Damage(strict=self.damage.strict)
        sieve = Sieve(self._size, damage)
        kept, latest, rows = [0], [EARLIEST], 0
        for columns in self._rows(BLOCK):
            rows += columns.length
            found = sieve.sift(self._meaning.applied(columns))
            kept.append(kept[-1] + found.length)
            latest.append(int(found.t[-1]) if found.length else latest[-1])
        self._note_missing(rows, damage)
        return _Index(np.array(kept), np.array(latest), rows)

    @property
    def indexed(self) -> bool:
        """Whether all rows were looked at."""
        return self._index is not None

    def __len__(self) -> int:
        """Number of events."""
        return int(self._looked().kept[-1])

    def part(self, start: int, stop: int) -> Columns:
        """The events from position start up to stop."""
        if stop <= start:
            return Columns.none()
        index = self._looked()
        first = int(np.searchsorted(index.kept, start, "right")) - 1
        last = int(np.searchsorted(index.kept, stop, "left"))
        skipped = int(index.kept[first])
        if index.whole(first, last):
            return self._sifted(start - skipped + first * BLOCK, stop - start, EARLIEST)
        found = self._sifted(first * BLOCK, (last - first) * BLOCK, int(index.latest[first]))
        return found.part(start - skipped, stop - skipped)

    def _sifted(self, row: int, count: int, after: int) -> Columns:
        """The events among some rows, given the latest time before them."""
        sieve = Sieve(self._size, self.damage, after=after)
        found, at = [], row
        for columns in self._rows(min(count, BLOCK), row):
            columns = columns.part(0, count)  # noqa: PLW2901
            found.append(sieve.sift(self._meaning.applied(columns), start=at))
            at += columns.length
            count -= columns.length
            if count <= 0:
                break
        return Columns.joined(found)

    def position(self, t: int) -> int:
        """How many events are before this time in microseconds."""
        index = self._looked()
        block = int(np.searchsorted(index.latest[1:], t, "left"))
        if block == len(index.kept) - 1:
            return len(self)
        start, stop = (int(n) for n in index.kept[block : block + 2])
        if index.whole(block, block + 1):
            only = [self._meaning.roles.column("t")]
            stored = next(self.table.blocks(BLOCK, block * BLOCK, only=only))[0]
            times = microseconds(stored, self._meaning.unit)
        else:
            times = self.part(start, stop).t
        return start + int(np.searchsorted(times, t, "left"))


class _Index(NamedTuple):
    """Per block of rows: how many events are before it, and the latest time of those."""

    kept: npt.NDArray[np.int64]
    latest: npt.NDArray[np.int64]
    rows: int
    """How many rows there are."""

    def whole(self, first: int, last: int) -> bool:
        """Whether every row of these blocks is an event."""
        before = min(last * BLOCK, self.rows) - first * BLOCK
        return int(self.kept[last] - self.kept[first]) == before
