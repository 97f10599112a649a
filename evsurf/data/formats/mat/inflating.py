"""A part of a file as a stream, decompressed on the way, in little memory."""

from __future__ import annotations

import zlib
from pathlib import Path

_CHUNK = 2**16


class Part:
    """The bytes of a file from one place to another."""

    def __init__(self, path: Path, start: int, length: int) -> None:
        self._file = path.open("rb")
        self._start = start
        self._length = length
        self._at = 0
        self._file.seek(start)

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        rest = max(self._length - self._at, 0)
        data = self._file.read(rest if size < 0 else min(size, rest))
        self._at += len(data)
        return data

    def seek(self, offset: int, /) -> int:
        """Goes to a byte of the part."""
        self._file.seek(self._start + offset)
        self._at = offset
        return offset

    def close(self) -> None:
        """Lets go of the file."""
        self._file.close()


class Inflating:
    """What a part decompresses to; going back starts again from the front."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._begin()

    def _begin(self) -> None:
        self._part.seek(0)
        self._inflater = zlib.decompressobj()
        self._at = 0

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes, at most so many."""
        found = b""
        while size and not found and not self._inflater.eof:
            data = self._inflater.unconsumed_tail or self._part.read(_CHUNK)
            found = self._inflater.decompress(data, _CHUNK if size < 0 else min(size, _CHUNK))
            if not data and not found:
                raise EOFError("compressed data break off")
        self._at += len(found)
        return found

    def seek(self, offset: int, /) -> int:
        """Goes to a byte, by reading all before it."""
        if offset < self._at:
            self._begin()
        while self._at < offset and self.read(offset - self._at):
            pass
        return self._at

    def close(self) -> None:
        """Lets go of the file."""
        self._part.close()
