"""`NCaltech101`: photographs of a hundred things, shown to an event camera."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias, final

from evsurf.data.datasets.labelled import LabelledRecordings, Listing, Transform
from evsurf.data.datasets.listing import (
    SPLITS,
    canonical_split,
    classes_in,
    ends_in,
    files_in,
    folders_within,
    recordings_in,
    subfolders,
)
from evsurf.data.datasets.provision import Origin, provide
from evsurf.data.datasets.splits import dealt_by_class, listed
from evsurf.data.datasets.tables import read_table
from evsurf.data.downloads import MissingDataError, Source, Transport
from evsurf.data.formats import read
from evsurf.events import Events

Lists: TypeAlias = str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]]

_SOURCE = Source(
    "N-Caltech101-archive.zip",
    "https://data.mendeley.com/datasets/cy6cvx3ryv",
    url="https://data.mendeley.com/public-files/datasets/cy6cvx3ryv/files/"
    "36b5c52a-b49d-4853-addb-a836a8883e49/file_downloaded",
    # As the library tonic publishes it.
    digest="md5:66201824eabb0239c7ab992480b50ba3",
)
_RECORDINGS = 8_709
# The shares of the split that EST's authors made; theirs, recording by recording, is in folders.
_SHARES = {"train": 0.5, "validation": 0.3, "test": 0.2}


@final
class NCaltech101(LabelledRecordings):
    """N-Caltech101: 8,709 recordings of 101 classes, at most 180x240, about 300 ms each.

    ```python
    data = NCaltech101("data/N-Caltech101", "train")
    ```

    There are two ways of having it, and which one is in the root is found out. The folders of
    EST's authors, `training`, `validation` and `testing`, hold `.npy` files, and their split is the
    one to report. The original, `Caltech101/airplanes/image_0001.bin`, has no split: recordings are
    dealt out 50:30:20, each class by itself, by the seed, or as `splits` says. That is a mapping
    from names of splits to text files with a line `class/file` for each recording, or a folder of
    such files with train, val or test in their names.

    Classes are numbered by the names of their folders, capitals first; `BACKGROUND_Google` is one.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        split: str = "train",
        *,
        splits: Lists | None = None,
        seed: int = 0,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
        download: bool | Transport = False,
    ) -> None:
        split = canonical_split(split, tuple(_SHARES))
        folder = Path(root)
        origin = Origin(
            "N-Caltech101",
            "the folders training, validation and testing, or Caltech101, with a folder of each "
            "class inside",
            (_SOURCE,),
            note="That one has no split; the one that EST's authors split is fetched by hand, see "
            "https://github.com/uzh-rpg/rpg_event_representation_learning.",
        )
        listing = provide(
            origin,
            folder,
            lambda: _prepared(folder, split, splits) or _original(folder, split, splits, seed),
            download,
        )
        super().__init__(
            folder,
            split,
            listing,
            (180, 240),
            transform=transform,
            target_transform=target_transform,
        )

    def _read(self, path: Path) -> Events:
        assert self.size is not None
        if path.suffix == ".npy":
            return read_table(path, self.size)
        return read(path, self.size, format="atis_bin")


def _prepared(root: Path, split: str, splits: Lists | None) -> Listing | None:
    """The folders of EST's authors."""
    accepted = ends_in(".npy")
    for outer in folders_within(root):
        inner = {folder.name.lower(): folder for folder in subfolders(outer)}
        parts = {
            name: inner[spelling]
            for name, spellings in SPLITS.items()
            for spelling in spellings
            if spelling in inner and classes_in([inner[spelling]], accepted)
        }
        if split not in parts:
            continue
        if splits is not None:
            raise ValueError(
                f"splits cannot be chosen for {outer}, whose folders are splits already"
            )
        # A class may be missing from one of them, and is a class all the same.
        classes = classes_in(parts.values(), accepted)
        return Listing(recordings_in(parts[split], classes, accepted), classes)
    return None


def _original(root: Path, split: str, splits: Lists | None, seed: int) -> Listing | None:
    for folder in folders_within(root):
        if "annotations" in folder.name.lower():
            continue
        # The annotations, beside, are files of the same suffix and other names.
        if not any(files_in(one, _is_picture) for one in subfolders(folder)):
            continue
        classes = classes_in([folder], _is_picture)
        recordings = recordings_in(folder, classes, _is_picture)
        if splits is not None:
            return Listing(listed(recordings, _list_of(splits, split)), classes)
        chosen = dealt_by_class(recordings, _SHARES, seed)[split]
        whole = len(recordings) == _RECORDINGS
        return Listing(chosen, classes, len(chosen) if whole else None)
    return None


def _is_picture(name: str) -> bool:
    return name.startswith("image_") and name.endswith(".bin")


def _list_of(splits: Lists, split: str) -> Path:
    if isinstance(splits, Mapping):
        for name in SPLITS[split]:
            if name in splits:
                return Path(splits[name])
        raise ValueError(f"splits has no list for {split!r}, only for {', '.join(splits)}")
    folder = Path(splits)
    if not folder.is_dir():
        raise MissingDataError(f"splits = {str(splits)!r} must be a folder or a mapping to files")
    found = [
        path
        for path in files_in(folder, ends_in(".txt"))
        if any(word in SPLITS[split] for word in _words(path.stem))
    ]
    if len(found) != 1:
        names = [path.name for path in files_in(folder, ends_in(".txt"))]
        raise ValueError(f"splits: {folder} has {len(found)} lists for {split!r} among {names}")
    return found[0]


def _words(stem: str) -> list[str]:
    return stem.lower().replace("-", "_").replace(".", "_").split("_")
