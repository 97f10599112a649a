"""The files of MNIST: arrays of bytes behind a short header, packed or not."""

from __future__ import annotations

import gzip
import os
import zlib
from io import BufferedIOBase
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evsurf.data.formats.damage import FormatError

_BYTES = 0x08
_MOST_DIMENSIONS = 8
_MOST = 1 << 33


def read_idx(path: str | os.PathLike[str]) -> npt.NDArray[np.uint8]:
    """The array of an idx file of bytes; gzip is known by its content.

    A file that says more or less than it holds is a `FormatError`.
    """
    file = Path(path)
    with file.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        if not packed:
            return _array(file, raw)
        try:
            with gzip.open(raw) as unpacked:
                return _array(file, unpacked)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FormatError(f"{file} cannot be unpacked: {error}") from error


def _array(file: Path, stream: BufferedIOBase) -> npt.NDArray[np.uint8]:
    start = stream.read(4)
    if len(start) < 4 or start[:2] != b"\0\0":
        raise FormatError(f"{file} is no idx file: it begins with {start!r}", offset=0)
    kind, dimensions = start[2], start[3]
    if kind != _BYTES:
        raise FormatError(f"{file} holds values of type {kind:#04x}; only bytes (0x08) are read")
    if not 1 <= dimensions <= _MOST_DIMENSIONS:
        raise FormatError(f"{file} says it has {dimensions} dimensions")
    header = stream.read(4 * dimensions)
    if len(header) < 4 * dimensions:
        raise FormatError(f"{file} breaks off in its header", offset=4 + len(header))
    shape = tuple(int(side) for side in np.frombuffer(header, ">u4"))
    size = 1
    for side in shape:
        size *= side
    if size > _MOST:
        raise FormatError(f"{file} says it has shape {shape}, which is {size:,} bytes")
    # Piece by piece, so that a header's claim costs no memory, and one byte further than it claims.
    pieces, have = [], 0
    while have <= size and (piece := stream.read(min(1 << 20, size + 1 - have))):
        pieces.append(piece)
        have += len(piece)
    if have != size:
        more = "more" if have > size else f"{have:,}"
        raise FormatError(f"{file} says it has shape {shape}, {size:,} bytes, and has {more}")
    return np.frombuffer(b"".join(pieces), np.uint8).reshape(shape)
