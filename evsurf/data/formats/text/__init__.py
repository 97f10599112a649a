"""Text with an event per line: `t x y p` in seconds, or CSV with the names of its columns."""

from __future__ import annotations

import zlib
from contextlib import closing
from pathlib import Path

from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.reader import Format, Options, Reader
from evsurf.data.formats.tables.names import order_by_name
from evsurf.data.formats.tables.strands import READ_ERRORS
from evsurf.data.formats.text.layout import HEAD, Front, front_of, layout_of
from evsurf.data.formats.text.reader import GZIP, TextReader, opened
from evsurf.data.formats.text.writer import write_csv, write_seconds


def _open(path: Path, options: Options) -> Reader:
    with closing(opened(path)) as stream:
        try:
            head = stream.read(HEAD)
        except READ_ERRORS as error:
            raise FormatError(f"{path.name} cannot be decompressed: {error}") from error
    front = front_of(head, whole=len(head) < HEAD)
    if front is None:
        raise FormatError(f"{path.name} is no text with an event per line", offset=0)
    return TextReader(path, options, front, layout_of(front, options))


def _front(head: bytes) -> Front | None:
    """The front of a file that starts with these bytes, if it looks like a text of events."""
    whole = len(head) < 4096
    if head.startswith(GZIP):
        try:
            head = zlib.decompressobj(wbits=31).decompress(head, 4096)
        except zlib.error:
            return None
        whole = whole and len(head) < 4096
    front = front_of(head, whole=whole)
    if front is None:
        return None
    named = front.names is not None and order_by_name(front.names) is not None
    return front if named or (front.rows and front.width == 4) else None


def _is_csv(head: bytes, _: Path) -> bool:
    front = _front(head)
    return front is not None and front.commas


def _is_text(head: bytes, _: Path) -> bool:
    front = _front(head)
    return front is not None and not front.commas


FORMATS = (
    Format(
        name="csv",
        summary="text with named columns, in any order",
        suffixes=(".csv", ".csv.gz"),
        recognises=_is_csv,
        open=_open,
        write=write_csv,
    ),
    Format(
        name="txt",
        summary="text `t x y p` in seconds, as ECD and E2VID",
        suffixes=(".txt", ".txt.gz"),
        recognises=_is_text,
        open=_open,
        write=write_seconds,
    ),
)
