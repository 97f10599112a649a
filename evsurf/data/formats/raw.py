"""What RAW files of EVT 2.0, 2.1 and 3.0 have in common: their header."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from evsurf.data.formats.binary import BinaryReader
from evsurf.data.formats.columns import Size
from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.decoding import Layout
from evsurf.data.formats.percent import PercentHeader, percent_header, sensible_size
from evsurf.data.formats.reader import Header, Options, Reader, SizeSource

HEADER = 1 << 16
"""Headers are shorter than this many bytes."""

_VGA, _HD = (480, 640), (720, 1280)

# Words that name a chip in the header's sensor_name or plugin_name, the surest first.
_CHIPS: tuple[tuple[str, Size], ...] = (
    ("genx320", (320, 320)),
    ("imx636", _HD),
    ("imx646", _HD),
    ("imx637", (512, 640)),
    ("imx647", (512, 640)),
    ("gen41", _HD),
    ("gen4", _HD),
    ("gen31", _VGA),
    ("gen3", _VGA),
)
# Numbers of camera systems.
_SYSTEMS: dict[int, Size] = {
    **dict.fromkeys((0x14, 0x15, 0x18, 0x19, 0x1D, 0x21, 0x22, 0x23, 0x28, 0x29), _VGA),
    **dict.fromkeys((0x1E, 0x1F, 0x20, 0x27, 0x2E, 0x30, 0x31, 0x32, 0x35, 0x3A, 0x42), _HD),
    **dict.fromkeys((0x34, 0x36), (512, 640)),
    **dict.fromkeys((0x3B, 0x40), (320, 320)),
}
# The first system whose EVT 2.1 words are whole; earlier ones exchange their halves.
_FIRST_WHOLE = 0x37


def version_of(head: bytes) -> str | None:
    """Which kind of words follows this header: "EVT2", "EVT21", "EVT3", another, or None."""
    header = percent_header(head)
    name = header.facts.get("format", "").partition(";")[0].strip().upper()
    if name:
        return name
    number = header.facts.get("evt", "")
    return {"2.0": "EVT2", "2.1": "EVT21", "3.0": "EVT3"}.get(number, number or None)


def recogniser(version: str) -> Callable[[bytes, Path], bool]:
    """Whether a head is that of a RAW file of this version."""

    def recognises(head: bytes, path: Path) -> bool:  # noqa: ARG001
        return version_of(head) == version

    return recognises


def open_raw(path: Path, options: Options, version: str) -> Reader:
    """A reader of a RAW file, which has to be of this version."""
    with path.open("rb") as file:
        head = file.read(HEADER)
    found = version_of(head)
    if found != version:
        says = f"says {found!r}" if found else "does not say which words it holds"
        raise FormatError(f"{path} is no {version} file: its header {says}", offset=0)
    header = percent_header(head)
    size, source = _size_of(header)
    return BinaryReader(
        path,
        options,
        _layout_of(header, head[header.length :], version),
        header=Header(size, source, header.facts),
        start=header.length,
    )


def _options_of(header: PercentHeader) -> dict[str, str]:
    """What follows the name in a line such as `% format EVT3;height=720;width=1280`."""
    parts = header.facts.get("format", "").split(";")[1:]
    pairs = (part.partition("=") for part in parts)
    return {key.strip().lower(): value.strip() for key, _, value in pairs}


def _size_of(header: PercentHeader) -> tuple[Size | None, SizeSource]:
    """Height and width as the header says, else of the chip that it names."""
    named = _options_of(header)
    geometry = re.fullmatch(r"(\d+)x(\d+)", header.facts.get("geometry", ""))
    width, height = geometry.groups() if geometry else (None, None)
    for size in (
        sensible_size(named.get("height"), named.get("width")),
        sensible_size(height, width),
        header.size_in("height", "width"),
    ):
        if size:
            return size, "header"
    chip = _chip_size(header)
    return (chip, "chip") if chip else (None, "guess")


def _chip_size(header: PercentHeader) -> Size | None:
    for key in ("sensor_name", "plugin_name"):
        name = header.facts.get(key, "").lower()
        for chip, size in _CHIPS:
            if chip in name:
                return size
    generation = header.facts.get("sensor_generation", header.facts.get("generation", ""))
    known = {"3.0": _VGA, "3.1": _VGA, "4.0": _HD, "4.1": _HD, "4.2": _HD}
    return _SYSTEMS.get(_system_of(header)) or known.get(generation)


def _system_of(header: PercentHeader) -> int:
    text = header.facts.get("system_id", "")
    return int(text) if text.isdecimal() and len(text) < 10 else -1


def _layout_of(header: PercentHeader, payload: bytes, version: str) -> Layout:
    if version == "EVT2":
        return "evt2"
    if version == "EVT3":
        return "evt3"
    order = _options_of(header).get("endianness") or header.facts.get("endianness")
    if order in ("little", "legacy"):
        return "evt21" if order == "little" else "evt21_swapped"
    return _likelier_order(payload, swapped=0 < _system_of(header) < _FIRST_WHOLE)


def _likelier_order(payload: bytes, *, swapped: bool) -> Layout:
    """The order of halves under which more words have a known type, and more of them a time.

    `swapped` decides where both explain the bytes equally well.
    """
    known = {0x0, 0x1, 0x8, 0xA, 0xE, 0xF}
    whole = len(payload) // 8 * 8

    def score(last_byte: int) -> tuple[int, int]:
        types = [byte >> 4 for byte in payload[last_byte:whole:8]]
        return sum(kind in known for kind in types), types.count(0x8)

    plain, other = score(7), score(3)
    if plain == other:
        return "evt21_swapped" if swapped else "evt21"
    return "evt21" if plain > other else "evt21_swapped"


def write_header(file: BinaryIO, version: str, number: str, size: Size) -> None:
    """The lines before the first word."""
    height, width = size
    options = "endianness=little;" if version == "EVT21" else ""
    file.write(
        f"% evt {number}\n% format {version};{options}height={height};width={width}\n"
        f"% geometry {width}x{height}\n% end\n".encode()
    )
