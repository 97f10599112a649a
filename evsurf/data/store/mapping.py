"""Columns as files: their one header, and their values as memory that is read when touched."""

from __future__ import annotations

import math
import mmap
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evsurf.data.formats.damage import FormatError

_BLOCK = 64


def header(dtype: str, shape: tuple[int, ...]) -> bytes:
    """The start of an `.npy` file of version 1.0 with these values."""
    shown = f"({shape[0]},)" if len(shape) == 1 else str(shape)
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shown}, }}"
    # Room for more digits, so that a header written before the values are counted can be replaced.
    length = 10 + len(text) + 1 + 20 * len(shape) - len(shown)
    total = max(2, math.ceil(length / _BLOCK)) * _BLOCK
    padded = text.ljust(total - 11) + "\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded.encode("ascii")


def mapped(file: Path, dtype: str, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """The values of a column's file, of which nothing is read before it is used.

    The array can be written to, which changes private copies of its pages and never the file:
    tensors over memory that refuses to be written would end the process of whoever tried.
    """
    start, kind = header(dtype, shape), np.dtype(dtype)
    expected = len(start) + kind.itemsize * math.prod(shape)
    try:
        with file.open("rb") as opened:
            length = opened.seek(0, 2)
            if length != expected:
                raise FormatError(
                    f"{file} has {length:,} bytes, and {expected:,} belong to it: "
                    f"{'the rest was cut off' if length < expected else 'it is another file'}"
                )
            opened.seek(0)
            found = opened.read(len(start))
            if found != start:
                where = next(i for i, (a, b) in enumerate(zip(found, start, strict=True)) if a != b)
                raise FormatError(f"{file} has a header that its index contradicts", offset=where)
            memory = _private(opened.fileno(), length)
    except FileNotFoundError as error:
        raise FormatError(f"{file.parent} is damaged: it has no {file.name}") from error
    values = np.frombuffer(memory, kind, math.prod(shape), len(start))
    return values.reshape(shape)


def _private(handle: int, length: int) -> mmap.mmap:
    if sys.platform == "win32":
        return mmap.mmap(handle, length, access=mmap.ACCESS_COPY)
    # Without MAP_NORESERVE, Linux wants to have memory for a copy of the whole file and refuses
    # files larger than that. Python knows the name from 3.13 on.
    no_reserve = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)
    flags, access = mmap.MAP_PRIVATE | no_reserve, mmap.PROT_READ | mmap.PROT_WRITE
    return mmap.mmap(handle, length, flags=flags, prot=access)
