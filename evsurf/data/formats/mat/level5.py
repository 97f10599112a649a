"""MATLAB files of level 5: which arrays they hold, under which names, and where their numbers are.

Only tags are read here; the numbers stay where they are until somebody wants them.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from math import prod
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.mat.inflating import Inflating, Part
from evsurf.data.formats.tables.finding import StoredArray
from evsurf.data.formats.tables.strands import READ_ERRORS, Opener, Stream, read_up_to

HEADER = 128

_TYPES = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
_MATRIX, _COMPRESSED = 14, 15
_CELL, _STRUCT, _OBJECT = 1, 2, 3
_NUMBERS = range(6, 16)

_DEEPEST = 32
_MOST_ARRAYS = 10_000
_MOST_NAMES = 2**20
_LONGEST_NAME = 2**12


class Tag(NamedTuple):
    """What stands before the bytes of an element."""

    kind: int
    size: int
    data: int
    """Where its bytes start."""
    next: int
    """Where the next element starts."""


class _Cursor:
    """Reads the tags of one variable, at any place of its stream."""

    def __init__(self, stream: Stream, order: str, blame: int) -> None:
        self.stream = stream
        self.order = order
        self.blame = blame
        self._at = 0
        self.arrays = 0

    def wrong(self, what: str) -> FormatError:
        return FormatError(f"the MATLAB file makes no sense: {what}", offset=self.blame)

    def taken(self, at: int, count: int) -> bytes:
        try:
            if at != self._at:
                self.stream.seek(at)
            found, error = read_up_to(self.stream, count)
        except READ_ERRORS as problem:
            raise self.wrong(f"a variable cannot be read ({problem})") from problem
        if len(found) < count:
            raise self.wrong(f"a variable breaks off{f' ({error})' if error else ''}")
        self._at = at + count
        return bytes(found)

    def tag(self, at: int, end: int) -> Tag:
        """The tag here, of an element that ends with what holds it."""
        if at + 8 > end:
            raise self.wrong("an array ends before its parts")
        first, size = np.frombuffer(self.taken(at, 8), f"{self.order}u4").tolist()
        if first >> 16:
            # Up to four bytes stand in the tag itself.
            if first >> 16 > 4:
                raise self.wrong(f"a short element of {first >> 16} bytes")
            return Tag(first & 0xFFFF, first >> 16, at + 4, at + 8)
        following = at + 8 + size + (-size % 8)
        if at + 8 + size > end:
            raise self.wrong(f"an element of {size:,} bytes in an array that ends before")
        return Tag(first, size, at + 8, following)

    def numbers(self, tag: Tag, most: int) -> list[int]:
        """The integers of a small element, at least one."""
        kind = _TYPES.get(tag.kind, "")
        if kind[:1] not in ("i", "u") or not 0 < tag.size <= most or tag.size % int(kind[1:]):
            raise self.wrong(f"{tag.size:,} bytes of type {tag.kind} where integers were expected")
        values = np.frombuffer(self.taken(tag.data, tag.size), self.order + kind)
        return [int(value) for value in values]

    def text(self, tag: Tag, most: int) -> bytes:
        """The characters of a small element."""
        if tag.kind not in (1, 2, 16) or tag.size > most:
            raise self.wrong(f"{tag.size:,} bytes of type {tag.kind} where a name was expected")
        return self.taken(tag.data, tag.size)


class _Head(NamedTuple):
    """What an array says before its contents."""

    kind: int
    shape: tuple[int, ...]
    name: str
    contents: int
    """Where they start."""

    @property
    def elements(self) -> int:
        """How many values, fields or cells."""
        return prod(self.shape)


def arrays_of(path: Path) -> list[StoredArray]:
    """Every array of numbers in a file, those inside of structures and cells too."""
    order = _order(path)
    size = path.stat().st_size
    found: list[StoredArray] = []
    at = HEADER
    while at + 8 <= size:
        with closing(Part(path, 0, size)) as whole:
            tag = _Cursor(whole, order, at).tag(at, 2**62)
        # A file that breaks off may still hold the front of its last variable.
        rest = size - tag.data
        part = partial(Part, path, tag.data, min(tag.size, rest))
        if tag.kind == _COMPRESSED:
            found += _of_variable(partial(_inflating, part), order, at, seekable=False)
            at = tag.data + tag.size
        else:
            if tag.kind == _MATRIX:
                whole_file = partial(Part, path, at, 8 + min(tag.size, rest))
                found += _of_variable(whole_file, order, at, seekable=True)
            at = tag.next
        if len(found) > _MOST_ARRAYS:
            raise FormatError(f"more than {_MOST_ARRAYS:,} arrays are no recording", offset=at)
    return found


def _inflating(part: partial[Part]) -> Inflating:
    return Inflating(part())


def _order(path: Path) -> str:
    with path.open("rb") as file:
        header = file.read(HEADER)
    order = {b"IM": "<", b"MI": ">"}.get(header[126:128])
    if order is None:
        raise FormatError("the MATLAB file does not say its byte order", offset=126)
    return order


def _of_variable(opener: Opener, order: str, at: int, *, seekable: bool) -> Iterator[StoredArray]:
    with closing(opener()) as stream:
        cursor = _Cursor(stream, order, at)
        tag = cursor.tag(0, 2**62)
        if tag.kind == _MATRIX:
            walk = _Walk(cursor, opener, seekable)
            yield from walk.arrays(tag, (), None, 0)


@dataclass(frozen=True)
class _Walk:
    """A way through one variable."""

    cursor: _Cursor
    opener: Opener
    seekable: bool

    def arrays(
        self, tag: Tag, path: tuple[str, ...], name: str | None, depth: int
    ) -> Iterator[StoredArray]:
        """The arrays of numbers in this one; `name` is what its holder calls it."""
        if depth > _DEEPEST:
            raise self.cursor.wrong(f"arrays inside of arrays, more than {_DEEPEST} deep")
        self.cursor.arrays += 1
        if self.cursor.arrays > _MOST_ARRAYS:
            raise self.cursor.wrong(f"more than {_MOST_ARRAYS:,} arrays in one variable")
        end = tag.data + tag.size
        if tag.size == 0:
            return
        head = self._head(tag.data, end)
        inside = (*path, head.name if name is None else name)
        if head.kind in _NUMBERS:
            yield from self._numbers(head, end, inside)
        elif head.kind == _CELL:
            cells = min(head.elements, _MOST_ARRAYS + 1)
            names = [f"{inside[-1]}{{{i + 1}}}" for i in range(cells)]
            yield from self._held(head.contents, end, path, names, depth)
        elif head.kind in (_STRUCT, _OBJECT):
            yield from self._fields(head, end, inside, depth)

    def _head(self, at: int, end: int) -> _Head:
        cursor = self.cursor
        flags = cursor.tag(at, end)
        kind = cursor.numbers(flags, 8)[0] & 0xFF
        sides = cursor.tag(flags.next, end)
        shape = tuple(cursor.numbers(sides, 4 * 32))
        if len(shape) < 2 or min(shape) < 0:
            raise cursor.wrong(f"an array of shape {shape}")
        name = cursor.tag(sides.next, end)
        text = cursor.text(name, _LONGEST_NAME).decode("latin-1")
        return _Head(kind, shape, text, name.next)

    def _numbers(self, head: _Head, end: int, path: tuple[str, ...]) -> Iterator[StoredArray]:
        if head.elements == 0:
            return
        tag = self.cursor.tag(head.contents, end)
        if tag.kind not in _TYPES:
            raise self.cursor.wrong(f"numbers of type {tag.kind}")
        dtype = np.dtype(self.cursor.order + _TYPES[tag.kind])
        if head.elements * dtype.itemsize > tag.size:
            raise self.cursor.wrong(f"an array of shape {head.shape} in {tag.size:,} bytes")
        yield StoredArray(
            path,
            head.shape,
            dtype,
            self.opener,
            tag.data,
            column_major=True,
            seekable=self.seekable,
        )

    def _fields(
        self, head: _Head, end: int, path: tuple[str, ...], depth: int
    ) -> Iterator[StoredArray]:
        cursor, at = self.cursor, head.contents
        if head.kind == _OBJECT:
            at = cursor.tag(at, end).next
        length = cursor.tag(at, end)
        width = cursor.numbers(length, 4)[0]
        names = cursor.tag(length.next, end)
        text = cursor.text(names, _MOST_NAMES)
        if width < 1:
            return
        fields = [
            text[i : i + width].split(b"\0")[0].decode("latin-1")
            for i in range(0, len(text) - width + 1, width)
        ]
        at = names.next
        for number in range(head.elements if fields else 0):
            holder = path if head.elements == 1 else (*path[:-1], f"{path[-1]}({number + 1})")
            at = yield from self._held(at, end, holder, fields, depth)

    def _held(
        self, at: int, end: int, path: tuple[str, ...], names: list[str], depth: int
    ) -> Generator[StoredArray, None, int]:
        """The arrays inside of a structure or cell, one for each name; gives where they end."""
        for name in names:
            tag = self.cursor.tag(at, end)
            if tag.kind != _MATRIX:
                raise self.cursor.wrong(f"an element of type {tag.kind} instead of an array")
            yield from self.arrays(tag, path, name, depth + 1)
            at = tag.next
        return at
