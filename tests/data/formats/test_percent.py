"""Headers of percent lines, up to the first byte that is an event's."""

from __future__ import annotations

import pytest

from evsurf.data.formats.percent import percent_header, sensible_size


def test_lines_become_keys_and_values():
    header = percent_header(b"% Date 2017-10-31 11:29:21\n% Height 720\r\n%\n% Width 1280\nrest")
    assert header.facts == {"date": "2017-10-31 11:29:21", "height": "720", "": "", "width": "1280"}
    assert header.title == "Date 2017-10-31 11:29:21"
    assert header.length == len(header_bytes(header))
    assert header.size_in("height", "width") == (720, 1280)


def header_bytes(header):
    return b"% Date 2017-10-31 11:29:21\n% Height 720\r\n%\n% Width 1280\n"


def test_the_last_line_ends_it_though_an_event_looks_like_a_line():
    assert percent_header(b"% evt 3.0\n% end\n% not a line\n").length == 16
    assert percent_header(b"% evt 3.0\n% end\n").facts == {"evt": "3.0"}


@pytest.mark.parametrize("event", [b"%\x00\x00\x00\n", b"%ab\n", b"% " + bytes(5000), b"% abc"])
def test_an_event_that_starts_with_a_percent_sign_is_no_line(event):
    assert percent_header(b"% evt 2.0\n" + event).length == 10
    assert percent_header(event).length == 0


def test_the_first_of_two_lines_with_one_key_holds():
    assert percent_header(b"% a 1\n% a 2\n").facts == {"a": "1"}


@pytest.mark.parametrize("key", ["evt 3.0", "format EVT2", "plugin_name x", "system_ID 3"])
def test_raw_files_are_told_by_their_keys(key):
    assert percent_header(f"% {key}\n".encode()).is_raw
    assert not percent_header(b"% Height 3\n").is_raw


@pytest.mark.parametrize("side", ["0", "-1", "32768", "1.5", "x", "", "9" * 5000, None])
def test_what_cannot_be_a_size_is_none(side):
    assert sensible_size(side, "5") is None
    assert sensible_size("5", side) is None
    assert sensible_size("5", "32767") == (5, 32767)
