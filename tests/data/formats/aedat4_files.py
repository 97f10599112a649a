"""AEDAT 4 files, written down to the tables of their FlatBuffers."""

from __future__ import annotations

import struct
from pathlib import Path

import lz4.frame
import numpy as np
import zstandard

from evsurf.events import Events

COMPRESSIONS = {"none": 0, "lz4": 1, "lz4_high": 2, "zstd": 3, "zstd_high": 4}
# Events in a file are C structures: their times are aligned to eight bytes.
EVENT = np.dtype(
    {
        "names": ["t", "x", "y", "p"],
        "formats": ["<i8", "<i2", "<i2", "u1"],
        "offsets": [0, 8, 10, 12],
        "itemsize": 16,
    }
)


def prefixed(content: bytes) -> bytes:
    return struct.pack("<I", len(content)) + content


def header(streams: dict[int, tuple[str, tuple[int, int] | None]], compression: str) -> bytes:
    """`streams`: a type such as "EVTS", and the size, of every number."""
    nodes = ""
    for number, (kind, size) in streams.items():
        sides = "" if size is None else (
            f'<attr key="sizeX" type="int">{size[1]}</attr>'
            f'<attr key="sizeY" type="int">{size[0]}</attr>'
        )  # fmt: skip
        nodes += (
            f'<node name="{number}" path="/outInfo/{number}/">'
            f'<attr key="compression" type="string">{compression.upper()}</attr>'
            f'<attr key="typeIdentifier" type="string">{kind}</attr>'
            f'<node name="info" path="/outInfo/{number}/info/">{sides}</node></node>'
        )
    xml = f'<dv version="2.0"><node name="outInfo" path="/outInfo/">{nodes}</node></dv>'.encode()
    # The table of the header: compression, place of the text after it, no table of packets.
    table = struct.pack("<iiIq", 10, COMPRESSIONS[compression], 16, -1) + bytes(4)
    offsets = struct.pack("<5H", 10, 24, 4, 12, 8)
    text = struct.pack("<I", len(xml)) + xml + b"\0"
    content = struct.pack("<I4s", 24, b"IOHE") + bytes(6) + offsets + table + text
    return b"#!AER-DAT4.0\r\n" + prefixed(content)


def event_table(events: Events) -> bytes:
    """One FlatBuffer with a vector of events."""
    values = np.zeros(len(events), EVENT)
    for name in "xytp":
        values[name] = getattr(events, name).numpy()
    offsets = struct.pack("<3H", 6, 8, 4)
    front = struct.pack("<I4s", 16, b"EVTS") + bytes(2) + offsets
    table = struct.pack("<iI", 6, 8) + bytes(4) + struct.pack("<I", len(events))
    return prefixed(front + table + values.tobytes())


def packet(events: Events, compression: str, *, stream: int = 0) -> bytes:
    content = event_table(events)
    if compression.startswith("lz4"):
        content = lz4.frame.compress(content)
    elif compression.startswith("zstd"):
        content = zstandard.ZstdCompressor().compress(content)
    return struct.pack("<iI", stream, len(content)) + content


def write_aedat4(path: Path, events: Events, compression: str = "none", *, per: int = 100) -> None:
    packets = [packet(events[i : i + per], compression) for i in range(0, len(events), per)]
    path.write_bytes(header({0: ("EVTS", events.size)}, compression) + b"".join(packets))
