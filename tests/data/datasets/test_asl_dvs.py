"""ASL-DVS: .mat files turned the right way up, dealt out by a seed."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from evsurf.data.datasets import ASLDVS, MissingDataError
from evsurf.data.datasets.asl_dvs import upright
from evsurf.events import Events
from tests.data.datasets.files import THREE, Event, rows

_KINDS = {"<f8": (6, 9), "<i4": (12, 5), "<u1": (9, 2), "<u2": (11, 4)}


def element(kind: int, content: bytes) -> bytes:
    return struct.pack("<II", kind, len(content)) + content + bytes(-len(content) % 8)


def variable(name: str, values: list[int], dtype: str) -> bytes:
    """One column vector of a MATLAB file of version 5."""
    matrix, data = _KINDS[dtype]
    content = element(6, struct.pack("<II", matrix, 0))
    content += element(5, struct.pack("<ii", len(values), 1))
    content += element(1, name.encode())
    content += element(data, np.array(values, dtype).tobytes())
    return element(14, content)


def write_mat(path: Path, events: Iterable[Event] = THREE) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    x, y, t, p = (list(column) for column in zip(*events, strict=True))
    content = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<HH", 0x0100, 0x4D49)
    content += variable("pol", p, "<u1") + variable("ts", t, "<i4")
    content += variable("x", x, "<u2") + variable("y", y, "<u2")
    path.write_bytes(content)


def write(root: Path, each: int = 5) -> Path:
    for letter in "abcdefghiklmnopqrstuvwxy":
        for i in range(each):
            write_mat(root / "ICCV2019_DVS_dataset" / letter / f"{letter}_{i:04}.mat")
    return root


def test_rows_count_from_the_bottom_in_the_files(tmp_path):
    data = ASLDVS(write(tmp_path, 1), train_share=1.0)
    assert len(data) == len(data.classes) == 24
    assert "j" not in data.classes
    events, _ = data[0]
    assert rows(events) == [(x, 179 - y, t, p) for x, y, t, p in THREE]
    mirrored, _ = ASLDVS(tmp_path, train_share=1.0, mirror=True)[0]
    assert rows(mirrored) == [(239 - x, 179 - y, t, p) for x, y, t, p in THREE]


def test_turning_twice_gives_the_events_back():
    events = Events.from_arrays([0, 239], [0, 179], [1, 2], [1, 0], (180, 240))
    assert upright(upright(events, mirror=True), mirror=True) == events


def test_a_share_is_dealt_to_train_by_the_seed(tmp_path):
    write(tmp_path)
    train, test = (ASLDVS(tmp_path, split, seed=2) for split in ("train", "test"))
    assert (len(train), len(test)) == (96, 24)
    assert set(train.recordings).isdisjoint(test.recordings)
    assert set(ASLDVS(tmp_path, "test", seed=3).recordings) != set(test.recordings)
    assert "96 of 80,640 recordings of 24 classes, 180x240" in repr(train)
    assert "24 of 20,160" in repr(test)


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(
        MissingDataError, match="Fetch ICCV2019_DVS_dataset.zip from https://github"
    ):
        ASLDVS(tmp_path, download=True)
