"""The members of a tar, packed or not, put down one by one."""

from __future__ import annotations

import bz2
import errno
import gzip
import lzma
import struct
import tarfile
import zlib
from io import BufferedIOBase, BufferedReader
from pathlib import Path
from typing import IO, Any, cast

from evsurf.data.downloads.errors import ArchiveError
from evsurf.data.downloads.staging import Staging

# No header of a member, with its long name and attributes, is anywhere near this.
_LONGEST_READ = 1 << 20

BROKEN = (
    tarfile.TarError,
    gzip.BadGzipFile,
    lzma.LZMAError,
    zlib.error,
    struct.error,
    EOFError,
    ValueError,
    OverflowError,
    LookupError,
    RecursionError,
    AttributeError,
    TypeError,
)
"""What the standard library raises for a broken or strange tar."""


def unpack_tar(archive: Path, staging: Staging) -> list[Path]:
    """Puts down all members; the files among them."""
    files = []
    try:
        with (
            _opened(archive) as stream,
            tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r:") as opened,
        ):
            while (member := opened.next()) is not None:
                path = _put_down(opened, member, staging)
                if path is not None:
                    files.append(path)
                # The list that tarfile keeps of them would grow without bound.
                cast("Any", opened).members = []
    except ArchiveError:
        raise
    except BROKEN as error:
        raise ArchiveError(f"{archive} is no tar that can be unpacked: {error}") from error
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):
            raise
        # Unpackers report broken contents this way, without a number of the system.
        raise ArchiveError(f"{archive} is no tar that can be unpacked: {error}") from error
    return files


def _put_down(opened: tarfile.TarFile, member: tarfile.TarInfo, staging: Staging) -> Path | None:
    if member.issparse() or not (member.isreg() or member.isdir()):
        raise ArchiveError(f"{member.name!r} is neither a file nor a folder")
    # The standard library's own judgement, beside ours, from Python 3.11.4 on.
    if hasattr(tarfile, "data_filter"):
        tarfile.data_filter(member, str(staging.folder))
    if member.isdir():
        staging.add_folder(member.name)
        return None

    def content() -> BufferedIOBase:
        return cast("BufferedIOBase", opened.extractfile(member))

    staging.check_space(member.size)
    return staging.add_file(member.name, member.size, content)


def _opened(archive: Path) -> _Guarded:
    with archive.open("rb") as file:
        head = file.read(6)
    if head.startswith(b"\x1f\x8b"):
        return _Guarded(gzip.open(archive))
    if head.startswith(b"BZh"):
        return _Guarded(bz2.open(archive))
    if head.startswith(b"\xfd7zXZ\x00"):
        return _Guarded(lzma.open(archive))
    return _Guarded(archive.open("rb"))


class _Guarded:
    """A stream of which nobody gets more than a little at once.

    A header may claim to have any length, and is read whole; what it claims is not to be believed.
    The last byte is remembered, because the standard library steps back by one before each header,
    for which an unpacker would start from the front.
    """

    def __init__(self, inner: BufferedReader | gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile) -> None:
        self._inner = inner
        self._last = b""
        self._at = 0

    def read(self, size: int) -> bytes:
        if not 0 <= size <= _LONGEST_READ:
            raise ArchiveError(f"the archive has a header of {size:,} bytes")
        if self._last and size and self._at == self._inner.tell() - 1:
            self._at += 1
            return self._last + self.read(size - 1)
        if self._at != self._inner.tell():
            self._inner.seek(self._at)
        block = self._inner.read(size)
        self._last = block[-1:] or self._last
        self._at = self._inner.tell()
        return block

    def seek(self, offset: int) -> int:
        self._at = offset
        return offset

    def tell(self) -> int:
        return self._at

    def __enter__(self) -> _Guarded:
        return self

    def __exit__(self, *error: object) -> None:
        self._inner.close()
