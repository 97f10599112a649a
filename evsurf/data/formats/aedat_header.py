"""The lines of text in front of AEDAT 2 and 3 files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from io import BufferedIOBase

from evsurf.data.formats.columns import Size
from evsurf.data.formats.damage import FormatError

# Version 2 keeps all settings of the camera there, as XML.
_LONGEST_LINE = 2**16
_LONGEST = 2**24

# What a line of text cannot hold, and every event does: its address and time have small numbers.
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")

_FACT = re.compile(r"#\s?(?P<name>[A-Za-z][\w .-]{0,40}?)\s?: (?P<value>.*)")


@dataclass(frozen=True)
class Lines:
    """What a file's lines say, and where its events start."""

    version: str
    facts: Mapping[str, str]
    start: int


def header_lines(file: BufferedIOBase) -> Lines:
    """Reads the lines at the start of a file, up to the one that ends them or the first event."""
    facts: dict[str, str] = {}
    version = file.readline(_LONGEST_LINE).removeprefix(b"#!AER-DAT").strip().decode("latin-1")
    while True:
        start = file.tell()
        line = file.readline(_LONGEST_LINE)
        if not line.startswith(b"#") or not line.endswith(b"\n") or _BINARY.search(line):
            return Lines(version, facts, start)
        text = line.decode("utf-8", "replace").strip()
        found = _FACT.fullmatch(text)
        if found:
            facts.setdefault(found["name"], found["value"].strip())
        if text.upper() in ("#END OF ASCII HEADER", "#!END-HEADER"):
            return Lines(version, facts, file.tell())
        if file.tell() > _LONGEST:
            raise FormatError("the header does not end", offset=start)


# A camera's name: what it is called in headers, and its height and width.
_CAMERAS: tuple[tuple[str, Size], ...] = (
    (r"edvs|dvs.?128|tmpdiff128", (128, 128)),
    (r"davis.?128", (128, 128)),
    (r"davis.?208", (192, 208)),
    (r"davis.?240|sbret10|dvs.?240", (180, 240)),
    (r"davis.?346", (260, 346)),
    (r"davis.?640|davishet640", (480, 640)),
    (r"dvxplorer.?lite|dvs.?320", (240, 320)),
    (r"dvxplorer", (480, 640)),
)


def sensor_size(name: str) -> Size | None:
    """Height and width of the sensor in the camera of this name."""
    for pattern, size in _CAMERAS:
        if re.search(pattern, name, re.IGNORECASE):
            return size
    return None
