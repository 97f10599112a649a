"""`ASLDVS`: letters of the American sign language, shown by five hands."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import final

from evsurf.data.datasets.labelled import Labelled, LabelledRecordings, Listing, Transform
from evsurf.data.datasets.listing import canonical_split, ends_in, folders_within, recordings_in
from evsurf.data.datasets.provision import Origin, provide
from evsurf.data.datasets.splits import dealt
from evsurf.data.downloads import Source, Transport
from evsurf.data.formats import read
from evsurf.events import Events

# j and z are drawn in the air, and not among them.
_LETTERS = tuple("abcdefghiklmnopqrstuvwxy")
_SIZE = (180, 240)
_SOURCE = Source(
    "ICCV2019_DVS_dataset.zip",
    "https://github.com/PIX2NVS/NVS2Graph",
)
_RECORDINGS = 100_800


@final
class ASLDVS(LabelledRecordings):
    """ASL-DVS: 24 letters, 4,200 recordings of each, 180x240, about 100 ms each.

    ```python
    data = ASLDVS("data/asl_dvs", "train", seed=0)
    ```

    There is no official split. A share of `train_share` of the recordings, 80 % in the literature,
    is dealt to train by the seed, the rest to test; report several seeds. The rows of the files
    count from the bottom and are turned over, y to 179 - y; `mirror=True` turns the columns too,
    x to 239 - x, as some loaders do. Looks for a folder with the folders a to y of `.mat` files.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        split: str = "train",
        *,
        train_share: float = 0.8,
        seed: int = 0,
        mirror: bool = False,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
        download: bool | Transport = False,
    ) -> None:
        split = canonical_split(split, ("train", "test"))
        folder = Path(root)
        origin = Origin("ASL-DVS", "a folder with the folders a to y of .mat files", (_SOURCE,))
        found = provide(origin, folder, lambda: _found(folder), download)
        chosen = dealt(found, {"train": train_share, "test": 1 - train_share}, seed)[split]
        trained = math.floor(train_share * _RECORDINGS + 1e-9)
        expected = trained if split == "train" else _RECORDINGS - trained
        self.mirror = mirror
        super().__init__(
            folder,
            split,
            Listing(chosen, _LETTERS, expected),
            _SIZE,
            transform=transform,
            target_transform=target_transform,
        )

    def _read(self, path: Path) -> Events:
        return upright(read(path, _SIZE), mirror=self.mirror)


def upright(events: Events, *, mirror: bool) -> Events:
    """The events with row 0 at the top, and if wanted with column 0 on the other side."""
    height, width = events.size
    x = width - 1 - events.x if mirror else events.x
    return Events(x, height - 1 - events.y, events.t, events.p, events.size, validate=False)


def _found(root: Path) -> tuple[Labelled, ...] | None:
    accepted = ends_in(".mat")
    for folder in folders_within(root):
        # Not j: a folder with all letters is something else.
        if all((folder / letter).is_dir() for letter in ("a", "b", "y")):
            found = recordings_in(folder, _LETTERS, accepted)
            if found:
                return found
    return None
