"""ATIS `.bin` files of 5-byte records: N-MNIST and the original N-Caltech101."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from evsurf.data.formats.binary import BinaryReader
from evsurf.data.formats.columns import Size
from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.reader import Format, Header, Options, Reader
from evsurf.data.formats.writing import check_range, parts
from evsurf.events import Events

_OVERFLOW = 240
_LAP_BITS, _STAMP_BITS = 13, 23
# Later times would take megabytes of records that only say that time passes.
_LATEST, _LARGEST = 2**33, 255
# Bytes that are looked at before a file is believed, and events that are enough for a verdict.
_LOOK, _ENOUGH = 1 << 16, 20


def _recognises(head: bytes, path: Path) -> bool:  # noqa: ARG001
    return False


def _open(path: Path, options: Options) -> Reader:
    with path.open("rb") as file:
        _check_records(file.read(_LOOK), path)
    return BinaryReader(path, options, "atis", header=Header(), start=0)


def _check_records(head: bytes, path: Path) -> None:
    """Any bytes could be records, but of those that are none, every second goes back in time."""
    records = np.frombuffer(head[: len(head) // 5 * 5], np.uint8).reshape(-1, 5).astype(np.int64)
    passed = records[:, 1] == _OVERFLOW
    stamp = (records[:, 2] & 0x7F) << 16 | records[:, 3] << 8 | records[:, 4]
    t = (stamp + (np.cumsum(passed) << _LAP_BITS))[~passed]
    if len(t) >= _ENOUGH and np.mean(np.diff(t) < 0) > 0.25:
        raise FormatError(
            f"{path} is no ATIS .bin file: its times go back and forth. Known formats show by "
            "their content or suffix; name another one with format=."
        )


def _write(path: Path, pieces: Iterable[Events], size: Size) -> None:  # noqa: ARG001
    laps = 0
    with path.open("wb") as file:
        for events in parts(pieces):
            check_range("ATIS .bin", events, latest=_LATEST, largest=_LARGEST)
            if bool((events.y == _OVERFLOW).any()):
                raise ValueError(
                    f"y = {_OVERFLOW} does not fit: in ATIS .bin files that row says that time has "
                    "passed. Crop the events, or write another format."
                )
            records, laps = _records(events, laps)
            file.write(records.tobytes())


def _records(
    events: Events, laps: int
) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.uint8]], int]:
    """Five bytes for each event, and for each lap that has to pass before the stamp can say it."""
    x, y, t, p = (c.numpy().astype(np.int64) for c in (events.x, events.y, events.t, events.p))
    needed = np.maximum(-(-(t - 2**_STAMP_BITS + 1) // 2**_LAP_BITS), laps)
    ends = np.cumsum(np.diff(needed, prepend=laps) + 1)
    stamp = t - (needed << _LAP_BITS)
    records = np.zeros((int(ends[-1]), 5), np.uint8)
    records[:, 1] = _OVERFLOW
    columns = (x, y, p << 7 | stamp >> 16, stamp >> 8 & 0xFF, stamp & 0xFF)
    records[ends - 1] = np.stack(columns, axis=1)
    return records, int(needed[-1])


FORMAT = Format(
    name="atis_bin",
    summary="ATIS .bin: N-MNIST and N-Caltech101, 5 bytes an event",
    suffixes=(".bin", ".bs2"),
    recognises=_recognises,
    open=_open,
    write=_write,
)
