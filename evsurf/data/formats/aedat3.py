"""AEDAT 3.1, as cAER and jAER record: packets of events of one kind each, little-endian.

Columns and rows are those of the file, whose row 0 is the top row (in version 3.0 the bottom row).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple, final

import numpy as np
import numpy.typing as npt

from evsurf.data.formats.aedat_header import Lines, header_lines, sensor_size
from evsurf.data.formats.columns import Columns, Sieve
from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.reader import Format, Header, Options, Reader
from evsurf.data.formats.recut import recut

_MARK = b"#!AER-DAT3."
_HEADER = struct.Struct("<hhiiiiii")
_POLARITY = 1
_EVENT = 8
_BLOCK = 2**16
# A packet may be as short as a few events.
_BUFFER = 2**18
# Sizes of an event and place of its time in the headers of all packets of polarity events.
_SIGNATURE = struct.pack("<ii", _EVENT, 4)


class Packet(NamedTuple):
    """What stands in front of the events of a packet."""

    kind: int
    source: int
    size: int
    time_place: int
    overflow: int
    capacity: int
    events: int
    valid: int

    @property
    def sensible(self) -> bool:
        """Whether these numbers can belong together."""
        return (
            self.kind >= 0
            and self.size > 0
            and 0 <= self.valid <= self.events <= self.capacity
            and self.overflow >= 0
            and (self.kind != _POLARITY or (self.size, self.time_place) == (_EVENT, 4))
        )


class Run(NamedTuple):
    """Events of one packet that follow each other: their words, place and upper bits of time."""

    words: npt.NDArray[np.uint32]
    place: int
    overflow: int


@final
class AEDAT3Reader(Reader):
    """The polarity events of a file; packets of other kinds are passed over."""

    def __init__(self, path: Path, options: Options) -> None:
        super().__init__(path, options)
        self._file = BufferedReader(path.open("rb", buffering=0), _BUFFER)
        try:
            self._lines = header_lines(self._file)
            self._source = _chosen_source(self._lines, path, options)
            self.header = _header(self._lines, self._source)
            self._bytes = path.stat().st_size
        except BaseException:
            self.close()
            raise

    def pieces(self, count: int) -> Iterator[Columns]:
        """The events from the front."""
        return recut(self._blocks(), count)

    def close(self) -> None:
        """Lets go of the file."""
        self._file.close()

    def _blocks(self) -> Iterator[Columns]:
        options = self.options
        size = options.size or self.header.size
        sieve = Sieve(size, self.damage, keep_unsorted=options.keep_unsorted)
        runs: list[Run] = []
        waiting = 0
        for place, packet in self._packets():
            if packet.kind != _POLARITY or self._source not in (None, packet.source):
                continue
            for run in self._runs(place, packet):
                runs.append(run)
                waiting += len(run.words)
                if waiting >= _BLOCK:
                    yield self._decoded(runs, sieve)
                    runs, waiting = [], 0
        if runs:
            yield self._decoded(runs, sieve)

    def _packets(self) -> Iterator[tuple[int, Packet]]:
        """Every packet with the place of its first event, skipping over what is none."""
        place = self._lines.start
        while place < self._bytes:
            self._file.seek(place)
            raw = self._file.read(_HEADER.size)
            if len(raw) < _HEADER.size:
                self.damage.note("truncated", len(raw), place)
                return
            packet = Packet(*_HEADER.unpack(raw))
            if not packet.sensible:
                self.damage.note("bad_packet", 1, place)
                place = self._next_packet(place + 1)
                continue
            place += _HEADER.size
            yield place, packet
            place += packet.size * packet.events
        self.damage.note("truncated", place - self._bytes, self._bytes)

    def _next_packet(self, place: int) -> int:
        """The next place where the header of a packet of polarity events may be."""
        before, overlap = 4, len(_SIGNATURE) - 1
        searched = place + before
        while searched < self._bytes:
            self._file.seek(searched)
            block = self._file.read(2**20)
            found = block.find(_SIGNATURE)
            while found >= 0:
                self._file.seek(searched + found - before)
                raw = self._file.read(_HEADER.size)
                if len(raw) == _HEADER.size and _is_events(Packet(*_HEADER.unpack(raw))):
                    return searched + found - before
                found = block.find(_SIGNATURE, found + 1)
            if len(block) <= overlap:
                break
            searched += len(block) - overlap
        return self._bytes

    def _runs(self, place: int, packet: Packet) -> Iterator[Run]:
        """The events of a packet, as many as fit a block at a time."""
        end = min(place + packet.events * _EVENT, self._bytes)
        while end - place >= _EVENT:
            self._file.seek(place)
            raw = self._file.read(min(_BLOCK * _EVENT, end - place))
            whole = len(raw) - len(raw) % _EVENT
            if not whole:
                return
            yield Run(np.frombuffer(raw[:whole], "<u4").reshape(-1, 2), place, packet.overflow)
            place += whole

    def _decoded(self, runs: list[Run], sieve: Sieve) -> Columns:
        words = np.concatenate([run.words for run in runs])
        lengths = [len(run.words) for run in runs]
        data = words[:, 0]
        times = words[:, 1] + np.repeat([run.overflow << 31 for run in runs], lengths)
        before = np.cumsum([0, *lengths[:-1]])
        starts = [run.place for run in runs] - before * _EVENT
        where = np.arange(len(words)) * _EVENT + np.repeat(starts, lengths)
        columns = Columns(data >> 17, (data >> 2) & 0x7FFF, times, (data >> 1) & 1)
        valid = (data & 1).astype(np.bool_)
        if not valid.all():
            invalid = int(np.count_nonzero(~valid))
            self.damage.note("invalid_event", invalid, int(where[valid.argmin()]))
            columns, where = columns.where(valid), where[valid]
        return sieve.sift(columns, place="byte", places=where)


def _is_events(packet: Packet) -> bool:
    return packet.sensible and packet.kind == _POLARITY and packet.events > 0


def _chosen_source(lines: Lines, path: Path, options: Options) -> int | None:
    """The number of the camera whose events are wanted, or None for all."""
    sources = {
        name.removeprefix("Source "): value
        for name, value in lines.facts.items()
        if name.startswith("Source ")
    }
    if options.stream is None and len(sources) <= 1:
        return None
    if options.stream not in sources:
        known = ", ".join(f"{number!r} ({name})" for number, name in sources.items())
        problem = "holds several cameras" if options.stream is None else "has no such stream"
        raise FormatError(
            f"{path.name} {problem}: stream = {options.stream!r}; choose one of {known}"
        )
    return int(options.stream)


def _header(lines: Lines, source: int | None) -> Header:
    layout = lines.facts.get("Format", "RAW")
    if layout != "RAW":
        raise FormatError(f"AEDAT 3 with the packets' format {layout!r} is not known; RAW is")
    names = [
        value
        for name, value in lines.facts.items()
        if name.startswith("Source ") and (source is None or name == f"Source {source}")
    ]
    size = sensor_size(names[0]) if names else None
    row = "bottom" if lines.version == "3.0" else "top"
    facts = {**lines.facts, "axes": f"as stored: row 0 is the {row} row"}
    return Header(size, "chip" if size else "guess", facts)


def _recognises(head: bytes, path: Path) -> bool:
    del path
    return head.startswith(_MARK)


FORMAT = Format(
    name="aedat3",
    summary="AEDAT 3.1, packets of events as cAER records them",
    suffixes=(".aedat",),
    recognises=_recognises,
    open=AEDAT3Reader,
)
