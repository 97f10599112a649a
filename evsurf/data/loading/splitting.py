"""Parts of a data set, and splits into parts that share nothing and leave out nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, final, runtime_checkable

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from evsurf.data.loading.seeding import shuffled
from evsurf.data.store.gathering import Packed
from evsurf.events.checks import check_integer


@runtime_checkable
class Dataset(Protocol):
    """What has a length and gives a pair (events, target) for each number below it."""

    def __len__(self) -> int:
        """Number of samples."""

    def __getitem__(self, index: int) -> Any:
        """Sample of this number."""


@final
class Subset:
    """The samples of a data set with these numbers, in this order.

    A subset of a `Store` gives whole batches as fast as the store itself.
    """

    def __init__(self, dataset: Dataset, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = tuple(check_integer("indices", i, "samples' numbers") for i in indices)
        for i in self.indices:
            if not 0 <= i < len(dataset):
                raise IndexError(
                    f"indices holds {i}, and the data set has {len(dataset):,} samples"
                )
        if hasattr(dataset, "packed"):
            self.packed = self._packed

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, index: int) -> Any:
        return self.dataset[self.indices[index]]

    def __iter__(self) -> Iterator[Any]:
        return (self.dataset[i] for i in self.indices)

    def _packed(self, indices: Sequence[int]) -> Packed:
        packed: Packed = self.dataset.packed([self.indices[i] for i in indices])  # type: ignore[attr-defined]
        return packed

    def name(self, index: int) -> str:
        """What a sample is called."""
        return name_of(self.dataset, self.indices[index])

    @property
    def classes(self) -> Any:
        """The data set's classes, where it has some."""
        return getattr(self.dataset, "classes", None)

    @property
    def lengths(self) -> Tensor:
        """Number of events in each sample."""
        return lengths_of(self.dataset)[torch.tensor(self.indices, dtype=torch.int64)]

    @property
    def targets(self) -> Any:
        """The targets of these samples, where the data set has all of them at hand."""
        targets = getattr(self.dataset, "targets", None)
        return None if targets is None else [targets[i] for i in self.indices]

    def __repr__(self) -> str:
        return f"Subset({len(self):,} of {len(self.dataset):,} samples of {self.dataset!r})"


def name_of(dataset: Dataset, index: int) -> str:
    """What the data set calls a sample; its number where it has no names."""
    name = getattr(dataset, "name", None)
    return str(name(index)) if callable(name) else str(index)


def lengths_of(dataset: Dataset) -> Tensor:
    """The number of events in each sample, from a data set that knows them without reading."""
    lengths = getattr(dataset, "lengths", None)
    if lengths is None:
        raise ValueError(
            f"{type(dataset).__qualname__} has no lengths, which batches by number of events need: "
            "write_store makes a Store of it, which has"
        )
    return torch.as_tensor(lengths, dtype=torch.int64)


def split(
    dataset: Dataset, parts: Sequence[float | int], *, seed: int, stratify: bool = False
) -> list[Subset]:
    """Random parts of a data set, disjoint and complete.

    One seed gives the same parts in every version.

    `parts` are fractions that sum to 1, or numbers of samples that sum to all. Of fractions, part k
    ends at the sum of the first k, rounded down, so that (0.8, 0.2) of 15,422 samples are 12,337
    and 3,085. With `stratify`, each part has the classes in the shares of the whole, as near as
    whole samples come; it needs `dataset.targets`.
    """
    count = len(dataset)
    borders = _borders(parts, count)
    order = shuffled(check_integer("seed", seed, "any"), count).numpy()
    if stratify:
        order = order[_mixed(_classes(dataset, count)[order])]
    return [
        Subset(dataset, np.sort(order[start:stop]).tolist())
        for start, stop in zip([0, *borders], borders, strict=False)
    ]


def _borders(parts: Sequence[float | int], count: int) -> list[int]:
    """Where each part ends."""
    if not parts or any(part < 0 for part in parts):
        raise ValueError(f"parts = {tuple(parts)} must be fractions or counts, none below 0")
    if all(isinstance(part, int) for part in parts) and sum(parts) != 1:
        if sum(parts) != count:
            raise ValueError(
                f"parts = {tuple(parts)} sum to {sum(parts):,}, and there are {count:,} samples"
            )
        return [int(border) for border in np.cumsum(parts)]
    from fractions import Fraction

    # As meant: 0.1 is a tenth and 1 / 3 a third, not the nearest floats to them.
    shares = [Fraction(part).limit_denominator(10**9) for part in parts]
    total = sum(shares, Fraction(0))
    if abs(total - 1) > Fraction(1, 10**9):
        raise ValueError(f"parts = {tuple(parts)} sum to {float(total)}, not to 1 or to {count:,}")
    sums = [sum(shares[: k + 1], Fraction(0)) for k in range(len(shares))]
    return [*(min(math.floor(count * part), count) for part in sums[:-1]), count]


def _classes(dataset: Dataset, count: int) -> npt.NDArray[Any]:
    targets = getattr(dataset, "targets", None)
    if targets is None:
        raise ValueError(f"stratify needs the targets, and {type(dataset).__qualname__} has none")
    found = np.asarray(targets)
    if found.shape != (count,):
        raise ValueError(f"stratify needs one class per sample, got targets of {found.shape}")
    return found


def _mixed(classes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An order in which every beginning has about the share of each class that the whole has."""
    _, numbers, totals = np.unique(classes, return_inverse=True, return_counts=True)
    by_class = np.argsort(numbers, kind="stable")
    starts = np.concatenate(([0], np.cumsum(totals)[:-1]))
    rank = np.empty(len(classes), np.float64)
    rank[by_class] = np.arange(len(classes)) - np.repeat(starts, totals)
    return np.argsort((rank + 0.5) / totals[numbers], kind="stable")
