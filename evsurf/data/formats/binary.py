"""Files in the fixed binary formats: one header, then words that the compiled core decodes."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt

from evsurf import _core
from evsurf.data.formats.columns import Columns, Size
from evsurf.data.formats.damage import Damage
from evsurf.data.formats.decoding import WORD, Decoder, Layout, unwritten
from evsurf.data.formats.reader import Header, Options, SeekableReader

_STEP = 1 << 16
# Fewer at once would cost more in calls than in events.
_FEWEST = 4096
# From here on, the bytes are looked at to learn how much room is needed.
_MANY = 1 << 22


class _Index(NamedTuple):
    """The decoder's states every few bytes, and how many events came before each."""

    states: list[bytes]
    offsets: list[int]
    events: npt.NDArray[np.int64]
    """Before each state, and in the end all."""
    latest: npt.NDArray[np.int64]
    """Time of the last event before the next state."""


@final
class BinaryReader(SeekableReader):
    """A mapped file from a payload offset on.

    The first access to a place passes over the file once and remembers a state of the decoder for
    every 64 KiB. A place is decoded from the state before it, and so is damage noted from there on;
    with strict damage, any in the file is raised by that first pass.
    """

    def __init__(
        self,
        path: Path,
        options: Options,
        layout: Layout,
        *,
        header: Header,
        start: int,
    ) -> None:
        super().__init__(path, options)
        self._facts: dict[str, str] = dict(header.facts)
        self.header = Header(header.size, header.size_source, self._facts)
        self._layout: Layout = layout
        self._start = start
        self._map, self._bytes = _mapped(path)
        self._index: _Index | None = None
        self._consumed = start

    @property
    def _size(self) -> Size | None:
        return self.options.size or self.header.size

    @property
    def consumed(self) -> int:  # noqa: D102
        return self._consumed

    @property
    def indexed(self) -> bool:  # noqa: D102
        return self._index is not None

    def _decoder(self, damage: Damage) -> Decoder:
        return Decoder(
            self._layout,
            self._size,
            damage,
            keep_unsorted=self.options.keep_unsorted,
            position=self._start,
        )

    def pieces(self, count: int) -> Iterator[Columns]:  # noqa: D102
        decoder = self._decoder(self.damage)
        at = self._start
        while True:
            rest = self._bytes[at:]
            capacity = max(count, _FEWEST)
            if capacity > _MANY:
                capacity = min(capacity, decoder.most_events(rest) + _core.decoder_slack)
            room = unwritten(min(capacity, _most(self._layout, len(rest))))
            # The room may have been rounded up.
            taken, written = decoder.decode(rest, room.part(0, min(room.length, capacity)))
            self._let_go(at, at + taken)
            at += taken
            self._consumed = at
            for first in range(0, written, count):
                yield room.part(first, min(first + count, written))
            if not taken or len(self._bytes) - at < WORD[self._layout]:
                break
        decoder.end(len(self._bytes) - at)
        self._count_triggers(decoder)

    def _let_go(self, start: int, stop: int) -> None:
        """Lets the system take back the pages of the file that were read."""
        page = mmap.PAGESIZE
        first, last = -(-start // page) * page, stop // page * page
        if self._map is not None and last > first and hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED, first, last - first)

    def _count_triggers(self, decoder: Decoder) -> None:
        if decoder.core.triggers:
            self._facts["triggers"] = str(decoder.core.triggers)

    def _indexed(self) -> _Index:
        if self._index is None:
            self._index = self._pass_over()
        return self._index

    def _pass_over(self) -> _Index:
        decoder = self._decoder(Damage(strict=self.damage.strict))
        room = unwritten(_most(self._layout, _STEP))
        states, offsets, events, latest = [], [], [0], []
        at = self._start
        while len(self._bytes) - at >= WORD[self._layout]:
            states.append(decoder.core.state())
            offsets.append(at)
            taken, written = decoder.decode(self._bytes[at : at + _STEP], room)
            self._let_go(at, at + taken)
            at += taken
            events.append(events[-1] + written)
            latest.append(decoder.core.latest)
        decoder.end(len(self._bytes) - at)
        self._count_triggers(decoder)
        return _Index(states, offsets, np.array(events), np.array(latest, np.int64))

    def __len__(self) -> int:
        return int(self._indexed().events[-1])

    def part(self, start: int, stop: int) -> Columns:  # noqa: D102
        index = self._indexed()
        if start >= stop:
            return Columns.none()
        first = int(np.searchsorted(index.events, start, side="right")) - 1
        last = int(np.searchsorted(index.events, stop, side="left"))
        before = int(index.events[first])
        found = self._between(first, last, self.damage)
        return found.part(start - before, stop - before)

    def _between(self, first: int, last: int, damage: Damage) -> Columns:
        """The events from one state of the index to another."""
        index = self._indexed()
        events = int(index.events[last] - index.events[first])
        decoder = self._decoder(damage)
        decoder.core.restore(index.states[first])
        stop = index.offsets[last] if last < len(index.offsets) else len(self._bytes)
        block = self._bytes[index.offsets[first] : stop]
        taken, written = decoder.decode(block, room := unwritten(events + _core.decoder_slack))
        assert written == events
        if stop == len(self._bytes):
            decoder.end(len(block) - taken)
        return room.part(0, written)

    def position(self, t: int) -> int:  # noqa: D102
        index = self._indexed()
        block = int(np.searchsorted(index.latest, t, side="left"))
        if block == len(index.latest):
            return len(self)
        before = int(index.events[block])
        found = self._between(block, block + 1, Damage())
        return before + int(np.searchsorted(found.t, t, side="left"))

    def close(self) -> None:  # noqa: D102
        # Unmapped with the last part of it that somebody still looks at, such as a traceback.
        self._bytes, self._map = np.zeros(0, np.uint8), None


def _most(layout: Layout, length: int) -> int:
    """Room that so many bytes need whatever they say."""
    densest = {"evt3": 12, "evt21": 32, "evt21_swapped": 32}.get(layout, 1)
    return length // WORD[layout] * densest + int(_core.decoder_slack)


def _mapped(path: Path) -> tuple[mmap.mmap | None, npt.NDArray[Any]]:
    """A file as bytes that are read when they are looked at; an empty one cannot be mapped."""
    with path.open("rb") as file:
        if not path.stat().st_size:
            return None, np.zeros(0, np.uint8)
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return mapped, np.frombuffer(mapped, np.uint8)
