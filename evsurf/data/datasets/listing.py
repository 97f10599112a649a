"""Finding recordings and their classes in folders as people and archives lay them out."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from evsurf.data.datasets.labelled import Labelled
from evsurf.data.formats.damage import FormatError

DEEPEST = 4
"""Folders that an archive may put around what it contains."""

SPLITS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "val"),
    "test": ("test", "testing"),
}
"""Every split and what its folder may be called."""


def canonical_split(split: str, allowed: Sequence[str]) -> str:
    """The split's one name; of an unknown one, an error that lists what there is."""
    for name, spellings in SPLITS.items():
        if name in allowed and split in spellings:
            return name
    raise ValueError(f"split = {split!r} must be one of {', '.join(map(repr, allowed))}")


def folders_within(root: Path, depth: int = DEEPEST) -> Iterator[Path]:
    """The root and the folders in it, the outer ones first, hidden ones left out."""
    level = [root] if root.is_dir() else []
    for _ in range(depth + 1):
        yield from level
        level = [inner for folder in level for inner in subfolders(folder)]


def subfolders(folder: Path) -> list[Path]:
    """The folders directly in this one, by name, hidden ones left out."""
    with os.scandir(folder) as entries:
        names = sorted(e.name for e in entries if not e.name.startswith(".") and e.is_dir())
    return [folder / name for name in names]


def files_in(folder: Path, accepted: Callable[[str], bool]) -> list[Path]:
    """The files directly in a folder whose name is accepted, by name, hidden ones left out."""
    with os.scandir(folder) as entries:
        names = sorted(
            e.name
            for e in entries
            if not e.name.startswith(".") and accepted(e.name.lower()) and e.is_file()
        )
    return [folder / name for name in names]


def recordings_in(
    folder: Path, classes: Sequence[str], accepted: Callable[[str], bool]
) -> tuple[Labelled, ...]:
    """The recordings of all classes, whose folders have their names; a class may have none."""
    return tuple(
        Labelled(path, target)
        for target, name in enumerate(classes)
        if (folder / name).is_dir()
        for path in files_in(folder / name, accepted)
    )


def classes_in(folders: Iterable[Path], accepted: Callable[[str], bool]) -> tuple[str, ...]:
    """Names of the folders inside these that have recordings, sorted by their characters."""
    return tuple(
        sorted(
            {
                one.name
                for folder in folders
                for one in subfolders(folder)
                if files_in(one, accepted)
            }
        )
    )


def ends_in(*suffixes: str) -> Callable[[str], bool]:
    """Accepts the names of files with one of these ends."""
    return lambda name: name.endswith(suffixes)


def labels_in(path: Path) -> list[tuple[str, str]]:
    """File and label of each row of a CSV whose first row says `file,label`."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    if not rows or [cell.strip().lower() for cell in rows[0][:2]] != ["file", "label"]:
        raise FormatError(f"{path} must start with the row file,label")
    for number, row in enumerate(rows[1:], 2):
        if len(row) < 2:
            raise FormatError(f"{path}, line {number}: {row!r} is no file and label")
    return [(row[0].strip(), row[1].strip()) for row in rows[1:]]
