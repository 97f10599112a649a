"""Reading text line by line, in blocks of some megabytes."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import numpy as np

from evsurf import _core
from evsurf.data.formats.columns import Columns, Sieve
from evsurf.data.formats.decoding import unwritten
from evsurf.data.formats.reader import Header, Options, Reader
from evsurf.data.formats.tables.strands import Stream, read_up_to
from evsurf.data.formats.tables.time_unit import POWERS
from evsurf.data.formats.text.layout import Front, Layout

GZIP = b"\x1f\x8b"
_BLOCK = 2**21
_LONGEST_LINE = 2**20
_SHORTEST_LINE = 8


def opened(path: Path) -> Stream:
    """The text's bytes, decompressed if they are compressed."""
    with path.open("rb") as file:
        compressed = file.read(2) == GZIP
    return gzip.open(path) if compressed else path.open("rb")


def _file_of(stream: Any) -> Any:
    """The file itself, which a stream that decompresses wraps."""
    return getattr(stream, "fileobj", stream)


class TextReader(Reader):
    """Reads a text line by line, in blocks of some megabytes."""

    def __init__(self, path: Path, options: Options, front: Front, layout: Layout) -> None:
        super().__init__(path, options)
        self._front = front
        self._layout = layout
        self._consumed = 0
        facts = {
            "columns": f"{layout.roles.order} ({layout.roles.source})",
            "time unit": layout.unit,
        }
        self.header = Header(
            size=front.size, size_source="header" if front.size else "guess", facts=facts
        )

    def pieces(self, count: int) -> Iterator[Columns]:
        """All events from the front."""
        size = self.options.size or self._front.size
        sieve = Sieve(size, self.damage, keep_unsorted=self.options.keep_unsorted)
        for columns in self._lines(count):
            yield sieve.sift(columns)

    @property
    def consumed(self) -> int | None:
        """Bytes that were read, of a compressed text those before decompression."""
        return self._consumed

    def _lines(self, count: int) -> Iterator[Columns]:
        with closing(opened(self.path)) as stream:
            stream.seek(self._front.start)
            waiting, at, last, inside_long = b"", self._front.start, False, False
            # One room for all blocks: who reads them copies what is good.
            most = min(count, (_BLOCK + _LONGEST_LINE) // _SHORTEST_LINE + 1)
            room = unwritten(most).part(0, most)
            while not last:
                more, broken = read_up_to(stream, _BLOCK)
                self._consumed = _file_of(stream).tell()
                last = not more and broken is None
                text = waiting + more
                if inside_long:
                    end = text.find(b"\n") + 1 or len(text)
                    inside_long = not text[:end].endswith(b"\n")
                    at, text = at + end, text[end:]
                done = 0
                for columns, used in self._parsed(text, at, last, room):
                    done = used
                    if columns.length:
                        yield columns
                at, waiting = at + done, text[done:]
                if len(waiting) > _LONGEST_LINE:
                    self.damage.note("bad_line", 1, at)
                    at, waiting, inside_long = at + len(waiting), b"", True
                if broken is not None:
                    # The line that breaks off may look like a whole one.
                    self.damage.note("truncated", max(len(waiting), 1), at)
                    return

    def _parsed(
        self, text: bytes, at: int, last: bool, room: Columns
    ) -> Iterator[tuple[Columns, int]]:
        """The events of some text, and how many of its bytes are dealt with."""
        layout = self._layout
        places = [layout.roles.column(role) for role in "xytp"]
        numbers = (layout.fields, *places, POWERS[layout.unit])
        view = np.frombuffer(text, np.uint8)
        used = 0
        while used < len(text):
            consumed, events, bad, first_bad, wrong, first_wrong = _core.text_to_events(
                view[used:].ctypes.data,
                len(text) - used,
                last,
                cast(tuple[int, int, int, int, int, int], numbers),
                room.length,
                cast(tuple[int, int, int, int], tuple(c.ctypes.data for c in room)),
            )
            self.damage.note("bad_line", bad, at + used + first_bad)
            self.damage.note("invalid_polarity", wrong, at + used + first_wrong)
            used += consumed
            yield room.part(0, events), used
            if not consumed:
                return

    def close(self) -> None:
        """Nothing: the file is opened for each reading."""
