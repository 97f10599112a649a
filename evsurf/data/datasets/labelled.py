"""What data sets of labelled recordings share: a list of files, their classes, one at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from torch.utils.data import Dataset

from evsurf.data.formats.columns import Size
from evsurf.events import Events
from evsurf.events.checks import check_integer

Transform: TypeAlias = Callable[[Any], Any]


class Labelled(NamedTuple):
    """One recording and the number of its class."""

    path: Path
    target: int


@dataclass(frozen=True)
class Listing:
    """What a folder holds of one split."""

    recordings: tuple[Labelled, ...]
    classes: tuple[str, ...]
    expected: int | None = None
    """How many recordings the split has in full, where known."""


class LabelledRecordings(Dataset[tuple[Any, Any]], ABC):
    """Recordings with a class each: `len(data)`, and `data[i]` is a pair of events and class.

    Files are opened when they are asked for, so that any number of workers may share a data set.
    """

    def __init__(
        self,
        root: Path,
        split: str | None,
        listing: Listing,
        size: Size | None,
        *,
        transform: Transform | None,
        target_transform: Transform | None,
    ) -> None:
        self.root = root
        self.split = split
        self.size = size
        """Height and width of every recording; None where each has its own."""
        self.recordings: Sequence[Labelled] = listing.recordings
        """Path and class of each recording, in the order of the indices."""
        self.classes = listing.classes
        """Names of the classes; a target is a place in here."""
        self.transform = transform
        self.target_transform = target_transform
        self._expected = listing.expected

    @abstractmethod
    def _read(self, path: Path) -> Events:
        """The events of one file."""

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The number of each class by its name."""
        return {name: i for i, name in enumerate(self.classes)}

    @property
    def targets(self) -> list[int]:
        """The class of each recording, without reading any."""
        return [recording.target for recording in self.recordings]

    @property
    def complete(self) -> bool:
        """Whether as many recordings are here as the data set has; True where nobody knows."""
        return self._expected in (None, len(self))

    def __len__(self) -> int:
        return len(self.recordings)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        path, target = self.recordings[checked_index(index, len(self))]
        return transformed(self._read(path), target, self.transform, self.target_transform)

    def __repr__(self) -> str:
        count = f"{len(self):,}"
        if not self.complete:
            count += f" of {self._expected:,}"
        size = "sizes of their own" if self.size is None else "{}x{}".format(*self.size)
        split = "" if self.split is None else f", split={self.split!r}"
        kind = type(self).__name__
        return (
            f"{kind}({str(self.root)!r}{split}: {count} recordings of {len(self.classes)} classes, "
            f"{size})"
        )


def checked_index(index: object, length: int) -> int:
    """The index of a sample, counted from the end where it is negative."""
    number = check_integer("index", index, "a sample's number")
    if not -length <= number < length:
        raise IndexError(f"index {number} is outside the {length:,} samples")
    return number % length


def transformed(
    events: Any, target: Any, transform: Transform | None, target_transform: Transform | None
) -> tuple[Any, Any]:
    """Both, after what the user wants done to them."""
    return (
        events if transform is None else transform(events),
        target if target_transform is None else target_transform(target),
    )
