"""MATLAB's `.mat`: four vectors or one matrix, in structures of any depth, counted from 0 or 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from evsurf.data.formats.hdf5.opening import named_errors, opened
from evsurf.data.formats.mat import level5, level73
from evsurf.data.formats.mat.coordinates import counts_from, range_of
from evsurf.data.formats.mat.touch import SIZE, touches
from evsurf.data.formats.reader import Format, Options, Reader
from evsurf.data.formats.tables.facts import beside, stored_size, stored_unit
from evsurf.data.formats.tables.finding import StoredArray, tables_in
from evsurf.data.formats.tables.reader import SeekableTableReader, TableReader, meaning_of
from evsurf.data.formats.tables.table import chosen

_MARK = b"MATLAB "


def _open(path: Path, options: Options) -> Reader:
    with path.open("rb") as file:
        head = file.read(level5.HEADER)
    if not _is_73(head):
        return _reader(path, options, level5.arrays_of(path), None)
    file = opened(path)
    try:
        with named_errors(path, "looking at its arrays"):
            arrays = level73.arrays_of(file, path)
        return _reader(path, options, arrays, file.close)
    except BaseException:
        file.close()
        raise


def _reader(
    path: Path,
    options: Options,
    arrays: Sequence[StoredArray],
    close: Callable[[], None] | None,
) -> Reader:
    touch = touches(arrays)
    if touch is not None:
        return TableReader(path, options, touch, size=SIZE, close=close)
    held = ", ".join(array.described for array in arrays)
    table = chosen(tables_in(arrays), options.stream, held)
    near = beside(arrays, table)
    size = stored_size(near)
    meaning = meaning_of(table, options, unit=stored_unit(near))
    found = range_of(table, meaning.roles)
    meaning = meaning._replace(origin=counts_from(found, options.size or size))
    facts = {}
    if found is not None and not meaning.origin and min(found.left, found.top) >= 1:
        facts["coordinates"] = "as in the file, where none is 0: they may count from 1"
    reader = SeekableTableReader if table.seekable else TableReader
    return reader(path, options, table, size=size, meaning=meaning, facts=facts, close=close)


def _is_73(head: bytes) -> bool:
    return head[124:126] in (b"\x00\x02", b"\x02\x00") and head[126:128] in (b"IM", b"MI")


def _recognises(head: bytes, _: Path) -> bool:
    level = head[124:128] in (b"\x00\x01IM", b"\x01\x00MI")
    return head.startswith(_MARK) and (level or _is_73(head))


FORMAT = Format(
    name="mat",
    summary="MATLAB, levels 5 to 7.3: vectors or a matrix",
    suffixes=(".mat",),
    recognises=_recognises,
    open=_open,
)
