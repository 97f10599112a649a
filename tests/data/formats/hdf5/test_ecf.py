"""Compressed records are exactly what was compressed, or an error that names the byte."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evsurf import _core
from evsurf.data.formats import FormatError, open_recording, read
from evsurf.events import Events
from tests.data.formats.hdf5.ecf_chunks import (
    chunk,
    packed_columns,
    packed_polarities,
    packed_rows,
    packed_times,
    write_chunks,
    write_ecf,
)
from tests.data.formats.hdf5.files import SIZE, records_of, some_events

WAYS = ["all", "columns", "none"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.hdf5"


def decoded(raw: bytes, capacity: int = 100_000) -> int | list[list[int]]:
    """The four columns of a chunk, or the negative number that says where it breaks."""
    x, y = np.zeros(capacity, np.uint16), np.zeros(capacity, np.uint16)
    t, p = np.zeros(capacity, np.int64), np.zeros(capacity, np.uint8)
    # Exactly this long, so that a sanitizer sees a byte too many.
    owned = np.frombuffer(raw, np.uint8).copy()
    columns = (x.ctypes.data, y.ctypes.data, t.ctypes.data, p.ctypes.data)
    count = _core.ecf_decode(owned.ctypes.data, len(owned), capacity, columns)
    return count if count < 0 else [column[:count].tolist() for column in (x, y, t, p)]


def lists(events: Events) -> list[list[int]]:
    return [getattr(events, name).int().tolist() for name in "xytp"]


def test_chunks_written_out_by_hand():
    times = bytes([5, 0, 0, 0, 0, 0, 0, 0])
    # Two events at 5; 0x21 later one at 0x26; its row 3, with one event more in row 4.
    body = bytes([0x02, 0xF1, 0xF2, 0x01]) + bytes([0x62, 0x00, 0x81, 0x00])
    # Column 9 and, two to the right of it, 11; column 1. OFF twice, ON once.
    body += bytes([0x28, 0x01, 0x20, 0x00]) + bytes([0x02, 0x81])
    assert decoded(bytes([3 << 2, 0, 0, 0]) + times + body) == [
        [9, 11, 1],
        [3, 3, 4],
        [5, 5, 0x26],
        [0, 0, 1],
    ]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 1000])
def test_each_way_of_packing_is_undone(way, count):
    events = some_events(count, size=(1400, 1900))
    assert decoded(chunk(events, way)) == lists(events)


@pytest.mark.parametrize("way", WAYS)
def test_long_runs_and_long_delays_are_undone(way):
    x = [*range(40)] * 50
    t = [2**40] * 300 + [2**40 + 14] * 15 + [2**40 + 29] * 1684 + [2**60]
    events = Events.from_arrays(x, [7] * 2000, t, [1] * 500 + [0] * 126 + [1] * 1374, (8, 40))
    found = decoded(chunk(events, way))
    assert found == [events.x.tolist(), events.y.tolist(), t, events.p.int().tolist()]


def test_bits_about_events_beyond_the_last_mean_nothing():
    raw = bytes([1 << 2, 0, 0, 0]) + packed_times([3]) + packed_rows([4])
    raw += packed_columns([5], beyond=31) + packed_polarities([1])
    assert decoded(raw, 1) == [[5], [4], [3], [1]]


@pytest.mark.parametrize("way", WAYS)
def test_a_chunk_that_ends_early_or_late_is_refused(way):
    raw = chunk(some_events(60), way)
    for keep in range(len(raw)):
        found = decoded(raw[:keep])
        assert isinstance(found, int)
        assert found < 0
    assert decoded(raw + b"\0") == -1 - len(raw)


def test_more_events_than_there_is_room_for_are_refused():
    assert decoded(chunk(some_events(60), "none"), 59) == -1


@given(st.binary(max_size=60), st.integers(0, 50), st.integers(0, 2))
def test_no_bytes_write_out_of_bounds(body, count, flags):
    found = decoded(bytes([count << 2 & 255 | flags, count >> 6, 0, 0]) + body, 50)
    assert isinstance(found, list) or found >= -1 - 4 - len(body)


@pytest.mark.parametrize("way", WAYS)
def test_a_file_is_read_exactly(path, way):
    events = some_events()
    write_ecf(path, events, way=way)
    found = read(path)
    assert found.size == SIZE
    assert lists(found) == lists(events)
    with open_recording(path) as recording:
        for start, stop in ((0, 1), (255, 257), (256, 512), (2999, 3000), (10, 2000)):
            assert lists(recording[start:stop]) == lists(events[start:stop])
        t0 = int(events.t[777])
        assert lists(recording.between(t0, t0 + 99)) == lists(events.between(t0, t0 + 99))


def test_chunks_that_were_left_uncompressed_are_read_too(path):
    events = some_events(512)
    chunks = [records_of(events[i : i + 256]).tobytes() for i in (0, 256)]
    write_chunks(path, chunks, 512, rows=256, size=SIZE, mask=1)
    assert lists(read(path)) == lists(events)


def test_fewer_events_than_the_file_says_are_an_error(path):
    events = some_events(512)
    chunks = [chunk(events[:256], "all"), chunk(events[256:500], "all")]
    write_chunks(path, chunks, 512, rows=256, size=SIZE)
    with pytest.raises(FormatError, match="from event 256 on has 244 events instead of 256"):
        read(path)


def test_a_broken_chunk_is_an_error_with_its_byte(path):
    events = some_events(512)
    good = chunk(events[:256], "all")
    write_chunks(path, [good, good[:100]], 512, rows=256, size=SIZE)
    with pytest.raises(FormatError, match="from event 256 on does not decode") as caught:
        read(path)
    place = path.read_bytes().index(good[:100], path.read_bytes().index(good) + 1)
    assert caught.value.offset is not None
    assert place < caught.value.offset <= place + 100
