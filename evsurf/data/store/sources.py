"""Where the samples of a store come from: files of any format, or a data set."""

from __future__ import annotations

import csv
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol, final, runtime_checkable

from evsurf.data.formats.files import open_recording, read
from evsurf.data.formats.recording import Recording
from evsurf.data.store.writer import StoreWriter
from evsurf.events import Events

# A part of a conversion has about so much to read; how many there are does not depend on workers.
_PART_BYTES, _PART_FILES, _PART_SAMPLES = 64 << 20, 1024, 256

# Of what tells one data set from another of its kind.
_LONGEST_TEXT = 1_000


class Source(ABC):
    """Samples in a fixed order, each of which is read alone."""

    classes: tuple[str, ...] | None

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def parts(self) -> list[Source]:
        """The samples in pieces for workers, the same ones every time."""

    @abstractmethod
    def identity(self) -> Any:
        """What tells this source from another, as JSON can hold it."""

    @abstractmethod
    def names(self) -> list[str]:
        """What each sample is called in an error."""

    @abstractmethod
    def add(self, number: int, writer: StoreWriter) -> None:
        """Writes one sample."""


@final
@dataclass(frozen=True)
class FileSource(Source):
    """Files of any formats, one sample each.

    `targets` has one number or class name per file. `folder` is what names of samples leave out.
    `size` is for files that do not say their sensor's; without it, theirs is a guess. `strict`,
    `format`, `stream` and `columns` are those of `evsurf.read`.
    """

    paths: Sequence[Path]
    targets: Sequence[Any] | None = None
    classes: tuple[str, ...] | None = None
    folder: Path | None = None
    size: tuple[int, int] | None = None
    strict: bool = False
    format: str | None = None
    stream: str | None = None
    columns: str | None = None

    def __post_init__(self) -> None:
        if self.targets is not None and len(self.targets) != len(self.paths):
            raise ValueError(
                f"there are {len(self.targets):,} targets for {len(self.paths):,} files"
            )

    @staticmethod
    def of_folder(
        folder: str | os.PathLike[str],
        *,
        labels: str | os.PathLike[str] | None = None,
        size: tuple[int, int] | None = None,
        strict: bool = False,
    ) -> FileSource:
        """Every file below a folder, in the order of their names; hidden ones are left out.

        Where all of them are in subfolders, these are the classes. `labels` is a CSV file instead:
        a line of headings, then the file's name and its class or number in each line.
        """
        root = Path(folder)
        if not root.is_dir():
            raise FileNotFoundError(f"there is no folder {root}")
        found = sorted(root.rglob("*"), key=lambda path: path.relative_to(root).parts)
        files = [path for path in found if path.is_file() and not _hidden(path.relative_to(root))]
        if not files:
            raise FileNotFoundError(f"there is no file in the folder {root}")
        targets, classes = None, None
        if labels is not None:
            targets, classes = _labelled(files, root, Path(labels))
        elif all(path.parent != root for path in files):
            targets = [path.relative_to(root).parts[0] for path in files]
            classes = tuple(sorted(set(targets)))
        return FileSource(files, targets, classes, root, size, strict)

    def __len__(self) -> int:
        return len(self.paths)

    def parts(self) -> list[Source]:
        """The samples in pieces of bounded size."""
        edges, weight = [0], 0
        for i, path in enumerate(self.paths):
            weight += path.stat().st_size if path.exists() else 0
            if weight >= _PART_BYTES or i + 1 - edges[-1] == _PART_FILES:
                edges.append(i + 1)
                weight = 0
        edges += [len(self)] if edges[-1] != len(self) else []
        return [self._only(start, stop) for start, stop in pairwise(edges)]

    def _only(self, start: int, stop: int) -> FileSource:
        targets = None if self.targets is None else self.targets[start:stop]
        paths = self.paths[start:stop]
        return replace(self, paths=paths, targets=targets)

    def identity(self) -> Any:
        """What tells these samples from others."""
        files = []
        for path in self.paths:
            facts = path.stat() if path.exists() else None
            files.append([str(path), *([facts.st_size, facts.st_mtime_ns] if facts else [])])
        targets = None if self.targets is None else [str(target) for target in self.targets]
        reading = [self.size, self.strict, self.format, self.stream, self.columns]
        return [files, targets, self.classes, reading]

    def names(self) -> list[str]:
        """What each sample is called."""
        if self.folder is None:
            return [str(path) for path in self.paths]
        return [path.relative_to(self.folder).as_posix() for path in self.paths]

    def add(self, number: int, writer: StoreWriter) -> None:
        """Writes one sample."""
        path, name = Path(self.paths[number]), self._only(number, number + 1).names()[0]
        target = None if self.targets is None else self.targets[number]
        with warnings.catch_warnings():
            # What these say is kept with the store.
            warnings.simplefilter("ignore")
            options: dict[str, Any] = {
                "format": self.format,
                "stream": self.stream,
                "columns": self.columns,
                "strict": self.strict,
            }
            with open_recording(path, self.size, **options) as recording:
                try:
                    writer.add(_in_order(recording), target, name=name)
                except _LateEventsError:
                    # `read` needs memory for all of them, and puts them in order.
                    writer.add(read(path, self.size, **options), target, name=name)
                notes = [str(recording.damage)] if recording.damage else []
                if recording.size_source == "guess":
                    notes.append("the sensor's size is a guess")
                if notes:
                    writer.note(name, "; ".join(notes))


