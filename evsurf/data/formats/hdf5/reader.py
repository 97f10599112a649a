"""Reading one stream of events of an HDF5 file, from the front or in any place."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any, final

import numpy as np

from evsurf.data.formats.columns import Columns, Sieve
from evsurf.data.formats.hdf5.layout import (
    Found,
    chosen_stream,
    described,
    size_of,
    source_of,
)
from evsurf.data.formats.hdf5.opening import children, is_dataset, named_errors, opened
from evsurf.data.formats.hdf5.source import ColumnSource, Source
from evsurf.data.formats.reader import Header, Options, SeekableReader

# Fewer blocks are read before a thread has started.
_WORTH_A_THREAD = 4


@final
class HDF5Reader(SeekableReader):
    """One stream of one file. In a damaged file, positions count the stored rows."""

    def __init__(self, path: Path, options: Options) -> None:
        super().__init__(path, options)
        self._open()

    def _open(self) -> None:
        self._process = os.getpid()
        self._first_times: dict[int, int] = {}
        self._file: Any = opened(self.path)
        try:
            with named_errors(self.path, "looking for events"):
                found = chosen_stream(self._file, self.path, self.options)
                self._source = source_of(found, self._file, self.path, self.options)
                self.header = _header(found, self._file, self._source)
        except BaseException:
            self.close()
            raise

    @property
    def source(self) -> Source:
        """The rows; opened anew in a process that inherited this reader from another."""
        if self._process != os.getpid():
            self._open()
        return self._source

    def pieces(self, count: int) -> Iterator[Columns]:
        """All rows that can be events, block by block."""
        sieve = self._sieve()
        rows = len(self)
        for start in range(0, rows, count):
            yield self._sifted(sieve, start, min(start + count, rows))
        longest = _longest(self.source)
        self.damage.note("truncated", longest - rows, rows, place="event")

    def __len__(self) -> int:
        return len(self.source)

    def part(self, start: int, stop: int) -> Columns:
        """The events among these rows."""
        return self._sifted(self._sieve(), start, stop)

    def position(self, t: int) -> int:
        """The first row at or after this time, through the file's own index where it has one."""
        with named_errors(self.path, f"looking for {t} us"):
            return self._position(t)

    def close(self) -> None:
        """Lets go of the file."""
        # Only the process that opened it: closing would end it for the others of one fork.
        if self._process == os.getpid():
            self._file.close()

    def _sieve(self) -> Sieve:
        size = self.options.size or self.header.size
        return Sieve(size, self.damage, keep_unsorted=self.options.keep_unsorted)

    def _sifted(self, sieve: Sieve, start: int, stop: int) -> Columns:
        """The events among these rows, decoded block by block into one place."""
        room = Columns.room(stop - start)
        filled = 0
        for first, rows in self._blocks(start, stop):
            into = room.part(filled, filled + rows.length)
            filled += sieve.sift(rows, start=first, into=into).length
        return room.part(0, filled)

    def _blocks(self, start: int, stop: int) -> Iterator[tuple[int, Columns]]:
        """The rows, block by block; of many blocks, the next one is read while this one is used."""
        block = self.source.block
        edges = [start, *range(start - start % block + block, stop, block), stop]
        blocks = [(a, b) for a, b in pairwise(edges) if a < b]
        if len(blocks) < _WORTH_A_THREAD:
            yield from ((first, self._rows(first, end)) for first, end in blocks)
            return
        with ThreadPoolExecutor(1) as ahead:
            coming = ahead.submit(self._rows, *blocks[0])
            for number, (first, _) in enumerate(blocks):
                rows = coming.result()
                if number + 1 < len(blocks):
                    coming = ahead.submit(self._rows, *blocks[number + 1])
                yield first, rows

    def _rows(self, start: int, stop: int) -> Columns:
        with named_errors(self.path, f"reading events {start:,} to {stop:,}"):
            return self.source.rows(start, stop)

    def _position(self, t: int) -> int:
        source = self.source
        low, high = source.bracket(t)
        if high - low < source.span:
            row = self._between(low, high, t)
            if row is not None:
                return row
        low, high = 0, len(source)
        spans = range(1, -(-high // source.span))
        later = bisect_left(spans, t, key=self._first_time)
        low, high = later * source.span, min((later + 1) * source.span, high)
        return low + int(np.searchsorted(source.times(low, high), t))

    def _between(self, low: int, high: int, t: int) -> int | None:
        """The place of this time between these rows, or None: an index may be wrong."""
        start, stop = max(low - 1, 0), min(high + 1, len(self.source))
        times = self.source.times(start, stop)
        row = start + int(np.searchsorted(times, t))
        found = (start < row or start == 0) and (row < stop or stop == len(self.source))
        return row if found else None

    def _first_time(self, span: int) -> int:
        if span not in self._first_times:
            row = span * self._source.span
            self._first_times[span] = int(self._source.times(row, row + 1)[0])
        return self._first_times[span]


def _longest(source: Source) -> int:
    if isinstance(source, ColumnSource):
        return max(len(column) for column in source.columns)
    return len(source)


def _header(found: Found, file: Any, source: Source) -> Header:
    facts = {"stream": found.path.strip("/") or "/"}
    if isinstance(source, ColumnSource) and source.offset:
        facts["t_offset"] = f"{source.offset} us, added to the times"
    beside = found.thing if found.kind == "columns" else found.thing.parent
    for name, thing in children(beside):
        if is_dataset(thing) and thing.shape and thing.name != found.path:
            facts[name] = described(thing)
    size = size_of(found, file)
    return Header(size, "header" if size else "guess", facts)
