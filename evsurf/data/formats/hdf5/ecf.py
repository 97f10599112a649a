"""Prophesee's compressed records: chunks that HDF5 hands over as they are, decoded by the core."""

from __future__ import annotations

from pathlib import Path
from typing import Any, final

import numpy as np

from evsurf import _core
from evsurf.data.formats.columns import Columns
from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.hdf5.opening import ECF
from evsurf.data.formats.hdf5.source import Source, microseconds, span_of

_RECORD = np.dtype(
    {
        "names": ["x", "y", "p", "t"],
        "formats": ["<u2", "<u2", "<i2", "<i8"],
        "offsets": [0, 2, 4, 8],
        "itemsize": 16,
    }
)


def is_ecf(dataset: Any) -> bool:
    """Whether the records went through Prophesee's filter."""
    pipeline = dataset.id.get_create_plist()
    return any(pipeline.get_filter(i)[0] == ECF for i in range(pipeline.get_nfilters()))


@final
class ECFSource(Source):
    """The records of one compressed dataset: exactly as many as it says, or an error."""

    def __init__(self, path: Path, records: Any) -> None:
        self.path = path
        self.records = records
        self.chunk = int(records.chunks[0])
        self.span = span_of(records)
        if records.id.get_create_plist().get_nfilters() != 1:
            raise FormatError(f"{path.name}: {records.name} has more filters than ECF")
        if records.dtype != _RECORD:
            raise FormatError(
                f"{path.name}: {records.name} has records {records.dtype}, and ECF holds {_RECORD}"
            )

    def __len__(self) -> int:
        return len(self.records)

    def rows(self, start: int, stop: int) -> Columns:
        """These rows, from all the chunks that have some of them."""
        first, last = start // self.chunk, -(-stop // self.chunk)
        count = (last - first) * self.chunk
        kinds = np.uint16, np.uint16, np.int64, np.bool_
        room = Columns(*(np.empty(count, kind) for kind in kinds))
        for i in range(first, last):
            place = (i - first) * self.chunk
            self._decode(i * self.chunk, room.part(place, place + self.chunk))
        skipped = start - first * self.chunk
        x, y, t, p = room.part(skipped, skipped + stop - start)
        return Columns(x, y, microseconds(t), p)

    def _decode(self, start: int, room: Columns) -> None:
        """The chunk that begins with this row."""
        skipped_filters, packed = self.records.id.read_direct_chunk((start,))
        wanted = min(self.chunk, len(self) - start)
        if skipped_filters:
            self._copy(start, packed, room)
            return
        raw = np.frombuffer(packed, np.uint8)
        columns = tuple(column.ctypes.data for column in room)
        assert len(columns) == 4
        count = _core.ecf_decode(raw.ctypes.data, len(raw), self.chunk, columns)
        if count < 0:
            raise self._error(start, "does not decode", at=-1 - count)
        if count < wanted:
            raise self._error(start, f"has {count:,} events instead of {wanted:,}")

    def _copy(self, start: int, packed: bytes, room: Columns) -> None:
        """A chunk that its writer left uncompressed."""
        if len(packed) != self.chunk * _RECORD.itemsize:
            raise self._error(start, "is neither compressed nor whole")
        records = np.frombuffer(packed, _RECORD)
        for name, column in zip("xyt", room[:3], strict=True):
            column[:] = records[name]
        room.p[:] = records["p"] > 0

    def _error(self, start: int, problem: str, *, at: int = 0) -> FormatError:
        offset = self.records.id.get_chunk_info_by_coord((start,)).byte_offset + at
        return FormatError(
            f"{self.path.name}: the ECF chunk from event {start:,} on {problem}", offset=offset
        )
