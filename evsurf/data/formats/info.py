"""What a person wants to know of a file of events before reading it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from evsurf.data.formats.columns import Size
from evsurf.data.formats.damage import VIOLATIONS, Violation
from evsurf.data.formats.files import open_recording
from evsurf.data.formats.reader import SizeSource
from evsurf.data.formats.recording import Recording, bytes_of
from evsurf.data.formats.sampling import Extent, Look, Progress, look_at_all, sample
from evsurf.data.formats.telling import naming

_PIXELS = 3
_SAYS: Mapping[SizeSource, str] = {
    "argument": "as you say",
    "header": "says its header",
    "chip": "as its chip has",
    "guess": "a guess from its events",
}
_SEEN: Mapping[Extent, str] = {
    "all": "all",
    "places": "front, middle and end",
    "front": "front",
}


class HotPixel(NamedTuple):
    """A pixel with many events."""

    x: int
    y: int
    events: int
    """Among those that were looked at."""


@dataclass(frozen=True)
class Info:
    """What a file of events holds, as `evsurf.info` finds it; prints as a table.

    Unless `looked_at` says "all", shares, pixels and damage are those of a sample.
    """

    path: Path
    format: str
    bytes: int
    """On disk."""
    size: Size
    """Height and width of the sensor."""
    size_source: SizeSource
    """Who says the size: the argument, the file's header, the chip it names, or a guess."""
    events: int | None
    """Number of events; None where it cannot even be estimated."""
    exact: bool
    """Whether `events` and `end` are certain, and not estimated from the front."""
    start: int | None
    """Time of the first event in microseconds; None without events."""
    end: int | None
    """Time of the last."""
    on: float | None
    """Share of events that became brighter, 0 to 1."""
    hottest: tuple[HotPixel, ...]
    """The pixels with most events."""
    looked_at: Extent
    """What the file was judged by: all of it, three places, or its front."""
    sample: int
    """Events that were looked at."""
    damage: Mapping[str, Violation]
    """What is wrong with the file, by name."""
    broken: str | None
    """The error at which reading broke off."""
    facts: Mapping[str, str]
    """Whatever else its header says."""

    @property
    def duration(self) -> int | None:
        """Microseconds from the first event to the last."""
        return None if self.start is None or self.end is None else self.end - self.start

    @property
    def rate(self) -> float | None:
        """Events per second."""
        if self.events is None or not self.duration:
            return None
        return 1e6 * self.events / self.duration

    def as_json(self) -> dict[str, object]:
        """The same in the types of JSON."""
        return {
            "path": str(self.path),
            "format": self.format,
            "bytes": self.bytes,
            "height": self.size[0],
            "width": self.size[1],
            "size_source": self.size_source,
            "events": self.events,
            "exact": self.exact,
            "start": self.start,
            "end": self.end,
            "duration": self.duration,
            "rate": self.rate,
            "on": self.on,
            "hottest": [pixel._asdict() for pixel in self.hottest],
            "looked_at": self.looked_at,
            "sample": self.sample,
            "damage": {name: vars(found) for name, found in self.damage.items()},
            "broken": self.broken,
            "facts": dict(self.facts),
        }

    def rows(self) -> list[tuple[str, str]]:
        """Names and texts, one line each but for the damage."""
        about = "" if self.exact else "about "
        certain = "" if self.exact else ", estimated from its front"
        height, width = self.size
        found = [
            ("format", self.format),
            ("on disk", decimal(self.bytes, "B")),
            ("sensor", f"{height} x {width} (height x width), {_SAYS[self.size_source]}"),
            ("events", "unknown" if self.events is None else f"{about}{self.events:,}{certain}"),
        ]
        if self.start is not None:
            found.append(("time", f"{self._lasts(about)}starts at {self.start:,} us"))
        if self.rate is not None:
            found.append(("rate", f"{about}{decimal(self.rate, 'events/s')}"))
        if self.on is not None:
            found.append(("polarity", f"{self.on:.1%} ON, {1 - self.on:.1%} OFF"))
        if self.hottest:
            found.append(("hottest", ", ".join(map(self._pixel, self.hottest))))
        if self.looked_at != "all":
            found.append(("judged by", f"{_SEEN[self.looked_at]}, {self.sample:,} events"))
        found += [(name, text) for name, text in self.facts.items()]
        damage = [f"{name}: {one} ({VIOLATIONS[name]})" for name, one in self.damage.items()]
        broken = [f"reading breaks off: {self.broken}"] if self.broken else []
        return found + [("damage", line) for line in damage + broken or ["none found"]]

    def _lasts(self, about: str) -> str:
        return "" if self.duration is None else f"{about}{seconds(self.duration)}, "

    def _pixel(self, pixel: HotPixel) -> str:
        return f"x {pixel.x}, y {pixel.y} ({pixel.events / self.sample:.2%})"

    def __str__(self) -> str:
        rows = self.rows()
        left = max(len(name) for name, _ in rows) + 2
        return "\n".join([str(self.path), *(f"  {name:{left}}{text}" for name, text in rows)])


def info(
    path: str | os.PathLike[str],
    size: Size | None = None,
    *,
    format: str | None = None,  # noqa: A002
    stream: str | None = None,
    columns: str | None = None,
    full: bool = False,
    progress: Progress | None = None,
) -> Info:
    """What a file holds: its sensor, events, time, polarities, hottest pixels and damage.

    A moment suffices for files of any length: they are judged by their header and by three places,
    or where a format has no random access by their front, and what is estimated so says it.
    `full=True` reads all events; `progress` is then called with the share that is done, 0 to 1.
    The other arguments are those of `read`.
    """
    with open_recording(path, size, format=format, stream=stream, columns=columns) as recording:
        total = bytes_of(recording.path)
        with naming(recording.path):
            if full:
                look = look_at_all(recording._reader, total, progress or _ignore)
            else:
                look = sample(recording._reader, total)
        return _told(recording, total, look)


def _told(recording: Recording, total: int, look: Look) -> Info:
    tally = look.tally
    return Info(
        path=recording.path,
        format=recording.format,
        bytes=total,
        size=recording._known_size or tally.size,
        size_source=recording.size_source,
        events=look.events,
        exact=look.exact,
        start=tally.start,
        end=look.end,
        on=tally.on / tally.events if tally.events else None,
        hottest=tuple(HotPixel(*pixel) for pixel in tally.hottest(_PIXELS)),
        looked_at=look.extent,
        sample=tally.events,
        damage=dict(recording.damage.violations),
        broken=None if look.broken is None else str(look.broken),
        facts=recording.facts,
    )


def _ignore(share: float) -> None:
    del share


def decimal(value: int | float, unit: str) -> str:
    """Three digits and the thousands in the unit, such as "1.07 GB"."""
    for prefix, times in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= 0.9995 * times:
            return f"{_three(value / times)} {prefix}{unit}"
    return f"{_three(value)} {unit}"


def seconds(microseconds: int) -> str:
    """A duration in the unit that suits it."""
    for unit, times in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= 0.9995 * times:
            return f"{_three(microseconds / times)} {unit}"
    return f"{microseconds} us"


def _three(value: int | float) -> str:
    digits = 0 if value >= 99.95 or value == int(value) else 1 if value >= 9.995 else 2
    return f"{value:,.{digits}f}"
