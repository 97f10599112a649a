"""Looking at every event of a store once before it is handed out.

Kernels use coordinates as addresses, so what a damaged disk made of them must not get there. Events
are looked at in blocks, each when it is first touched; which ones were, the process and those that
it forks afterwards share.
"""

from __future__ import annotations

import mmap
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evsurf.events.checks import EARLIEST, LATEST

BLOCK = 1 << 16


class Arrays(NamedTuple):
    """The columns of a store that say where and when; `sizes` only where samples differ."""

    x: npt.NDArray[np.int16]
    y: npt.NDArray[np.int16]
    t: npt.NDArray[np.int64]
    p: npt.NDArray[np.bool_]
    offsets: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int16] | None


class Inspection:
    """Finds the first event of a range that cannot be one."""

    def __init__(self, arrays: Arrays, size: tuple[int, int] | None) -> None:
        self._arrays = arrays
        self._size = size
        blocks = -(-len(arrays.t) // BLOCK)
        # Anonymous memory is what a process shares with those it forks, not copies.
        self._clean = mmap.mmap(-1, max(blocks, 1))

    def first_bad(self, start: int, stop: int) -> int | None:
        """The first event from start up to stop that cannot be one; None as a rule."""
        if stop <= start:
            return None
        first, last = start // BLOCK, (stop - 1) // BLOCK + 1
        if self._clean[first:last].count(1) == last - first:
            return None
        for block in range(first, last):
            if self._clean[block]:
                continue
            begin, end = block * BLOCK, min((block + 1) * BLOCK, len(self._arrays.t))
            if self._bad(begin, end) is None:
                self._clean[block] = 1
                continue
            # A neighbour's damage in the same block is no reason to refuse these.
            bad = self._bad(max(begin, start), min(end, stop))
            if bad is not None:
                return bad
        return None

    def _bad(self, start: int, stop: int) -> int | None:
        """The first of the events, of which there is at least one, that breaks a rule."""
        x, y, t, p = (column[start:stop] for column in self._arrays[:4])
        height, width = self._bounds(start, stop)
        # As unsigned numbers, negative ones are too large as well.
        wrong = (x.view(np.uint16) >= width) | (y.view(np.uint16) >= height)
        wrong |= p.view(np.uint8) > 1
        wrong |= (t < EARLIEST) | (t > LATEST)
        wrong[1:] |= (t[1:] < t[:-1]) & ~self._starts(start + 1, stop)
        if start and t[0] < self._arrays.t[start - 1] and not self._starts(start, start + 1)[0]:
            wrong[0] = True
        return start + int(wrong.argmax()) if wrong.any() else None

    def _bounds(self, start: int, stop: int) -> tuple[Any, Any]:
        """Height and width that hold for each event."""
        if self._size is not None:
            return self._size
        sizes, offsets = self._arrays.sizes, self._arrays.offsets
        assert sizes is not None
        first = int(np.searchsorted(offsets, start, side="right")) - 1
        last = int(np.searchsorted(offsets, stop, side="left"))
        first, last = max(first, 0), min(last, len(sizes))
        edges = np.clip(offsets[first : last + 1], start, stop)
        counts = np.maximum(np.diff(edges), 0)
        # Damaged offsets may leave events without a sample; those are inside nothing.
        bounds = np.zeros((2, stop - start), np.uint16)
        known = np.repeat(sizes[first:last].astype(np.uint16), counts, axis=0)[: stop - start]
        bounds[:, : len(known)] = known.T
        return bounds[0], bounds[1]

    def _starts(self, start: int, stop: int) -> npt.NDArray[np.bool_]:
        """Which of the events are the first of their sample."""
        offsets = self._arrays.offsets
        low, high = np.searchsorted(offsets, [start, stop])
        starts = np.zeros(stop - start, np.bool_)
        places = offsets[low:high] - start
        starts[places[(places >= 0) & (places < len(starts))]] = True
        return starts
