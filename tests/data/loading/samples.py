"""Data sets of known samples, which worker processes can import."""

from __future__ import annotations

import os
import random
import signal
import time
from typing import Any

import numpy as np
import torch

from evsurf.events import EventBatch, Events

SIZE = (2, 3)


def sample(index: int) -> Events:
    """Sample i has i % 4 events, the first at time i."""
    count = index % 4
    x = torch.arange(count).short()
    return Events(x % 3, x % 2, torch.arange(count) + index, x > 0, SIZE)


class Samples:
    """The target of sample i is i."""

    def __init__(self, length: int) -> None:
        self.lengths = torch.arange(length) % 4

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: int) -> tuple[Events, Any]:
        return sample(index), index


class Damaged(Samples):
    """Samples 2 and 5 cannot be read."""

    def __getitem__(self, index: int) -> tuple[Events, Any]:
        if index in (2, 5):
            raise ValueError("nobody can read this")
        return super().__getitem__(index)

    def name(self, index: int) -> str:
        return f"file-{index}"


class Deadly(Samples):
    """Sample 3 ends the process that reads it, as a lack of memory does."""

    def __getitem__(self, index: int) -> tuple[Events, Any]:
        if index == 3:
            time.sleep(0.2)
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__getitem__(index)


class Dice(Samples):
    """The target of a sample is drawn from every global generator."""

    def __getitem__(self, index: int) -> tuple[Events, torch.Tensor]:
        drawn = [float(torch.rand(())), random.random(), float(np.random.random())]  # noqa: NPY002
        return sample(index), torch.tensor(drawn, dtype=torch.float64)


def shifted(batch: EventBatch, *, seed: torch.Tensor) -> EventBatch:
    """Every sample later by what its seed says."""
    moves = (seed % 1000).repeat_interleave(batch.lengths)
    return EventBatch(batch.x, batch.y, batch.t + moves, batch.p, batch.offsets, batch.size)


def doubled(batch: EventBatch) -> EventBatch:
    """Every time twice as late."""
    return EventBatch(batch.x, batch.y, batch.t * 2, batch.p, batch.offsets, batch.size)
