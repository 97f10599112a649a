"""`Store`: many recordings in one folder of columns, read where they are touched."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from evsurf.data.formats.damage import FormatError
from evsurf.data.store.gathering import Packed, gathered
from evsurf.data.store.inspection import Arrays, Inspection
from evsurf.data.store.layout import read_index
from evsurf.data.store.mapping import mapped
from evsurf.events import EventBatch, Events
from evsurf.events.checks import EARLIEST, LATEST, check_integer, check_size


@final
class Store:
    """The recordings of one split of a data set, or one long recording, as columns on a disk.

    `store[i]` is a pair: sample i as `Events` that share memory with the file, and its target, or
    None where the store has none. Opening reads the index alone. Everything else is read when it is
    touched, and each event is checked the first time; what the disk has damaged is a `FormatError`
    that names the sample. `verify` reads everything against its checksums.

    Processes share the memory behind a store, whether they are forked or started anew; pickled, it
    is no more than its path. Tensors from it may be changed in place, which never reaches the file.

    `size` replaces the sensor's size by a larger one: a canvas for samples that differ in size,
    which without it cannot share a batch.
    """

    def __init__(self, path: str | os.PathLike[str], *, size: tuple[int, int] | None = None):
        self.path = Path(path)
        self._index = read_index(self.path)
        self._canvas = None if size is None else check_size(size)
        if size is not None:
            self._check_canvas(check_size(size))
        self._columns = {
            name: mapped(self.path / f"{name}.npy", column.dtype, column.shape)
            for name, column in self._index.columns.items()
        }
        x, y, t, p = (self._columns[name] for name in "xytp")
        self._tensors = tuple(torch.from_numpy(column) for column in (x, y, t, p))
        self._arrays = Arrays(x, y, t, p, self._columns["offsets"], self._columns.get("sizes"))
        self._inspection = Inspection(self._arrays, self._index.size)

    def _check_canvas(self, size: tuple[int, int]) -> None:
        least = self._index.size
        if least is None:
            file = self.path / "sizes.npy"
            column = self._index.columns["sizes"]
            sizes = mapped(file, column.dtype, column.shape)
            least = (int(sizes[:, 0].max(initial=1)), int(sizes[:, 1].max(initial=1)))
        if size[0] < least[0] or size[1] < least[1]:
            raise ValueError(
                f"size = {size} does not hold the samples of {self.path.name}, the largest of "
                f"which needs (height, width) = {least}"
            )

    @property
    def size(self) -> tuple[int, int] | None:
        """Height and width of all samples; None where they differ."""
        return self._canvas or self._index.size

    @property
    def num_events(self) -> int:
        """Number of events in all samples together."""
        return self._index.events

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Names of the classes, by target; None where the targets are no classes."""
        return self._index.classes

    @property
    def notes(self) -> dict[str, str]:
        """Sources that were damaged or left out when the store was written, and why."""
        return dict(self._index.notes)

    @property
    def targets(self) -> Tensor | None:
        """The targets of all samples, the first axis by sample."""
        targets = self._columns.get("targets")
        return None if targets is None else torch.from_numpy(targets)

    @property
    def lengths(self) -> Tensor:
        """Number of events in each sample, int64."""
        return torch.from_numpy(np.diff(self._borders))

    @cached_property
    def _borders(self) -> npt.NDArray[np.int64]:
        """The offsets, once they are known to be some."""
        offsets = self._arrays.offsets
        right = offsets[0] == 0 and offsets[-1] == self.num_events and (np.diff(offsets) >= 0).all()
        sizes = self._arrays.sizes
        if not right or (sizes is not None and (sizes < 1).any()):
            name = "sizes" if right else "offsets"
            raise FormatError(f"{self.path / name}.npy is damaged: its values cannot be {name}")
        return offsets

    @property
    def arrays(self) -> Arrays:
        """The columns as they are in the files, unchecked."""
        return self._arrays

    @property
    def names(self) -> list[str] | None:
        """What the samples were called where they came from; None where that is unknown."""
        names = self._columns.get("names")
        return None if names is None else [_decoded(name) for name in names.tolist()]

    def name(self, index: int) -> str:
        """What sample i was called where it came from; its number where that is unknown."""
        number = self._number(index)
        names = self._columns.get("names")
        return str(number) if names is None else _decoded(names[number])

    def size_of(self, index: int) -> tuple[int, int]:
        """Height and width of sample i."""
        if self.size is not None:
            return self.size
        assert self._arrays.sizes is not None
        height, width = self._arrays.sizes[self._number(index)].tolist()
        return height, width

    def __len__(self) -> int:
        return self._index.samples

    def __getitem__(self, index: int) -> tuple[Events, Any]:
        number = self._number(index)
        start, stop = self._borders[number : number + 2].tolist()
        return self._events(number, start, stop), self.target(number)

    def __iter__(self) -> Iterator[tuple[Events, Any]]:
        return (self[i] for i in range(len(self)))

    def target(self, index: int) -> Any:
        """The target of sample i: a number, a tensor where a target has several, or None."""
        targets = self._columns.get("targets")
        if targets is None:
            return None
        found = targets[self._number(index)]
        return found.item() if targets.ndim == 1 else torch.from_numpy(found)

    def window(self, start: int, stop: int, *, sample: int = 0) -> Events:
        """The events of a sample with start <= t < stop in microseconds.

        Found by halving, so of a long recording only what it holds is read.
        """
        number = self._number(sample)
        start, stop = check_integer("start", start, "us"), check_integer("stop", stop, "us")
        if start > stop:
            raise ValueError(f"start = {start} is after stop = {stop}: start <= t < stop")
        begin, end = self._borders[number : number + 2].tolist()
        low, high = self._arrays.t[begin:end].searchsorted((_time(start), _time(stop)))
        return self._events(number, begin + int(low), begin + int(high))

    def _events(self, number: int, start: int, stop: int) -> Events:
        self._inspect(start, stop)
        x, y, t, p = (column[start:stop] for column in self._tensors)
        return Events(x, y, t, p, self.size_of(number), validate=False)

    def batch(self, indices: Sequence[int]) -> tuple[EventBatch, Tensor | None]:
        """The samples of these numbers as one batch, and their targets, copied in one go."""
        packed = self.packed(indices)
        return packed.batch(), packed.targets

    def packed(self, indices: Sequence[int]) -> Packed:
        """The samples of these numbers in one piece of memory, which goes between processes."""
        numbers = self._numbers(indices)
        starts, stops = self._borders[numbers], self._borders[numbers + 1]
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
            self._inspect(start, stop)
        targets = self.targets
        return gathered(
            self._arrays,
            (starts, stops),
            self._common_size(numbers),
            None if targets is None else _plain(targets[torch.from_numpy(numbers)]),
        )

    def __getitems__(self, indices: Sequence[int]) -> Packed:
        """What `torch.utils.data.DataLoader` asks for a whole batch; `collate` takes it."""
        return self.packed(indices)

    def _common_size(self, numbers: npt.NDArray[np.int64]) -> tuple[int, int]:
        if self.size is not None:
            return self.size
        sizes = {self.size_of(i) for i in numbers.tolist()}
        if len(sizes) != 1:
            raise ValueError(
                f"the samples of {self.path.name} differ in size, {min(sizes, default=None)} and "
                f"{max(sizes, default=None)}: open it with a canvas that holds all, "
                "Store(path, size=(height, width)), to batch them"
            )
        return sizes.pop()

    def _inspect(self, start: int, stop: int) -> None:
        bad = self._inspection.first_bad(start, stop)
        if bad is None:
            return
        sample = int(np.searchsorted(self._borders, bad, side="right")) - 1
        raise FormatError(
            f"{self.path}: sample {sample} ({self.name(sample)}) is damaged: its event "
            f"{bad - int(self._borders[sample])} is outside the sensor, earlier than the one "
            "before or no event at all. Store.verify() finds the damaged file; convert it anew."
        )

    def verify(self) -> None:
        """Reads everything and raises `FormatError` for what differs from its checksum."""
        for name, column in self._index.columns.items():
            digest = hashlib.sha256(self._columns[name].reshape(-1).view(np.uint8).data)
            if digest.hexdigest() != column.sha256:
                raise FormatError(
                    f"{self.path / name}.npy is damaged: its values do not have the checksum that "
                    "they were written with. Convert the store anew."
                )
        self._inspect(0, int(self._borders[-1]))

    def _number(self, index: int) -> int:
        number = check_integer("index", index, "a sample's number")
        if not -len(self) <= number < len(self):
            raise IndexError(f"sample {number} does not exist: the store has {len(self):,}")
        return number % len(self)

    def _numbers(self, indices: Sequence[int]) -> npt.NDArray[np.int64]:
        numbers = np.asarray(indices if len(indices) else np.zeros(0, np.int64))
        if numbers.dtype.kind not in "iu" or numbers.ndim != 1:
            raise TypeError(f"indices must be a list of samples' numbers, got {indices!r:.80}")
        beyond = (numbers < -len(self)) | (numbers >= len(self))
        if beyond.any():
            self._number(int(numbers[beyond.argmax()]))
        found: npt.NDArray[np.int64] = numbers.astype(np.int64) % max(len(self), 1)
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened, (str(self.path), self._canvas)

    def __repr__(self) -> str:
        shown = "sizes differ" if self.size is None else "{}x{}".format(*self.size)
        counts = f"{len(self):,} samples, {self.num_events:,} events"
        return f"Store({self.path.name!r}, {counts}, {shown})"


def _decoded(name: bytes) -> str:
    # What is no UTF-8 in a file's name is kept, as Python keeps it.
    return bytes(name).decode("utf-8", "surrogateescape")


def _time(t: int) -> int:
    """The time, or the nearest that an array can hold: no event is beyond."""
    return min(max(t, EARLIEST), LATEST + 1)


def _plain(targets: Tensor) -> Tensor:
    """Single numbers in the width that a list of Python's numbers would have as a tensor."""
    if targets.ndim != 1 or targets.dtype == torch.bool:
        return targets
    return targets.double() if targets.is_floating_point() else targets.long()


def _opened(path: str, size: tuple[int, int] | None) -> Store:
    return Store(path, size=size)
