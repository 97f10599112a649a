"""Transforms of how many events there are: some dropped, at random or by rule, or noise added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

import torch
from jaxtyping import Float64
from torch import Tensor

from evsurf.data.arguments import check_least
from evsurf.data.transforms.compose import Identity, OneOf, check_probability
from evsurf.data.transforms.draws import Draws, Number, scaled
from evsurf.data.transforms.placing import to_events
from evsurf.data.transforms.time import order_of
from evsurf.data.transforms.transform import (
    Recorded,
    Transform,
    as_batch,
    changed,
    kept,
    like,
    rearranged,
)
from evsurf.events import EventBatch, Events
from evsurf.events.ragged import first_times, last_times, sample_of, since_first, stretches

Share: TypeAlias = Number | tuple[Number, Number]
"""A share from 0 to 1; or the lowest and highest between which each sample draws its own."""

Keep: TypeAlias = Literal["uniform", "earliest", "latest"]


def limit_events(events: Recorded, count: int, *, keep: Keep = "uniform") -> Recorded:
    """At most so many events of each sample: spread evenly over its events, or the first or last.

    "uniform" keeps the n-th of every share of the events: of 10 events and a limit of 4 the
    positions 2, 4, 7 and 9.
    """
    check_least("count", count, 0)
    check_keep(keep)
    batch = as_batch(events)
    starts, stops = batch.offsets[:-1], batch.offsets[1:]
    limit = batch.lengths.clamp(max=count)
    if keep == "earliest":
        return like(events, rearranged(batch, *stretches(starts, starts + limit)))
    if keep == "latest":
        return like(events, rearranged(batch, *stretches(stops - limit, stops)))
    steps, offsets = stretches(torch.zeros_like(limit), limit)
    owner = sample_of(offsets, len(steps))
    lengths, limit = batch.lengths.index_select(0, owner), limit.index_select(0, owner)
    # The last event of each share, (step + 1) * length / limit rounded up, less one.
    ends = torch.div((steps + 1) * lengths - 1, limit, rounding_mode="floor")
    return like(events, rearranged(batch, starts.index_select(0, owner) + ends, offsets))


@final
@dataclass(frozen=True)
class MaxEvents(Transform):
    """`limit_events`."""

    count: int
    keep: Keep = "uniform"

    def __post_init__(self) -> None:
        check_least("count", self.count, 0)
        check_keep(self.keep)

    def apply(self, batch: EventBatch, _draws: Draws) -> EventBatch:
        """Nothing is drawn."""
        return limit_events(batch, self.count, keep=self.keep)


@final
@dataclass(frozen=True)
class DropEvents(Transform):
    """Each event is dropped with probability `rate`, independently of the others."""

    rate: Share = 0.1

    def __post_init__(self) -> None:
        check_share("rate", self.rate)

    def apply(self, batch: EventBatch, draws: Draws) -> EventBatch:
        """Each sample draws its rate, and each event whether it stays."""
        rate = drawn_share(self.rate, draws)
        chance = draws.each(1, batch.offsets, batch.num_events)
        return kept(batch, chance >= to_events(rate, batch))


@final
@dataclass(frozen=True)
class DropTime(Transform):
    """All events of a stretch of time are dropped: `share` of the duration, anywhere in it."""

    share: Share = (0.1, 0.5)

    def __post_init__(self) -> None:
        check_share("share", self.share)

    def apply(self, batch: EventBatch, draws: Draws) -> EventBatch:
        """Each sample draws the length of the stretch and where it starts."""
        share = drawn_share(self.share, draws)
        first, last = first_times(batch.t, batch.offsets), last_times(batch.t, batch.offsets)
        # Times are whole, so the last event lasts a microsecond: a share of 1 holds it too.
        duration = (last - first).double() + 1
        start = duration * draws.uniform(1) * (1 - share)
        stop = start + duration * share
        since = since_first(batch.t, batch.offsets)
        dropped = (since >= to_events(start, batch)) & (since < to_events(stop, batch))
        return kept(batch, ~torch.as_tensor(dropped))


@final
@dataclass(frozen=True)
class DropArea(Transform):
    """All events in a rectangle are dropped: its sides are `share` of the sensor's."""

    share: Share = (0.05, 0.3)

    def __post_init__(self) -> None:
        check_share("share", self.share)

    def apply(self, batch: EventBatch, draws: Draws) -> EventBatch:
        """Each sample draws the size of the rectangle and where it lies."""
        share = drawn_share(self.share, draws)
        dropped = torch.ones_like(batch.p)
        for purpose, values, side in ((1, batch.y, batch.size[0]), (2, batch.x, batch.size[1])):
            extent = (share * side).round().long()
            start = draws.integers(purpose, 0, side - extent)
            dropped &= (values >= to_events(start, batch)) & (
                values < to_events(start + extent, batch)
            )
        return kept(batch, ~dropped)


