"""AEDAT 4, as DV records it, decoded by the package `aedat`; its row 0 is the top row."""

from __future__ import annotations

import importlib
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, final

import numpy as np

from evsurf.data.formats.columns import Column, Columns, Sieve
from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.reader import Format, Header, Options, Reader
from evsurf.data.formats.recut import recut

_MARK = b"#!AER-DAT4."
_START = len("#!AER-DAT4.0\r\n")
_PACKET_HEADER = struct.Struct("<iI")
_BLOCK = 2**16
_LONGEST_HEADER = 2**24
_SHORT = 2**12


@final
class AEDAT4Reader(Reader):
    """One stream of events; frames, inertia, triggers and other streams are passed over."""

    def __init__(self, path: Path, options: Options) -> None:
        super().__init__(path, options)
        streams = _decoder(path).id_to_stream()
        events = {str(i): found for i, found in streams.items() if found["type"] == "events"}
        self._stream = _chosen(events, path, options)
        found = events[self._stream]
        facts = {"stream": self._stream}
        for number, other in sorted(streams.items()):
            if str(number) != self._stream:
                sides = f", {other['width']} x {other['height']}" if "width" in other else ""
                facts[f"stream {number}"] = other["type"] + sides
        size = int(found["height"]), int(found["width"])
        self.header = Header(size, "header", facts) if min(size) > 0 else Header(facts=facts)

    def pieces(self, count: int) -> Iterator[Columns]:
        """The events from the front."""
        return recut(self._blocks(), count)

    def close(self) -> None:
        """Lets go of the file, which is open only while pieces are read."""

    def _blocks(self) -> Iterator[Columns]:
        options = self.options
        size = options.size or self.header.size
        sieve = Sieve(size, self.damage, keep_unsorted=options.keep_unsorted)
        room, filled = Columns.room(_BLOCK), 0
        for events in _gathered(self._packets()):
            if filled + len(events) > room.length:
                yield room.part(0, filled)
                room, filled = Columns.room(max(_BLOCK, len(events))), 0
            columns = Columns(events["x"], events["y"], events["t"], events["on"])
            into = room.part(filled, filled + len(events))
            filled += sieve.sift(columns, into=into).length
        yield room.part(0, filled)

    def _packets(self) -> Iterator[Column]:
        """The events of each packet. Of one that does not decode, only its place is found out."""
        decoder = _decoder(self.path)
        wanted = int(self._stream)
        with self.path.open("rb") as file:
            end = file.seek(0, 2)
            place = _START + 4 + _number(file, _START)
            while True:
                try:
                    packet = next(decoder)
                except StopIteration:
                    # A table of the packets may follow, which is longer than this.
                    if end - place < _PACKET_HEADER.size:
                        self.damage.note("truncated", end - place, place)
                    return
                except BaseException as error:
                    if not _is_refusal(error):
                        raise
                    packet = None
                following = place + _PACKET_HEADER.size + _number(file, place + 4)
                if packet is None and (place + _PACKET_HEADER.size > end or following > end):
                    self.damage.note("truncated", max(end - place, 1), place)
                    return
                if packet is None:
                    self.damage.note("bad_packet", 1, place)
                elif packet["stream_id"] == wanted and "events" in packet:
                    yield packet["events"]
                place = following


def _decoder(path: Path) -> Any:
    try:
        aedat = importlib.import_module("aedat")
    except ImportError as error:
        raise ImportError(
            "AEDAT 4 files need aedat, which is not installed: pip install 'evsurf[io]'"
        ) from error
    _check_text(path)
    try:
        return aedat.Decoder(path)
    except BaseException as error:
        if not _is_refusal(error):
            raise
        raise FormatError(f"{path.name}: its header cannot be read: {error}", offset=0) from error


def _check_text(path: Path) -> None:
    """Refuses a header whose text is no XML, at some of which the package ends the process."""
    from xml.etree import ElementTree as ET

    with path.open("rb") as file:
        length = min(_number(file, _START), _LONGEST_HEADER)
        header = file.read(length)
    text = header[header.find(b"<dv") : header.rfind(b">") + 1]
    try:
        if b"<!DOCTYPE" in text:
            raise ET.ParseError("it defines names of its own")
        ET.fromstring(text.decode("utf-8"))
    except (ET.ParseError, UnicodeDecodeError) as error:
        raise FormatError(f"{path.name}: its header cannot be read: {error}", offset=0) from error


def _is_refusal(error: BaseException) -> bool:
    """Whether the package says that bytes make no sense: by an error, or by a panic of its Rust."""
    return isinstance(error, RuntimeError) or type(error).__name__ == "PanicException"


def _chosen(events: dict[str, Any], path: Path, options: Options) -> str:
    """The number of the stream that the caller named, or of the only one."""
    if options.stream is None and len(events) == 1:
        return next(iter(events))
    if options.stream is not None and options.stream in events:
        return options.stream
    if not events:
        raise FormatError(f"{path.name} has no stream of events")
    known = ", ".join(
        f"{number!r} ({found['width']} x {found['height']})"
        for number, found in sorted(events.items())
    )
    problem = "holds several streams of events" if options.stream is None else "has no such stream"
    raise FormatError(f"{path.name} {problem}: stream = {options.stream!r}; choose one of {known}")


def _gathered(packets: Iterable[Column]) -> Iterator[Column]:
    """The same events, short packets put together: each call for one of them has its price."""
    waiting: list[Column] = []
    length = 0
    for events in packets:
        waiting.append(events)
        length += len(events)
        if length >= _SHORT:
            yield np.concatenate(waiting) if len(waiting) > 1 else events
            waiting, length = [], 0
    if waiting:
        yield np.concatenate(waiting)


def _number(file: Any, place: int) -> int:
    """The 32 bits at this place; where the file has ended, 0."""
    file.seek(place)
    return int.from_bytes(file.read(4), "little")


def _recognises(head: bytes, path: Path) -> bool:
    del path
    return head.startswith(_MARK)


FORMAT = Format(
    name="aedat4",
    summary="AEDAT 4 of DV, plain or compressed",
    suffixes=(".aedat4",),
    recognises=_recognises,
    open=AEDAT4Reader,
)
