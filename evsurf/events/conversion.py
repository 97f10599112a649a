"""Arrays of any kind to the exact types of `Events`, without ever changing a value.

Nothing is rounded, wrapped around or clipped on the way: what does not fit is an error that names
the argument, the first offending index and its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Bool, Integer
from torch import Tensor

from evsurf.events.checks import check_one_dimension


@runtime_checkable
class SupportsArray(Protocol):
    """What converts itself to a NumPy array, as columns of data frames do."""

    def __array__(self) -> npt.NDArray[Any]:
        """The values."""


# NumPy's own `ArrayLike` also admits a single number, and run-time type checkers cannot follow it.
ArrayLike: TypeAlias = Tensor | npt.NDArray[Any] | Sequence[Any] | SupportsArray
"""One value per event in whichever container."""

DTYPE = np.dtype([("x", "<i2"), ("y", "<i2"), ("t", "<i8"), ("p", "?")])
"""Record of one event in the structured arrays that `Events.numpy` gives."""

_FIELD_NAMES = {
    "x": ("x",),
    "y": ("y",),
    "t": ("t", "ts", "timestamp", "timestamps"),
    "p": ("p", "pol", "polarity"),
}


def fields_of(array: object) -> dict[str, npt.NDArray[Any]]:
    """The columns x, y, t and p of a structured array, under whichever names it knows them."""
    if not isinstance(array, np.ndarray) or array.dtype.names is None:
        raise TypeError(
            f"structured_array must be a NumPy array with fields x, y, t and p, got "
            f"{_what(array)}. Events.from_arrays(x, y, t, p, size) takes one array per field."
        )
    return {field: array[_field_name(field, array.dtype.names)] for field in _FIELD_NAMES}


def _what(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of dtype {value.dtype} and shape {value.shape}"
    return type(value).__qualname__


def _field_name(field: str, names: tuple[str, ...]) -> str:
    for candidate in _FIELD_NAMES[field]:
        if candidate in names:
            return candidate
    raise ValueError(
        f"structured_array has no field for {field} ({' or '.join(_FIELD_NAMES[field])}); "
        f"its fields are {', '.join(names)}"
    )


def whole_numbers(name: str, values: ArrayLike) -> Integer[Tensor, "events"]:
    """The values in a signed integer type (or uint8) that holds each of them exactly."""
    tensor = _vector(name, values)
    if tensor.dtype == torch.bool or tensor.is_complex():
        raise TypeError(f"{name} must hold integers, got dtype {tensor.dtype}")
    if tensor.is_floating_point():
        return _from_floats(name, tensor)
    if tensor.dtype == torch.uint64:
        return _from_uint64(name, tensor)
    # The other unsigned types have few operations in torch.
    return tensor.long() if tensor.dtype in (torch.uint16, torch.uint32) else tensor


def _vector(name: str, values: ArrayLike) -> Tensor:
    if isinstance(values, Tensor):
        tensor = values.detach()
    else:
        array = np.asarray(values)
        if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
            raise TypeError(f"{name} must hold plain numbers, got dtype {array.dtype}")
        tensor = _from_numpy(array)
    check_one_dimension(name, tensor)
    return tensor


def _from_numpy(array: npt.NDArray[Any]) -> Tensor:
    """The array as a tensor; memory is shared where torch can: native order, aligned, writable."""
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    strides_fit = all(s >= 0 and s % array.itemsize == 0 for s in array.strides)
    shareable = array.flags.writeable and array.flags.aligned and strides_fit
    return torch.from_numpy(array if shareable else array.copy())


def _from_floats(name: str, tensor: Tensor) -> Tensor:
    values = tensor.double()
    broken = ~torch.isfinite(values)
    if broken.any():
        i, value = _offender(broken, values)
        raise ValueError(f"{name}[{i}] = {value} is not a number that an event can have")
    fractional = values != values.trunc()
    if fractional.any():
        i, value = _offender(fractional, values)
        hint = (
            "Times are whole microseconds: multiply seconds by 1e6 and round."
            if name == "t"
            else "Coordinates are whole pixels: round them first."
        )
        raise ValueError(f"{name}[{i}] = {value} has a fraction. {hint}")
    # Exact as a float, unlike 2**63 - 1.
    too_large = values.abs() >= 2.0**63
    if too_large.any():
        i, value = _offender(too_large, values)
        raise ValueError(f"{name}[{i}] = {value} does not fit in int64")
    return values.long()


def _from_uint64(name: str, tensor: Tensor) -> Tensor:
    """The same bits as int64, in which values that do not fit come out negative."""
    signed = tensor.view(torch.int64)
    wrapped = signed < 0
    if wrapped.any():
        i, value = _offender(wrapped, signed)
        raise ValueError(f"{name}[{i}] = {int(value) + 2**64} does not fit in int64")
    return signed


def _offender(mask: Tensor, values: Tensor) -> tuple[int, int | float]:
    i = int(mask.nonzero()[0])
    return i, values[i].item()


def polarities(values: ArrayLike) -> Bool[Tensor, "events"]:
    """True for brighter, from bools, from 0 and 1 or from -1 and 1."""
    tensor = _vector("p", values)
    if tensor.dtype == torch.bool:
        return tensor
    # Compared in a signed type: an unsigned 255 equals -1 in its own.
    numbers = tensor if tensor.is_floating_point() else whole_numbers("p", tensor).long()
    off, minus, on = numbers == 0, numbers == -1, numbers == 1
    unknown = ~(off | minus | on)
    if unknown.any():
        i, value = _offender(unknown, numbers)
        hint = " Likely -1 was stored in an unsigned type." if value == 255 else ""
        raise ValueError(
            f"p[{i}] = {value} is no polarity: p must be bool, 0 and 1, or -1 and 1.{hint}"
        )
    if off.any() and minus.any():
        zero, negative = _offender(off, numbers)[0], _offender(minus, numbers)[0]
        raise ValueError(
            f"p[{zero}] = 0 and p[{negative}] = -1: p must be either 0 and 1 or -1 and 1, "
            "else it is unclear what 0 stands for"
        )
    return on
