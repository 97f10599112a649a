"""Headers of lines that begin with a percent sign, as DAT and RAW files have them."""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import NamedTuple

from evsurf.data.formats.columns import Size
from evsurf.events.checks import LONGEST_SIDE

_LONGEST_LINE = 4096
_PRINTABLE = frozenset(string.printable.encode())
_RAW_KEYS = {"evt", "format", "system_id", "plugin_name", "integrator_name"}


class PercentHeader(NamedTuple):
    """The lines before the first event, as keys in small letters and what follows them."""

    facts: Mapping[str, str]
    title: str
    """The first line."""
    length: int
    """Bytes; 0 where there is no header."""

    @property
    def is_raw(self) -> bool:
        """Whether only RAW files say such things."""
        return bool(_RAW_KEYS & set(self.facts))

    def size_in(self, height: str, width: str) -> Size | None:
        """Height and width under these keys, if both are there and make sense."""
        return sensible_size(self.facts.get(height), self.facts.get(width))


def sensible_size(height: str | None, width: str | None) -> Size | None:
    """Two numbers that can be a sensor's, or None."""
    if height is None or width is None or not (height.isdecimal() and width.isdecimal()):
        return None
    if len(height) > 5 or len(width) > 5:
        return None
    size = int(height), int(width)
    return size if all(1 <= side <= LONGEST_SIDE for side in size) else None


def percent_header(head: bytes) -> PercentHeader:
    """The header at the front of these bytes; events may follow at once, without a last line."""
    facts: dict[str, str] = {}
    title, at = "", 0
    while head[at : at + 1] == b"%":
        end = head.find(b"\n", at, at + _LONGEST_LINE)
        line = head[at:end]
        # What looks like a line may be the first event, whose lowest byte is a percent sign.
        if end < 0 or not _PRINTABLE.issuperset(line) or line[1:2] not in (b" ", b"\r", b""):
            break
        text = line[1:].decode("ascii").strip()
        title = title or text
        key, _, value = text.partition(" ")
        at = end + 1
        if key.lower() == "end" and not value:
            break
        facts.setdefault(key.lower(), value.strip())
    return PercentHeader(facts, title, at)
