"""What every transform and filter is: a frozen choice of parameters that makes events of events."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TypeVar

import torch
from jaxtyping import Bool, Int64
from torch import Tensor

from evsurf.data.transforms.draws import Draws, Seed
from evsurf.events import EventBatch, Events
from evsurf.events.ragged import stretches

Recorded = TypeVar("Recorded", Events, EventBatch)
"""One recording, or a batch of them: a transform gives the same kind back."""


@dataclass(frozen=True)
class Transform(ABC):
    """Makes new events of a recording or of every sample of a batch, on the device they are on.

    What is random depends on `seed` alone: an int, or for a batch a tensor with one for each
    sample. Sample i of a batch with the int s becomes what it becomes alone with `seed_for(s, i)`,
    whatever the other samples are. Without a seed one is drawn, from `generator` or else from
    torch's own, which `torch.manual_seed` sets and which differs from worker to worker of a
    `DataLoader` and from epoch to epoch.

    Events may become none. The given ones never change, and share memory only with what is equal.
    """

    def __call__(
        self,
        events: Recorded,
        *,
        seed: Seed | None = None,
        generator: torch.Generator | None = None,
    ) -> Recorded:
        """The transformed events, sorted by time and within their size."""
        if seed is not None and generator is not None:
            raise ValueError("seed and generator exclude each other: either one says what is drawn")
        if seed is None:
            seed = _drawn(generator)
        if isinstance(events, Events):
            batch = as_batch(events)
            return as_events(self.apply(batch, Draws.of(seed, batch, alone=True)))
        if not isinstance(events, EventBatch):
            raise TypeError(f"events must be Events or EventBatch, got {type(events).__qualname__}")
        return self.apply(events, Draws.of(seed, events))

    @abstractmethod
    def apply(self, batch: EventBatch, draws: Draws) -> EventBatch:
        """The transformed samples, with these random numbers."""


def _drawn(generator: torch.Generator | None) -> int:
    device = "cpu" if generator is None else generator.device
    return int(torch.randint(-(2**63), 2**63 - 1, (), generator=generator, device=device))


def as_batch(events: Events | EventBatch) -> EventBatch:
    """One recording as a batch of one, which shares its memory."""
    return EventBatch.pack([events]) if isinstance(events, Events) else events


def as_events(batch: EventBatch) -> Events:
    """The only sample of a batch."""
    return Events(batch.x, batch.y, batch.t, batch.p, batch.size, validate=False)


def like(events: Recorded, batch: EventBatch) -> Recorded:
    """The batch, as a recording if a recording was given."""
    return as_events(batch) if isinstance(events, Events) else batch


def changed(batch: EventBatch, **fields: Tensor | tuple[int, int]) -> EventBatch:
    """The batch with other values in some of its fields, which are trusted."""
    known = {name: getattr(batch, name) for name in (*EventBatch.FIELDS, "size")}
    return EventBatch(**(known | fields), validate=False)


def kept(batch: EventBatch, mask: Bool[Tensor, "events"]) -> EventBatch:
    """The events where the mask is True."""
    places = mask.nonzero().squeeze(1)
    return rearranged(batch, places, torch.searchsorted(places, batch.offsets))


def rearranged(
    batch: EventBatch, places: Int64[Tensor, "kept"], offsets: Int64[Tensor, "offsets"]
) -> EventBatch:
    """The events at these places, divided into samples by these offsets."""
    fields = {name: getattr(batch, name).index_select(0, places) for name in Events.FIELDS}
    return changed(batch, **fields, offsets=offsets)


def samples_of(batch: EventBatch, samples: Int64[Tensor, "chosen"]) -> EventBatch:
    """Some of the samples, in this order."""
    starts = batch.offsets[:-1].index_select(0, samples)
    stops = batch.offsets[1:].index_select(0, samples)
    return rearranged(batch, *stretches(starts, stops))
