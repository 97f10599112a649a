"""Messages of events as they are stored in bags, from their bytes.

The fields are read by hand: what reads any message makes an object of every event, and is a
hundred times slower.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np

from evsurf.data.formats.columns import Column, Columns, Size

# Each has a header, height and width, and then its events.
ARRAYS = ("dvs_msgs/msg/EventArray", "prophesee_event_msgs/msg/EventArray")
PACKETS = ("event_camera_msgs/msg/EventPacket", "event_array_msgs/msg/EventArray")

_BAD = "a message ends before its parts"


class Packet(NamedTuple):
    """A message whose events are encoded."""

    size: Size
    time_base: int
    """Nanoseconds."""
    encoding: str
    swapped: bool
    """Whether its words have their first byte last."""
    events: bytes


class _Fields:
    """Takes the fields of one message in turn; those of ROS 2 stand at multiples of their size."""

    def __init__(self, data: bytes, *, aligned: bool) -> None:
        # What comes first in ROS 2 says the order of bytes, and does not count for alignment.
        self.start = 4 if aligned else 0
        self.order = ">" if aligned and data[1:2] == b"\0" else "<"
        self.data = data
        self.at = self.start
        self.aligned = aligned

    def numbers(self, kinds: str) -> list[int]:
        found = []
        for kind in kinds:
            size = struct.calcsize(f"={kind}")
            if self.aligned:
                self.at += -(self.at - self.start) % size
            if self.at + size > len(self.data):
                raise ValueError(_BAD)
            found.append(struct.unpack_from(self.order + kind, self.data, self.at)[0])
            self.at += size
        return found

    def bytes(self) -> bytes:
        """A text or a run of bytes, with its length before it."""
        length = self.numbers("I")[0]
        found = self.data[self.at : self.at + length]
        if len(found) < length:
            raise ValueError(_BAD)
        self.at += length
        return found

    def size(self) -> Size:
        """Past the header, height and width."""
        self.numbers("II" if self.aligned else "III")
        self.bytes()
        height, width = self.numbers("II")
        return height, width


def packet_in(data: bytes, *, aligned: bool) -> Packet:
    """An encoded message of ROS 2, whose fields are `aligned`, or of ROS 1."""
    fields = _Fields(data, aligned=aligned)
    size = fields.size()
    _, time_base = fields.numbers("QQ")
    encoding = fields.bytes().rstrip(b"\0").decode("ascii", "replace")
    swapped = fields.numbers("B")[0] != 0
    return Packet(size, time_base, encoding, swapped, fields.bytes())


def array_in(data: bytes, *, aligned: bool) -> tuple[Size, Columns]:
    """A message with one record per event; times are microseconds of ROS."""
    fields = _Fields(data, aligned=aligned)
    size = fields.size()
    count = fields.numbers("I")[0]
    step = 16 if aligned else 13
    # In ROS 2 an event takes 13 bytes too; the gap comes before the next one.
    if count and fields.at + step * (count - 1) + 13 > len(data):
        raise ValueError(_BAD)
    if count == 0:
        return size, Columns.none()
    u2, u4 = f"{fields.order}u2", f"{fields.order}u4"
    at, gap = fields.at, 2 if aligned else 0

    def column(offset: int, kind: str) -> Column:
        return np.ndarray((count,), kind, data, at + offset, (step,))

    def early(offset: int) -> Column:
        # All but the first event have their coordinates right behind the polarity before.
        found = np.empty(count, np.uint16)
        found[:1] = np.ndarray((1,), u2, data, at + offset)
        if count > 1:
            found[1:] = np.ndarray((count - 1,), u2, data, at + step + offset - gap, (step,))
        return found

    seconds, nanoseconds = column(4, u4).astype(np.int64), column(8, u4).astype(np.int64)
    times = seconds * 1_000_000 + (nanoseconds + 500) // 1000
    return size, Columns(early(0), early(2), times, column(12, "u1"))


def mono(packet: Packet) -> Columns:
    """Words of 64 bits: polarity, row, column, nanoseconds after the time base."""
    words = np.frombuffer(packet.events, ">u8" if packet.swapped else "<u8").astype(np.uint64)
    x, y = words >> np.uint64(32) & np.uint64(0xFFFF), words >> np.uint64(48) & np.uint64(0x7FFF)
    after = (words & np.uint64(0xFFFFFFFF)).astype(np.int64)
    return Columns(x, y, _microseconds(packet.time_base, after), words >> np.uint64(63))


def libcaer(packet: Packet) -> Columns:
    """Pairs of 32 bits, always little endian: an address, and microseconds after the time base."""
    pairs = np.frombuffer(packet.events, "<u4").reshape(-1, 2)
    address, stamps = pairs[:, 0], pairs[:, 1].astype(np.int64) & 0x7FFFFFFF
    # The stamps have 31 bits, and begin anew within a packet.
    laps = np.cumsum(np.diff(stamps, prepend=stamps[:1]) < 0) << 31
    after = (stamps + laps) * 1000
    found = Columns(
        address >> 17,
        address >> 2 & 0x7FFF,
        _microseconds(packet.time_base, after),
        address >> 1 & 1,
    )
    return found.where((address & 1) != 0)


def _microseconds(time_base: int, after: Column) -> Column:
    """Nanoseconds after a time to the nearest microsecond; unsigned, as the time base is."""
    rounded: Column = (time_base % 1000 + after + 500) // 1000 + time_base // 1000
    return rounded
