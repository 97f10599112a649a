"""The op evsurf::group: the reference on any device, the compiled core on the CPU."""

from __future__ import annotations

import torch
from torch import Tensor

from evsurf import _core
from evsurf.ops.grouping import reference
from evsurf.ops.grouping.field import Field
from evsurf.ops.packed import address

Grouped = tuple[Tensor, Tensor, Tensor, Tensor]

_SCHEMA = (
    "(Tensor x, Tensor y, Tensor offsets, int[] field, int most, bool latest)"
    " -> (Tensor order, Tensor sequence_offsets, Tensor cell, Tensor counts)"
)


def _room(x: Tensor, offsets: Tensor, numbers: list[int]) -> Grouped:
    """Outputs as large as they can get, so that their shapes do not depend on the events."""
    most = x.shape[0] * Field.from_numbers(numbers).overlap
    # Behind the last sequence come empty ones, in a cell that no sample has.
    outside = _cells(offsets, numbers)
    return (
        offsets.new_zeros(most),
        offsets.new_zeros(most + 1),
        offsets.new_full((most,), outside),
        offsets.new_zeros(2),
    )


def _cells(offsets: Tensor, numbers: list[int]) -> int:
    rows, columns = Field.from_numbers(numbers).cells
    return (offsets.shape[0] - 1) * rows * columns


@torch.library.custom_op("evsurf::group", mutates_args=(), schema=_SCHEMA)
def group(
    x: Tensor, y: Tensor, offsets: Tensor, field: list[int], most: int, latest: bool
) -> Grouped:
    """Packed events to sequences; `counts` says how many sequences and kept events there are."""
    room_order, room_offsets, room_cell, counts = _room(x, offsets, field)
    order, sequence_offsets, cell = reference.group(
        x, y, offsets, Field.from_numbers(field), most=most, latest=latest
    )
    room_order[: len(order)] = order
    room_offsets[: len(cell) + 1] = sequence_offsets
    room_offsets[len(cell) + 1 :] = len(order)
    room_cell[: len(cell)] = cell
    counts[0], counts[1] = len(cell), len(order)
    return room_order, room_offsets, room_cell, counts


@group.register_fake
def _(x: Tensor, y: Tensor, offsets: Tensor, field: list[int], most: int, latest: bool) -> Grouped:
    return _room(x, offsets, field)


@group.register_kernel("cpu")
def _(x: Tensor, y: Tensor, offsets: Tensor, field: list[int], most: int, latest: bool) -> Grouped:
    order, sequence_offsets, cell, counts = _room(x, offsets, field)
    x, y, offsets = x.contiguous(), y.contiguous(), offsets.contiguous()
    sequences, kept = _core.group(
        (address(x), address(y), 0, 0, address(offsets)),
        len(offsets) - 1,
        len(x),
        field,
        most,
        latest,
        torch.get_num_threads(),
        address(order),
        address(sequence_offsets),
        address(cell),
    )
    sequence_offsets[sequences:] = kept
    counts[0], counts[1] = sequences, kept
    return order, sequence_offsets, cell, counts
