"""AEDAT 4: every compression, several streams, and packets that do not decode."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest

from evsurf.data.formats import (
    DamageError,
    DamageWarning,
    FormatError,
    open_recording,
    read,
)
from evsurf.data.formats.registry import format_of
from evsurf.events import Events
from tests.data.formats.aedat4_files import COMPRESSIONS, header, packet, write_aedat4
from tests.data.formats.aedat_files import rows_of
from tests.random_events import random_batch

SIZE = (260, 346)
EPOCH = 1_605_537_493_718_345


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.aedat4"


def some_events(count: int = 1000, size: tuple[int, int] = SIZE) -> Events:
    return random_batch([count], size, origin=EPOCH)[0]


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("size", [SIZE, (720, 1280)])
def test_every_compression_is_read_exactly(path, compression, size):
    events = some_events(size=size)
    write_aedat4(path, events, compression)
    assert format_of(path).name == "aedat4"
    found = read(path, strict=True)
    assert (found.size, rows_of(found)) == (size, rows_of(events))
    with open_recording(path) as recording:
        assert recording.size_source == "header"
        pieces = list(recording.chunks(300))
        assert [len(piece) for piece in pieces] == [300, 300, 300, 100]
        assert [row for piece in pieces for row in rows_of(piece)] == rows_of(events)


def test_blocks_of_packets_are_put_together_without_a_trace(path, monkeypatch):
    monkeypatch.setattr("evsurf.data.formats.aedat4._BLOCK", 250)
    events = some_events()
    write_aedat4(path, events)
    assert rows_of(read(path)) == rows_of(events)


def two_streams(path: Path) -> tuple[Events, Events]:
    one, two = some_events(30), some_events(20, (10, 20))
    front = header({0: ("EVTS", SIZE), 2: ("IMUS", None), 5: ("EVTS", (10, 20))}, "none")
    packets = packet(one[:10], "none") + packet(two, "none", stream=5) + packet(one[10:], "none")
    path.write_bytes(front + packets)
    return one, two


def test_one_of_several_streams_is_chosen(path):
    one, two = two_streams(path)
    assert rows_of(read(path, stream="0")) == rows_of(one)
    found = read(path, stream="5")
    assert (found.size, rows_of(found)) == ((10, 20), rows_of(two))
    with open_recording(path, stream="5") as recording:
        assert recording.facts["stream 0"] == "events, 346 x 260"
        assert recording.facts["stream 2"] == "imus"


@pytest.mark.parametrize("stream", [None, "2", "left"])
def test_without_a_choice_the_streams_are_listed(path, stream):
    two_streams(path)
    with pytest.raises(FormatError, match=r"'0' \(346 x 260\), '5' \(20 x 10\)"):
        read(path, stream=stream)


def test_a_file_without_events_says_so(path):
    path.write_bytes(header({2: ("IMUS", None)}, "none"))
    with pytest.raises(FormatError, match="no stream of events"):
        read(path)


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_after_a_packet_that_does_not_decode_the_next_is_read(path, compression):
    events = some_events(300)
    write_aedat4(path, events, compression)
    whole, second = path.read_bytes(), packet(events[100:200], compression)
    place = whole.index(second)
    path.write_bytes(whole.replace(second, second[:8] + b"\xff" * (len(second) - 8)))
    with pytest.warns(DamageWarning, match=f"bad_packet: 1, first at byte {place:,}"):
        assert rows_of(read(path)) == rows_of(events[:100]) + rows_of(events[200:])
    with pytest.raises(DamageError) as caught:
        read(path, strict=True)
    assert caught.value.offset == place


def test_a_panic_of_the_package_is_damage_too(path):
    events = some_events(300)
    write_aedat4(path, events)
    second = packet(events[100:200], "none")
    # The events are said to be far behind the packet's end.
    broken = second.replace(struct.pack("<iI", 6, 8), struct.pack("<iI", 6, 0x7FFFFFFF))
    assert broken != second
    path.write_bytes(path.read_bytes().replace(second, broken))
    with pytest.warns(DamageWarning, match="bad_packet: 1"):
        assert rows_of(read(path)) == rows_of(events[:100]) + rows_of(events[200:])


@pytest.mark.parametrize("keep", [1, 7, 8, 500])
def test_a_last_packet_that_was_cut_off_is_noted_with_its_byte(path, keep):
    events = some_events(300)
    write_aedat4(path, events)
    place = path.read_bytes().index(packet(events[200:], "none"))
    path.write_bytes(path.read_bytes()[: place + keep])
    with pytest.warns(DamageWarning, match=f"truncated: {keep}, first at byte {place:,}"):
        assert rows_of(read(path)) == rows_of(events[:200])


@pytest.mark.parametrize("keep", [14, 20, 100])
def test_a_header_that_was_cut_off_is_an_error(path, keep):
    write_aedat4(path, some_events(10))
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(FormatError, match="its header cannot be read"):
        read(path)


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        (b"</dv>", b"</vd>"),
        (b"<node", b"<n\xffde"),
        (b'<dv version="2.0">', b"<dv><!DOCTYPE x []>"),
    ],
)
def test_a_header_that_is_no_xml_is_an_error_before_it_is_handed_on(path, good, bad):
    write_aedat4(path, some_events(10))
    path.write_bytes(path.read_bytes().replace(good, bad.ljust(len(good)), 1))
    with pytest.raises(FormatError, match="its header cannot be read"):
        read(path)


def test_events_outside_the_sensor_are_left_out_and_noted(path):
    events = some_events(10)
    path.write_bytes(header({0: ("EVTS", (260, 300))}, "none") + packet(events, "none"))
    outside = int((events.x >= 300).sum())
    assert outside
    with pytest.warns(DamageWarning, match=f"out_of_bounds: {outside}"):
        assert len(read(path)) == 10 - outside


def test_a_missing_package_names_the_extra(path, monkeypatch):
    write_aedat4(path, some_events(10))
    monkeypatch.setitem(sys.modules, "aedat", None)
    with pytest.raises(ImportError, match=r"pip install 'evsurf\[io\]'"):
        read(path)


@pytest.mark.parametrize(
    ("name", "count", "size", "seconds"),
    [
        ("tonic_samples/sample.aedat4", 111_954, (240, 320), 0.59),
        ("faery_samples/davis346.aedat4", 78_830, (260, 346), 2.36),
        ("aestream_samples/davis.aedat4", 117_667, (260, 346), 0.13),
    ],
)
def test_real_recordings_read(shared_data, name, count, size, seconds):
    events = read(shared_data / name)
    assert (len(events), events.size) == (count, size)
    assert abs(int(events.t[-1] - events.t[0]) / 1e6 - seconds) < 0.02
