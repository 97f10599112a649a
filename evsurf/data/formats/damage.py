"""What is wrong with a file: named violations, counted, with the place where each came first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

VIOLATIONS: Mapping[str, str] = {
    "out_of_bounds": "events outside the sensor, skipped",
    "time_backwards": "events earlier than the one before, skipped",
    "time_out_of_range": "events at times beyond 2**62 microseconds, skipped",
    "time_high_backwards": "upper bits of the time that went back without a wrap, believed",
    "time_high_gap": "upper bits of the time that jumped by half their range, believed",
    "missing_time": "events before the first word that says the time, skipped",
    "missing_row": "events before the first word that says the row, skipped",
    "missing_vector_base": "vectors of events without a word that says where they start, skipped",
    "partial_vector": "vectors of events that broke off; what had come of them is kept",
    "partial_continuation": "counts of the camera that broke off, ignored",
    "unknown_word": "words of no known type, skipped",
    "invalid_polarity": "events whose polarity is none, skipped",
    "not_a_number": "events with a coordinate or time that is no whole number, skipped",
    "bad_line": "lines that are no event, skipped",
    "bad_packet": "packets whose header or contents make no sense, skipped",
    "invalid_event": "events that the camera itself marked as invalid, skipped",
    "truncated": "bytes after the last whole record, ignored",
}
"""Every name of a violation, and what became of it."""

WHERE_SORTED: Mapping[str, str] = {
    **VIOLATIONS,
    "time_backwards": "events earlier than the one before, put in order",
}
"""The same, where a file was read whole."""

Place: TypeAlias = Literal["byte", "event", "line"]


class FormatError(ValueError):
    """A file that cannot be read as what it should be."""

    path: Path | None = None
    """The file, once `read` or a `Recording` has passed the error on."""

    def __init__(self, message: str, *, offset: int | None = None) -> None:
        super().__init__(message if offset is None else f"{message} (at byte {offset:,})")
        self.offset = offset
        """The byte where reading failed; None where none is to blame."""


class DamageError(FormatError):
    """A violation, where the caller asked for none."""

    def __init__(self, message: str, *, violation: str, offset: int | None = None) -> None:
        super().__init__(message, offset=offset)
        self.violation = violation
        """Its name, one of `VIOLATIONS`."""


class DamageWarning(UserWarning):
    """A file was damaged, and read without what was."""


@dataclass
class Violation:
    """How often one thing was wrong, and where first."""

    count: int
    first: int
    """Byte, event or line, counted from 0."""
    place: Place

    def __str__(self) -> str:
        return f"{self.count:,}, first at {self.place} {self.first:,}"


@dataclass
class Damage:
    """The violations found so far in one file, by name; false where there are none.

    With `strict`, the first one raises `DamageError` instead.
    """

    strict: bool = False
    violations: dict[str, Violation] = field(default_factory=dict)

    def note(self, name: str, count: int, first: int, *, place: Place = "byte") -> None:
        """Adds this many violations of a name; of none, nothing."""
        if count <= 0:
            return
        meaning = VIOLATIONS[name]
        if self.strict:
            offset = first if place == "byte" else None
            where = "" if place == "byte" else f" (at {place} {first:,})"
            raise DamageError(f"{name}: {meaning}{where}", violation=name, offset=offset)
        known = self.violations.get(name)
        if known is None:
            self.violations[name] = Violation(count, first, place)
        else:
            known.count += count

    def explained(self, meanings: Mapping[str, str] = VIOLATIONS) -> str:
        """As it is printed, and what became of each."""
        return "; ".join(
            f"{name}: {found} ({meanings[name]})" for name, found in self.violations.items()
        )

    def clear(self) -> None:
        """Forgets all, for reading from the front again."""
        self.violations.clear()

    def __bool__(self) -> bool:
        return bool(self.violations)

    def __str__(self) -> str:
        if not self:
            return "no damage"
        return "; ".join(f"{name}: {found}" for name, found in self.violations.items())
