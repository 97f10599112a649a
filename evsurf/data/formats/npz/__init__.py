"""NumPy's `.npz`: arrays x, y, t and p, or one array of events; and writing them."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import prod
from pathlib import Path

from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.npy import stored_array
from evsurf.data.formats.npz.writer import write
from evsurf.data.formats.reader import Format, Options, Reader
from evsurf.data.formats.tables.facts import beside, stored_size, stored_unit
from evsurf.data.formats.tables.finding import StoredArray, tables_in
from evsurf.data.formats.tables.reader import SeekableTableReader, TableReader, meaning_of
from evsurf.data.formats.tables.strands import READ_ERRORS, Stream
from evsurf.data.formats.tables.table import chosen

MAGIC = b"PK\x03\x04"

_LOCAL_HEADER = 30
_MOST_ARRAYS = 1000


def _open(path: Path, options: Options) -> Reader:
    try:
        archive = zipfile.ZipFile(path)
    except READ_ERRORS as error:
        raise FormatError(f"{path.name} is a damaged archive: {error}") from error
    try:
        arrays = _arrays(archive, path)
        held = ", ".join(array.described for array in arrays)
        table = chosen(tables_in(arrays), options.stream, held)
        near = beside(arrays, table)
        meaning = meaning_of(table, options, unit=stored_unit(near))
        reader = SeekableTableReader if table.seekable else TableReader
        return reader(
            path, options, table, size=stored_size(near), meaning=meaning, close=archive.close
        )
    except BaseException:
        archive.close()
        raise


def _arrays(archive: zipfile.ZipFile, path: Path) -> Sequence[StoredArray]:
    members = [one for one in archive.infolist() if one.filename.endswith(".npy")]
    if len(members) > _MOST_ARRAYS:
        raise FormatError(f"an archive of {len(members):,} arrays is no recording")
    found = []
    for member in members:
        name = tuple(member.filename.removesuffix(".npy").split("/"))
        try:
            array = stored_array(name, partial(_member, archive, member), seekable=False)
        except FormatError:
            # An array of objects, such as labels, may lie beside the events.
            continue
        found.append(_directly(array, path, member))
    return found


def _directly(array: StoredArray, path: Path, member: zipfile.ZipInfo) -> StoredArray:
    """The array as it lies in the file, where the archive does not compress it."""
    wanted = array.start + prod(array.shape) * array.dtype.itemsize
    if member.compress_type != zipfile.ZIP_STORED or wanted > member.file_size:
        return array
    with path.open("rb") as file:
        file.seek(member.header_offset)
        front = file.read(_LOCAL_HEADER)
    if len(front) < _LOCAL_HEADER or not front.startswith(MAGIC):
        return array
    # The local header ends in the lengths of the name and of what else follows it.
    skipped = sum(int.from_bytes(front[at : at + 2], "little") for at in (26, 28))
    start = member.header_offset + _LOCAL_HEADER + skipped + array.start
    return replace(array, opener=lambda: path.open("rb"), start=start, seekable=True)


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Stream:
    try:
        return archive.open(member)
    except READ_ERRORS as error:
        raise FormatError(
            f"{member.filename} in the archive cannot be read: {error}",
            offset=member.header_offset,
        ) from error


def _recognises(head: bytes, path: Path) -> bool:
    if not head.startswith(MAGIC):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.endswith(".npy") for name in archive.namelist())
    except READ_ERRORS:
        # Without its list at the end: the first member still shows what it was.
        return b".npy" in head[30:300]


FORMAT = Format(
    name="npz",
    summary="NumPy archive: x, y, t, p, or one array of events",
    suffixes=(".npz",),
    recognises=_recognises,
    open=_open,
    write=write,
)
