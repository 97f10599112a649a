"""What a text of events says before its first line, and what its columns are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from evsurf.data.formats.columns import Column, Size
from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.reader import Options
from evsurf.data.formats.tables.names import order_by_name, unit_of
from evsurf.data.formats.tables.table import Place, Roles, Table, roles_of
from evsurf.data.formats.tables.time_unit import POWERS, unit_by_value
from evsurf.data.formats.tables.values import check_polarities
from evsurf.events.checks import LONGEST_SIDE

HEAD = 2**20
"""Bytes in which the first lines are looked for."""

_SAMPLE = 2000
_MOST_FIELDS = 64

_NUMBER = re.compile(rb"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_SIZE = re.compile(rb"([1-9]\d{0,4})\s+([1-9]\d{0,4})")
_WORDS = {b"true": 1.0, b"false": 0.0}
_NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1f]")
# `% geometry:1280,720` is width and height, as players of event files write it.
_GEOMETRY = re.compile(rb"geometry\s*:\s*([1-9]\d{0,4})\s*[x,]\s*([1-9]\d{0,4})\b")
_TIME = re.compile(rb"\btime\s*[=:]\s*([a-z]+)")
_SIDES = [
    re.compile(rb"\b" + side + rb"\s*[=:]\s*([1-9]\d{0,4})\b") for side in (b"height", b"width")
]


@dataclass
class Front:
    """The front of a text."""

    start: int = 0
    """The byte where the first line of numbers starts."""
    size: Size | None = None
    names: list[str] | None = None
    rows: list[list[bytes]] = field(default_factory=list)
    """The fields of the first lines of numbers."""
    commas: bool = False
    unit: str | None = None
    """Of time, if a comment says it."""
    headed: bool = False
    """Whether the first line is the width and the height, as E2VID has it."""

    @property
    def width(self) -> int:
        """How many fields most lines have."""
        if self.rows:
            return Counter(len(row) for row in self.rows).most_common(1)[0][0]
        return len(self.names or [])


def front_of(head: bytes, *, whole: bool) -> Front | None:
    """The front of a text that starts with these bytes; None where that is no text of numbers.

    Unless they are the `whole` text, the last line may be cut and does not count.
    """
    front = Front(start=3 if head.startswith(b"\xef\xbb\xbf") else 0)
    if _NO_TEXT.search(head):
        return None
    end = len(head) if whole else head.rfind(b"\n") + 1
    at = front.start
    for line in head[at:end].splitlines(keepends=True):
        bare = line.strip()
        if bare and not _looked_at(bare, front):
            return None
        at += len(line)
        if not front.rows:
            front.start = at
        if len(front.rows) == _SAMPLE:
            break
    return front if front.rows or front.names or front.headed else None


def _looked_at(line: bytes, front: Front) -> bool:
    """Notes what a line says; false for one that has no place in such a text."""
    if line[:1] in b"#%":
        if not front.rows:
            _look_at_comment(line, front)
        return True
    fields = fields_of(line)
    if all(_NUMBER.fullmatch(value) or value.lower() in _WORDS for value in fields):
        size = _SIZE.fullmatch(line)
        if size and not front.rows and front.names is None and front.size is None:
            front.size, front.headed = _checked(size[2], size[1]), True
            return True
        front.commas |= any(mark in line for mark in b",;")
        front.rows.append(fields)
        return True
    if front.rows:
        # One bad line among many is damage; the lines are counted where they are read.
        return True
    if front.names is not None:
        return False
    front.names = [value.decode("utf-8", "replace").strip("\"' ") for value in fields]
    front.commas = True
    return True


def _look_at_comment(line: bytes, front: Front) -> None:
    found = _GEOMETRY.search(line)
    if found:
        front.size = _checked(found[2], found[1])
    sides = [side.search(line) for side in _SIDES]
    if sides[0] and sides[1]:
        front.size = _checked(sides[0][1], sides[1][1])
    unit = _TIME.search(line)
    if unit and unit[1].decode() in POWERS:
        front.unit = unit[1].decode()
    names = [value.decode("utf-8", "replace") for value in fields_of(line.lstrip(b"#% "))]
    if order_by_name(names) is not None:
        front.names = names


def _checked(height: bytes, width: bytes) -> Size | None:
    size = int(height), int(width)
    return size if max(size) <= LONGEST_SIDE else None


def fields_of(line: bytes) -> list[bytes]:
    """The fields of a line: between commas or semicolons, or else between blanks."""
    if b"," in line or b";" in line:
        fields = [value.strip() for value in re.split(rb"[,;]", line)]
        # A separator may end a line as well as part two fields.
        return fields[:-1] if not fields[-1] else fields
    return line.split()


@dataclass(frozen=True)
class Layout:
    """How the lines of a text are read."""

    fields: int
    roles: Roles
    unit: str


def layout_of(front: Front, options: Options) -> Layout:
    """Which columns there are and what the times are in; raises where that is unclear."""
    width = front.width if front.rows or front.names else 4
    if not 4 <= width <= _MOST_FIELDS:
        raise FormatError(
            f"its lines have {width} fields, and an event has four", offset=front.start
        )
    # Where the last column is empty, its separator looks like one that ends the line.
    named = front.names and len(front.names) in (width, width + 1)
    names = front.names[:width] if front.names and named else [None] * width
    rows = [row for row in front.rows if len(row) == width]
    columns = _columns(rows, width)
    if front.headed and width == 4 and options.columns is None:
        roles = Roles("txyp", "as E2VID")
    else:
        table = Table("", [], [Place(i) for i in range(width)], names)
        roles = roles_of(table, columns, options.columns, options.size or front.size)
    check_polarities(columns[roles.column("p")])
    t = roles.column("t")
    unit = front.unit or unit_of(names[t])
    if unit is None and front.headed and any(b"." in row[t] for row in rows):
        unit = "seconds"
    return Layout(width, roles, unit or unit_by_value(columns[t]))


def _columns(rows: Sequence[Sequence[bytes]], width: int) -> list[Column]:
    """The numbers of each column.

    `0.000000` shows a column of fractions even where all of them are 0, unless all columns are
    written so. They get a fraction of no consequence, and count as such.
    """
    columns = [_numbers([row[i] for row in rows]) for i in range(width)]
    decimal = [any(_has_decimals(row[i]) for row in rows) for i in range(width)]
    if all(decimal):
        return columns
    return [
        column + 2.0**-20 if shown else column
        for column, shown in zip(columns, decimal, strict=True)
    ]


def _numbers(values: Sequence[bytes]) -> Column:
    return np.array([_WORDS[v.lower()] if v.lower() in _WORDS else float(v) for v in values])


def _has_decimals(value: bytes) -> bool:
    behind = value.partition(b".")[2]
    return len(behind) > 1 and behind.isdigit()
