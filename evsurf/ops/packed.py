"""What the ops need to know of packed events, whoever made them."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from torch import Tensor


@runtime_checkable
class PackedEvents(Protocol):
    """Samples of events, one after another; sample n is offsets[n] to offsets[n + 1]."""

    @property
    def x(self) -> Tensor: ...
    @property
    def y(self) -> Tensor: ...
    @property
    def t(self) -> Tensor: ...
    @property
    def p(self) -> Tensor: ...
    @property
    def offsets(self) -> Tensor: ...
    @property
    def size(self) -> tuple[int, int]: ...


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
