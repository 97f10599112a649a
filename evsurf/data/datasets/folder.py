"""`RecordingFolder`: anybody's recordings, sorted into folders by class."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import final

from evsurf.data.datasets.labelled import Labelled, LabelledRecordings, Listing, Transform
from evsurf.data.datasets.listing import (
    SPLITS,
    classes_in,
    ends_in,
    labels_in,
    recordings_in,
)
from evsurf.data.datasets.splits import listed
from evsurf.data.downloads import MissingDataError
from evsurf.data.formats import read
from evsurf.data.formats.columns import Size
from evsurf.data.formats.registry import formats
from evsurf.events import Events
from evsurf.events.checks import check_size


@final
class RecordingFolder(LabelledRecordings):
    """Recordings of any format, in a folder for each class.

    ```python
    data = RecordingFolder("gestures", "train", size=(128, 128))
    events, target = data[0]
    data.classes[target]
    ```

    A split is a folder, `root/split/class/file`, a list, `root/split.txt` with a line `class/file`
    for each recording, or a table, `root/split.csv` with the columns `file,label` and the files in
    `root/split/` or in the root; without a split the classes are the folders in the root. Classes
    are numbered in the order of their names, over all splits, so that they mean the same in each,
    or as `classes` says.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        split: str | None = None,
        *,
        size: Size | None = None,
        classes: Sequence[str] | None = None,
        format: str | None = None,  # noqa: A002
        transform: Transform | None = None,
        target_transform: Transform | None = None,
    ) -> None:
        """`size` and `format` are those of `evsurf.read`, for files that do not say them."""
        self._format = format
        # What has a known name; with a format given, everything.
        suffixes = tuple(suffix for one in formats().values() for suffix in one.suffixes)
        accepted = ends_in(*suffixes) if format is None else ends_in("")
        listing = _listing(Path(root), split, None if classes is None else tuple(classes), accepted)
        super().__init__(
            Path(root),
            split,
            listing,
            None if size is None else check_size(size),
            transform=transform,
            target_transform=target_transform,
        )

    def _read(self, path: Path) -> Events:
        return read(path, self.size, format=self._format)


def _listing(
    root: Path, split: str | None, classes: tuple[str, ...] | None, accepted: Callable[[str], bool]
) -> Listing:
    if not root.is_dir():
        raise MissingDataError(f"there is no folder {root}")
    if split is not None and not (root / split).is_dir() and (root / f"{split}.txt").is_file():
        names = classes or classes_in([root], accepted)
        found = listed(recordings_in(root, names, accepted), root / f"{split}.txt")
    elif split is not None and (root / f"{split}.csv").is_file():
        found, names = _tabled(root, split, classes)
    else:
        folder = root if split is None else root / split
        if not folder.is_dir():
            raise MissingDataError(
                f"{root} has no folder {split}, no {split}.txt and no {split}.csv"
            )
        names = classes or classes_in(_siblings(root, folder, split), accepted)
        found = recordings_in(folder, names, accepted)
    if not found:
        raise MissingDataError(
            f"no recordings in {root}: expected are folders named after the classes with files of "
            f"a known format in them, below {split or 'it'}"
        )
    return Listing(found, names)


def _siblings(root: Path, folder: Path, split: str | None) -> list[Path]:
    """The folders of all splits, for a class may be missing from one of them."""
    if split is None:
        return [folder]
    others = [root / name for names in SPLITS.values() for name in names]
    return [folder, *(other for other in others if other.is_dir())]


def _tabled(
    root: Path, split: str, classes: tuple[str, ...] | None
) -> tuple[tuple[Labelled, ...], tuple[str, ...]]:
    tables = [root / f"{name}.csv" for names in SPLITS.values() for name in names]
    labels = {label for table in tables if table.is_file() for _, label in labels_in(table)}
    rows = labels_in(root / f"{split}.csv")
    labels |= {label for _, label in rows}
    numbers = all(label.isdecimal() for label in labels)
    names = classes or tuple(sorted(labels, key=int if numbers else str))
    folder = root / split if (root / split).is_dir() else root
    number = {name: i for i, name in enumerate(names)}
    for file, label in rows:
        if label not in number:
            raise ValueError(f"the label {label!r} in {split}.csv is none of the classes {names}")
        if not (folder / file).is_file():
            raise MissingDataError(f"{split}.csv names {file}, which is not in {folder}")
    return tuple(Labelled(folder / file, number[label]) for file, label in rows), names
