"""Pieces of other lengths: as a file has its blocks, and as a caller wants its chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evsurf.data.formats.columns import Columns


def recut(pieces: Iterable[Columns], count: int) -> Iterator[Columns]:
    """The same events with exactly this many in each piece but the last."""
    waiting: list[Columns] = []
    length = 0
    for piece in pieces:
        start = 0
        while length + piece.length - start >= count:
            stop = start + count - length
            yield Columns.joined([*waiting, piece.part(start, stop)])
            waiting, length, start = [], 0, stop
        if start < piece.length:
            waiting.append(piece.part(start, piece.length))
            length += piece.length - start
    if length:
        yield Columns.joined(waiting)
