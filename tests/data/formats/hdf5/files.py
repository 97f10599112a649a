"""Small HDF5 files in the layouts that people have, written without the code under test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import hdf5plugin
import numpy as np

from evsurf.events import Events
from tests.random_events import random_batch

SIZE = (5, 7)


def some_events(count: int = 3000, *, origin: int = 0, size: tuple[int, int] = SIZE) -> Events:
    """Events with ties, none earlier than origin."""
    return random_batch([count], size, longest=40, origin=origin)[0]


def columns_of(events: Events) -> dict[str, np.ndarray]:
    return {name: getattr(events, name).numpy() for name in "xytp"}


def options(count: int, *, chunk: int = 256) -> dict[str, Any]:
    """Compressed as DSEC is, in chunks small enough for a test to have many."""
    blosc = hdf5plugin.Blosc(cname="zstd", clevel=1, shuffle=hdf5plugin.Blosc.SHUFFLE)
    return {"compression": blosc, "chunks": (min(chunk, count),)} if count else {}


def write_dsec(path: Path, events: Events, *, t_offset: int = 0, **made: Any) -> None:
    columns = columns_of(events)
    t = columns["t"] - t_offset
    with h5py.File(path, "w") as file:
        group = file.create_group("events")
        for name, kind in (("p", "u1"), ("x", "u2"), ("y", "u2"), ("t", "u4")):
            values = (t if name == "t" else columns[name]).astype(kind)
            group.create_dataset(name, data=values, **(made or options(len(events))))
        last = int(t[-1]) // 1000 + 2 if len(t) else 1
        file["ms_to_idx"] = np.searchsorted(t, np.arange(last) * 1000).astype(np.uint64)
        file["t_offset"] = np.int64(t_offset)


def write_rvt(path: Path, events: Events) -> None:
    columns = columns_of(events)
    with h5py.File(path, "w") as file:
        group = file.create_group("events")
        for name, kind in (("p", "u1"), ("x", "u2"), ("y", "u2"), ("t", "i8")):
            group.create_dataset(name, data=columns[name].astype(kind), **options(len(events)))
        group["height"], group["width"] = events.size


def table_of(events: Events, order: str = "xytp") -> np.ndarray:
    """N rows of float64: seconds, and a polarity of +1 or -1."""
    columns = {name: values.astype(np.float64) for name, values in columns_of(events).items()}
    columns["t"] *= 1e-6
    columns["p"] = columns["p"] * 2 - 1
    return np.stack([columns[name] for name in order], axis=1)


def write_mvsec(path: Path, left: Events, right: Events, *, pictures: bool = True) -> None:
    with h5py.File(path, "w") as file:
        for name, events in (("left", left), ("right", right)):
            group = file.create_group(f"davis/{name}")
            group.create_dataset("events", data=table_of(events), chunks=(min(256, len(events)), 4))
            if pictures:
                group["image_raw"] = np.zeros((2, *events.size), np.uint8)
                group["image_raw_ts"] = np.zeros(2)
                group["image_raw_event_inds"] = np.zeros(2, np.int64)


def write_e2vid(path: Path, events: Events) -> None:
    columns = columns_of(events)
    with h5py.File(path, "w") as file:
        group = file.create_group("events")
        group["xs"], group["ys"], group["ps"] = (columns[name] for name in "xyp")
        group["ts"] = columns["t"] * 1e-6
        file.attrs["sensor_resolution"] = events.size


RECORD = np.dtype(
    {
        "names": ["x", "y", "p", "t"],
        "formats": ["<u2", "<u2", "<i2", "<i8"],
        "offsets": [0, 2, 4, 8],
        "itemsize": 16,
    }
)


def records_of(events: Events) -> np.ndarray:
    records = np.zeros(len(events), RECORD)
    for name, values in columns_of(events).items():
        records[name] = values
    return records


def write_records(path: Path, events: Events) -> None:
    """Prophesee's layout, not compressed."""
    with h5py.File(path, "w") as file:
        group = file.create_group("CD")
        group.create_dataset("events", data=records_of(events), chunks=(min(256, len(events)),))
        group["indexes"] = np.zeros(3, [("id", "<u8"), ("ts", "<i8")])
        triggers = np.zeros(2, [("p", "<i2"), ("t", "<i8"), ("id", "<i2")])
        file.create_group("EXT_TRIGGER").create_dataset("events", data=triggers)
        file.attrs["geometry"] = "{1}x{0}".format(*events.size)
