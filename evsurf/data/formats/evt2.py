"""EVT 2.0 RAW files: 32-bit words with one event each."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

import numpy as np

from evsurf.data.formats.columns import Size
from evsurf.data.formats.raw import open_raw, recogniser, write_header
from evsurf.data.formats.reader import Format
from evsurf.data.formats.writing import check_range, parts, time_highs
from evsurf.events import Events

_TIME_HIGH = 0x8 << 28
_HIGH_BITS, _LOW_BITS = 28, 6
# Up to here, the laps that have to be told of before the first event take a few megabytes.
_LATEST, _LARGEST = 2**53, 2**11 - 1


def _write(path: Path, pieces: Iterable[Events], size: Size) -> None:
    before: int | None = None
    with path.open("wb") as file:
        write_header(file, "EVT2", "2.0", size)
        for events in parts(pieces):
            check_range("EVT 2.0", events, latest=_LATEST, largest=_LARGEST)
            x, y, t, p = (
                c.numpy().astype(np.int64) for c in (events.x, events.y, events.t, events.p)
            )
            highs = time_highs(t >> _LOW_BITS, before, _HIGH_BITS)
            ends = np.cumsum(highs.counts + 1)
            words = np.empty(ends[-1], "<u4")
            words[ends - 1] = p << 28 | (t & 63) << 22 | x << 11 | y
            words[highs.slots(ends - 1 - highs.counts)] = _TIME_HIGH | highs.values & 0xFFFFFFF
            before = int(t[-1]) >> _LOW_BITS
            file.write(words.tobytes())


FORMAT = Format(
    name="evt2",
    summary="Prophesee RAW, EVT 2.0",
    suffixes=(".raw", ".evt2"),
    recognises=recogniser("EVT2"),
    open=partial(open_raw, version="EVT2"),
    write=_write,
)
