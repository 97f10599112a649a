"""AEDAT 2.0 and 3.1 files as the formats' descriptions say, written one event at a time."""

from __future__ import annotations

import struct
from pathlib import Path

from evsurf.events import Events

CHIPS = {
    "dvs128": "ch.unizh.ini.jaer.chip.retina.DVS128",
    "davis240": "eu.seebetter.ini.chips.davis.DAVIS240C",
    "davis346": "eu.seebetter.ini.chips.davis.Davis346blue",
}
SIZES = {"dvs128": (128, 128), "davis240": (180, 240), "davis346": (260, 346)}


def rows_of(events: Events) -> list[tuple[int, int, int, int]]:
    return list(
        zip(*(getattr(events, name).int().tolist() for name in "xy"), events.t.tolist(),
            events.p.int().tolist(), strict=True)
    )  # fmt: skip


def address(camera: str, x: int, y: int, p: int) -> int:
    return y << 8 | x << 1 | p if camera == "dvs128" else y << 22 | x << 12 | p << 11


def header2(camera: str | None) -> bytes:
    lines = [
        "#!AER-DAT2.0",
        "# This is a raw AE data file - do not edit",
        "# Data format is int32 address, int32 timestamp (8 bytes total), repeated for each event",
        "# Timestamps tick is 1 us",
        "# created Thu Jun 01 10:00:00 CEST 2017",
    ]
    lines += [f"# AEChip: {CHIPS[camera]}"] if camera else []
    return "".join(f"{line}\r\n" for line in lines).encode()


def record(address: int, t: int) -> bytes:
    """Times of 32 bits, which start again when they are used up."""
    return struct.pack(">II", address, t % 2**32)


def write_aedat2(path: Path, events: Events, camera: str, *, named: bool = True) -> int:
    """Gives the place of the first event."""
    header = header2(camera if named else None)
    records = [record(address(camera, x, y, p), t) for x, y, t, p in rows_of(events)]
    path.write_bytes(header + b"".join(records))
    return len(header)


HEADER3 = (
    b"#!AER-DAT3.1\r\n#Format: RAW\r\n#Source 1: DVS128\r\n"
    b"#Start-Time: 2017-06-01 10:00:00 (TZ+0200)\r\n#!END-HEADER\r\n"
)


def packet(
    rows: list[tuple[int, int, int, int]], *, overflow: int = 0, source: int = 1, valid: int = 1
) -> bytes:
    """A packet of polarity events, whose times have the upper bits `overflow`."""
    out = struct.pack("<hhiiiiii", 1, source, 8, 4, overflow, *[len(rows)] * 3)
    for x, y, t, p in rows:
        out += struct.pack("<Ii", valid | p << 1 | y << 2 | x << 17, t % 2**31)
    return out


def other_packet(kind: int = 2, size: int = 36, count: int = 3) -> bytes:
    """Frames, inertia and the like, of which only the length matters here."""
    return struct.pack("<hhiiiiii", kind, 1, size, 4, 0, *[count] * 3) + b"\x01" * size * count


def write_aedat3(path: Path, events: Events, *, per: int = 100) -> None:
    rows = rows_of(events)
    out = HEADER3 + other_packet()
    start = 0
    while start < len(rows):
        overflow = rows[start][2] >> 31
        stop = start
        while stop < min(len(rows), start + per) and rows[stop][2] >> 31 == overflow:
            stop += 1
        out += packet(rows[start:stop], overflow=overflow) + other_packet()
        start = stop
    path.write_bytes(out)
