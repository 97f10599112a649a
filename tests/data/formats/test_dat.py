"""DAT: its header, the types it may hold, and what it cannot."""

from __future__ import annotations

import pytest

from evsurf.data.formats import FormatError, open_recording, read, write
from evsurf.data.formats.registry import format_of
from evsurf.events import Events
from tests.data.formats import encoders as enc

EVENTS = [(0, 0, 0, 1), (119, 99, 1000, 0), (5, 6, 2**32 - 1, 1)]


def made(events, size=(100, 120)):
    x, y, t, p = zip(*events, strict=True)
    return Events.from_arrays(x, y, t, p, size=size)


def test_a_written_file_has_the_bytes_of_the_description(tmp_path):
    write(made(EVENTS), tmp_path / "a.dat")
    content = (tmp_path / "a.dat").read_bytes()
    assert content.endswith(b"% Height 100\n% Width 120\n" + bytes([12, 8]) + enc.dat(EVENTS))
    assert read(tmp_path / "a.dat", strict=True) == made(EVENTS)


def test_pieces_are_written_one_after_the_other(tmp_path):
    events = made(enc.random_events(1000, (100, 120), us=5000))
    write([events[:10], events[10:10], events[10:]], tmp_path / "a.dat")
    assert read(tmp_path / "a.dat", strict=True) == events


@pytest.mark.parametrize(
    ("events", "size", "message"),
    [
        ([(2**14, 0, 0, 1)], (9, 20_000), "x = 16384 does not fit: DAT holds .* up to 16383"),
        ([(0, 2**14, 0, 1)], (20_000, 9), "y = 16384 does not fit"),
        ([(0, 0, -1, 1)], (9, 9), "t = -1 does not fit: DAT holds no time before 0"),
        ([(0, 0, 2**32, 1)], (9, 9), "t = 4294967296 does not fit: .* up to 4294967295 us"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(tmp_path, events, size, message):
    with pytest.raises(ValueError, match=message):
        write(made(events, size), tmp_path / "a.dat")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("kind", "bytes_each"), [(14, 8), (12, 16), (1, 8)])
def test_records_that_are_no_events_are_refused(tmp_path, kind, bytes_each):
    path = tmp_path / "a.dat"
    path.write_bytes(enc.dat_header()[:-2] + bytes([kind, bytes_each]) + bytes(32))
    with pytest.raises(FormatError, match=f"of type {kind} with {bytes_each} bytes") as caught:
        open_recording(path)
    assert caught.value.offset == len(enc.dat_header()) - 2


def test_another_version_is_refused(tmp_path):
    path = tmp_path / "a.dat"
    path.write_bytes(enc.dat_header().replace(b"Version 2", b"Version 1"))
    with pytest.raises(FormatError, match="version '1'"):
        open_recording(path)


def test_a_header_without_anything_after_it_is_refused(tmp_path):
    path = tmp_path / "a.dat"
    path.write_bytes(enc.dat_header()[:-1])
    with pytest.raises(FormatError, match="ends after its header"):
        open_recording(path)


@pytest.mark.parametrize(
    "content",
    [
        enc.dat_header(),
        enc.dat_header(None, "Event2D", 0),
        b"% Height 720\n% Version 2\n% Width 1280\n" + bytes([12, 8]) + bytes(16),
    ],
)
def test_its_content_is_recognised_under_any_name(tmp_path, content):
    path = tmp_path / "a.unknown"
    path.write_bytes(content)
    assert format_of(path).name == "dat"


@pytest.mark.filterwarnings("ignore::evsurf.data.formats.GuessedSizeWarning")
def test_a_headerless_file_whose_first_byte_is_a_percent_sign_has_no_header(tmp_path):
    path = tmp_path / "a.dat"
    path.write_bytes(enc.dat([(1, 2, 0x25, 1), (3, 4, 0x2025, 0)]))
    assert read(path).t.tolist() == [0x25, 0x2025]


@pytest.mark.parametrize(
    "text", [b"hello world, this is no file of events at all", b"0.1;3;4;1\n" * 9]
)
def test_without_a_header_only_what_can_be_events_is_read(tmp_path, text):
    path = tmp_path / "a.dat"
    path.write_bytes(enc.dat([(1, 2, 5, 1)]) + text)
    with pytest.raises(FormatError, match="no header, and what it holds is no list") as caught:
        open_recording(path, format="dat")
    assert caught.value.offset == 8
