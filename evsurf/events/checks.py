"""Refusing wrong events where they enter, with an error that says which one and why.

Everything inside the library trusts what passed here: kernels index memory by these coordinates.
The checks come in two prices. `check_size`, `check_fields` and `check_offsets_shape` look at types
and shapes only. `check_values` and `check_offsets` read every element once, without building more
than one byte per event, and look for the offender only once something is known to be wrong.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from itertools import pairwise

import torch
from jaxtyping import Bool, Int64, Integer
from torch import Tensor

LONGEST_SIDE = 2**15 - 1
"""Largest height or width; coordinates are int16."""

EARLIEST, LATEST = -(2**62) + 1, 2**62
"""Range of times in microseconds. The difference of any two fits in int64."""

_DTYPES = {
    "x": torch.int16,
    "y": torch.int16,
    "t": torch.int64,
    "p": torch.bool,
    "offsets": torch.int64,
}


def check_integer(name: str, value: object, unit: str) -> int:
    """The value as an int, for integers of any library; raises TypeError for anything else."""
    # A bool is an int to Python, but never a meant size, time or position.
    if not isinstance(value, bool):
        try:
            return operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            pass
    raise TypeError(f"{name} must be an int ({unit}), got {value!r}")


def check_size(size: object) -> tuple[int, int]:
    """The size as two ints (height, width), each from 1 to `LONGEST_SIDE`."""
    if not isinstance(size, tuple | list) or len(size) != 2:
        raise TypeError(f"size must be (height, width) in pixels, got {size!r}")
    height, width = (check_integer("size", side, "height and width in pixels") for side in size)
    if not (1 <= height <= LONGEST_SIDE and 1 <= width <= LONGEST_SIDE):
        raise ValueError(
            f"size = {(height, width)} is not a sensor's: height and width must be from 1 to "
            f"{LONGEST_SIDE}"
        )
    return height, width


def check_fields(fields: Mapping[str, object]) -> None:
    """Types, dimensions, lengths and devices of a recording's tensors; reads no element."""
    for name, values in fields.items():
        _check_tensor(name, values)
    check_agreement({name: v for name, v in fields.items() if isinstance(v, Tensor)})


def _check_tensor(name: str, values: object) -> None:
    wanted = _DTYPES[name]
    hint = (
        "Cumulate the lengths of the samples: EventBatch.pack does."
        if name == "offsets"
        else "Events.from_arrays(x, y, t, p, size) converts other types."
    )
    if not isinstance(values, Tensor):
        raise TypeError(
            f"{name} must be a tensor of dtype {wanted}, got {type(values).__qualname__}. {hint}"
        )
    if values.dtype != wanted:
        raise TypeError(f"{name} must have dtype {wanted}, got {values.dtype}. {hint}")
    check_one_dimension(name, values)


def check_one_dimension(name: str, values: Tensor) -> None:
    """Raise unless the values form a vector."""
    if values.ndim != 1:
        raise ValueError(
            f"{name} must have one dimension, one entry per event, got shape {tuple(values.shape)}"
        )


def check_agreement(fields: Mapping[str, Tensor]) -> None:
    """Raise unless x, y, t and p are equally long and all tensors are on one device."""
    lengths = {name: len(values) for name, values in fields.items() if name != "offsets"}
    # Compared two by two: a set would fix the length that an exported graph is traced with.
    if any(one != other for one, other in pairwise(lengths.values())):
        raise ValueError(f"x, y, t and p must have one entry per event each, got {_table(lengths)}")
    devices = {name: values.device for name, values in fields.items()}
    if len(set(devices.values())) > 1:
        raise ValueError(f"all tensors must be on one device, got {_table(devices)}")


def _table(entries: Mapping[str, object]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in entries.items())


def check_offsets_shape(offsets: Tensor) -> None:
    """Raise for offsets without an entry; even a batch of no samples has the leading 0."""
    if len(offsets) == 0:
        raise ValueError(
            "offsets must have one entry more than there are samples, so at least one, got none"
        )


def check_offsets(offsets: Int64[Tensor, "offsets"], events: int) -> None:
    """Raise unless the offsets start at 0, never decrease and end at the number of events."""
    descents = _descents(offsets)
    if not torch.stack([offsets[0] != 0, offsets[-1] != events, descents.any()]).any():
        return
    first, last = int(offsets[0]), int(offsets[-1])
    # Only a mistake is worth this sum; it may wrap around, and then merely misses the hint.
    hint = (
        " These look like lengths; offsets are their cumulative sum after a leading 0."
        if int(offsets.sum()) == events
        else ""
    )
    if first != 0:
        raise ValueError(f"offsets[0] = {first} must be 0, where the first sample starts.{hint}")
    if bool(descents.any()):
        i = _first(descents)
        raise ValueError(
            f"offsets[{i}] = {int(offsets[i])} is below offsets[{i - 1}] = {int(offsets[i - 1])}: "
            f"offsets must not decrease.{hint}"
        )
    raise ValueError(
        f"offsets[-1] = {last} must be the number of events, {events}, where the last sample ends."
        f"{hint}"
    )


