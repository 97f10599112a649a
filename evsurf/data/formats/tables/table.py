"""Tables of events in a file of arrays: finding them, and reading their columns side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

import numpy as np

from evsurf.data.formats.columns import Column, Columns, Size
from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.tables.names import ROLES, check_order, missing_roles, order_by_name
from evsurf.data.formats.tables.strands import LARGEST_READ, Strand
from evsurf.data.formats.tables.values import SAMPLE, order_by_value

BLOCK = 2**16
"""Rows that are read at once at most."""


class Place(NamedTuple):
    """Where one column is: in which strand, and in which field of its records."""

    strand: int
    field: str | None = None


@dataclass(frozen=True)
class Table:
    """Columns of equal length, with or without names."""

    name: str
    """What the caller says to choose it: the path of its array, or of what holds its vectors."""
    strands: Sequence[Strand]
    places: Sequence[Place]
    names: Sequence[str | None]
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def length(self) -> int:
        """How many rows there should be."""
        return min(strand.length for strand in self.strands)

    @property
    def seekable(self) -> bool:
        """Whether any row is reached without reading all before it."""
        return all(
            strand.seekable and strand.record.itemsize * BLOCK <= LARGEST_READ
            for strand in self.strands
        )

    def blocks(
        self, count: int, start: int = 0, *, only: Sequence[int] | None = None
    ) -> Iterator[list[Column]]:
        """The columns (or `only` some) from a row on, this many rows at a time."""
        places = self.places if only is None else [self.places[i] for i in only]
        needed = sorted({place.strand for place in places})
        count = min(
            count, *(max(1, LARGEST_READ // self.strands[i].record.itemsize) for i in needed)
        )
        runs = [self.strands[i].blocks(count, start) for i in needed]
        for records in zip(*runs, strict=False):
            rows = min(len(part) for part in records)
            found = dict(zip(needed, records, strict=True))
            yield [_picked(found[place.strand], place.field)[:rows] for place in places]

    def head(self) -> list[Column]:
        """All columns of the first rows, which decide what they are."""
        blocks = list(islice(self.blocks(BLOCK), -(-SAMPLE // BLOCK)))
        if not blocks:
            return [
                _picked(np.zeros(0, self.strands[place.strand].record), place.field)
                for place in self.places
            ]
        return [np.concatenate(parts)[:SAMPLE] for parts in zip(*blocks, strict=True)]


def _picked(records: Column, name: str | None) -> Column:
    column = records if name is None else records[name]
    # A bool in a file may be any byte, and in memory must be 0 or 1.
    return column.view(np.uint8) != 0 if column.dtype.kind == "b" else column


class Roles(NamedTuple):
    """Which column of a table is which."""

    order: str
    source: str
    """Who says so: "as given", "by name" or "by value"."""

    def column(self, role: str) -> int:
        """The number of the column with this letter."""
        return self.order.index(role)


def roles_of(table: Table, head: Sequence[Column], columns: str | None, size: Size | None) -> Roles:
    """What the columns of a table are: as the caller says, by their names, or by their values."""
    if columns is not None:
        return Roles(check_order(columns, len(table.places)), "as given")
    named = order_by_name(table.names)
    if named is not None:
        return Roles(named, "by name")
    where = f"the table {table.name!r}" if table.name else "the table"
    shown = ", ".join(str(name) for name in table.names if name is not None)
    missing = missing_roles(table.names)
    if 0 < len(missing) < len(ROLES):
        raise FormatError(
            f"{where} has columns called {shown}, and none for {' and '.join(missing)}: say which "
            'is which, such as columns="txyp"'
        )
    if len(table.places) == 4:
        return Roles(order_by_value(head, size, where), "by value")
    likely = (
        " Likely several samples in one array, with the sample's number as a column: split it by "
        "that, or ignore it."
        if len(table.places) == 5 and not shown
        else ""
    )
    example = "xytp" + "-" * (len(table.places) - 4)
    raise FormatError(
        f"{where} has {len(table.places)} columns{f' ({shown})' if shown else ''}, not x, y, t and "
        f'p: say which is which, such as columns="{example}", where - stands for a column to '
        f"ignore.{likely}"
    )


def in_roles(columns: Sequence[Column]) -> Columns:
    """Columns that were read in the order x, y, t and p."""
    return Columns(*columns)


def positions(roles: Roles) -> list[int]:
    """The numbers of the columns x, y, t and p."""
    return [roles.column(role) for role in ROLES]


def chosen(tables: Sequence[Table], stream: str | None, held: str) -> Table:
    """The table that the caller names, or the only one."""
    names = [table.name for table in tables]
    if stream is not None:
        for table in tables:
            if table.name == stream:
                return table
        raise ValueError(
            f"stream = {stream!r} is none of the tables in this file: {', '.join(names) or held}"
        )
    if not tables:
        raise FormatError(
            f"there is no table of events in this file, which holds {held or 'nothing'}: four "
            "arrays x, y, t and p of one length, or one array of four columns"
        )
    likely = _likely(tables)
    if len(likely) > 1:
        raise FormatError(
            f"this file holds several tables of events: say stream= one of {', '.join(names)}"
        )
    return likely[0]


def _likely(tables: Sequence[Table]) -> list[Table]:
    """Tables with the names of columns, else those called events, else all.

    A matrix of four columns beside them is likely a camera's.
    """
    named = [table for table in tables if order_by_name(table.names) is not None]
    called = [table for table in tables if "event" in table.name.lower()]
    found = named or called or list(tables)
    # Cameras with an exposure measurement store its events as EM beside the changes, TD.
    ends = [table.name.split("/")[-1].upper() for table in found]
    return [found[ends.index("TD")]] if sorted(ends) == ["EM", "TD"] else found
