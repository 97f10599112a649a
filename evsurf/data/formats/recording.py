"""`Recording`: a file of events, opened but not loaded."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import final

import numpy as np
import torch

from evsurf.data.formats.columns import Columns, Size
from evsurf.data.formats.damage import Damage
from evsurf.data.formats.reader import Format, Options, Reader, SeekableReader, SizeSource
from evsurf.data.formats.registry import format_named, formats
from evsurf.data.formats.telling import naming, warn_of_guess
from evsurf.data.formats.windows import RecordingWindows
from evsurf.events import Events
from evsurf.events.checks import EARLIEST, LATEST, check_integer
from evsurf.events.windows import Stamps, rule_of

PIECE = 1_000_000
"""Events that are in memory at once where nobody says otherwise."""
ALL = 2**62
"""More events than there are."""


@final
class Recording:
    """A file of events that is read piece by piece, as `evsurf.open` gives it.

    `for events in recording.chunks()` needs memory for one chunk. `recording[i:j]` and
    `recording.between(t0, t1)` go straight to the place where `random_access` is True, and
    otherwise read the file up to there. Use it in a `with` statement, or close it.
    """

    def __init__(self, path: Path, file_format: Format, options: Options) -> None:
        self.path = path
        self.format = file_format.name
        """Name of the file's format."""
        self._format = file_format
        self._options = options
        self._guess: Size | None = None
        self._given = 0
        self._closed = False
        with naming(path):
            self._reader: Reader = file_format.open(path, options)

    @property
    def damage(self) -> Damage:
        """What was wrong with the part of the file that was read last."""
        return self._options.damage

    @property
    def facts(self) -> dict[str, str]:
        """What the file's header says besides."""
        return dict(self._reader.header.facts)

    @property
    def random_access(self) -> bool:
        """Whether any place in the file is reached without reading all before it."""
        return isinstance(self._reader, SeekableReader)

    @property
    def size(self) -> Size:
        """Height and width of the sensor; a file that does not say is read once to guess them."""
        return self._known_size or self._guessed_size()

    @property
    def size_source(self) -> SizeSource:
        """Who says the size: the argument, the file's header, the chip it names, or a guess."""
        if self._options.size is not None:
            return "argument"
        return self._reader.header.size_source if self._reader.header.size else "guess"

    @property
    def _known_size(self) -> Size | None:
        return self._options.size or self._reader.header.size or self._guess

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Around each pass: damage counts anew, and errors name the file."""
        if self._closed:
            raise ValueError(f"{self.path.name} is closed: open it again to read from it")
        self.damage.clear()
        with naming(self.path):
            yield

    def _guessed_size(self) -> Size:
        height = width = 1
        with self._reading():
            for columns in self._reader.pieces(PIECE):
                height, width = max(height, extent(columns.y)), max(width, extent(columns.x))
        self.damage.clear()
        return self._guessed(height, width)

    def _guessed(self, height: int, width: int) -> Size:
        self._guess = height, width
        warn_of_guess(self.path, self._guess)
        return self._guess

    @property
    def progress(self) -> float | None:
        """Share of the file, 0 to 1, that the latest chunks have come to; None where unknown."""
        if self._reader.consumed is not None:
            return min(self._reader.consumed / max(bytes_of(self.path), 1), 1.0)
        if isinstance(self._reader, SeekableReader) and self._reader.indexed:
            return self._given / max(len(self._reader), 1)
        return None

    def chunks(self, count: int = PIECE) -> Iterator[Events]:
        """The recording from the front, at most this many events at a time."""
        if check_integer("count", count, "events") < 1:
            raise ValueError(f"count = {count} must be at least 1")
        return self._chunks(count, self.size)

    def _chunks(self, count: int, size: Size) -> Iterator[Events]:
        self._given = 0
        with self._reading():
            for columns in self._reader.pieces(count):
                self._given += columns.length
                yield as_events(columns, size)

    def __iter__(self) -> Iterator[Events]:
        # Python would otherwise try recording[0], recording[1] and so on.
        raise TypeError("a recording is iterated by recording.chunks(), or by chunks(count)")

    def windows(
        self,
        *,
        duration: int | None = None,
        count: int | None = None,
        at: Stamps | None = None,
        stride: int | None = None,
        start: int | None = None,
        partial: bool | None = None,
    ) -> RecordingWindows:
        """Windows of the recording, read as they are asked for; arguments as `Events.windows`."""
        rule = rule_of(
            duration=duration, count=count, at=at, stride=stride, start=start, partial=partial
        )
        return RecordingWindows(self, rule)

    def reopened(self) -> Recording:
        """The same file, opened once more: for another process or thread."""
        options = replace(self._options, damage=Damage(strict=self.damage.strict))
        return _reopened(self.path, self._format, options, self._guess)

    def __reduce__(self) -> tuple[object, ...]:
        # An open file stays in its process; the copy opens it anew. Formats know functions that do
        # not travel, so those that have a name there go by it.
        known = formats().get(self.format) is self._format
        file_format = self.format if known else self._format
        return _reopened, (self.path, file_format, self._options, self._guess)

    def __getitem__(self, index: slice) -> Events:
        """The events of a slice, whose step is 1."""
        if not isinstance(index, slice) or index.step not in (None, 1):
            raise TypeError(f"a recording is indexed by a slice with step 1, got {index!r}")
        start = 0 if index.start is None else operator.index(index.start)
        stop = ALL if index.stop is None else operator.index(index.stop)
        size = self.size
        if start < 0 or stop < 0:
            start, stop, _ = slice(start, stop).indices(len(self))
        with self._reading():
            if isinstance(self._reader, SeekableReader):
                stop = min(stop, len(self._reader))
                return as_events(self._reader.part(min(start, stop), stop), size)
            return as_events(self._scanned(start, max(start, stop)), size)

    def _scanned(self, start: int, stop: int) -> Columns:
        found, seen = [], 0
        for columns in self._reader.pieces(PIECE):
            part = columns.part(max(start - seen, 0), max(stop - seen, 0))
            # Copied, so that what is left out does not stay in memory.
            found.append(Columns(*(column.copy() for column in part)))
            seen += columns.length
            if seen >= stop:
                break
        return Columns.joined(found)

    def between(self, t0: int, t1: int) -> Events:
        """The events with t0 <= t < t1 in microseconds."""
        t0, t1 = (check_integer(n, t, "microseconds") for n, t in (("t0", t0), ("t1", t1)))
        if t0 > t1:
            raise ValueError(f"t0 = {t0} is after t1 = {t1}: between takes t0 <= t < t1")
        # No event is beyond these, and the times of readers have 64 bits.
        t0, t1 = (min(max(t, EARLIEST), LATEST + 1) for t in (t0, t1))
        size = self.size
        with self._reading():
            if isinstance(self._reader, SeekableReader):
                start, stop = self._reader.position(t0), self._reader.position(t1)
                return as_events(self._reader.part(start, stop), size)
            return as_events(self._searched(t0, t1), size)

    def _searched(self, t0: int, t1: int) -> Columns:
        found = []
        for columns in self._reader.pieces(PIECE):
            start, stop = map(int, np.searchsorted(columns.t, [t0, t1]))
            found.append(Columns(*(column.copy() for column in columns.part(start, stop))))
            if stop < columns.length:
                break
        return Columns.joined(found)

    def __len__(self) -> int:
        """Number of events; without random access, by reading all of them."""
        with self._reading():
            if isinstance(self._reader, SeekableReader):
                return len(self._reader)
            return sum(columns.length for columns in self._reader.pieces(PIECE))

    def __bool__(self) -> bool:
        # Without this, `if recording` would read the file to count.
        return True

    def read(self) -> Events:
        """The whole recording."""
        with self._reading():
            columns = Columns.joined(list(self._reader.pieces(ALL)))
        if "time_backwards" in self.damage.violations:
            order = np.argsort(columns.t, kind="stable")
            columns = Columns(*(column[order] for column in columns))
        size = self._known_size or self._guessed(extent(columns.y), extent(columns.x))
        return as_events(columns, size)

    def close(self) -> None:
        """Lets go of the file."""
        self._closed = True
        self._reader.close()

    def __enter__(self) -> Recording:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        size = self._known_size
        shown = "unknown size" if size is None else "{}x{}".format(*size)
        return f"Recording({self.path.name!r}, {self.format}, {shown})"


def bytes_of(path: Path) -> int:
    """The size of a file on disk, or of the files in a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def extent(column: np.ndarray[tuple[int], np.dtype[np.int16]]) -> int:
    """The least height or width that holds these rows or columns."""
    return int(column.max(initial=0)) + 1


def _reopened(
    path: Path, file_format: Format | str, options: Options, guess: Size | None
) -> Recording:
    if isinstance(file_format, str):
        file_format = format_named(file_format)
    recording = Recording(path, file_format, options)
    recording._guess = guess
    return recording


def as_events(columns: Columns, size: Size) -> Events:
    """The columns of a reader, which are trusted, as events that share their memory.

    Columns that cannot be shared, as they may not be written or lie among others, are copied.
    """
    shareable = (np.require(column, requirements=["C", "A", "W"]) for column in columns)
    x, y, t, p = (torch.from_numpy(column) for column in shareable)
    return Events(x, y, t, p, size, validate=False)
