"""What every surface is: a module from events to images."""

from __future__ import annotations

from abc import ABC, abstractmethod

from jaxtyping import Float
from torch import Tensor, nn

from evsurf.events import EventBatch, Events


class Surface(nn.Module, ABC):
    """Turns packed events into images [samples, out_channels, rows, columns].

    A sample's image never depends on the other samples. Samples without events give the method's
    rest value, zero unless a surface says otherwise.
    """

    out_channels: int
    """Channels of the images."""

    @abstractmethod
    def forward(self, batch: EventBatch | Events) -> Float[Tensor, "samples channels rows columns"]:
        """The images of a batch; a single recording is a batch of one."""


def as_batch(batch: EventBatch | Events) -> EventBatch:
    """The batch itself, or a batch of the one recording."""
    if isinstance(batch, EventBatch):
        return batch
    if isinstance(batch, Events):
        return EventBatch.pack([batch])
    raise TypeError(
        f"batch must be an EventBatch or Events, not {type(batch).__name__}; "
        "arrays become Events by Events.from_arrays(x, y, t, p, size)"
    )
