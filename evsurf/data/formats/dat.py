"""DAT, Prophesee's files of 8-byte records: CD and Event2D events, such as N-Cars and Gen1."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from evsurf.data.formats.binary import BinaryReader
from evsurf.data.formats.columns import Size
from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.percent import PercentHeader, percent_header
from evsurf.data.formats.reader import Format, Header, Options, Reader
from evsurf.data.formats.writing import check_range, parts
from evsurf.events import Events

# Types of records with this layout: Event2D of the first cameras, and CD.
_EVENT_2D, _CD = 0x00, 0x0C
_LATEST, _LARGEST = 2**32 - 1, 2**14 - 1


def _recognises(head: bytes, path: Path) -> bool:  # noqa: ARG001
    header = percent_header(head)
    if not header.length or header.is_raw:
        return False
    return header.title.startswith("Data file") or head[header.length :][:2] in (
        bytes([_EVENT_2D, 8]),
        bytes([_CD, 8]),
    )


def _open(path: Path, options: Options) -> Reader:
    with path.open("rb") as file:
        head = file.read(1 << 16)
    header = percent_header(head)
    start = header.length
    if start:
        start += _checked_type(header, head[start : start + 2], path)
    else:
        _check_records(head, path)
    size = header.size_in("height", "width")
    return BinaryReader(
        path,
        options,
        "dat",
        header=Header(size, "header" if size else "guess", header.facts),
        start=start,
    )


def _checked_type(header: PercentHeader, marks: bytes, path: Path) -> int:
    """Two bytes after the header say the type and the size of a record."""
    if len(marks) < 2:
        raise FormatError(f"{path} ends after its header", offset=header.length + len(marks))
    if marks[0] not in (_EVENT_2D, _CD) or marks[1] != 8:
        raise FormatError(
            f"{path} holds records of type {marks[0]} with {marks[1]} bytes; events are of type "
            f"{_EVENT_2D} or {_CD} with 8",
            offset=header.length,
        )
    if header.facts.get("version", "2") != "2":
        raise FormatError(
            f"{path} is of version {header.facts['version']!r}; only version 2 is known"
        )
    return 2


def _check_records(head: bytes, path: Path) -> None:
    """Without a header anything may come, but events never have the three highest bits set."""
    addresses = np.frombuffer(head[: len(head) // 8 * 8], "<u4")[1::2]
    strange = addresses >> 29 != 0
    # Of events, a few may be damaged.
    if strange.size and np.mean(strange) > 0.25:
        raise FormatError(
            f"{path} has no header, and what it holds is no list of events",
            offset=8 * int(strange.argmax()),
        )


def _write(path: Path, pieces: Iterable[Events], size: Size) -> None:
    height, width = size
    head = (
        f"% Data file containing CD events.\n% Version 2\n% Height {height}\n% Width {width}\n"
    ).encode()
    with path.open("wb") as file:
        file.write(head + bytes([_CD, 8]))
        for events in parts(pieces):
            check_range("DAT", events, latest=_LATEST, largest=_LARGEST)
            x, y, t, p = (column.numpy() for column in (events.x, events.y, events.t, events.p))
            records = np.empty((len(t), 2), "<u4")
            records[:, 0] = t
            records[:, 1] = x | y.astype(np.uint32) << 14 | p.astype(np.uint32) << 28
            file.write(records.tobytes())


FORMAT = Format(
    name="dat",
    summary="Prophesee DAT: CD and Event2D events, 8 bytes each",
    suffixes=(".dat",),
    recognises=_recognises,
    open=_open,
    write=_write,
)
