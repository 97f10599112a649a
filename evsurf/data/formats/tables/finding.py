"""Tables of events among the arrays of a file: vectors, matrices and structured arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evsurf.data.formats.tables.names import order_by_name
from evsurf.data.formats.tables.strands import ByteStrand, Opener, Strand
from evsurf.data.formats.tables.table import Place, Table

WIDTHS = (4, 5)
"""How many columns a matrix of events has; five are recognised to be refused with a reason."""


@dataclass(frozen=True)
class StoredArray:
    """An array in a file: its elements are one run of bytes in a stream that `opener` gives."""

    path: tuple[str, ...]
    """Its name, after the names of what holds it."""
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    opener: Opener
    start: int = 0
    """The first element's byte."""
    column_major: bool = False
    seekable: bool = False

    @property
    def name(self) -> str:
        """The path as a user types it."""
        return "/".join(self.path)

    @property
    def described(self) -> str:
        """Name and shape, for messages."""
        return f"{self.name or 'an array'} {'x'.join(map(str, self.shape)) or 'scalar'}"

    @property
    def long_side(self) -> int | None:
        """Length of a vector, be it a row or a column; None for other shapes."""
        sides = [side for side in self.shape if side != 1]
        return None if len(sides) > 1 or not self.shape else (sides[0] if sides else 1)

    def strand(self, record: np.dtype[Any], length: int, offset: int = 0) -> Strand:
        """Its bytes from an offset on, as records."""
        return ByteStrand(
            self.opener, record, length, start=self.start + offset, seekable=self.seekable
        )


def tables_in(arrays: Sequence[StoredArray]) -> list[Table]:
    """Every table of events that the arrays of a file can be."""
    found = []
    for array in arrays:
        if array.dtype.names:
            found += _of_structured(array)
        elif len(array.shape) == 2 and array.dtype.kind in "biuf":
            found += _of_matrix(array)
    parents = dict.fromkeys(array.path[:-1] for array in arrays)
    for parent in parents:
        vectors = [
            array
            for array in arrays
            if array.path[:-1] == parent
            and array.dtype.kind in "biufmM"
            and array.long_side is not None
        ]
        found += _of_vectors(parent, vectors)
    return found


def _of_structured(array: StoredArray) -> list[Table]:
    names = array.dtype.names or ()
    if array.long_side is None or len(names) < 4:
        return []
    strand = array.strand(array.dtype, array.long_side)
    order = order_by_name(names)
    # Whatever is no column of events may hold what it likes.
    used = [name for name, role in zip(names, order or names, strict=True) if role != "-"]
    plain = all(array.dtype[name].shape == () for name in used)
    if not plain or (order is None and len(names) not in WIDTHS):
        return []
    return [Table(array.name, [strand], [Place(0, name) for name in names], list(names))]


def _of_matrix(array: StoredArray) -> list[Table]:
    """N x 4, or 4 x N where that is not so; five columns are left for the error to explain."""
    rows, width = array.shape
    across = width not in WIDTHS
    if across and rows not in WIDTHS:
        return []
    length, width = (width, rows) if across else (rows, width)
    places: list[Place]
    if across != array.column_major:
        step = length * array.dtype.itemsize
        strands = [array.strand(array.dtype, length, i * step) for i in range(width)]
        places = [Place(i) for i in range(width)]
    else:
        record = np.dtype([(str(i), array.dtype) for i in range(width)])
        strands = [array.strand(record, length)]
        places = [Place(0, str(i)) for i in range(width)]
    return [Table(array.name, strands, places, [None] * width)]


def _of_vectors(parent: tuple[str, ...], vectors: Sequence[StoredArray]) -> list[Table]:
    """Vectors of one length in one place: with the four names, or four with other names."""
    lengths = dict.fromkeys(array.long_side for array in vectors)
    found = []
    for length in lengths:
        side_by_side = [array for array in vectors if array.long_side == length]
        names = [array.path[-1] if array.path else None for array in side_by_side]
        named = order_by_name(names) is not None
        if length is None or not (named or (len(side_by_side) == 4 and length > 1)):
            continue
        strands = [array.strand(array.dtype, length) for array in side_by_side]
        places = [Place(i) for i in range(len(strands))]
        found.append(Table("/".join(parent), strands, places, names))
    return found
