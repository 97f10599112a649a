"""`NCars`: cars and what is none, cut out of recordings from behind a windscreen."""

from __future__ import annotations

import os
from pathlib import Path
from typing import final

from evsurf.data.datasets.labelled import Labelled, LabelledRecordings, Listing, Transform
from evsurf.data.datasets.listing import (
    SPLITS,
    canonical_split,
    ends_in,
    folders_within,
    recordings_in,
)
from evsurf.data.datasets.provision import Origin, provide
from evsurf.data.datasets.splits import dealt
from evsurf.data.datasets.tables import read_table
from evsurf.data.downloads import Source, Transport
from evsurf.data.formats import read
from evsurf.data.formats.columns import Size
from evsurf.events import Events
from evsurf.events.checks import check_size

_CLASSES = ("background", "cars")
_SOURCE = Source(
    "Prophesee_Dataset_n_cars.zip",
    "https://www.prophesee.ai/dataset-n-cars-download/",
    # As the library tonic publishes it.
    digest="md5:553ce464d6e5e617b3c21ce27c19368e",
)
_EXPECTED = {"train": 15_422, "test": 8_607}


@final
class NCars(LabelledRecordings):
    """N-Cars: 15,422 and 8,607 cut-outs of 100 ms with a car (class 1) or none (class 0).

    ```python
    data = NCars("data/ncars", "train", validation=0.2, seed=0)
    ```

    Every cut-out starts at column and row 0 and is at most 120 wide and 100 high, the default size.
    There is no validation split of the authors; `validation` takes that share out of the training
    files, chosen by the seed from all of them at once. Looks for `n-cars_train` or `train`, and the
    same for test, with the folders `background` and `cars` of `*_td.dat` files in it, or of the
    `.npy` files that the authors of EST made of them.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        split: str = "train",
        *,
        size: Size = (100, 120),
        validation: float = 0.0,
        seed: int = 0,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
        download: bool | Transport = False,
    ) -> None:
        split = canonical_split(split, ("train", "validation", "test"))
        folder, source = Path(root), "test" if split == "test" else "train"
        origin = Origin(
            f"N-Cars ({source})",
            f"a folder n-cars_{source} or {source} with the folders background and cars",
            (_SOURCE,),
        )
        found = provide(origin, folder, lambda: _found(folder, source), download)
        expected: int | None = _EXPECTED[source]
        if split == "validation" and not validation:
            raise ValueError("validation must say which share of the training files it is, as 0.2")
        if split != "test" and validation:
            shares = {"train": 1 - validation, "validation": validation}
            found, expected = dealt(found, shares, seed)[split], None
        super().__init__(
            folder,
            split,
            Listing(found, _CLASSES, expected),
            check_size(size),
            transform=transform,
            target_transform=target_transform,
        )

    def _read(self, path: Path) -> Events:
        assert self.size is not None
        if path.suffix == ".npy":
            return read_table(path, self.size)
        return read(path, self.size, format="dat")


def _found(root: Path, split: str) -> tuple[Labelled, ...] | None:
    names = {start + name for name in SPLITS[split] for start in ("", "n-cars_", "ncars-")}
    for folder in folders_within(root):
        if folder.name.lower() in names:
            found = recordings_in(folder, _CLASSES, ends_in(".dat", ".npy"))
            if found:
                return found
    return None
