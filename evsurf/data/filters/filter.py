"""What every filter is: a transform that draws nothing and works on a stream piece by piece too."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import final

from jaxtyping import Bool
from torch import Tensor

from evsurf.data.transforms.draws import Draws
from evsurf.data.transforms.transform import Transform, kept
from evsurf.events import EventBatch, Events
from evsurf.events.checks import check_size


@dataclass(frozen=True)
class Filter(Transform):
    """Leaves events out by a rule. Each sample of a batch is judged on its own.

    `filter(events)` for a recording or a batch. Of a stream in pieces, `filter.over(pieces)` gives
    each piece without what is left out of it, and `filter.start(size)` the same step by step: the
    result is that of the whole, wherever the cuts are.
    """

    def apply(self, batch: EventBatch, _draws: Draws) -> EventBatch:
        """Nothing is drawn."""
        return kept(batch, self.mask(batch))

    @abstractmethod
    def mask(self, batch: EventBatch) -> Bool[Tensor, "events"]:
        """True at the events that stay."""

    @abstractmethod
    def started(self, size: tuple[int, int]) -> Callable[[Events], Bool[Tensor, "events"]]:
        """A function from each next piece of a stream to the mask of what stays of it."""

    def start(self, size: tuple[int, int]) -> Filtering:
        """The filter at the beginning of a stream of this size."""
        return Filtering(self, size)

    def over(self, pieces: Iterable[Events]) -> Iterator[Events]:
        """The pieces of one stream, such as `recording.chunks()`, each without what is left out."""
        filtering: Filtering | None = None
        for piece in pieces:
            filtering = filtering or self.start(piece.size)
            yield filtering.push(piece)


@final
class Filtering:
    """A filter on its way through a stream; it remembers what the next piece needs."""

    def __init__(self, chosen: Filter, size: tuple[int, int]) -> None:
        self.filter = chosen
        self.size = check_size(size)
        self._mask = chosen.started(self.size)

    def push(self, events: Events) -> Events:
        """What stays of the next piece, which must not begin before the last one ended."""
        if events.size != self.size:
            raise ValueError(f"the piece has size {events.size}, the stream {self.size}")
        return events[self._mask(events)]

    def reset(self) -> None:
        """Begins anew, for another stream."""
        self._mask = self.filter.started(self.size)

    def __repr__(self) -> str:
        return f"Filtering({self.filter!r}, size={self.size})"
