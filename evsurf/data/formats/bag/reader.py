"""Reading one topic of a bag, message by message."""

from __future__ import annotations

import importlib
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, final

import numpy as np

from evsurf.data.formats.bag.messages import (
    ARRAYS,
    PACKETS,
    Packet,
    array_in,
    libcaer,
    mono,
    packet_in,
)
from evsurf.data.formats.columns import Columns, Sieve, Size
from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.decoding import Decoder, Layout
from evsurf.data.formats.reader import Header, Options, Reader
from evsurf.data.formats.recut import recut
from evsurf.events.checks import LONGEST_SIDE

MARK = b"#ROSBAG V2.0"
"""Of ROS 1."""

_WORDS: dict[str, Layout] = {"evt3": "evt3", "evt21": "evt21", "evt2": "evt2"}
_RECORDS = {"mono": mono, "libcaer": libcaer}


@final
class BagReader(Reader):
    """One topic of a bag of ROS 1 or ROS 2, through the package `rosbags`."""

    def __init__(self, path: Path, options: Options) -> None:
        super().__init__(path, options)
        self._aligned = not _is_ros1(path)
        self._bag = _opened(path)
        try:
            topics = {c.topic: c for c in self._bag.connections if c.msgtype in (*ARRAYS, *PACKETS)}
            self._topic = _chosen(sorted(topics), self._bag, options)
            self._kind = topics[self._topic].msgtype
            self._encoding, size = self._first()
        except BaseException:
            self.close()
            raise
        facts = {"topic": self._topic, "messages": str(topics[self._topic].msgcount)}
        facts |= {"message": self._kind, "encoding": self._encoding} if self._encoding else {}
        facts["time origin"] = "the camera's clock" if self._encoding in _WORDS else "1970"
        known = all(1 <= side <= LONGEST_SIDE for side in size)
        self.header = Header(size, "header", facts) if known else Header(facts=facts)

    def pieces(self, count: int) -> Iterator[Columns]:
        """The events from the front."""
        return recut(self._columns(), count)

    def close(self) -> None:
        """Lets go of the bag."""
        if self._bag is not None:
            self._bag.close()
            self._bag = None

    def _first(self) -> tuple[str, Size]:
        """The encoding, or "" where events are not encoded, and the size, by the first message."""
        for data in self._messages():
            try:
                if self._kind in ARRAYS:
                    return "", array_in(data, aligned=self._aligned)[0]
                packet = packet_in(data, aligned=self._aligned)
            except ValueError:
                continue
            if packet.encoding not in (*_WORDS, *_RECORDS):
                raise FormatError(
                    f"{self._topic} is encoded as {packet.encoding!r}; known are "
                    f"{', '.join((*_WORDS, *_RECORDS))}"
                )
            return packet.encoding, packet.size
        return "", (0, 0)

    def _columns(self) -> Iterator[Columns]:
        size = self.options.size or self.header.size
        keep = self.options.keep_unsorted
        sieve = Sieve(size, self.damage, keep_unsorted=keep)
        words = _WORDS.get(self._encoding)
        decoder = None if words is None else Decoder(words, size, self.damage, keep_unsorted=keep)
        seen = 0
        for data in self._messages():
            try:
                if self._kind in ARRAYS:
                    found = sieve.sift(array_in(data, aligned=self._aligned)[1])
                else:
                    packet = packet_in(data, aligned=self._aligned)
                    found = self._decoded(packet, decoder, sieve)
            except ValueError as error:
                if isinstance(error, FormatError):
                    raise
                self.damage.note("bad_packet", 1, seen, place="event")
                continue
            seen += found.length
            if found.length:
                yield found
        if decoder is not None:
            decoder.finish()

    def _decoded(self, packet: Packet, decoder: Decoder | None, sieve: Sieve) -> Columns:
        if packet.encoding != self._encoding:
            raise ValueError("a message is encoded like no other of its topic")
        if decoder is None:
            return sieve.sift(_RECORDS[packet.encoding](packet))
        events = packet.events
        if packet.swapped:
            width = {"evt3": 2, "evt2": 4, "evt21": 8}[packet.encoding]
            events = np.frombuffer(events, f"u{width}").byteswap().tobytes()
        return decoder.feed(events)

    def _messages(self) -> Iterator[bytes]:
        wanted = [c for c in self._bag.connections if c.topic == self._topic]
        messages = self._bag.messages(connections=wanted)
        while True:
            try:
                _, _, data = next(messages)
            except StopIteration:
                return
            except _errors() as error:
                raise FormatError(f"the bag {self.path.name} is damaged: {error}") from error
            yield bytes(data)


def _is_ros1(path: Path) -> bool:
    if path.is_dir():
        return False
    with path.open("rb") as file:
        return file.read(len(MARK)) == MARK


def _errors() -> tuple[type[Exception], ...]:
    """What `rosbags` raises for bags that are none."""
    found = [importlib.import_module(f"rosbags.rosbag{n}").ReaderError for n in (1, 2)]
    others = (OSError, ValueError, LookupError, TypeError, RuntimeError, EOFError, AssertionError)
    return (*found, *others, struct.error, AttributeError)


def _opened(path: Path) -> Any:
    generation = 1 if _is_ros1(path) else 2
    try:
        reader = importlib.import_module(f"rosbags.rosbag{generation}").Reader
    except ImportError as error:
        raise ImportError(
            "ROS bags need rosbags, which is not installed: pip install 'evsurf[io]'"
        ) from error
    # The files of a bag of ROS 2 are described beside them, in their folder.
    place = path.parent if generation == 2 and path.is_file() else path
    try:
        bag = reader(place)
        bag.open()
    except _errors() as error:
        raise FormatError(f"the bag {path.name} cannot be opened: {error}") from error
    return bag


def _chosen(topics: list[str], bag: Any, options: Options) -> str:
    if options.stream is None and len(topics) == 1:
        return topics[0]
    if options.stream is not None and options.stream in topics:
        return options.stream
    if not topics:
        held = ", ".join(sorted({f"{c.topic} ({c.msgtype})" for c in bag.connections}))
        raise FormatError(f"the bag has no topic of events; it holds {held or 'nothing'}")
    known = ", ".join(topics)
    if options.stream is None:
        raise FormatError(f"the bag has several topics of events: say stream= one of {known}")
    raise ValueError(f"stream = {options.stream!r} is none of the bag's topics of events: {known}")
