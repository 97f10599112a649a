"""Transforms of when events are, and of their polarity.

What keeps causality: cropping, and removing the offset; an event that is kept has the same past
among those kept. Jitter changes the order of near events, and reversal makes the past of the
future: neither tells anything about how a causal surface does on a real stream.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Int64
from torch import Tensor

from evsurf.data.arguments import check_least
from evsurf.data.transforms.compose import check_probability
from evsurf.data.transforms.draws import Draws, Number, scaled
from evsurf.data.transforms.placing import Whole, to_events
from evsurf.data.transforms.transform import Recorded, Transform, as_batch, changed, kept, like
from evsurf.events import EventBatch
from evsurf.events.checks import EARLIEST, LATEST
from evsurf.events.ragged import extremes, first_times, last_times, sample_of, since_first


def time_window(events: Recorded, start: Whole = 0, end: Whole | None = None) -> Recorded:
    """The events from start to end, both included, in microseconds from each sample's first event.

    Without an end, up to the last one. Times stay as they are; `remove_offset` makes them small.
    """
    batch = as_batch(events)
    since = since_first(batch.t, batch.offsets)
    inside = torch.as_tensor(since >= to_events(start, batch))
    if end is not None:
        inside &= since <= to_events(end, batch)
    return like(events, kept(batch, inside))


def remove_offset(events: Recorded) -> Recorded:
    """Times counted from each sample's first event."""
    batch = as_batch(events)
    since = since_first(batch.t, batch.offsets)
    # The longest possible recording lasts longer than the latest time; its last events come at it.
    return like(events, changed(batch, t=since.clamp_(max=LATEST)))


def reverse_time(events: Recorded) -> Recorded:
    """The film run backwards: first time + last time - t, in reverse order, brighter made darker.

    What brightened a pixel darkens it when time runs backwards, hence the polarity.
    """
    batch = as_batch(events)
    return like(events, _reversed(batch, torch.ones_like(batch.lengths, dtype=torch.bool)))


def _reversed(batch: EventBatch, chosen: Tensor) -> EventBatch:
    owner = sample_of(batch.offsets, batch.num_events)
    turned = chosen.index_select(0, owner)
    here = torch.arange(batch.num_events, device=batch.device)
    mirror = (batch.offsets[:-1] + batch.offsets[1:] - 1).index_select(0, owner) - here
    places = torch.where(turned, mirror, here)
    x, y, t, p = (getattr(batch, name).index_select(0, places) for name in "xytp")
    # In this order no sum leaves the range of times.
    since = t - first_times(batch.t, batch.offsets).index_select(0, owner)
    back = last_times(batch.t, batch.offsets).index_select(0, owner) - since
    return changed(batch, x=x, y=y, t=torch.where(turned, back, t), p=p ^ turned)


def flip_polarity(events: Recorded) -> Recorded:
    """Brighter exchanged with darker, as of a negative."""
    batch = as_batch(events)
    return like(events, changed(batch, p=~batch.p))


@final
@dataclass(frozen=True)
class TimeWindow(Transform):
    """`time_window` with the same start and end for every sample."""

    start: int = 0
    end: int | None = None

    def __post_init__(self) -> None:
        check_least("start", self.start, 0)
        if self.end is not None:
            check_least("end", self.end, self.start)

    def apply(self, batch: EventBatch, _draws: Draws) -> EventBatch:
        """Nothing is drawn."""
        return time_window(batch, self.start, self.end)


@final
@dataclass(frozen=True)
class RandomTimeWindow(Transform):
    """The first part of a recording, of a duration evenly from `low` to `high` microseconds.

    With `random_start` the part lies anywhere inside the recording, as far as it is long enough.
    """

    low: int = 5_000
    high: int = 100_000
    random_start: bool = False

    def __post_init__(self) -> None:
        check_least("low", self.low, 0)
        check_least("high", self.high, self.low)

    def apply(self, batch: EventBatch, draws: Draws) -> EventBatch:
        """Each sample draws duration and start."""
        duration = draws.integers(0, self.low, self.high)
        if not self.random_start:
            return time_window(batch, 0, duration)
        last = last_times(batch.t, batch.offsets) - first_times(batch.t, batch.offsets)
        start = draws.integers(1, 0, (last - duration).clamp_(min=0))
        return time_window(batch, start, start + duration)


@final
@dataclass(frozen=True)
class RemoveOffset(Transform):
    """`remove_offset`."""

    def apply(self, batch: EventBatch, _draws: Draws) -> EventBatch:
        """Nothing is drawn."""
        return remove_offset(batch)


@final
@dataclass(frozen=True)
class TimeReversal(Transform):
    """`reverse_time` for a share of the samples."""

    probability: Number = 0.5

    def __post_init__(self) -> None:
        check_probability("probability", self.probability)

    def apply(self, batch: EventBatch, draws: Draws) -> EventBatch:
        """Each sample draws whether it is reversed."""
        return _reversed(batch, draws.uniform(0) < self.probability)


@final
@dataclass(frozen=True)
class PolarityFlip(Transform):
    """`flip_polarity` for a share of the samples."""

    probability: Number = 0.5

    def __post_init__(self) -> None:
        check_probability("probability", self.probability)

    def apply(self, batch: EventBatch, draws: Draws) -> EventBatch:
        """Each sample draws whether it is flipped."""
        flipped = draws.uniform(0) < self.probability
        return changed(batch, p=batch.p ^ to_events(flipped, batch))


@final
@dataclass(frozen=True)
class TimeJitter(Transform):
    """Each event comes up to `radius` microseconds earlier or later, evenly; then sorted again.

    Events that fall on the same time keep the order of the stream.
    """

    radius: int = 100

    def __post_init__(self) -> None:
        check_least("radius", self.radius, 0)

    def apply(self, batch: EventBatch, draws: Draws) -> EventBatch:
        """Each event draws its shift."""
        shift = scaled(draws.each(0, batch.offsets, batch.num_events), -self.radius, self.radius)
        return sorted_by_time(changed(batch, t=(batch.t + shift).clamp_(EARLIEST, LATEST)))


def sorted_by_time(batch: EventBatch) -> EventBatch:
    """Each sample in the order of its times; events of one time keep theirs."""
    owner = sample_of(batch.offsets, batch.num_events)
    since = batch.t - extremes(batch.t, batch.offsets)[0].index_select(0, owner)
    order = order_of(since, owner, len(batch))
    fields = {name: getattr(batch, name).index_select(0, order) for name in "xytp"}
    return changed(batch, **fields)


def order_of(
    t: Int64[Tensor, "events"], owner: Int64[Tensor, "events"], samples: int
) -> Int64[Tensor, "events"]:
    """The order by sample, then by time, stable; the events may be those of several batches."""
    if not len(t):
        return torch.zeros_like(t)
    earliest, latest = torch.aminmax(t)
    span = int(latest - earliest) + 1
    if span <= (2**63 - 1) // samples:
        # One sort by sample and time together. Small keys that are not negative go by radix.
        key = owner * span + (t - earliest)
        small = span * samples < 2**31
        return torch.sort(key.int() if small else key, stable=True).indices
    order = torch.sort(t, stable=True).indices
    return order[torch.sort(owner[order], stable=True).indices]
