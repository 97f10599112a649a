"""What the ops need to know of packed events, whoever made them."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from torch import Tensor


@runtime_checkable
class PackedEvents(Protocol):
    """Samples of events, one after another; sample n is offsets[n] to offsets[n + 1]."""

    @property
    def x(self) -> Tensor:
        """Column of every event."""

    @property
    def y(self) -> Tensor:
        """Row of every event."""

    @property
    def t(self) -> Tensor:
        """Time of every event, in microseconds."""

    @property
    def p(self) -> Tensor:
        """Whether each event is brighter."""

    @property
    def offsets(self) -> Tensor:
        """Where the samples start, and where the last one ends."""

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of the sensor."""


def check_packed(batch: object) -> None:
    """Refuses what is not a batch of packed events."""
    if not isinstance(batch, PackedEvents):
        raise TypeError(
            f"batch must be an EventBatch, not {type(batch).__name__}; "
            "a single recording becomes one by EventBatch.pack([events])"
        )


def address(tensor: Tensor | None) -> int:
    """Where a contiguous CPU tensor's numbers are, 0 for none."""
    return 0 if tensor is None else tensor.data_ptr()
