"""A data set of known samples, in a module that other processes can import."""

from __future__ import annotations

import time

import torch

from evsurf.events import Events

SIZE = (3, 5)


class Countable:
    """Sample i has i % 7 events; its target is i."""

    classes = None

    def __init__(self, length: int, *, delay: float = 0.0) -> None:
        self.length = length
        self.delay = delay

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> tuple[Events, int]:
        time.sleep(self.delay)
        count = index % 7
        x = (torch.arange(count) % 5).short()
        t = torch.arange(count) + index
        return Events(x, (x % 3).short(), t, x % 2 == 0, SIZE), index
