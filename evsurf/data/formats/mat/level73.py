"""MATLAB files of level 7.3, which are HDF5: the arrays that they hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evsurf.data.formats.hdf5.layout import walked
from evsurf.data.formats.hdf5.opening import check_dataset, is_dataset
from evsurf.data.formats.tables.finding import StoredArray
from evsurf.data.formats.tables.strands import LARGEST_READ, READ_ERRORS, Records, Strand, no_bytes


class _Selection(Strand):
    """A vector, one row of a matrix, or its rows as records, in an array of HDF5."""

    def __init__(self, dataset: Any, record: np.dtype[Any], length: int, row: int) -> None:
        self.dataset = dataset
        self.record = record
        self.length = length
        self.row = row

    @property
    def seekable(self) -> bool:
        """HDF5 finds any place."""
        return True

    def blocks(self, count: int, start: int = 0) -> Iterator[Records]:
        """The records from `start` on."""
        count = max(1, min(count, LARGEST_READ // self.record.itemsize))
        for at in range(start, self.length, count):
            try:
                found = np.ascontiguousarray(self._taken(at, min(at + count, self.length)))
            except READ_ERRORS:
                return
            yield found.reshape(-1).view(self.record)

    def _taken(self, start: int, stop: int) -> Any:
        if self.record.names:
            return self.dataset[start:stop]
        if self.dataset.ndim == 2 and self.dataset.shape[0] != self.length:
            return self.dataset[self.row, start:stop]
        return self.dataset[start:stop]


@dataclass(frozen=True)
class HeldArray(StoredArray):
    """An array of HDF5, whose dimensions are those of MATLAB backwards."""

    dataset: Any = None

    def strand(self, record: np.dtype[Any], length: int, offset: int = 0) -> Strand:
        """Its elements from an offset on, as records."""
        return _Selection(
            self.dataset, record, length, offset // (length * self.dtype.itemsize or 1)
        )


def arrays_of(file: Any, path: Path) -> list[StoredArray]:
    """Every array of numbers in a file, but for those that only cells refer to."""
    found: list[StoredArray] = []
    for place, thing in walked(file):
        parts = tuple(place.strip("/").split("/"))
        if parts[0].startswith("#") or not is_dataset(thing) or "MATLAB_empty" in thing.attrs:
            continue
        text = thing.attrs.get("MATLAB_class") == b"char"
        if thing.dtype.kind not in "biuf" or text or not 1 <= thing.ndim <= 2:
            continue
        check_dataset(path, thing)
        found.append(
            HeldArray(parts, thing.shape, thing.dtype, no_bytes, seekable=True, dataset=thing)
        )
    return found
