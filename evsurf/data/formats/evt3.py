"""EVT 3.0 RAW files: 16-bit words that each change one thing, with vectors of neighbours."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evsurf.data.formats.columns import Size
from evsurf.data.formats.raw import open_raw, recogniser, write_header
from evsurf.data.formats.reader import Format
from evsurf.data.formats.writing import check_range, parts, time_highs
from evsurf.events import Events

Numbers = npt.NDArray[np.int64]

_EVENT, _BASE, _VECTOR_12, _VECTOR_8, _TIME_LOW, _TIME_HIGH = (
    kind << 12 for kind in (2, 3, 4, 5, 6, 8)
)
_HIGH_BITS = _LOW_BITS = 12
_ACROSS = 32
# A vector takes four words, whatever it holds.
_FEWEST = 5
# Up to here, the laps that have to be told of before the first event take a few megabytes.
_LATEST, _LARGEST = 2**43, 2**11 - 1


def _write(path: Path, pieces: Iterable[Events], size: Size) -> None:
    before: int | None = None
    with path.open("wb") as file:
        write_header(file, "EVT3", "3.0", size)
        for events in parts(pieces):
            check_range("EVT 3.0", events, latest=_LATEST, largest=_LARGEST)
            file.write(_words(events, before).tobytes())
            before = int(events.t[-1]) >> _LOW_BITS


def _words(events: Events, before: int | None) -> npt.NDArray[np.uint16]:
    """Each event, or vector of events, after the words that say its time and row where they change.

    A time is followed by its row although that may not have changed: so cameras do it.
    """
    x, y, t, p = (c.numpy().astype(np.int64) for c in (events.x, events.y, events.t, events.p))
    starts, vector, masks = _vectors(x, y, t, p, events.size[1])
    x, y, t, p = (column[starts] for column in (x, y, t, p))
    highs = time_highs(t >> _LOW_BITS, before, _HIGH_BITS)
    new_time = _changed(t) | (highs.counts > 0)
    new_row = _changed(y) | new_time
    body = np.where(vector, 4, 1)
    ends = np.cumsum(highs.counts + new_time + new_row + body)
    words = np.empty(ends[-1], "<u2")
    at = ends - body
    head = np.where(vector, _BASE | x // _ACROSS * _ACROSS, _EVENT | x)
    words[at] = head | p << 11
    for place, (kind, shift, bits) in enumerate(
        [(_VECTOR_12, 0, 0xFFF), (_VECTOR_12, 12, 0xFFF), (_VECTOR_8, 24, 0xFF)], start=1
    ):
        words[at[vector] + place] = kind | masks[vector] >> shift & bits
    at = at - new_row
    words[at[new_row]] = y[new_row]
    at = at - new_time
    words[at[new_time]] = _TIME_LOW | t[new_time] & 0xFFF
    words[highs.slots(at - highs.counts)] = _TIME_HIGH | highs.values & 0xFFF
    return words


def _vectors(
    x: Numbers, y: Numbers, t: Numbers, p: Numbers, width: int
) -> tuple[Numbers, npt.NDArray[np.bool_], Numbers]:
    """First event of each vector or single event, which of them are vectors, and their bits."""
    together = ~(_changed(t) | _changed(y) | _changed(p) | _changed(x // _ACROSS))
    # Only neighbours that ascend come out of a vector in the order in which they went in.
    together[1:] &= x[1:] > x[:-1]
    firsts = np.flatnonzero(~together)
    counts = np.diff(firsts, append=len(x))
    # Decoders may refuse vectors that reach over the edge, even with nothing there.
    fits = (x[firsts] // _ACROSS + 1) * _ACROSS <= width
    good = (counts >= _FEWEST) & fits
    masks = np.bitwise_or.reduceat(np.int64(1) << x % _ACROSS, firsts)
    single = np.repeat(~good, counts)
    single[firsts] = True
    starts = np.flatnonzero(single)
    vector = np.zeros(len(x), np.bool_)
    vector[firsts] = good
    bits = np.zeros(len(x), np.int64)
    bits[firsts] = masks
    return starts, vector[starts], bits[starts]


def _changed(values: Numbers) -> npt.NDArray[np.bool_]:
    """Where a value differs from the one before it; the first does."""
    changed = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=changed[1:])
    return changed


FORMAT = Format(
    name="evt3",
    summary="Prophesee RAW, EVT 3.0",
    suffixes=(".raw", ".evt3"),
    recognises=recogniser("EVT3"),
    open=partial(open_raw, version="EVT3"),
    write=_write,
)
