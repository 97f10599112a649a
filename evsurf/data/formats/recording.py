"""`Recording`: a file of events, opened but not loaded."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import final

import numpy as np
import torch

from evsurf.data.formats.columns import Columns, Size
from evsurf.data.formats.damage import Damage, DamageWarning
from evsurf.data.formats.reader import Format, Options, Reader, SeekableReader, SizeSource
from evsurf.events import Events
from evsurf.events.checks import check_integer

PIECE = 1_000_000
"""Events that are in memory at once where nobody says otherwise."""


class GuessedSizeWarning(UserWarning):
    """A sensor's size was taken from the largest coordinates of the events."""


@final
class Recording:
    """A file of events that is read piece by piece, as `evsurf.data.open` gives it.

    `for events in recording.chunks()` needs memory for one chunk. `recording[i:j]` and
    `recording.between(t0, t1)` go straight to the place where `random_access` is True, and
    otherwise read the file up to there. Use it in a `with` statement, or close it.
    """

    def __init__(self, path: Path, file_format: Format, options: Options) -> None:
        self.path = path
        self.format = file_format.name
        """Name of the file's format."""
        self._options = options
        self._reader: Reader = file_format.open(path, options)
        self._guess: Size | None = None

    @property
    def damage(self) -> Damage:
        """What was wrong with the part of the file that was read so far."""
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

    def _guessed_size(self) -> Size:
        height = width = 1
        for columns in self._reader.pieces(PIECE):
            width = max(width, int(columns.x.max(initial=0)) + 1)
            height = max(height, int(columns.y.max(initial=0)) + 1)
        self.damage.clear()
        self._guess = height, width
        warn_of_guess(self.path, self._guess)
        return self._guess

    def chunks(self, count: int = PIECE) -> Iterator[Events]:
        """The recording from the front, at most this many events at a time."""
        if check_integer("count", count, "events") < 1:
            raise ValueError(f"count = {count} must be at least 1")
        size = self.size
        self.damage.clear()
        for columns in self._reader.pieces(count):
            yield as_events(columns, size)

    def __getitem__(self, index: slice) -> Events:
        """The events of a slice, whose step is 1."""
        if not isinstance(index, slice) or index.step not in (None, 1):
            raise TypeError(f"a recording is indexed by a slice with step 1, got {index!r}")
        start, stop = index.start or 0, index.stop
        if start < 0 or stop is None or stop < 0:
            start, stop, _ = slice(start, stop).indices(len(self))
        if isinstance(self._reader, SeekableReader):
            stop = min(stop, len(self._reader))
            return as_events(self._reader.part(min(start, stop), stop), self.size)
        return self._scanned(start, max(start, stop))

    def between(self, t0: int, t1: int) -> Events:
        """The events with t0 <= t < t1 in microseconds."""
        t0, t1 = (check_integer(n, t, "microseconds") for n, t in (("t0", t0), ("t1", t1)))
        if t0 > t1:
            raise ValueError(f"t0 = {t0} is after t1 = {t1}: between takes t0 <= t < t1")
        if isinstance(self._reader, SeekableReader):
            return self[self._reader.position(t0) : self._reader.position(t1)]
        found = []
        for columns in self._reader.pieces(PIECE):
            start, stop = np.searchsorted(columns.t, [t0, t1])
            # Copied, so that what is left out does not stay in memory.
            found.append(Columns(*(column.copy() for column in columns.part(start, stop))))
            if stop < columns.length:
                break
        return as_events(Columns.joined(found), self.size)

    def _scanned(self, start: int, stop: int) -> Events:
        found, seen = [], 0
        for columns in self._reader.pieces(PIECE):
            part = columns.part(max(start - seen, 0), max(stop - seen, 0))
            found.append(Columns(*(column.copy() for column in part)))
            seen += columns.length
            if seen >= stop:
                break
        return as_events(Columns.joined(found), self.size)

    def __len__(self) -> int:
        """Number of events; without random access, by reading all of them."""
        if isinstance(self._reader, SeekableReader):
            return len(self._reader)
        return sum(columns.length for columns in self._reader.pieces(PIECE))

    def read(self) -> Events:
        """The whole recording."""
        self.damage.clear()
        columns = Columns.joined(list(self._reader.pieces(2**62)))
        if "time_backwards" in self.damage.violations:
            order = np.argsort(columns.t, kind="stable")
            columns = Columns(*(column[order] for column in columns))
        if self._known_size is None:
            extent = (int(column.max(initial=0)) + 1 for column in (columns.y, columns.x))
            self._guess = next(extent), next(extent)
            warn_of_guess(self.path, self._guess)
        return as_events(columns, self.size)

    def close(self) -> None:
        """Lets go of the file."""
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


def as_events(columns: Columns, size: Size) -> Events:
    """The columns of a reader, which are trusted, as events that share their memory."""
    x, y, t, p = (torch.from_numpy(column) for column in columns)
    return Events(x, y, t, p, size, validate=False)


def warn_of_guess(path: Path, size: Size) -> None:
    """Says that a size comes from the events alone."""
    warnings.warn(
        f"{path.name} does not say its sensor's size; {size[0]}x{size[1]} (height x width) is a "
        "guess from its events. Give size=(height, width).",
        GuessedSizeWarning,
        stacklevel=3,
    )


def warn_of_damage(path: Path, damage: Damage) -> None:
    """Says what was wrong with a file that was read all the same."""
    if damage:
        warnings.warn(f"{path.name}: {damage}", DamageWarning, stacklevel=3)
