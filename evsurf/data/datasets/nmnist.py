"""`NMNIST`: handwritten digits, shown to an event camera that makes three small jumps."""

from __future__ import annotations

import os
from pathlib import Path
from typing import final

from evsurf.data.datasets.labelled import Labelled, LabelledRecordings, Listing, Transform
from evsurf.data.datasets.listing import (
    canonical_split,
    ends_in,
    folders_within,
    labels_in,
    recordings_in,
)
from evsurf.data.datasets.provision import Origin, provide
from evsurf.data.downloads import MissingDataError, Source, Transport
from evsurf.data.formats import read
from evsurf.events import Events

_DIGITS = tuple("0123456789")
_PAGE = "https://data.mendeley.com/datasets/468j46mzdv"
_FILES = "https://data.mendeley.com/public-files/datasets/468j46mzdv/files/"
# The checksums are those that the library tonic publishes for these archives.
_SOURCES = {
    "train": Source(
        "Train.zip",
        _PAGE,
        url=f"{_FILES}39c25547-014b-4137-a934-9d29fa53c7a0/file_downloaded",
        digest="sha256:1a54ee392a5e5082a0bef52911cd9211f63b950a4905ccd8890553804d3335f9",
        folder="nmnist_train",
    ),
    "test": Source(
        "Test.zip",
        _PAGE,
        url=f"{_FILES}05a4d654-7e03-4c15-bdfa-9bb2bcbea494/file_downloaded",
        digest="sha256:6ecfd5d85dbb49a631961d8dc3101871c5be53e645004ee34064f6557d169f09",
        folder="nmnist_test",
    ),
}
_EXPECTED = {"train": 60_000, "test": 10_000}


@final
class NMNIST(LabelledRecordings):
    """N-MNIST: 60,000 and 10,000 recordings of handwritten digits, 34x34, about 300 ms each.

    ```python
    data = NMNIST("data/nmnist", "train", download=True)
    events, digit = data[0]
    ```

    Looks for `Train/0/00002.bin` and so on, as the archives have it, or for `train/00002.bin`
    with a table `train.csv` of `file,label`.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        split: str = "train",
        *,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
        download: bool | Transport = False,
    ) -> None:
        split = canonical_split(split, ("train", "test"))
        folder = Path(root)
        origin = Origin(
            f"N-MNIST ({split})",
            f"a folder {split.title()} with a folder of .bin files for each digit",
            (_SOURCES[split],),
        )
        found = provide(origin, folder, lambda: _found(folder, split), download)
        super().__init__(
            folder,
            split,
            Listing(found, _DIGITS, _EXPECTED[split]),
            (34, 34),
            transform=transform,
            target_transform=target_transform,
        )

    def _read(self, path: Path) -> Events:
        return read(path, self.size, format="atis_bin")


def _found(root: Path, split: str) -> tuple[Labelled, ...] | None:
    accepted = ends_in(".bin")
    for folder in folders_within(root):
        if folder.name.lower() != split:
            continue
        found = recordings_in(folder, _DIGITS, accepted)
        if found:
            return found
        table = folder.with_name(f"{split}.csv")
        if table.is_file():
            return _tabled(folder, table)
    return None


def _tabled(folder: Path, table: Path) -> tuple[Labelled, ...]:
    found = []
    for file, label in labels_in(table):
        if label not in _DIGITS:
            raise ValueError(f"{table} gives {file} the label {label!r}, which is no digit")
        if not (folder / file).is_file():
            raise MissingDataError(f"{table} names {file}, which is not in {folder}")
        found.append(Labelled(folder / file, int(label)))
    return tuple(found)