class _LateEventsError(Exception):
    """A recording whose events are not in the order of their times."""


def _in_order(recording: Recording) -> Iterator[Events]:
    yield Events.empty(recording.size)
    yield from recording.chunks()
    if "time_backwards" in recording.damage.violations:
        raise _LateEventsError


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _labelled(
    files: list[Path], root: Path, labels: Path
) -> tuple[list[Any], tuple[str, ...] | None]:
    """The target of each file, and the classes unless these are numbers."""
    with labels.open(newline="", encoding="utf-8") as opened:
        rows = [row for row in csv.reader(opened) if row][1:]
    known = {row[0].strip(): row[1].strip() for row in rows if len(row) >= 2}
    names = [path.relative_to(root).as_posix() for path in files]
    missing = [name for name in names if name not in known]
    if missing:
        raise ValueError(
            f"{labels} has no line for {missing[0]!r} ({len(missing):,} of {len(names):,} files): "
            "its lines hold a file's name below the folder, and its class or number"
        )
    found = [known[name] for name in names]
    if all(label.lstrip("-").isdecimal() for label in found):
        return [int(label) for label in found], None
    return found, tuple(sorted(set(found)))


def _plain(dataset: object) -> dict[str, str]:
    """What a data set was made with, as far as it is short: its root, its split, its seed."""
    known = getattr(dataset, "__dict__", {})
    kinds = (str, int, float, bool, tuple, Path)
    return {
        name: text
        for name, value in sorted(known.items())
        if isinstance(value, kinds) and len(text := str(value)) <= _LONGEST_TEXT
    }


@runtime_checkable
class Dataset(Protocol):
    """What has a length and gives a pair (events, target) for each number below it."""

    def __len__(self) -> int:
        """Number of samples."""

    def __getitem__(self, index: int) -> Any:
        """Sample of this number."""


@final
@dataclass(frozen=True)
class DatasetSource(Source):
    """The samples of a data set, from start up to stop."""

    dataset: Dataset
    start: int = 0
    stop: int | None = None

    @property
    def classes(self) -> tuple[str, ...] | None:  # type: ignore[override]
        """The data set's own, where it has some."""
        classes = getattr(self.dataset, "classes", None)
        return None if classes is None else tuple(str(one) for one in classes)

    def __len__(self) -> int:
        return (len(self.dataset) if self.stop is None else self.stop) - self.start

    def parts(self) -> list[Source]:
        """The samples in pieces of bounded size."""
        edges = [*range(self.start, self.start + len(self), _PART_SAMPLES), self.start + len(self)]
        pairs = pairwise(edges)
        return [DatasetSource(self.dataset, start, stop) for start, stop in pairs]

    def identity(self) -> Any:
        """What tells these samples from others."""
        kind = type(self.dataset)
        return [kind.__module__, kind.__qualname__, _plain(self.dataset), self.start, len(self)]

    def names(self) -> list[str]:
        """What each sample is called."""
        return [str(i) for i in range(self.start, self.start + len(self))]

    def add(self, number: int, writer: StoreWriter) -> None:
        """Writes one sample."""
        sample = self.dataset[self.start + number]
        if not isinstance(sample, tuple | list) or len(sample) != 2:
            raise TypeError(
                f"dataset[{self.start + number}] must be a pair (events, target), got "
                f"{type(sample).__qualname__}"
            )
        events, target = sample
        if not isinstance(events, Events):
            raise TypeError(
                f"dataset[{self.start + number}] must begin with Events, got "
                f"{type(events).__qualname__}"
            )
        writer.add(events, target)


def as_source(source: Source | Dataset | Sequence[str | os.PathLike[str]] | str | Path) -> Source:
    """A folder, a list of files or a data set as a source."""
    if isinstance(source, Source):
        return source
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        return (
            FileSource([path], folder=path.parent) if path.is_file() else FileSource.of_folder(path)
        )
    if isinstance(source, Sequence) and source and isinstance(source[0], str | os.PathLike):
        return FileSource([Path(path) for path in source])
    if isinstance(source, Mapping) or not isinstance(source, Dataset):
        raise TypeError(
            "source must be a folder, a list of files or a data set with len() and [i], got "
            f"{type(source).__qualname__}"
        )
    return DatasetSource(source)
