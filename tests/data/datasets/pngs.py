"""Writes PNG files of any kind, one byte after the other as the standard describes it."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

import numpy as np

COLOURS = {1: 0, 2: 4, 3: 2, 4: 6}


def chunk(name: bytes, content: bytes) -> bytes:
    return (
        struct.pack(">I", len(content))
        + name
        + content
        + struct.pack(">I", zlib.crc32(name + content))
    )


def expected(method: int, left: int, above: int, corner: int) -> int:
    """What a filter expects of a byte with these neighbours."""
    if method == 4:
        distances = {c: abs(left + above - corner - c) for c in (left, above, corner)}
        for candidate in (left, above, corner):
            if distances[candidate] == min(distances.values()):
                return candidate
    return (0, left, above, (left + above) // 2)[method]


def filtered(row: bytes, above: bytes, stride: int, method: int) -> bytes:
    before = bytes(stride) + row
    corner = bytes(stride) + above
    return bytes(
        (row[i] - expected(method, before[i], above[i], corner[i])) & 255 for i in range(len(row))
    )


def png(picture: np.ndarray, methods: Sequence[int] = (0,)) -> bytes:
    """A picture [rows, columns, channels] of 8 or 16 bits; row i is filtered by methods[i % n]."""
    height, width, channels = picture.shape
    depth = 8 * picture.dtype.itemsize
    stride = channels * depth // 8
    lines, above = b"", bytes(width * stride)
    for i, row in enumerate(picture.astype(f">u{depth // 8}")):
        method = methods[i % len(methods)]
        lines += bytes([method]) + filtered(row.tobytes(), above, stride, method)
        above = row.tobytes()
    header = struct.pack(">IIBBBBB", width, height, depth, COLOURS[channels], 0, 0, 0)
    packed = zlib.compress(lines)
    half = len(packed) // 2
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"tEXt", b"a\0b")
        + chunk(b"IDAT", packed[:half])
        + chunk(b"IDAT", packed[half:])
        + chunk(b"IEND", b"")
    )
