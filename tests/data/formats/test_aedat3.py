"""AEDAT 3.1: packets of events among packets of other kinds, times of 63 bits, broken packets."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evsurf.data.formats import (
    DamageError,
    DamageWarning,
    FormatError,
    GuessedSizeWarning,
    open_recording,
    read,
)
from evsurf.data.formats.registry import format_of
from evsurf.events import Events
from tests.data.formats.aedat_files import HEADER3, other_packet, packet, rows_of, write_aedat3
from tests.random_events import random_batch

ROWS = [(1, 2, 10, 1), (127, 0, 10, 0), (0, 127, 30, 1)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.aedat"


def some_events(count: int = 1000, origin: int = 0) -> Events:
    return random_batch([count], (128, 128), origin=origin)[0]


@pytest.mark.parametrize("per", [1, 100, 10_000])
@pytest.mark.parametrize("origin", [0, 2**31 - 5000, 2**40])
def test_packets_of_any_size_and_time_are_read_exactly(path, per, origin):
    events = some_events(origin=origin)
    write_aedat3(path, events, per=per)
    assert format_of(path).name == "aedat3"
    found = read(path, strict=True)
    assert (found.size, rows_of(found)) == ((128, 128), rows_of(events))
    with open_recording(path) as recording:
        assert recording.size_source == "chip"
        pieces = list(recording.chunks(300))
        assert [len(piece) for piece in pieces] == [300, 300, 300, 100]
        assert [row for piece in pieces for row in rows_of(piece)] == rows_of(events)


def test_blocks_end_inside_packets_without_a_trace(path, monkeypatch):
    monkeypatch.setattr("evsurf.data.formats.aedat3._BLOCK", 100)
    events = some_events()
    write_aedat3(path, events, per=70)
    assert read(path).t.tolist() == events.t.tolist()
    write_aedat3(path, events, per=270)
    assert read(path).t.tolist() == events.t.tolist()


def test_invalid_events_are_left_out_and_noted(path):
    raw = HEADER3 + packet(ROWS) + packet([(5, 5, 40, 1)], valid=0) + packet([(6, 6, 50, 0)])
    path.write_bytes(raw)
    place = len(HEADER3) + 28 + 24 + 28
    with pytest.warns(DamageWarning, match=f"invalid_event: 1, first at byte {place}"):
        assert rows_of(read(path)) == [*ROWS, (6, 6, 50, 0)]


def test_an_event_outside_the_sensor_is_noted_with_its_byte(path):
    path.write_bytes(HEADER3 + packet(ROWS) + other_packet() + packet([(128, 6, 50, 0)]))
    with pytest.raises(DamageError) as caught:
        read(path, strict=True)
    place = len(HEADER3) + 28 + 24 + 28 + 3 * 36 + 28
    assert (caught.value.violation, caught.value.offset) == ("out_of_bounds", place)


@pytest.mark.parametrize("keep", range(1, 28 + 24))
def test_a_last_packet_that_was_cut_off_keeps_its_whole_events(path, keep):
    whole = HEADER3 + packet(ROWS)
    path.write_bytes(whole + packet([(4, 4, 40, 0)] * 3)[:keep])
    with pytest.warns(DamageWarning, match="truncated"):
        found = read(path)
    assert len(found) == 3 + max(0, (keep - 28) // 8)


@pytest.mark.parametrize(
    "broken",
    [
        b"\xff" * 28,
        b"\0" * 29,
        struct.pack("<hhiiiiii", 1, 1, 9, 4, 0, 1, 1, 1),
        struct.pack("<hhiiiiii", 1, 1, 8, 4, 0, 1, 5, 1),
        struct.pack("<hhiiiiii", 1, 1, 8, 4, -1, 1, 1, 1),
        struct.pack("<hhiiiiii", 2, 1, -8, 4, 0, 1, 1, 1),
        bytes(range(200)),
    ],
)
def test_after_a_broken_packet_the_next_good_one_is_found(path, broken):
    path.write_bytes(HEADER3 + packet(ROWS) + broken + packet([(6, 6, 50, 0)]))
    place = len(HEADER3) + 28 + 24
    with pytest.warns(DamageWarning, match=f"bad_packet: 1, first at byte {place}"):
        assert rows_of(read(path)) == [*ROWS, (6, 6, 50, 0)]


@given(st.binary(max_size=200))
def test_any_bytes_end_in_events(tmp_path_factory, body):
    path = tmp_path_factory.mktemp("any") / "a.aedat"
    path.write_bytes(HEADER3 + body)
    with open_recording(path) as recording:
        assert len(recording.read()) <= len(body) // 8


def test_one_of_several_cameras_is_chosen(path):
    header = HEADER3.replace(b"#Source 1: DVS128", b"#Source 0: DAVIS240C\r\n#Source 1: DVS128")
    path.write_bytes(header + packet([(200, 5, 9, 1)], source=0) + packet(ROWS))
    assert rows_of(read(path, stream="1")) == ROWS
    found = read(path, stream="0")
    assert (found.size, len(found)) == ((180, 240), 1)
    for stream in (None, "2"):
        with pytest.raises(FormatError, match=r"'0' \(DAVIS240C\), '1' \(DVS128\)"):
            read(path, stream=stream)


def test_a_camera_without_a_known_size_has_it_guessed(path):
    path.write_bytes(HEADER3.replace(b"DVS128", b"Toaster") + packet(ROWS))
    with pytest.warns(GuessedSizeWarning):
        assert read(path).size == (128, 128)


def test_packets_in_another_format_are_refused(path):
    path.write_bytes(HEADER3.replace(b"RAW", b"SERIALIZED_TS") + packet(ROWS))
    with pytest.raises(FormatError, match="SERIALIZED_TS"):
        read(path)


def test_version_0_counts_rows_from_the_bottom(path):
    path.write_bytes(HEADER3.replace(b"3.1", b"3.0") + packet(ROWS))
    with open_recording(path) as recording:
        assert recording.facts["axes"] == "as stored: row 0 is the bottom row"
        assert rows_of(recording.read()) == ROWS
