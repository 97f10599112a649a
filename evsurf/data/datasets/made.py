"""Data sets that this machine makes itself: at the first use, and kept."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

from torch.utils.data import Dataset

from evsurf.data.arguments import check_least
from evsurf.data.datasets.labelled import Transform, checked_index, transformed
from evsurf.data.datasets.listing import canonical_split
from evsurf.data.datasets.making import cache_folder, made
from evsurf.data.store import Store, StoreWriter

_STORE = "recordings.store"


class MadeRecordings(Dataset[tuple[Any, Any]], ABC):
    """Recordings with a class each, which are made when they are first asked for.

    `len(data)`, and `data[i]` is a pair of events and class. Whatever interrupts the making leaves
    nothing behind; several processes may ask at once.
    """

    classes: tuple[str, ...]
    """Names of the classes; a target is a place in here."""

    name: ClassVar[str]
    """What its folder is called in the user's cache."""
    version: ClassVar[int]
    """Raised whenever the same seed would give something else."""

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        split: str = "train",
        *,
        seed: int = 0,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
    ) -> None:
        check_least("seed", seed, 0)
        self.split, self.seed = canonical_split(split, ("train", "test")), seed
        place = cache_folder() / self.name if root is None else Path(root)
        folder = place / f"{self.split}-{seed}-{self.version}"
        self.folder = folder
        """Where the recordings are kept."""
        self.transform = transform
        self.target_transform = target_transform
        if not folder.is_dir():
            with made(folder) as partial, StoreWriter(partial / _STORE, classes=self.classes) as to:
                self._make(to)
        self.store = Store(folder / _STORE)
        """The recordings as they lie on the disk."""

    @abstractmethod
    def _make(self, writer: StoreWriter) -> None:
        """Adds every recording."""

    @property
    def size(self) -> tuple[int, int] | None:
        """Height and width of every recording."""
        return self.store.size

    @property
    def targets(self) -> list[int]:
        """The class of each recording."""
        targets = self.store.targets
        return [] if targets is None else [int(target) for target in targets]

    def __len__(self) -> int:
        return len(self.store)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        events, target = self.store[checked_index(index, len(self))]
        return transformed(events, int(target), self.transform, self.target_transform)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.split!r}: {len(self):,} recordings of "
            f"{len(self.classes)} classes, {self.size[0]}x{self.size[1]})"  # type: ignore[index]
        )
