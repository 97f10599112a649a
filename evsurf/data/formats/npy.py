"""NumPy's `.npy`: one structured array with any names and order of fields, or N x 4, or 4 x N."""

from __future__ import annotations

import ast
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.reader import Format, Options, Reader
from evsurf.data.formats.tables.finding import StoredArray, tables_in
from evsurf.data.formats.tables.reader import SeekableTableReader, TableReader
from evsurf.data.formats.tables.strands import Opener, Stream, read_up_to
from evsurf.data.formats.tables.table import chosen

MAGIC = b"\x93NUMPY"

LONGEST_HEADER = 2**16
"""Bytes; headers of arrays of events have a few hundred."""


class Described(NamedTuple):
    """What the header of an array says."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    column_major: bool
    start: int
    """The first element's byte."""


def described(stream: Stream, where: str) -> Described:
    """The header at the front of a stream."""
    front = bytes(read_up_to(stream, 8)[0])
    if len(front) < 8 or front[:6] != MAGIC:
        raise FormatError(f"{where} is no NumPy array", offset=0)
    width = {1: 2, 2: 4, 3: 4}.get(front[6])
    if width is None:
        raise FormatError(f"{where} has version {front[6]} of NumPy's format, not 1 to 3", offset=6)
    length = int.from_bytes(read_up_to(stream, width)[0], "little")
    text = bytes(read_up_to(stream, min(length, LONGEST_HEADER))[0])
    if len(text) < length:
        raise FormatError(f"{where} has a header that breaks off", offset=8)
    try:
        header = ast.literal_eval(text.decode("utf-8" if front[6] == 3 else "latin-1").strip())
        shape = tuple(header["shape"])
        dtype = np.lib.format.descr_to_dtype(header["descr"])
        column_major = bool(header["fortran_order"])
    except (
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        SyntaxError,
        MemoryError,
        OverflowError,
        RecursionError,
    ) as error:
        raise FormatError(f"{where} has a header that makes no sense: {error}", offset=8) from error
    if not all(type(side) is int and 0 <= side < 2**62 for side in shape):
        raise FormatError(f"{where} has the shape {shape}, which is none", offset=8)
    if dtype.hasobject:
        raise FormatError(f"{where} holds Python objects, which are never loaded from a file")
    return Described(dtype, shape, column_major, 8 + width + length)


def stored_array(path: tuple[str, ...], opener: Opener, *, seekable: bool) -> StoredArray:
    """An array of this name whose `.npy` bytes the opener gives."""
    with closing(opener()) as stream:
        head = described(stream, "/".join(path) or "the file")
    return StoredArray(
        path, head.shape, head.dtype, opener, head.start, head.column_major, seekable
    )


def _open(path: Path, options: Options) -> Reader:
    array = stored_array((), lambda: path.open("rb"), seekable=True)
    table = chosen(tables_in([array]), options.stream, f"one array of shape {array.shape}")
    reader = SeekableTableReader if table.seekable else TableReader
    return reader(path, options, table)


FORMAT = Format(
    name="npy",
    summary="NumPy array: structured, N x 4 or 4 x N",
    suffixes=(".npy",),
    recognises=lambda head, _: head.startswith(MAGIC),
    open=_open,
)
