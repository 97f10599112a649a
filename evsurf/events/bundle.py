"""What a recording and a batch of recordings share: tensors that travel together and never change.

The attributes are ordinary ones in the instance's `__dict__`, because `torch.compile` traces
those without a graph break. Immutability is therefore a `__setattr__` that refuses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NoReturn, TypeVar

import torch
from torch import Tensor

# What the methods of a bundle return: `typing.Self`, in a form that run-time type checkers follow.
Bundle = TypeVar("Bundle", bound="TensorBundle")


class TensorBundle(ABC):
    """Tensors on one device and a sensor's size, moved, pinned, compared and pickled as one."""

    FIELDS: ClassVar[tuple[str, ...]]
    """Names of the tensors, in the constructor's order."""

    size: tuple[int, int]
    """Height and width of the sensor in pixels."""

    @abstractmethod
    def _rebuilt(self: Bundle, *tensors: Tensor) -> Bundle:
        """The same bundle around other tensors, which are trusted."""

    def _tensors(self) -> tuple[Tensor, ...]:
        return tuple(getattr(self, name) for name in self.FIELDS)

    def _set(self, *tensors: Tensor, size: tuple[int, int]) -> None:
        """Fill a new instance; kernels read the tensors by address, so they are made contiguous."""
        for name, tensor in zip(self.FIELDS, tensors, strict=True):
            object.__setattr__(self, name, tensor.contiguous())
        object.__setattr__(self, "size", size)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        kind = type(self).__name__
        raise AttributeError(
            f"cannot set {name!r}: {kind} is immutable; build a new {kind} instead"
        )

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"cannot delete {name!r}: {type(self).__name__} is immutable")

    # Equal values on different tensors: a hash would have to read all of them.
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TensorBundle) or type(other) is not type(self):
            return NotImplemented
        if self.size != other.size or self.device != other.device:
            return False
        pairs = zip(self._tensors(), other._tensors(), strict=True)
        return all(torch.equal(mine, theirs) for mine, theirs in pairs)

    def __getstate__(self) -> dict[str, Any]:
        """State for pickling and copying; of a slice, without the rest of the recording."""
        return {
            name: _own_memory(value) if isinstance(value, Tensor) else value
            for name, value in self.__dict__.items()
        }

    @property
    def device(self) -> torch.device:
        """The device that holds all of the tensors."""
        first: Tensor = getattr(self, self.FIELDS[0])
        return first.device

    def to(self: Bundle, device: torch.device | str | int, non_blocking: bool = False) -> Bundle:
        """A copy on another device; tensors already there are shared, not copied."""
        return self._rebuilt(*(v.to(device, non_blocking=non_blocking) for v in self._tensors()))

    def cpu(self: Bundle) -> Bundle:
        """A copy in the memory of the host."""
        return self.to("cpu")

    def cuda(
        self: Bundle, device: torch.device | str | int | None = None, non_blocking: bool = False
    ) -> Bundle:
        """A copy on a CUDA device, the current one unless named."""
        return self.to("cuda" if device is None else device, non_blocking)

    def pin_memory(self: Bundle, device: torch.device | str | None = None) -> Bundle:
        """A copy in page-locked memory, from which `.to(..., non_blocking=True)` is asynchronous.

        `torch.utils.data.DataLoader(..., pin_memory=True)` calls it. Raises torch's own error where
        there is no accelerator to pin memory for.
        """
        options = () if device is None else (device,)
        return self._rebuilt(*(tensor.pin_memory(*options) for tensor in self._tensors()))

    def is_pinned(self) -> bool:
        """Whether the memory is page-locked; False when there is none."""
        filled = [tensor for tensor in self._tensors() if tensor.numel()]
        return bool(filled) and all(tensor.is_pinned() for tensor in filled)


def _own_memory(tensor: Tensor) -> Tensor:
    """The tensor without a larger storage behind it, which pickling would otherwise write whole."""
    whole = tensor.untyped_storage().nbytes() == tensor.numel() * tensor.element_size()
    return tensor if whole else tensor.clone()
