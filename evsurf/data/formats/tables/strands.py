"""Runs of equal records somewhere in a file, read in pieces without ever holding all."""

from __future__ import annotations

import io
import lzma
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from evsurf.data.formats.damage import FormatError

Records: TypeAlias = npt.NDArray[Any]

LARGEST_READ = 2**24
"""Bytes that are read at once at most."""

READ_ERRORS = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
)
"""What compressed streams raise where their bytes are wrong."""


@runtime_checkable
class Stream(Protocol):
    """Bytes of a file, decompressed if they are compressed."""

    def read(self, size: int = ..., /) -> bytes:
        """The next bytes, at most so many; none at the end."""

    def seek(self, offset: int, /) -> int:
        """Goes to a byte."""

    def close(self) -> None:
        """Lets go of the file."""


Opener: TypeAlias = Callable[[], Stream]
"""Gives a stream anew, from its first byte."""


class Strand(ABC):
    """Some equal records, one after the other."""

    record: np.dtype[Any]
    length: int
    """How many there should be; a file that broke off gives fewer."""

    @abstractmethod
    def blocks(self, count: int, start: int = 0) -> Iterator[Records]:
        """The records from `start` on, this many at a time; the last block may be shorter."""

    @property
    @abstractmethod
    def seekable(self) -> bool:
        """Whether `start` is reached without reading all before it."""


class ByteStrand(Strand):
    """Records in a stream of bytes that `opener` gives anew; `start` is the first one's byte."""

    def __init__(
        self,
        opener: Opener,
        record: np.dtype[Any],
        length: int,
        *,
        start: int = 0,
        seekable: bool = False,
    ) -> None:
        if record.hasobject:
            raise FormatError("the array holds Python objects, which are never loaded from a file")
        if not 0 < record.itemsize <= 2**16:
            raise FormatError(f"an event of {record.itemsize:,} bytes is none")
        self.record = record
        self.length = length
        self._opener = opener
        self._start = start
        self._seekable = seekable

    @property
    def seekable(self) -> bool:
        """Whether the stream is no compressed one."""
        return self._seekable

    def blocks(self, count: int, start: int = 0) -> Iterator[Records]:
        """The records from `start` on; a compressed stream is read up to there."""
        size = self.record.itemsize
        count = max(1, min(count, LARGEST_READ // size))
        position = start
        with closing(self._opener()) as stream:
            try:
                stream.seek(self._start + start * size)
            except READ_ERRORS:
                return
            while position < self.length:
                wanted = min(count, self.length - position)
                data, _ = read_up_to(stream, wanted * size)
                found = len(data) // size
                if found:
                    yield np.frombuffer(data, self.record, found)
                position += found
                if found < wanted:
                    return


def no_bytes() -> Stream:
    """For arrays that are no run of bytes."""
    return io.BytesIO()


def read_up_to(stream: Stream, count: int) -> tuple[bytearray, Exception | None]:
    """So many bytes, or as many as there are before the end or an error, and that error."""
    data = bytearray()
    while len(data) < count:
        try:
            # What a broken stream gives before its error is lost, so little is asked for at once.
            more = stream.read(min(count - len(data), 2**16))
        except READ_ERRORS as error:
            return data, error
        if not more:
            break
        data += more
    return data, None
