"""What a format gives: a reader of its files, and where it can be written, a writer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Literal, TypeAlias

from evsurf.data.formats.columns import Columns, Size
from evsurf.data.formats.damage import Damage
from evsurf.events import Events

SizeSource: TypeAlias = Literal["argument", "header", "chip", "guess"]


@dataclass(frozen=True)
class Options:
    """What the caller of a reader chose."""

    size: Size | None = None
    """Height and width; what lies outside is damage. None: as the file says."""
    stream: str | None = None
    """Which of several streams of events in one file."""
    columns: str | None = None
    """The order of columns without names, such as "txyp"."""
    keep_unsorted: bool = False
    """Hand out events earlier than their predecessor too, noting them; else they are skipped."""
    damage: Damage = field(default_factory=Damage)
    """Where violations are noted."""


@dataclass(frozen=True)
class Header:
    """What a file says of itself before its first event."""

    size: Size | None = None
    size_source: SizeSource = "guess"
    facts: Mapping[str, str] = field(default_factory=dict)
    """Whatever else a person may want to know, such as the camera's serial number."""


class Reader(ABC):
    """One open file. Everything it hands out is in bounds and sorted; the rest is in `damage`.

    Opening reads no more than the header. `pieces` and `part` note the damage among what they read,
    again each time: `Recording` forgets what was noted before. A reader belongs to one thread and
    one process; another one opens the file anew.
    """

    header: Header

    def __init__(self, path: Path, options: Options) -> None:
        self.path = path
        self.options = options

    @property
    def damage(self) -> Damage:
        """The violations met so far."""
        return self.options.damage

    @abstractmethod
    def pieces(self, count: int) -> Iterator[Columns]:
        """All events from the front, at most this many at a time; each call starts anew.

        Needs memory for one piece and a bounded buffer, however large the file is.
        """

    @property
    def consumed(self) -> int | None:
        """Bytes of the file, from its front, that the latest of `pieces` has come to.

        Progress and estimates come from it. None where the reader cannot tell.
        """
        return None

    @abstractmethod
    def close(self) -> None:
        """Lets go of the file; called twice it does nothing more."""

    def __enter__(self) -> Reader:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class SeekableReader(Reader):
    """A reader that finds any event without reading all before it.

    Positions count the events that `pieces` would hand out.
    """

    @property
    def indexed(self) -> bool:
        """Whether positions are known at once; else the first call below reads the whole file."""
        return True

    @abstractmethod
    def __len__(self) -> int:
        """Number of events."""

    @abstractmethod
    def part(self, start: int, stop: int) -> Columns:
        """The events from position start up to stop, 0 <= start <= stop <= len."""

    @abstractmethod
    def position(self, t: int) -> int:
        """How many events are before this time in microseconds."""


@dataclass(frozen=True)
class Format:
    """One way of writing events down."""

    name: str
    """As a user types it, such as "evt3"."""
    summary: str
    """One line for tables."""
    suffixes: tuple[str, ...]
    """Ends of file names, with the dot, the usual one first."""
    recognises: Callable[[bytes, Path], bool]
    """Whether a file that starts with these bytes (up to 4096) is one, by its content alone.

    Folders are asked about too, with no bytes. Formats without any mark in their content always
    say False and are known by suffix.
    """
    open: Callable[[Path, Options], Reader]
    write: Callable[[Path, Iterable[Events], Size], None] | None = None
    """Writes pieces of one recording, sorted and of one size, to a file that does not exist yet."""
