"""Cameras are known by the names that their software gives them."""

from __future__ import annotations

import io

import pytest

from evsurf.data.formats import FormatError
from evsurf.data.formats.aedat_header import header_lines, sensor_size


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("DVS128", (128, 128)),
        ("eDVS", (128, 128)),
        ("DAVIS128", (128, 128)),
        ("DAVIS240C", (180, 240)),
        ("Davis346red", (260, 346)),
        ("DAVIS346cBSI", (260, 346)),
        ("Davis640", (480, 640)),
        ("DVXplorer", (480, 640)),
        ("DVXplorer Lite", (240, 320)),
        ("Toaster", None),
        ("", None),
    ],
)
def test_a_name_tells_the_size(name, size):
    assert sensor_size(name) == size


def test_lines_become_facts_and_the_first_says_the_version():
    raw = b"#!AER-DAT2.0\r\n# AEChip: a.b.C\r\n#Source 1: DVS128\r\n# prose without a value\r\n"
    lines = header_lines(io.BytesIO(raw + b"\0\0\0\1"))
    assert lines.version == "2.0"
    assert lines.facts == {"AEChip": "a.b.C", "Source 1": "DVS128"}
    assert lines.start == len(raw)


def test_a_header_that_does_not_end_is_an_error():
    with pytest.raises(FormatError, match="does not end"):
        header_lines(io.BytesIO(b"#!AER-DAT2.0\r\n" + b"# x\r\n" * 4_000_000))
