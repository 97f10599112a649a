"""Writes events as Prophesee's filter does: straight from the description, one value at a time."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import h5py
import numpy as np

from evsurf.events import Events
from tests.data.formats.hdf5.files import RECORD, columns_of


def runs(values: Sequence[int]) -> Iterator[tuple[int, int]]:
    for value, same in groupby(values):
        yield value, len(list(same))


def packed_times(times: list[int]) -> bytes:
    out, now = struct.pack("<Q", times[0] % 2**64), times[0]
    for t, count in runs(times):
        delay, now = t - now, t
        if delay >= 15:
            while delay:
                out += bytes([0xF0 | delay & 15])
                delay >>= 4
        out += bytes([delay << 4 | min(count, 15)])
        out += struct.pack("<H", count) if count >= 15 else b""
    return out


def packed_rows(rows: list[int]) -> bytes:
    out = b""
    for y, count in runs(rows):
        out += struct.pack("<H", y << 5 | min(count, 31))
        out += struct.pack("<H", count) if count >= 31 else b""
    return out


def packed_polarities(polarities: list[int]) -> bytes:
    out = b""
    for p, count in runs(polarities):
        out += bytes([p << 7 | min(count, 127)])
        out += struct.pack("<H", count) if count >= 127 else b""
    return out


def packed_columns(columns: list[int], *, beyond: int = 0) -> bytes:
    """`beyond`: bits of the last word about events that are none, which writers leave there."""
    words, i = [], 0
    while i < len(columns):
        x, mask, i = columns[i], 0, i + 1
        for right in range(1, 6):
            if i < len(columns) and columns[i] == x + right:
                mask |= 1 << (5 - right)
                i += 1
        words.append(x << 5 | mask)
    words[-1] |= beyond
    return struct.pack(f"<{len(words)}H", *words)


def packed_together(values: list[int], bits: int, kind: str) -> bytes:
    """Four values of three quarters of a word each, in three words."""
    out, part = b"", bits // 3
    low, two = 2**part - 1, 2 ** (2 * part) - 1
    for i in range(0, len(values), 4):
        a, b, c, d = [*values[i : i + 4], 0, 0, 0][:4]
        words = a << part | b & low, b >> part << 2 * part | c & two, c >> 2 * part << 3 * part | d
        out += struct.pack(f"<3{kind}", *words)
    return out


def chunk(events: Events, way: str) -> bytes:
    """`way`: "all" packs rows, columns and polarities together, "columns" the last two of them."""
    x, y, t, p = (columns_of(events)[name].astype(int).tolist() for name in "xytp")
    flags = {"all": 2, "columns": 1, "none": 0}[way]
    out = struct.pack("<I", len(t) << 2 | flags) + packed_times(t)
    if way == "all":
        values = [row << 12 | column << 1 | on for column, row, on in zip(x, y, p, strict=True)]
        return out + packed_together(values, 24, "I")
    out += packed_rows(y)
    if way == "columns":
        values = [column << 1 | on for column, on in zip(x, p, strict=True)]
        return out + packed_together(values, 12, "H")
    return out + packed_columns(x) + packed_polarities(p)


def write_ecf(path: Path, events: Events, *, way: str = "all", rows: int = 256) -> None:
    """A file of Prophesee's with these many events in a chunk, the last one with fewer."""
    chunks = [chunk(events[i : i + rows], way) for i in range(0, len(events), rows)]
    write_chunks(path, chunks, len(events), rows=rows, size=events.size)


def write_chunks(
    path: Path, chunks: list[bytes], count: int, *, rows: int, size: tuple[int, int], mask: int = 0
) -> None:
    with h5py.File(path, "w") as file:
        made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        made.set_chunk((rows,))
        made.set_filter(0x8ECF, h5py.h5z.FLAG_OPTIONAL, ())
        kind = h5py.h5t.py_create(np.dtype(RECORD), logical=True)
        space = h5py.h5s.create_simple((count,), (h5py.h5s.UNLIMITED,))
        dataset = h5py.h5d.create(file.create_group("CD").id, b"events", kind, space, made)
        for i, content in enumerate(chunks):
            dataset.write_direct_chunk((i * rows,), content, filter_mask=mask)
        file.attrs["geometry"] = "{1}x{0}".format(*size)
