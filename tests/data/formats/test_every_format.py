"""What holds for every format that can be written: each gives back the same, in every way."""

from __future__ import annotations

import pytest

from evsurf.data.formats import info, open_recording, read, write
from evsurf.data.formats.registry import formats
from evsurf.events import Events
from tests.data.formats import encoders

pytest.importorskip("h5py")

SIZE = (32, 48)
ROWS = encoders.random_events(3000, SIZE, us=50_000, t0=100)
EVENTS = Events.from_arrays(*zip(*ROWS, strict=True), SIZE)
WRITABLE = [name for name, one in formats().items() if one.write is not None]

each_format = pytest.mark.parametrize("name", WRITABLE)


@pytest.fixture
def path(tmp_path, name):
    path = tmp_path / f"a{formats()[name].suffixes[0]}"
    write(EVENTS, path, format=name)
    return path


@each_format
def test_it_reads_what_it_writes(path, name):
    # At one time, a format may put the events of a row together; here they are so already.
    assert read(path, SIZE) == EVENTS
    assert read(path, SIZE, strict=True) == EVENTS


@each_format
def test_a_recording_is_the_same_in_pieces_by_position_and_by_time(path, name):
    with open_recording(path, SIZE) as recording:
        assert recording.format == name
        for count in (1000, 7):
            pieces = list(recording.chunks(count))
            assert max(map(len, pieces)) <= count
            assert [t for piece in pieces for t in piece.t.tolist()] == EVENTS.t.tolist()
        assert recording[100:-7] == EVENTS[100:-7]
        assert recording.between(20_000, 30_000) == EVENTS.between(20_000, 30_000)
        assert recording.between(60_000, 70_000) == Events.empty(SIZE)
        assert len(recording) == len(EVENTS)
        assert not recording.damage


@each_format
def test_info_agrees(path, name):
    for full in (False, True):
        told = info(path, SIZE, full=full)
        assert (told.events, told.exact, told.duration) == (3000, True, EVENTS.duration)
        assert told.on == int(EVENTS.p.sum()) / 3000
        assert (told.damage, told.broken) == ({}, None)


@each_format
@pytest.mark.parametrize("other", WRITABLE)
def test_it_becomes_any_other(path, name, other, tmp_path):
    target = tmp_path / f"b{formats()[other].suffixes[0]}"
    with open_recording(path, SIZE) as recording:
        write(recording, target, format=other)
    assert read(target, SIZE) == EVENTS


@each_format
def test_an_interrupted_writing_leaves_nothing(tmp_path, name):
    def pieces():
        yield EVENTS[:1000]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(pieces(), tmp_path / "a", format=name)
    assert list(tmp_path.iterdir()) == []


@each_format
def test_no_events_are_a_file_too(tmp_path, name):
    path = tmp_path / f"a{formats()[name].suffixes[0]}"
    write(Events.empty(SIZE), path, format=name)
    assert read(path, SIZE) == Events.empty(SIZE)
