"""What one worker does for one batch: read the samples, change them, say what was wrong."""

from __future__ import annotations

import inspect
import random
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import torch

from evsurf.data.loading.collate import collate
from evsurf.data.loading.seeding import seeds_of
from evsurf.data.loading.splitting import Dataset, name_of
from evsurf.data.store.gathering import Packed, packed_batch
from evsurf.events import EventBatch

OnError: TypeAlias = Literal["raise", "skip"]
Transform: TypeAlias = Callable[..., EventBatch]

# What a sample can be wrong with; anything else is a mistake in a program.
_DAMAGE = (ValueError, OSError, EOFError)


class Task(NamedTuple):
    """One batch to be made."""

    epoch: int
    number: int
    indices: list[int]


@dataclass
class Fetched:
    """One batch that was made, on its way from a worker."""

    batch: EventBatch | Packed | None
    """None where no sample was left, or where there was an error."""
    targets: Any = None
    skipped: dict[int, str] = field(default_factory=dict)
    """Samples that could not be read, and why."""
    error: Exception | None = None

    def pin_memory(self, device: torch.device | str | None = None) -> Fetched:
        """A copy in page-locked memory; `torch.utils.data.DataLoader` calls it."""
        if self.batch is None:
            return self
        from torch.utils.data._utils.pin_memory import pin_memory

        # One of torch's own, so that targets of any kind are pinned as its loader pins them.
        targets = pin_memory(self.targets)  # type: ignore[no-untyped-call]
        return Fetched(self.batch.pin_memory(device), targets, self.skipped)


@dataclass(frozen=True)
class Fetcher:
    """Makes batches of a data set; the same task gives the same batch, whoever does it."""

    dataset: Dataset
    seed: int
    transform: Transform | None = None
    on_error: OnError = "raise"
    alone: bool = False
    """Whether a process of its own does this, whose random numbers nobody else draws."""

    def __call__(self, task: Task) -> Fetched:
        """The batch; packed for other processes, whose error comes back as a value."""
        if not self.alone:
            return self._fetched(task)
        _seed_everything(self.seed, task)
        try:
            fetched = self._fetched(task)
        except Exception as error:  # noqa: BLE001
            error.add_note(f"In a worker:\n{traceback.format_exc()}")
            return Fetched(None, error=error)
        if isinstance(fetched.batch, EventBatch):
            fetched.batch = packed_batch(fetched.batch)
        return fetched

    def _fetched(self, task: Task) -> Fetched:
        skipped: dict[int, str] = {}
        indices = task.indices
        try:
            batch, targets = self._read(indices)
        except _DAMAGE as error:
            if self.on_error == "raise":
                self._blame(indices, error)
                raise
            indices, skipped = self._readable(indices)
            if not indices:
                return Fetched(None, skipped=skipped)
            batch, targets = self._read(indices)
        if self.transform is not None:
            batch = self._transformed(batch, task.epoch, indices)
        return Fetched(batch, targets, skipped)

    def _read(self, indices: Sequence[int]) -> tuple[EventBatch, Any]:
        whole = getattr(self.dataset, "packed", None)
        if whole is not None:
            return collate(whole(indices))
        return collate([self.dataset[i] for i in indices])

    def _readable(self, indices: Sequence[int]) -> tuple[list[int], dict[int, str]]:
        """The samples that can be read one by one, and what is wrong with the others."""
        good, skipped = [], {}
        for i in indices:
            try:
                self._read([i])
            except _DAMAGE as error:
                skipped[i] = f"{name_of(self.dataset, i)}: {error}"
            else:
                good.append(i)
        return good, skipped

    def _blame(self, indices: Sequence[int], error: Exception) -> None:
        """Notes with the error which samples cannot be read."""
        _, bad = self._readable(indices)
        for i, reason in bad.items():
            error.add_note(f"Sample {i}, {reason}")
        if not bad:
            error.add_note(f"No sample alone, but the batch of samples {list(indices)}")

    def _transformed(self, batch: EventBatch, epoch: int, indices: Sequence[int]) -> EventBatch:
        assert self.transform is not None
        if not _takes_seed(self.transform):
            return self.transform(batch)
        seeds = seeds_of(self.seed, epoch, torch.tensor(indices, dtype=torch.int64))
        return self.transform(batch, seed=seeds)


def _takes_seed(transform: Transform) -> bool:
    try:
        return "seed" in inspect.signature(transform).parameters
    except (TypeError, ValueError):
        return False


def _seed_everything(seed: int, task: Task) -> None:
    """Gives data sets that draw from a global generator numbers that no other batch has."""
    mixed = int(seeds_of(seed, task.epoch, torch.tensor([-1 - task.number]))[0])
    torch.manual_seed(mixed)
    random.seed(mixed)
    np.random.seed(mixed % 2**32)  # noqa: NPY002
