"""Writing events as text, an event per line."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import IO, cast

import numpy as np

from evsurf import _core
from evsurf.data.formats.columns import Size
from evsurf.events import Events

_EVENTS = 2**16


def write_csv(path: Path, pieces: Iterable[Events], size: Size) -> None:
    """A comment with size and unit, the names of the columns, x,y,t,p in whole microseconds."""
    front = f"# height={size[0]} width={size[1]} time=microseconds\nx,y,t,p\n"
    _write(path, front, pieces, seconds=False)


def write_seconds(path: Path, pieces: Iterable[Events], size: Size) -> None:
    """Width and height in the first line, as E2VID has it, then `t x y p` with six decimals."""
    _write(path, f"{size[1]} {size[0]}\n", pieces, seconds=True)


def _write(path: Path, front: str, pieces: Iterable[Events], *, seconds: bool) -> None:
    room = np.empty(_EVENTS * _core.longest_line, np.uint8)
    with ExitStack() as stack:
        file: IO[bytes] = stack.enter_context(path.open("wb"))
        if path.suffix == ".gz":
            # Without name and time, so that equal events give equal files.
            compressed = gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0)
            file = cast(IO[bytes], stack.enter_context(compressed))
        file.write(front.encode())
        for events in pieces:
            for start in range(0, len(events), _EVENTS):
                part = events[start : start + _EVENTS]
                columns = [getattr(part, name).contiguous() for name in "xytp"]
                x, y, t, p = (column.data_ptr() for column in columns)
                used = _core.events_to_text((x, y, t, p), len(part), seconds, room.ctypes.data)
                file.write(room[:used].data)
