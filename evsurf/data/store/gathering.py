"""Samples from anywhere in a store, side by side in one piece of memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from evsurf.data.store.inspection import Arrays
from evsurf.events import EventBatch

Ranges: TypeAlias = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
"""Where samples start and stop."""

_TYPES = {"t": torch.int64, "x": torch.int16, "y": torch.int16, "p": torch.bool}
_BYTES = 13


@dataclass(frozen=True)
class Packed:
    """A batch as one tensor of bytes: between processes, one message instead of five."""

    memory: Tensor
    """The columns t, x, y and p, each whole, widest first."""
    offsets: Tensor
    size: tuple[int, int]
    targets: Tensor | None

    def batch(self) -> EventBatch:
        """The batch, whose columns share the memory."""
        columns = _columns(self.memory)
        x, y, t, p = (columns[name] for name in "xytp")
        return EventBatch(x, y, t, p, self.offsets, self.size, validate=False)

    def pin_memory(self, device: torch.device | str | None = None) -> Packed:
        """A copy in page-locked memory; `torch.utils.data.DataLoader` calls it."""
        options = () if device is None else (device,)
        targets = None if self.targets is None else self.targets.pin_memory(*options)
        offsets = self.offsets.pin_memory(*options)
        return Packed(self.memory.pin_memory(*options), offsets, self.size, targets)


def _columns(memory: Tensor) -> dict[str, Tensor]:
    events, start, columns = len(memory) // _BYTES, 0, {}
    for name, kind in _TYPES.items():
        stop = start + events * kind.itemsize
        columns[name] = memory[start:stop].view(kind)
        start = stop
    return columns


def gathered(
    arrays: Arrays, ranges: Ranges, size: tuple[int, int], targets: Tensor | None
) -> Packed:
    """The events of these ranges one after the other."""
    starts, stops = ranges
    offsets = np.zeros(len(starts) + 1, np.int64)
    np.cumsum(stops - starts, out=offsets[1:])
    memory = torch.empty(int(offsets[-1]) * _BYTES, dtype=torch.uint8)
    pieces = _joined(starts, stops)
    if pieces:
        for name, column in _columns(memory).items():
            source = getattr(arrays, name)
            parts = [source[start:stop] for start, stop in pieces]
            np.concatenate(parts, out=column.numpy())
    return Packed(memory, torch.from_numpy(offsets), size, targets)


def packed_batch(batch: EventBatch) -> Packed:
    """The batch copied to one piece of memory."""
    memory = torch.empty(batch.num_events * _BYTES, dtype=torch.uint8)
    for name, column in _columns(memory).items():
        column.copy_(getattr(batch, name))
    return Packed(memory, batch.offsets, batch.size, None)


def _joined(starts: npt.NDArray[np.int64], stops: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
    """The ranges, with neighbours that touch as one."""
    breaks = np.flatnonzero(starts[1:] != stops[:-1])
    firsts = starts[np.concatenate(([0], breaks + 1))] if len(starts) else starts
    lasts = stops[np.concatenate((breaks, [len(stops) - 1]))] if len(stops) else stops
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))