def check_values(
    x: Integer[Tensor, "events"],
    y: Integer[Tensor, "events"],
    t: Integer[Tensor, "events"],
    size: tuple[int, int],
    *,
    offsets: Int64[Tensor, "offsets"] | None = None,
    ordered: bool = True,
) -> None:
    """Raise for the first event outside the sensor, outside the range of times or out of order.

    With offsets, each sample has an order of its own. Integers of any signed width are accepted, so
    that values are judged before they are narrowed.
    """
    if len(t) == 0:
        return
    height, width = size
    faults = [_strays(x, 0, width - 1), _strays(y, 0, height - 1), _strays(t, EARLIEST, LATEST)]
    if ordered:
        faults.append(_descents(t, offsets).any())
    # One answer for all faults, so that a recording on a GPU is waited for once.
    if not torch.stack(faults).any():
        return
    _refuse_coordinates(x, y, size, offsets)
    _refuse_times(t, offsets)
    _refuse_order(t, offsets)


def _strays(values: Tensor, low: int, high: int) -> Bool[Tensor, ""]:
    """Whether any value lies outside low..high."""
    smallest, largest = torch.aminmax(values)
    # A bound beyond the tensor's own width would wrap around in the comparison.
    return (smallest.long() < low) | (largest.long() > high)


def _first_stray(values: Tensor, low: int, high: int) -> int | None:
    if not _strays(values, low, high):
        return None
    wide = values.long()
    return _first((wide < low) | (wide > high))


def _first(mask: Tensor) -> int:
    return int(mask.nonzero()[0])


def _descents(
    values: Integer[Tensor, "events"], offsets: Tensor | None = None
) -> Bool[Tensor, "events+1"]:
    """True at entries below their predecessor; what stands at an offset has no predecessor."""
    descents = torch.zeros(len(values) + 1, dtype=torch.bool, device=values.device)
    torch.lt(values[1:], values[:-1], out=descents[1:-1])
    return descents if offsets is None else descents.index_fill_(0, offsets, False)


def _place(name: str, i: int, offsets: Tensor | None) -> str:
    """`x[7]`, and in a batch also the sample that it belongs to."""
    if offsets is None:
        return f"{name}[{i}]"
    sample = int(torch.searchsorted(offsets, i, right=True)) - 1
    return f"{name}[{i}] (in sample {sample})"


def _refuse_coordinates(
    x: Tensor, y: Tensor, size: tuple[int, int], offsets: Tensor | None
) -> None:
    height, width = size
    for name, values, side in (("x", x, width), ("y", y, height)):
        i = _first_stray(values, 0, side - 1)
        if i is not None:
            raise ValueError(
                f"{_place(name, i, offsets)} = {int(values[i])} is outside the sensor: {name} must "
                f"be 0 to {side - 1} for height {height} and width {width}."
                f"{_likely_cause(x, y, size)}"
            )


def _likely_cause(x: Tensor, y: Tensor, size: tuple[int, int]) -> str:
    height, width = size
    if not (_strays(x, 0, height - 1) or _strays(y, 0, width - 1)):
        return " Likely x and y are swapped, or height and width are."
    if not (_strays(x, 1, width) or _strays(y, 1, height)):
        return " Likely the coordinates count from 1: subtract 1."
    return ""


def _refuse_times(t: Tensor, offsets: Tensor | None) -> None:
    i = _first_stray(t, EARLIEST, LATEST)
    if i is not None:
        raise ValueError(
            f"{_place('t', i, offsets)} = {int(t[i])} is outside the range of times, which is "
            "-2**62 + 1 to 2**62 microseconds. Likely the file or its byte order was misread."
        )


def _refuse_order(t: Tensor, offsets: Tensor | None) -> None:
    i = _first(_descents(t, offsets))
    hint = "Events.from_arrays(..., sort=True) sorts"
    raise ValueError(
        f"{_place('t', i, offsets)} = {int(t[i])} is earlier than t[{i - 1}] = {int(t[i - 1])}: "
        f"times must not decrease. {hint}{' each sample' if offsets is not None else ''}."
    )
