"""The fixed binary formats as their descriptions say, one event after the other.

Written apart from the package's own writers, so that the two can disagree.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from itertools import groupby

import numpy as np

Event = tuple[int, int, int, int]
"""Column, row, time, polarity."""


def random_events(count: int, size: tuple[int, int], *, us: int, t0: int = 0, seed: int = 0):
    """Sorted events, half of them in short rows at one time, as a sensor reads them out."""
    draw = np.random.default_rng(seed)
    height, width = size
    found: set[Event] = set()
    while len(found) < count:
        t = t0 + int(draw.integers(0, us))
        y, p = int(draw.integers(0, height)), int(draw.integers(0, 2))
        x = int(draw.integers(0, width))
        for k in range(int(draw.integers(1, 8)) if draw.random() < 0.2 else 1):
            if x + k < width:
                found.add((x + k, y, t, p))
    chosen = sorted(found, key=lambda e: (e[2], e[1], e[3], e[0]))
    return [chosen[i] for i in sorted(draw.permutation(len(chosen))[:count].tolist())]


def raw_header(kind: str, size: tuple[int, int] = (720, 1280), *, extra: str = "") -> bytes:
    """A header as cameras of today write it; kind is EVT2, EVT21 or EVT3."""
    height, width = size
    number = {"EVT2": "2.0", "EVT21": "2.1", "EVT3": "3.0"}[kind]
    return (
        "% camera_integrator_name Prophesee\n% date 2023-03-29 14:00:00\n"
        f"% evt {number}\n% format {kind};{extra}height={height};width={width}\n"
        f"% generation 4.2\n% geometry {width}x{height}\n% integrator_name Prophesee\n"
        "% plugin_name hal_plugin_imx636_evk4\n% serial_number 00050001\n% system_ID 49\n% end\n"
    ).encode()


def old_header(number: str, system: int = 21, plugin: str = "hal_plugin_gen3_fx3") -> bytes:
    """A header of the first cameras: neither size nor last line."""
    return (
        f"% Date 2020-02-12 10:11:12\n% evt {number}\n% integrator_name Prophesee\n"
        f"% plugin_name {plugin}\n% serial_number 00000001\n% system_ID {system}\n"
    ).encode()


def evt2_words(events: Iterable[Event], *, trigger_every: int = 0) -> Iterator[int]:
    """Words of EVT 2.0."""
    high = None
    for number, (x, y, t, p) in enumerate(events):
        if t >> 6 != high:
            high = t >> 6
            yield 0x8 << 28 | high & 0xFFFFFFF
        if trigger_every and number % trigger_every == 0:
            yield 0xA << 28 | (t & 63) << 22 | 1
        yield p << 28 | (t & 63) << 22 | x << 11 | y


def evt2(events: Iterable[Event], *, trigger_every: int = 0) -> bytes:
    """The payload of an EVT 2.0 file."""
    return b"".join(struct.pack("<I", w) for w in evt2_words(events, trigger_every=trigger_every))


def rows_of_32(events: Iterable[Event]) -> Iterator[tuple[Event, int]]:
    """Of neighbours in 32 columns: the first column that a vector covers, and one bit for each."""
    for (t, y, p, start), group in groupby(events, key=lambda e: (e[2], e[1], e[3], e[0] // 32)):
        mask = 0
        for x, *_ in group:
            mask |= 1 << x % 32
        yield (32 * start, y, t, p), mask


def evt21(events: Iterable[Event], *, swapped: bool = False) -> bytes:
    """The payload of an EVT 2.1 file; swapped, the halves of words come in the old order."""
    out, high = [], None
    for (x, y, t, p), mask in rows_of_32(events):
        if t >> 6 != high:
            high = t >> 6
            out.append((0x8 << 28 | high & 0xFFFFFFF, 0))
        out.append((p << 28 | (t & 63) << 22 | x << 11 | y, mask))
    return b"".join(struct.pack("<II", *(w if swapped else w[::-1])) for w in out)


def evt3_words(
    events: Iterable[Event], *, trigger_every: int = 0, vectors: bool = True
) -> Iterator[int]:
    """Words of EVT 3.0, with a vector wherever 32 columns hold more than one event."""
    high = low = row = None
    for number, ((x, y, t, p), mask) in enumerate(rows_of_32(events)):
        if t >> 12 != high:
            high, low = t >> 12, None
            yield 0x8000 | high & 0xFFF
        if t & 0xFFF != low:
            low = t & 0xFFF
            yield 0x6000 | low
        if trigger_every and number % trigger_every == 0:
            yield 0xA001
        if y != row:
            row = y
            yield row
        if vectors and mask.bit_count() > 1:
            yield 0x3000 | p << 11 | x
            yield 0x4000 | mask & 0xFFF
            yield 0x4000 | mask >> 12 & 0xFFF
            yield 0x5000 | mask >> 24
        else:
            yield from (0x2000 | p << 11 | x + k for k in range(32) if mask >> k & 1)


def evt3(events: Iterable[Event], *, trigger_every: int = 0, vectors: bool = True) -> bytes:
    """The payload of an EVT 3.0 file."""
    words = evt3_words(events, trigger_every=trigger_every, vectors=vectors)
    return b"".join(struct.pack("<H", w) for w in words)


def words16(*words: int) -> bytes:
    return struct.pack(f"<{len(words)}H", *words)


def words32(*words: int) -> bytes:
    return struct.pack(f"<{len(words)}I", *words)


def dat_header(
    size: tuple[int, int] | None = (720, 1280), what: str = "CD", kind: int = 12
) -> bytes:
    """The header of a DAT file with the two bytes that follow it."""
    lines = [f"% Data file containing {what} events.", "% Version 2", "% Date 2017-06-01 10:00:00"]
    lines += [] if size is None else [f"% Height {size[0]}", f"% Width {size[1]}"]
    return "".join(f"{line}\n" for line in lines).encode() + bytes([kind, 8])


def dat(events: Iterable[Event]) -> bytes:
    """The payload of a DAT file."""
    return b"".join(struct.pack("<II", t, x | y << 14 | p << 28) for x, y, t, p in events)


def atis(events: Iterable[Event]) -> bytes:
    """A `.bin` file whose recorder tells of every 2^13 microseconds that pass."""
    out, laps = [], 0
    for x, y, t, p in events:
        while t >> 13 > laps:
            laps += 1
            out.append(bytes([0, 240, 0, 0, 0]))
        out.append(bytes([x, y]) + (p << 23 | t & 0x1FFF).to_bytes(3, "big"))
    return b"".join(out)
