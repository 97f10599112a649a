"""AEDAT 2.0: the addresses of each camera, times that wrap around, and what is no event."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evsurf.data.formats import (
    DamageError,
    DamageWarning,
    GuessedSizeWarning,
    open_recording,
    read,
)
from evsurf.data.formats.aedat2 import Clock
from evsurf.data.formats.registry import format_of
from evsurf.events import Events
from tests.data.formats.aedat_files import SIZES, header2, record, rows_of, write_aedat2
from tests.random_events import random_batch


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.aedat"


def some_events(camera: str, count: int = 500, *, origin: int = 0, longest: int = 20) -> Events:
    return random_batch([count], SIZES[camera], origin=origin, longest=longest)[0]


@pytest.mark.parametrize("camera", SIZES)
def test_every_camera_is_read_exactly(path, camera):
    events = some_events(camera)
    write_aedat2(path, events, camera)
    assert format_of(path).name == "aedat2"
    found = read(path)
    assert found.size == SIZES[camera]
    assert rows_of(found) == rows_of(events)
    with open_recording(path) as recording:
        assert recording.size_source == "chip"
        assert recording.facts["axes"] == "as stored: row 0 is the bottom row"
        pieces = list(recording.chunks(128))
        assert [len(piece) for piece in pieces] == [128, 128, 128, 116]
        assert [row for piece in pieces for row in rows_of(piece)] == rows_of(events)


@pytest.mark.parametrize("camera", SIZES)
def test_the_size_tells_the_camera_where_the_header_does_not(path, camera):
    events = some_events(camera)
    write_aedat2(path, events, camera, named=False)
    assert rows_of(read(path, SIZES[camera])) == rows_of(events)


def test_without_header_and_size_the_addresses_tell_the_camera(path):
    events = some_events("dvs128")
    write_aedat2(path, events, "dvs128", named=False)
    with open_recording(path) as recording:
        assert (recording.size, recording.size_source) == ((128, 128), "guess")
        assert rows_of(recording.read()) == rows_of(events)
    events = some_events("davis346")
    write_aedat2(path, events, "davis346", named=False)
    with pytest.warns(GuessedSizeWarning):
        assert rows_of(read(path)) == rows_of(events)


@pytest.mark.parametrize("origin", [-5000, 2**31 - 3000, -(2**31)])
def test_times_go_on_where_their_32_bits_end(path, origin):
    events = some_events("dvs128", origin=origin)
    write_aedat2(path, events, "dvs128")
    assert read(path).t.tolist() == events.t.tolist()


def test_times_wrap_around_any_number_of_times(path):
    events = some_events("dvs128", 50, longest=2**31 - 1)
    write_aedat2(path, events, "dvs128")
    assert int(events.t[-1]) > 2**34
    assert read(path).t.tolist() == events.t.tolist()


@given(st.lists(st.integers(-(2**31) + 1, 2**31 - 1), max_size=8), st.integers(0, 8))
def test_the_clock_follows_any_steps_wherever_it_is_cut(steps, cut):
    times = np.cumsum([7, *steps])
    words = (times % 2**32).astype(np.uint32)
    clock = Clock()
    found = [*clock.unwrapped(words[:cut]), *clock.unwrapped(words[cut:])]
    assert found == times.tolist()


def test_frames_inertia_and_triggers_are_no_events(path):
    good = record(5 << 22 | 6 << 12 | 1 << 11, 10)
    others = record(1 << 31 | 5 << 22, 11) + record(1 << 10 | 5 << 22, 12)
    path.write_bytes(header2("davis346") + others + good + others)
    assert rows_of(read(path, strict=True)) == [(6, 5, 10, 1)]
    path.write_bytes(header2("dvs128") + record(1 << 15, 9) + record(5 << 8 | 6 << 1 | 1, 10))
    assert rows_of(read(path, strict=True)) == [(6, 5, 10, 1)]


def test_a_first_event_that_begins_like_a_line_is_an_event(path):
    events = Events.from_arrays([16], [140], [3], [1], (260, 346))
    write_aedat2(path, events, "davis346")
    assert path.read_bytes()[-8:].startswith(b"#")
    assert rows_of(read(path)) == rows_of(events)


def test_a_header_of_settings_is_passed_over(path):
    events = some_events("davis240")
    start = write_aedat2(path, events, "davis240")
    raw = path.read_bytes()
    xml = b"#<map>\r\n" + b'#  <entry key="a: b" value="c"/>\r\n' * 5000
    path.write_bytes(raw[:start] + xml + b"#End Of ASCII Header\r\n" + raw[start:])
    assert rows_of(read(path)) == rows_of(events)


def test_what_was_cut_off_is_noted_with_its_byte(path):
    start = write_aedat2(path, some_events("dvs128", 4), "dvs128")
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.warns(DamageWarning, match=f"truncated: 5, first at byte {start + 24}"):
        assert len(read(path)) == 3


@pytest.mark.parametrize(
    ("word", "name"),
    [(1 << 20, "unknown_word"), (struct.unpack(">I", b"\xff" * 4)[0], "unknown_word")],
)
def test_addresses_that_no_dvs128_has_are_noted(path, word, name):
    start = write_aedat2(path, some_events("dvs128", 4), "dvs128")
    path.write_bytes(path.read_bytes() + record(word, 10**6))
    with pytest.raises(DamageError) as caught:
        read(path, strict=True)
    assert (caught.value.violation, caught.value.offset) == (name, start + 32)


def test_an_event_outside_the_sensor_is_noted_with_its_byte(path):
    start = write_aedat2(path, some_events("davis346", 4), "davis346")
    path.write_bytes(path.read_bytes() + record(300 << 22, 10**6))
    with pytest.warns(DamageWarning, match=f"out_of_bounds: 1, first at byte {start + 32}"):
        assert len(read(path)) == 4


def test_a_real_recording_of_a_dvs128_reads(shared_data):
    events = read(shared_data / "dvs128_jaer" / "DVS128-2017-03-21-short.aedat", strict=True)
    assert (len(events), events.size) == (130_114, (128, 128))
    assert (int(events.t[0]), int(events.t[-1])) == (113_476_330, 119_657_829)


def test_a_real_header_without_events_has_none(shared_data):
    assert len(read(shared_data / "tonic_samples" / "sample_aedat_header.aedat")) == 0