def event_drop() -> OneOf:
    """EventDrop (Gu et al., 2021): nothing, or a drop of events, of a time or of an area.

    >>> event_drop().transforms[0]
    Identity()
    """
    return OneOf(
        (
            Identity(),
            DropEvents(rate=(0.1, 0.9)),
            DropTime(share=(0.1, 0.9)),
            DropArea(share=(0.05, 0.3)),
        )
    )


@final
@dataclass(frozen=True)
class BackgroundNoise(Transform):
    """Adds events at random pixels and times, `rate` of them per pixel and second on average.

    Between the first and the last event, both polarities alike. A sample gets the expected number,
    rounded up or down at random. At the same time, noise comes after what was there.
    """

    rate: Number = 1.0

    def __post_init__(self) -> None:
        if isinstance(self.rate, bool) or not 0 <= self.rate < float("inf"):
            raise ValueError(f"rate = {self.rate!r} must be events per pixel and second, from 0 on")

    def apply(self, batch: EventBatch, draws: Draws) -> EventBatch:
        """Each sample draws its number of events, and each of these where and when it is."""
        height, width = batch.size
        duration = last_times(batch.t, batch.offsets) - first_times(batch.t, batch.offsets)
        expected = duration.double() * (self.rate * height * width / 1e6)
        number = (expected + draws.uniform(0)).floor().long()
        number = torch.where(batch.lengths > 0, number, 0)
        offsets = torch.nn.functional.pad(number.cumsum(0), (1, 0))
        count = int(offsets[-1])
        owner = sample_of(offsets, count)
        since = scaled(
            draws.each(1, offsets, count), torch.zeros_like(owner), duration.index_select(0, owner)
        )
        t = first_times(batch.t, batch.offsets).index_select(0, owner) + since
        bits = draws.bits(2, offsets, count)
        pixel = (((bits >> 32) & 0xFFFFFFFF) * (height * width)) >> 32
        noise = EventBatch(
            (pixel % width).short(),
            torch.div(pixel, width, rounding_mode="floor").short(),
            t,
            (bits & 1).bool(),
            offsets,
            batch.size,
            validate=False,
        )
        return joined(batch, noise)


def joined(batch: EventBatch, more: EventBatch) -> EventBatch:
    """Each sample with the events of a second batch's, which need not be sorted, by time."""
    owner = torch.cat([sample_of(part.offsets, part.num_events) for part in (batch, more)])
    fields = {n: torch.cat([getattr(batch, n), getattr(more, n)]) for n in Events.FIELDS}
    # Counted from the samples' own beginnings, times are small, and small ones are sorted faster.
    since = fields["t"] - first_times(batch.t, batch.offsets).index_select(0, owner)
    order = order_of(since, owner, len(batch))
    both = {name: field.index_select(0, order) for name, field in fields.items()}
    return changed(batch, **both, offsets=batch.offsets + more.offsets)


def drawn_share(share: Share, draws: Draws) -> Float64[Tensor, "samples"]:
    """The share of each sample."""
    low, high = share if isinstance(share, tuple) else (share, share)
    return draws.uniform(0, low, high)


def check_share(name: str, share: Any) -> None:
    """Refuses what is neither a share nor a range of shares."""
    low, high = share if isinstance(share, tuple) and len(share) == 2 else (share, share)
    check_probability(name, low)
    check_probability(name, high)
    if low > high:
        raise ValueError(f"{name} = {share} must be (lowest, highest)")


def check_keep(keep: object) -> None:
    """Refuses what says no choice of events."""
    if keep not in ("uniform", "earliest", "latest"):
        raise ValueError(f"keep = {keep!r} must be 'uniform', 'earliest' or 'latest'")
