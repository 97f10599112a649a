"""`DVSGesture`: eleven gestures before a DVS128, several in each recording."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any, NamedTuple, final

from torch.utils.data import Dataset

from evsurf.data.datasets.labelled import Transform, checked_index, transformed
from evsurf.data.datasets.listing import canonical_split, folders_within
from evsurf.data.datasets.provision import Origin, provide
from evsurf.data.downloads import MissingDataError, Source, Transport
from evsurf.data.formats import read
from evsurf.data.formats.damage import FormatError
from evsurf.events import Events

_CLASSES = (
    "hand_clapping",
    "right_hand_wave",
    "left_hand_wave",
    "right_arm_clockwise",
    "right_arm_counter_clockwise",
    "left_arm_clockwise",
    "left_arm_counter_clockwise",
    "arm_roll",
    "air_drums",
    "air_guitar",
    "other_gestures",
)
_SOURCE = Source(
    "DvsGesture.tar.gz",
    "https://ibm.ent.box.com/s/3hiq58ww1pbbjrinh367ykfdf60xsfm8/folder/50167556794",
    # As the library spikingjelly publishes it.
    digest="md5:8a5c71fb11e24e5ca5b11866ca6c00a1",
)
_HEADER = ["class", "startTime_usec", "endTime_usec"]


class Gesture(NamedTuple):
    """One gesture: where it is, from when to when in microseconds, and which one."""

    path: Path
    start: int
    stop: int
    target: int


@final
class DVSGesture(Dataset[tuple[Any, Any]]):
    """DVS128-Gesture: eleven gestures of 29 people in several lights, 128x128, some seconds each.

    ```python
    data = DVSGesture("data/DvsGesture", "train")
    events, target = data[0]
    ```

    Looks for the folder with `trials_to_train.txt` and `trials_to_test.txt`, which list AEDAT 3.1
    files, and beside each of these a table `..._labels.csv` of class, start and end. A sample has
    the events with start <= t < end, and its target counts from 0. The last file that was read is
    kept, so that its gestures come fast one after the other; for random order, make a store of it.
    """

    classes = _CLASSES
    size = (128, 128)

    def __init__(
        self,
        root: str | os.PathLike[str],
        split: str = "train",
        *,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
        download: bool | Transport = False,
    ) -> None:
        self.split = canonical_split(split, ("train", "test"))
        self.root = Path(root)
        origin = Origin(
            f"DVS128-Gesture ({self.split})",
            f"a folder with trials_to_{self.split}.txt and the recordings it lists",
            (_SOURCE,),
        )
        folder = provide(origin, self.root, lambda: _found(self.root, self.split), download)
        self.gestures = _gestures(folder, folder / f"trials_to_{self.split}.txt")
        """Place and class of each sample, in the order of the indices."""
        self.transform = transform
        self.target_transform = target_transform
        self._last: tuple[Path, Events] | None = None

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The number of each class by its name."""
        return {name: i for i, name in enumerate(self.classes)}

    @property
    def targets(self) -> list[int]:
        """The class of each sample, without reading any."""
        return [gesture.target for gesture in self.gestures]

    def __len__(self) -> int:
        return len(self.gestures)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        path, start, stop, target = self.gestures[checked_index(index, len(self))]
        if self._last is None or self._last[0] != path:
            self._last = path, read(path, self.size)
        events = self._last[1].between(start, stop)
        return transformed(events, target, self.transform, self.target_transform)

    def __getstate__(self) -> dict[str, Any]:
        """Without the recording that is in memory."""
        return {**self.__dict__, "_last": None}

    def __repr__(self) -> str:
        return (
            f"DVSGesture({str(self.root)!r}, split={self.split!r}: {len(self):,} recordings of "
            f"{len(self.classes)} classes, 128x128)"
        )


def _found(root: Path, split: str) -> Path | None:
    for folder in folders_within(root):
        if (folder / f"trials_to_{split}.txt").is_file():
            return folder
    return None


def _gestures(folder: Path, trials: Path) -> tuple[Gesture, ...]:
    found: list[Gesture] = []
    for line in trials.read_text(encoding="utf-8").splitlines():
        name = line.strip()
        if not name:
            continue
        path = folder / name
        labels = path.with_name(f"{path.stem}_labels.csv")
        for file in (path, labels):
            if not file.is_file():
                raise MissingDataError(f"{trials.name} lists {name}, but there is no {file}")
        found += _labelled(path, labels)
    return tuple(found)


def _labelled(path: Path, labels: Path) -> list[Gesture]:
    with labels.open(encoding="utf-8", newline="") as file:
        rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row]
    if not rows or rows[0] != _HEADER:
        raise FormatError(f"{labels} must start with the row {','.join(_HEADER)}")
    gestures = []
    for number, row in enumerate(rows[1:], 2):
        if len(row) != 3 or not all(cell.isdecimal() for cell in row):
            raise FormatError(f"{labels}, line {number}: {row} must be three whole numbers")
        label, start, stop = (int(cell) for cell in row)
        if not 1 <= label <= len(_CLASSES) or start > stop:
            raise FormatError(
                f"{labels}, line {number}: {row} must be a class from 1 to 11, a start and an end"
            )
        gestures.append(Gesture(path, start, stop, label - 1))
    return gestures
