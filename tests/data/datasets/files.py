"""Writes recordings in the true formats of the data sets, event by event."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evsurf.events import Events


class Event(NamedTuple):
    x: int
    y: int
    t: int
    p: int


THREE = (Event(1, 2, 1_000, 1), Event(5, 3, 2_000, 0), Event(0, 0, 300_000, 1))


def rows(events: Events) -> list[Event]:
    """The events one by one."""
    columns = (events.x.tolist(), events.y.tolist(), events.t.tolist(), events.p.int().tolist())
    return [Event(*row) for row in zip(*columns, strict=True)]


def write_bin(path: Path, events: Iterable[Event] = THREE) -> Path:
    """ATIS 40-bit: x, y, polarity and 23 bits of time, largest byte first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = b""
    for x, y, t, p in events:
        assert t < 1 << 23
        content += bytes([x, y]) + (p << 23 | t).to_bytes(3, "big")
    path.write_bytes(content)
    return path


def write_dat(path: Path, events: Iterable[Event] = THREE) -> Path:
    """Prophesee DAT without width and height in its header, as N-Cars has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = b"% Data file containing Event2D events.\n% Version 2\n" + bytes([0, 8])
    for x, y, t, p in events:
        content += struct.pack("<II", t, p << 28 | y << 14 | x)
    path.write_bytes(content)
    return path


def write_npy(path: Path, events: Iterable[Event] = THREE) -> Path:
    """As the authors of EST gave them out: x, y, t in seconds, p of -1 and 1, as floats."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = np.array([(x, y, t / 1e6, 2 * p - 1) for x, y, t, p in events], np.float64)
    np.save(path, table.reshape(-1, 4))
    return path
