"""HDF5 files in every layout give exactly their events, whole, in pieces and from any place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from evsurf.data.formats import (
    DamageError,
    DamageWarning,
    FormatError,
    GuessedSizeWarning,
    open_recording,
    read,
)
from evsurf.data.formats.hdf5.reader import HDF5Reader
from evsurf.events import Events
from tests.data.formats.hdf5.files import (
    SIZE,
    options,
    some_events,
    write_dsec,
    write_e2vid,
    write_mvsec,
    write_records,
    write_rvt,
)

EPOCH = 1_506_117_892_000_000


def mvsec(path: Path, events: Events) -> None:
    write_mvsec(path, some_events(7), events)


LAYOUTS = {
    "dsec": write_dsec,
    "dsec_offset": lambda path, events: write_dsec(path, events, t_offset=int(events.t[0]) - 1500),
    "rvt": write_rvt,
    "mvsec": mvsec,
    "e2vid": write_e2vid,
    "records": write_records,
}
STREAM = {"mvsec": "right"}
ORIGIN = {"mvsec": EPOCH, "dsec_offset": EPOCH}


@pytest.fixture(params=LAYOUTS)
def layout(request):
    return request.param


@pytest.fixture
def written(layout: str, tmp_path: Path) -> tuple[Path, str | None, Events]:
    """A file, the stream to read in it, and its events."""
    events = some_events(origin=ORIGIN.get(layout, 0))
    LAYOUTS[layout](tmp_path / "a.h5", events)
    return tmp_path / "a.h5", STREAM.get(layout), events


def same(a: Events, b: Events) -> bool:
    return a.size == b.size and all(
        np.array_equal(getattr(a, name), getattr(b, name)) for name in "xytp"
    )


def test_every_layout_is_read_exactly(written):
    path, stream, events = written
    assert same(read(path, SIZE, stream=stream), events)


def test_pieces_are_the_whole(written):
    path, stream, events = written
    with open_recording(path, SIZE, stream=stream) as recording:
        pieces = list(recording.chunks(1000))
        assert [len(piece) for piece in pieces] == [1000, 1000, 1000]
        assert all(
            same(piece, events[i * 1000 : i * 1000 + 1000]) for i, piece in enumerate(pieces)
        )
        assert len(list(recording.chunks(1000))) == 3


@pytest.mark.parametrize(("start", "stop"), [(0, 0), (0, 1), (255, 257), (2999, 4000), (5, 2000)])
def test_any_part_is_found_by_its_place(written, start, stop):
    path, stream, events = written
    with open_recording(path, SIZE, stream=stream) as recording:
        assert recording.random_access
        assert len(recording) == 3000
        assert same(recording[start:stop], events[start:stop])


def test_any_part_is_found_by_its_time(written):
    path, stream, events = written
    with open_recording(path, SIZE, stream=stream) as recording:
        for row in (0, 1, 255, 256, 257, 1024, 2998, 2999):
            for delay in (-(10**15), -1, 0, 1, 999, 1000, 10**9):
                t0 = int(events.t[row]) + delay
                assert same(recording.between(t0, t0 + 3000), events.between(t0, t0 + 3000))


@pytest.mark.parametrize("layout", ["rvt", "mvsec", "e2vid", "records"])
def test_files_that_say_their_size_are_believed(layout, tmp_path):
    LAYOUTS[layout](tmp_path / "a.h5", some_events(4))
    with open_recording(tmp_path / "a.h5", stream=STREAM.get(layout)) as recording:
        assert (recording.size, recording.size_source) == (SIZE, "header")


def test_dsec_does_not_say_its_size(tmp_path):
    write_dsec(tmp_path / "a.h5", some_events())
    with pytest.warns(GuessedSizeWarning):
        assert read(tmp_path / "a.h5").size == SIZE


@pytest.mark.parametrize("write", [write_dsec, write_rvt, write_e2vid, write_records])
def test_a_file_without_events_has_none(write: Callable[[Path, Events], None], tmp_path):
    events = some_events(0)
    if write is write_records:
        with h5py.File(tmp_path / "a.h5", "w") as file:
            file["CD/events"] = np.zeros(0, [("x", "<u2"), ("y", "<u2"), ("p", "i2"), ("t", "i8")])
    else:
        write(tmp_path / "a.h5", events)
    with open_recording(tmp_path / "a.h5", SIZE) as recording:
        assert len(recording) == len(recording.read()) == len(recording.between(-5, 10**9)) == 0


def test_a_wrong_index_by_the_millisecond_does_no_harm(tmp_path):
    events = some_events()
    write_dsec(tmp_path / "a.h5", events)
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        file["ms_to_idx"][5:] = 2
    with open_recording(tmp_path / "a.h5", SIZE) as recording:
        assert same(recording.between(20_000, 30_000), events.between(20_000, 30_000))


def test_rows_that_cannot_be_events_are_left_out_and_noted(tmp_path):
    events = some_events()
    write_dsec(tmp_path / "a.h5", events)
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        file["events/x"][700] = 7
    with pytest.warns(DamageWarning, match="out_of_bounds: 1, first at event 700"):
        assert len(read(tmp_path / "a.h5", SIZE)) == 2999
    with pytest.raises(DamageError, match="event 700"):
        read(tmp_path / "a.h5", SIZE, strict=True)
    with open_recording(tmp_path / "a.h5", SIZE) as recording:
        assert len(recording[690:710]) == 19


def test_columns_of_different_lengths_are_cut_to_the_shortest(tmp_path):
    events = some_events()
    write_e2vid(tmp_path / "a.h5", events)
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        values = file["events/ps"][:-10]
        del file["events/ps"]
        file["events/ps"] = values
    with pytest.warns(DamageWarning, match="truncated: 10, first at event 2,990"):
        assert same(read(tmp_path / "a.h5"), events[:2990])


@pytest.mark.parametrize("keep", [10, 600, 2000, 9000])
def test_a_file_that_was_cut_off_is_an_error(tmp_path, keep):
    write_dsec(tmp_path / "a.h5", some_events())
    whole = (tmp_path / "a.h5").read_bytes()
    (tmp_path / "a.h5").write_bytes(whole[:keep])
    with pytest.raises(FormatError):
        read(tmp_path / "a.h5", SIZE)


def test_a_chunk_that_does_not_decompress_is_an_error_that_names_its_events(tmp_path):
    events = some_events()
    write_dsec(tmp_path / "a.h5", events, **options(3000, chunk=2**10))
    with h5py.File(tmp_path / "a.h5") as file:
        place = file["events/t"].id.get_chunk_info(1)
    raw = bytearray((tmp_path / "a.h5").read_bytes())
    raw[place.byte_offset : place.byte_offset + place.size] = b"\xff" * place.size
    (tmp_path / "a.h5").write_bytes(raw)
    with pytest.raises(FormatError, match="reading events 0 to 3,000"):
        read(tmp_path / "a.h5", SIZE)


def test_a_reader_that_a_fork_inherits_opens_the_file_anew(tmp_path, monkeypatch):
    events = some_events()
    write_dsec(tmp_path / "a.h5", events)
    with open_recording(tmp_path / "a.h5", SIZE) as recording:
        reader = recording._reader
        assert isinstance(reader, HDF5Reader)
        first = reader._file
        monkeypatch.setattr("os.getpid", lambda: -1)
        assert same(recording[5:900], events[5:900])
        assert reader._file is not first
        first.close()
        assert same(recording[5:900], events[5:900])
