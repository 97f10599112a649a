"""AEDAT 2.0, as jAER records DVS128 and DAVIS cameras: addresses and times, big-endian.

Columns and rows are those of the file, whose row 0 is the bottom row of the picture.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedIOBase
from pathlib import Path
from typing import Literal, TypeAlias, final

import numpy as np
import numpy.typing as npt

from evsurf.data.formats.aedat_header import Lines, header_lines, sensor_size
from evsurf.data.formats.columns import Columns, Sieve
from evsurf.data.formats.reader import Format, Header, Options, Reader
from evsurf.data.formats.recut import recut

Family: TypeAlias = Literal["dvs128", "davis"]

_MARK = b"#!AER-DAT2"
_RECORD = 8
_BLOCK = 2**16


@final
class AEDAT2Reader(Reader):
    """The events among a camera's records; frames, inertia and triggers are passed over."""

    def __init__(self, path: Path, options: Options) -> None:
        super().__init__(path, options)
        self._file = path.open("rb")
        try:
            self._lines = header_lines(self._file)
            self._family, self.header = self._camera(self._lines)
        except BaseException:
            self.close()
            raise

    def pieces(self, count: int) -> Iterator[Columns]:
        """The events from the front."""
        return recut(self._blocks(), count)

    def close(self) -> None:
        """Lets go of the file."""
        self._file.close()

    def _camera(self, lines: Lines) -> tuple[Family, Header]:
        """Which layout the addresses have: as the header says, the size, or the addresses."""
        facts = {**lines.facts, "axes": "as stored: row 0 is the bottom row"}
        name = lines.facts.get("AEChip", "")
        known = sensor_size(name.rpartition(".")[2])
        if known is not None:
            is_dvs = known == (128, 128) and "davis" not in name.rpartition(".")[2].lower()
            return "dvs128" if is_dvs else "davis", Header(known, "chip", facts)
        if self.options.size is not None:
            is_dvs = self.options.size == (128, 128)
            return "dvs128" if is_dvs else "davis", Header(None, "guess", facts)
        self._file.seek(lines.start)
        addresses = np.frombuffer(_whole(self._file.read(_BLOCK * _RECORD)), ">u4")[::2]
        # DAVIS has the columns from bit 12 and the rows from bit 22 on.
        if len(addresses) and not (addresses >> 16).any():
            return "dvs128", Header((128, 128), "guess", facts)
        return "davis", Header(None, "guess", facts)

    def _blocks(self) -> Iterator[Columns]:
        options, place = self.options, self._lines.start
        sieve = Sieve(
            options.size or self.header.size, self.damage, keep_unsorted=options.keep_unsorted
        )
        clock = Clock()
        self._file.seek(place)
        while block := _read(self._file, place, _BLOCK * _RECORD):
            whole = _whole(block)
            words = np.frombuffer(whole, ">u4").astype(np.uint32).reshape(-1, 2)
            where, columns = self._decoded(words[:, 0], clock.unwrapped(words[:, 1]), place)
            yield sieve.sift(columns, place="byte", places=where)
            place += len(block)
            self.damage.note("truncated", len(block) - len(whole), place - len(block) % _RECORD)

    def _decoded(
        self, addresses: npt.NDArray[np.uint32], times: npt.NDArray[np.int64], place: int
    ) -> tuple[npt.NDArray[np.int64], Columns]:
        where = np.arange(place, place + len(addresses) * _RECORD, _RECORD)
        if self._family == "dvs128":
            strange = addresses >= 2**16
            first = int(where[strange.argmax()]) if len(where) else 0
            self.damage.note("unknown_word", int(np.count_nonzero(strange)), first)
            # Bit 15 marks a signal on the camera's own input.
            events = addresses < 2**15
            x, y, p = (addresses >> 1) & 127, (addresses >> 8) & 127, addresses & 1
        else:
            # Bit 31 marks frames and inertia, bit 10 the camera's other inputs.
            events = (addresses & (1 << 31 | 1 << 10)) == 0
            x, y, p = (addresses >> 12) & 1023, (addresses >> 22) & 511, (addresses >> 11) & 1
        columns = Columns(x, y, times, p)
        return (where, columns) if events.all() else (where[events], columns.where(events))


class Clock:
    """Times of 32 bits, continued in 64 when they wrap around."""

    def __init__(self) -> None:
        self._last: int | None = None

    def unwrapped(self, times: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
        """The times as steps from one to the next, half of their range back or ahead at most."""
        signed = times.view(np.int32).astype(np.int64)
        if not len(signed):
            return signed
        last = int(signed[0]) if self._last is None else self._last
        before = (last + 2**31) % 2**32 - 2**31
        # In the usual case only a whole number of laps is missing, if any.
        ahead = signed[0] >= before and bool((signed[1:] >= signed[:-1]).all())
        if ahead and signed[-1] - before < 2**31:
            signed += last - before
        else:
            steps = np.diff(signed, prepend=before)
            signed = last + np.cumsum((steps + 2**31) % 2**32 - 2**31)
        self._last = int(signed[-1])
        return signed


def _read(file: BufferedIOBase, place: int, count: int) -> bytes:
    file.seek(place)
    return file.read(count)


def _whole(block: bytes) -> bytes:
    return block[: len(block) - len(block) % _RECORD]


def _recognises(head: bytes, path: Path) -> bool:
    del path
    return head.startswith(_MARK)


FORMAT = Format(
    name="aedat2",
    summary="AEDAT 2.0 of DVS128 and DAVIS cameras, as jAER records them",
    suffixes=(".aedat",),
    recognises=_recognises,
    open=AEDAT2Reader,
)
