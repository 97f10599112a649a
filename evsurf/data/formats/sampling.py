"""Looking at a recording: at all of it, or at so little that it takes no more than a moment."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.reader import Reader, SeekableReader
from evsurf.data.formats.tally import Tally

Progress: TypeAlias = Callable[[float], None]
Extent: TypeAlias = Literal["all", "places", "front"]

_PIECE = 2**18
# A pass over all asks for pieces as large as others do, for the same speed.
_LARGE_PIECE = 1_000_000
_SECONDS = 1.0
_LEAST = 2**16


class Look(NamedTuple):
    """What was seen of a recording, and what is to be thought of the rest."""

    tally: Tally
    extent: Extent
    """All of it; the front, the middle and the end; or the front alone."""
    events: int | None
    """In the whole recording; None where that cannot even be estimated."""
    exact: bool
    """Whether the number of events is counted, and not estimated."""
    end: int | None
    """Time of the last event, as exact as the number."""
    broken: FormatError | None
    """Where reading broke off."""


def look_at_all(reader: Reader, size: int, progress: Progress) -> Look:
    """Counts every event of a file with this many bytes."""
    tally, broken = Tally(), None
    try:
        for columns in reader.pieces(_LARGE_PIECE):
            tally.add(columns)
            if reader.consumed is not None:
                progress(min(reader.consumed / max(size, 1), 1.0))
    except FormatError as error:
        broken = error
    progress(1.0)
    return Look(tally, "all", tally.events, broken is None, tally.end, broken)


def sample(reader: Reader, size: int) -> Look:
    """Looks at three places where a reader finds them at once, else at the front."""
    if isinstance(reader, SeekableReader) and reader.indexed:
        return _places(reader)
    return _front(reader, size)


def _places(reader: SeekableReader) -> Look:
    tally, total = Tally(), len(reader)
    if total <= 3 * _PIECE:
        starts, length = [0], total
    else:
        starts, length = [0, (total - _PIECE) // 2, total - _PIECE], _PIECE
    broken = None
    for start in starts:
        try:
            tally.add(reader.part(start, start + length))
        except FormatError as error:
            broken = broken or error
    extent: Extent = "all" if len(starts) == 1 else "places"
    return Look(tally, extent, total, broken is None, tally.end, broken)


def _front(reader: Reader, size: int) -> Look:
    tally, limit, broken = Tally(), time.monotonic() + _SECONDS, None
    pieces = reader.pieces(_LEAST)
    try:
        for columns in pieces:
            tally.add(columns)
            if time.monotonic() > limit:
                return _extrapolated(tally, reader.consumed, size)
    except FormatError as error:
        broken = error
    return Look(tally, "all", tally.events, broken is None, tally.end, broken)


def _extrapolated(tally: Tally, consumed: int | None, size: int) -> Look:
    """As if the rest of the bytes held events as the front does."""
    if not consumed or tally.start is None or tally.end is None:
        return Look(tally, "front", None, False, None, None)
    times = max(size / consumed, 1.0)
    end = tally.start + round((tally.end - tally.start) * times)
    return Look(tally, "front", round(tally.events * times), False, end, None)
