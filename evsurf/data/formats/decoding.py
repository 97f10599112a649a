"""Bytes of the fixed binary formats to columns, by the compiled core, block after block."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, final

import numpy as np
import numpy.typing as npt

from evsurf import _core
from evsurf.data.formats.columns import Columns, Size
from evsurf.data.formats.damage import Damage
from evsurf.events.checks import LONGEST_SIDE

Layout: TypeAlias = Literal["dat", "evt2", "evt21", "evt21_swapped", "evt3", "atis"]

WORD: dict[Layout, int] = {
    "dat": 8,
    "evt2": 4,
    "evt21": 8,
    "evt21_swapped": 8,
    "evt3": 2,
    "atis": 5,
}
"""Bytes that belong together."""

_LARGE = 1 << 20


def unwritten(count: int) -> Columns:
    """Room for this many events, not written yet; large room takes pages only where written."""
    # A multiple of 64, so that each column starts at a line of the cache.
    count = -(-count // 64) * 64
    # Whole pages, so that rooms for nearly as many events are used again for one another.
    total = -(-13 * count // 4096) * 4096
    block: npt.NDArray[Any] = (
        np.empty(total, np.uint8) if total < _LARGE else _core.large_memory(total).numpy()
    )
    return Columns(
        block[8 * count : 10 * count].view(np.int16),
        block[10 * count : 12 * count].view(np.int16),
        block[: 8 * count].view(np.int64),
        block[12 * count : 13 * count].view(np.bool_),
    )


@final
class Decoder:
    """A stream of bytes in one layout; remembers between blocks all that the next one needs.

    `feed` takes blocks cut anywhere, as they come from a network or a bag. Readers of files, which
    have all the bytes at hand, call `decode`. Damage is noted with places counted from `position`.
    """

    def __init__(
        self,
        layout: Layout,
        size: Size | None,
        damage: Damage,
        *,
        keep_unsorted: bool = False,
        position: int = 0,
    ) -> None:
        height, width = size or (LONGEST_SIDE, LONGEST_SIDE)
        self.layout = layout
        self.damage = damage
        self.core = _core.EventDecoder(layout, height, width, keep_unsorted, position)
        self._rest = b""

    def most_events(self, block: npt.NDArray[np.uint8]) -> int:
        """At most this many events are in the bytes."""
        return self.core.most_events(block.ctypes.data, len(block))

    def decode(self, block: npt.NDArray[np.uint8], room: Columns) -> tuple[int, int]:
        """Bytes taken from the front of the block, and events written to the front of the room.

        It goes on until fewer bytes are left than a word has, or less room than a vector may need.
        """
        xytp = tuple(column.ctypes.data for column in room)
        taken, written = self.core.decode(block.ctypes.data, len(block), xytp, room.length)  # type: ignore[arg-type]
        self.note()
        return taken, written

    def note(self) -> None:
        """Moves what the core found wrong into `damage`."""
        for name, count, first in self.core.take_findings():
            self.damage.note(name, count, first)

    def feed(self, block: bytes) -> Columns:
        """The events of the next bytes; an unfinished word waits for its end."""
        data = np.frombuffer(self._rest + block, np.uint8)
        room = unwritten(self.most_events(data) + _core.decoder_slack)
        taken, written = self.decode(data, room)
        self._rest = data[taken:].tobytes()
        return room.part(0, written)

    def finish(self) -> None:
        """Notes what the end of the stream cuts off."""
        self.end(len(self._rest))
        self._rest = b""

    def end(self, left: int) -> None:
        """Notes an unfinished run of words, and so many bytes that are no whole word."""
        self.core.finish()
        self.note()
        self.damage.note("truncated", left, self.core.position)
