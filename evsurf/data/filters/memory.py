"""Filters that remember when each pixel last fired, in the compiled core.

Both go through the events in stream order and know nothing of later ones, so a filtered stream is
as causal as it was. Events on a GPU are judged on the host, which waits for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Bool, Int64
from torch import Tensor

from evsurf import _core
from evsurf.data.arguments import check_least
from evsurf.data.filters.filter import Filter
from evsurf.data.transforms.transform import Recorded, as_batch
from evsurf.events import EventBatch, Events
from evsurf.events.checks import LATEST, LONGEST_SIDE

_NEVER = -(2**63)


def background_activity(events: Recorded, duration: int, *, radius: int = 1) -> Recorded:
    """The events that another pixel nearby announced; what fires alone is taken for noise.

    An event stays if some other pixel within `radius` rows and columns (1: the eight around it) had
    an event before it in the stream, at most `duration` microseconds earlier. Events that are left
    out announce others all the same. The pixel's own events do not count.

    >>> from evsurf import Events
    >>> events = Events.from_arrays([1, 2, 2, 9], [0] * 4, t=[0, 5, 6, 7], p=[1] * 4, size=(1, 10))
    >>> background_activity(events, 5).t
    tensor([5])
    """
    return BackgroundActivity(duration, radius)(events, seed=0)


def refractory(events: Recorded, period: int) -> Recorded:
    """Of each pixel, the events at least `period` microseconds after the last one that stays.

    >>> from evsurf import Events
    >>> events = Events.from_arrays([0] * 4, [0] * 4, t=[0, 6, 10, 12], p=[1] * 4, size=(1, 1))
    >>> refractory(events, 10).t
    tensor([ 0, 10])
    """
    return Refractory(period)(events, seed=0)


@final
@dataclass(frozen=True)
class BackgroundActivity(Filter):
    """`background_activity`."""

    duration: int = 5_000
    radius: int = 1

    def __post_init__(self) -> None:
        check_least("duration", self.duration, 0)
        check_least("radius", self.radius, 1)
        if self.duration >= LATEST or self.radius > LONGEST_SIDE:
            raise ValueError(f"{self} looks further than any sensor or recording reaches")

    def mask(self, batch: EventBatch) -> Bool[Tensor, "events"]:
        """True at the events that others announced."""
        return self._judged(batch, self._memory(batch.size), anew=True)

    def started(self, size: tuple[int, int]) -> Callable[[Events], Bool[Tensor, "events"]]:
        """Remembers the last event of every pixel from piece to piece."""
        last = self._memory(size)
        return lambda piece: self._judged(as_batch(piece), last, anew=False)

    def _memory(self, size: tuple[int, int]) -> Int64[Tensor, "rows columns"]:
        height, width = size
        return torch.full((height + 2 * self.radius, width + 2 * self.radius), _NEVER)

    def _judged(
        self, batch: EventBatch, last: Int64[Tensor, "rows columns"], *, anew: bool
    ) -> Bool[Tensor, "events"]:
        host = batch.cpu()
        keep = torch.empty(host.num_events, dtype=torch.bool)
        _core.keep_supported(
            _addresses(host),
            len(host),
            host.size,
            self.radius,
            self.duration,
            anew,
            last.data_ptr(),
            keep.data_ptr(),
        )
        return keep.to(batch.device)


@final
@dataclass(frozen=True)
class Refractory(Filter):
    """`refractory`."""

    period: int = 1_000

    def __post_init__(self) -> None:
        check_least("period", self.period, 0)
        if self.period >= LATEST:
            raise ValueError(f"period = {self.period} is longer than any recording")

    def mask(self, batch: EventBatch) -> Bool[Tensor, "events"]:
        """True at the events of pixels that have rested."""
        return self._judged(batch, torch.full(batch.size, _NEVER), anew=True)

    def started(self, size: tuple[int, int]) -> Callable[[Events], Bool[Tensor, "events"]]:
        """Remembers the last event of every pixel from piece to piece."""
        last = torch.full(size, _NEVER)
        return lambda piece: self._judged(as_batch(piece), last, anew=False)

    def _judged(
        self, batch: EventBatch, last: Int64[Tensor, "rows columns"], *, anew: bool
    ) -> Bool[Tensor, "events"]:
        host = batch.cpu()
        keep = torch.empty(host.num_events, dtype=torch.bool)
        _core.keep_rested(
            _addresses(host),
            len(host),
            host.size,
            self.period,
            anew,
            last.data_ptr(),
            keep.data_ptr(),
        )
        return keep.to(batch.device)


def _addresses(batch: EventBatch) -> tuple[int, int, int, int]:
    x, y, t, offsets = (tensor.data_ptr() for tensor in (batch.x, batch.y, batch.t, batch.offsets))
    return x, y, t, offsets
