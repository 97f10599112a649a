"""The members of a zip, put down one by one."""

from __future__ import annotations

import errno
import lzma
import stat
import struct
import zipfile
import zlib
from io import BufferedIOBase
from itertools import pairwise
from pathlib import Path
from typing import cast

from evsurf.data.downloads.errors import ArchiveError
from evsurf.data.downloads.staging import Staging

# Least bytes of a member's local header.
_HEADER = 30

BROKEN = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    OverflowError,
    LookupError,
)
"""What the standard library raises for a broken or strange zip."""


def unpack_zip(archive: Path, staging: Staging) -> list[Path]:
    """Puts down all members; the files among them."""
    try:
        with zipfile.ZipFile(archive) as opened:
            members = opened.infolist()
            for member in members:
                _check(member)
            _check_overlaps(members, archive)
            staging.check_space(sum(member.file_size for member in members) - staging.present())
            return [path for member in members if (path := _put_down(opened, member, staging))]
    except ArchiveError:
        raise
    except BROKEN as error:
        raise ArchiveError(f"{archive} is no zip that can be unpacked: {error}") from error
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):
            raise
        # A place before the start of the file, for instance.
        raise ArchiveError(f"{archive} is no zip that can be unpacked: {error}") from error


def _check(member: zipfile.ZipInfo) -> None:
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise ArchiveError(f"{member.filename!r} is neither a file nor a folder")
    if (kind == stat.S_IFDIR) != member.is_dir() and kind:
        raise ArchiveError(f"{member.filename!r} is a file and a folder")
    if "\0" in member.orig_filename:
        raise ArchiveError(f"the archive has a member with a zero in its name: {member.filename!r}")
    if member.flag_bits & 0x1:
        raise ArchiveError(f"{member.filename!r} is encrypted")


def _check_overlaps(members: list[zipfile.ZipInfo], archive: Path) -> None:
    """Refuses members that share bytes, by which a small file unfolds to any size."""
    ordered = sorted(members, key=lambda member: member.header_offset)
    for one, following in pairwise(ordered):
        if one.header_offset + _HEADER + one.compress_size > following.header_offset:
            raise ArchiveError(
                f"{one.filename!r} and {following.filename!r} overlap in the archive"
            )
    if ordered and ordered[-1].header_offset + ordered[-1].compress_size > archive.stat().st_size:
        raise ArchiveError(f"{ordered[-1].filename!r} goes beyond the end of the archive")


def _put_down(opened: zipfile.ZipFile, member: zipfile.ZipInfo, staging: Staging) -> Path | None:
    if member.is_dir():
        staging.add_folder(member.filename)
        return None

    def content() -> BufferedIOBase:
        return cast("BufferedIOBase", opened.open(member))

    return staging.add_file(member.filename, member.file_size, content)
