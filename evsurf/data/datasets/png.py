"""PNG files of 16 bits, in which DSEC keeps its flow, read exactly and without another library."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evsurf.data.formats.damage import FormatError

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Samples of a pixel for each type of colour: grey, red green blue, grey with alpha, all with alpha.
_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}
_MOST_PIXELS = 1 << 26


def read_png(path: Path) -> npt.NDArray[Any]:
    """The picture as [rows, columns, channels], uint8 or uint16, in the order of the file.

    For pictures with 8 or 16 bits a channel that are not interlaced; others raise `FormatError`.
    """
    content = path.read_bytes()
    if not content.startswith(_SIGNATURE):
        raise FormatError(f"{path} is no PNG", offset=0)
    header, packed = _chunks(path, content)
    width, height, depth, colour, compression, filtering, interlace = struct.unpack(
        ">IIBBBBB", header
    )
    if colour not in _CHANNELS or depth not in (8, 16) or interlace or compression or filtering:
        raise FormatError(
            f"{path} is a PNG of {depth} bits, colour type {colour}, interlace {interlace}; only 8 "
            "or 16 bits of grey or colour without interlace are read"
        )
    if not 0 < width * height <= _MOST_PIXELS:
        raise FormatError(f"{path} has {width} times {height} pixels")
    stride = _CHANNELS[colour] * depth // 8
    lines = _unpacked(path, packed, height * (1 + width * stride)).reshape(height, -1)
    picture = _unfiltered(path, lines, stride)
    kind = np.dtype(">u2" if depth == 16 else "u1")
    samples = picture.reshape(-1).view(kind).reshape(height, width, _CHANNELS[colour])
    return samples.astype(kind.newbyteorder("="))


def _chunks(path: Path, content: bytes) -> tuple[bytes, bytes]:
    """The header and the packed lines."""
    place, header, packed = len(_SIGNATURE), b"", []
    while place + 12 <= len(content):
        (length,) = struct.unpack_from(">I", content, place)
        name, end = content[place + 4 : place + 8], place + 8 + length
        if end + 4 > len(content):
            break
        (checksum,) = struct.unpack_from(">I", content, end)
        if zlib.crc32(content[place + 4 : end]) != checksum:
            raise FormatError(f"{path}: the checksum of {name!r} is wrong", offset=place)
        if name == b"IHDR" and length == 13 and not header:
            header = content[place + 8 : end]
        elif name == b"IDAT":
            packed.append(content[place + 8 : end])
        elif name == b"IEND":
            if not header:
                break
            return header, b"".join(packed)
        place = end + 4
    raise FormatError(f"{path} breaks off", offset=len(content))


def _unpacked(path: Path, packed: bytes, size: int) -> npt.NDArray[np.uint8]:
    unpacker = zlib.decompressobj()
    try:
        # One byte more than there may be, so that a bomb neither goes off nor passes.
        lines = unpacker.decompress(packed, size + 1)
    except zlib.error as error:
        raise FormatError(f"{path}: the picture cannot be unpacked: {error}") from error
    if len(lines) != size:
        raise FormatError(f"{path} should have {size:,} bytes of picture and has {len(lines):,}")
    return np.frombuffer(lines, np.uint8)


def _unfiltered(path: Path, lines: npt.NDArray[np.uint8], stride: int) -> npt.NDArray[np.uint8]:
    """Undoes the prediction of each byte from those at its left, above, and above at its left.

    A pixel needs its neighbours, so those on one diagonal are all done at once, from the upper left
    to the lower right.
    """
    methods, height = lines[:, :1].astype(np.int16), len(lines)
    if methods.max(initial=0) > 4:
        raise FormatError(f"{path} has a line filtered by method {methods.max()}; 4 is the last")
    width = (lines.shape[1] - 1) // stride
    # With a row above and a column at the left, of zeros.
    picture = np.zeros((height + 1, width + 1, stride), np.int16)
    picture[1:, 1:] = lines[:, 1:].reshape(height, width, stride)
    if methods.any():
        pixels = picture.reshape(-1, stride)
        for diagonal in range(height + width - 1):
            top, bottom = max(0, diagonal - width + 1), min(height, diagonal + 1)
            # One row down and one column to the left is `width` pixels on.
            start = width + 2 + diagonal + top * width
            here = slice(start, start + (bottom - top - 1) * width + 1, width)
            left, above, corner = (
                pixels[here.start - back : here.stop - back : width]
                for back in (1, width + 1, width + 2)
            )
            guess = _guess(methods[top:bottom], left, above, corner)
            pixels[here] = (pixels[here] + guess) & 255
    return np.ascontiguousarray(picture[1:, 1:]).astype(np.uint8)


def _guess(
    methods: npt.NDArray[np.int16],
    left: npt.NDArray[np.int16],
    above: npt.NDArray[np.int16],
    corner: npt.NDArray[np.int16],
) -> npt.NDArray[np.int16]:
    """What each method expects, row by row: nothing, left, above, their mean, or the nearest."""
    by_left, by_above = abs(above - corner), abs(left - corner)
    by_corner = abs(left + above - 2 * corner)
    nearest = np.where(
        (by_left <= by_above) & (by_left <= by_corner),
        left,
        np.where(by_above <= by_corner, above, corner),
    )
    return np.choose(methods, (np.zeros_like(left), left, above, (left + above) >> 1, nearest))
