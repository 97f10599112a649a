"""What is written in DSEC's layout is what DSEC's tools expect, and comes back exactly."""

from __future__ import annotations

import sys
from pathlib import Path

import h5py
import hdf5plugin  # noqa: F401
import numpy as np
import pytest
from hypothesis import given

from evsurf.data.formats import open_recording, read, write
from evsurf.events import EventBatch, Events
from tests.data.formats.hdf5.files import SIZE, some_events
from tests.random_events import event_batches


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.h5"


def same(a: Events, b: Events) -> bool:
    return a.size == b.size and all(
        np.array_equal(getattr(a, name), getattr(b, name)) for name in "xytp"
    )


def test_the_layout_is_that_of_dsec(path):
    events = some_events(origin=10**15)
    write(events, path)
    with h5py.File(path) as file:
        kinds = {name: file["events"][name].dtype.str for name in "xytp"}
        assert kinds == {"x": "<u2", "y": "<u2", "t": "<u4", "p": "|u1"}
        assert file["t_offset"][()] == events.t[0]
        t = file["events/t"][:].astype(np.int64)
        assert np.array_equal(t + file["t_offset"][()], events.t)
        index = file["ms_to_idx"][:]
        assert len(index) == t[-1] // 1000 + 2
        assert index.tolist() == np.searchsorted(t, np.arange(len(index)) * 1000).tolist()
        codes = file["events/t"].id.get_create_plist().get_filter(0)
        assert codes[0] == 32001


def test_pieces_are_written_as_the_whole(path):
    events = some_events()
    write((events[i : i + 700] for i in range(0, 3000, 700)), path)
    assert same(read(path), events)
    with h5py.File(path) as file:
        t, index = file["events/t"][:], file["ms_to_idx"][:]
        assert index.tolist() == np.searchsorted(t, np.arange(len(index)) * 1000).tolist()


@given(event_batches(max_samples=1, max_events=10))
def test_any_times_and_sizes_come_back(tmp_path_factory, batch: EventBatch):
    path = tmp_path_factory.mktemp("any") / "a.h5"
    events = batch[0] if len(batch) else some_events(0, size=batch.size)
    half = len(events) // 2
    write([events[:half], events[half:]], path, size=events.size)
    assert same(read(path, strict=True), events)
    with open_recording(path) as recording:
        for t in events.t.tolist():
            assert same(recording.between(t, t + 1), events.between(t, t + 1))


@pytest.mark.parametrize("gap", [2**32 - 1, 2**32, 2**40])
def test_more_than_71_minutes_get_wider_times(path, gap):
    events = Events.from_arrays([0, 1, 2], [0, 0, 0], [-7, 5, gap - 7], [1, 0, 1], SIZE)
    write([events[:2], events[2:]], path)
    with h5py.File(path) as file:
        assert set(file["events"]) == {*"xytp", "height", "width"}
        assert file["events/t"].dtype.itemsize == (4 if gap < 2**32 else 8)
        assert ("ms_to_idx" in file) == (gap < 2**40)
    assert same(read(path), events)


def test_no_events_are_a_file_without_any(path):
    write([], path, size=SIZE)
    found = read(path)
    assert (len(found), found.size) == (0, SIZE)


def test_a_missing_package_names_the_extra(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "hdf5plugin", None)
    with pytest.raises(ImportError, match=r"pip install 'evsurf\[io\]'"):
        write(some_events(), path)
    assert not list(path.parent.iterdir())
