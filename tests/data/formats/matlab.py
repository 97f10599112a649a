"""An encoder of MATLAB files of level 5, for tests."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

CLASSES = {"f8": 6, "f4": 7, "i1": 8, "u1": 9, "i2": 10, "u2": 11, "i4": 12, "u4": 13}
CLASSES |= {"i8": 14, "u8": 15}
TYPES = {"i1": 1, "u1": 2, "i2": 3, "u2": 4, "i4": 5, "u4": 6, "f4": 7, "f8": 9, "i8": 12, "u8": 13}

Value = Any
"""An array, a dict for a structure, a list of dicts for several, a tuple for a cell, a str."""


class Encoder:
    """Bytes in one of the two orders; doubles may be stored in a shorter type, as MATLAB does."""

    def __init__(self, order: str = "<", *, shorter: str | None = None) -> None:
        self.order = order
        self.shorter = shorter

    def element(self, kind: int, data: bytes) -> bytes:
        if 0 < len(data) <= 4:
            first = struct.pack(f"{self.order}I", len(data) << 16 | kind)
            return first + data.ljust(4, b"\0")
        return self.tag(kind, len(data)) + data + bytes(-len(data) % 8)

    def tag(self, kind: int, size: int) -> bytes:
        return struct.pack(f"{self.order}II", kind, size)

    def numbers(self, values: Any, kind: str) -> bytes:
        array = np.asarray(values).astype(self.order + kind)
        return self.element(TYPES[kind], array.tobytes("F"))

    def matrix(self, name: str, value: Value) -> bytes:
        kind, shape, contents = self.contents(value)
        body = self.element(6, struct.pack(f"{self.order}II", kind, 0))
        body += self.numbers(shape, "i4") + self.element(1, name.encode()) + contents
        return self.tag(14, len(body)) + body

    def contents(self, value: Value) -> tuple[int, tuple[int, ...], bytes]:
        if isinstance(value, str):
            return 4, (1, len(value)), self.element(16, value.encode())
        if isinstance(value, tuple):
            return 1, (1, len(value)), b"".join(self.matrix("", part) for part in value)
        if isinstance(value, dict):
            return self.structure([value])
        if isinstance(value, list):
            return self.structure(value)
        array = np.asarray(value)
        array = array.reshape(-1, 1) if array.ndim < 2 else array
        kind = array.dtype.str[1:]
        stored = self.shorter if self.shorter and kind == "f8" else kind
        return CLASSES[kind], array.shape, self.numbers(array, stored)

    def structure(self, values: list[dict[str, Value]]) -> tuple[int, tuple[int, ...], bytes]:
        names = list(values[0])
        body = self.numbers([32], "i4")
        body += self.element(1, b"".join(name.encode().ljust(32, b"\0") for name in names))
        body += b"".join(self.matrix("", value[name]) for value in values for name in names)
        return 2, (1, len(values)), body

    def file(self, variables: dict[str, Value], *, compressed: bool = False) -> bytes:
        version, mark = (b"\x00\x01", b"IM") if self.order == "<" else (b"\x01\x00", b"MI")
        data = b"MATLAB 5.0 MAT-file, of a test".ljust(124) + version + mark
        for name, value in variables.items():
            element = self.matrix(name, value)
            if compressed:
                packed = zlib.compress(element)
                element = self.tag(15, len(packed)) + packed
            data += element
        return data


def save(path: Path, variables: dict[str, Value], *, compressed: bool = False) -> None:
    path.write_bytes(Encoder().file(variables, compressed=compressed))
