"""Grouping in plain torch, on any device: the definition of correct."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Int, Int64
from torch import Tensor

from evsurf.ops.grouping.field import Field


def sample_of_event(
    offsets: Int64[Tensor, "samples_and_1"], events: int
) -> Int64[Tensor, "events"]:
    """The sample that each packed event belongs to; the last one's also hold what comes behind."""
    position = torch.arange(events, device=offsets.device)
    last = max(offsets.shape[0] - 2, 0)
    return torch.searchsorted(offsets[1:], position, right=True).clamp(max=last)


def memberships(
    x: Int[Tensor, "events"], y: Int[Tensor, "events"], field: Field
) -> tuple[
    Int64[Tensor, "events overlap"], Int64[Tensor, "events overlap"], Bool[Tensor, "events overlap"]
]:
    """Rows and columns of the cells that see each event, and which of them there really are."""
    (height, width), (down, across) = field.kernel, field.stride
    (top, left), (rows, columns) = field.before, field.cells
    back = [
        (a, b)
        for a in reversed(range(-(-height // down)))
        for b in reversed(range(-(-width // across)))
    ]
    steps = torch.tensor(back, device=x.device)
    y_padded, x_padded = y.long()[:, None] + top, x.long()[:, None] + left
    i, j = y_padded // down - steps[:, 0], x_padded // across - steps[:, 1]
    seen = (y_padded - i * down < height) & (x_padded - j * across < width)
    # Validation keeps other events out; where it was switched off, nobody sees them.
    seen &= ((y >= 0) & (y < field.size[0]) & (x >= 0) & (x < field.size[1]))[:, None]
    inside = (i >= 0) & (i < rows) & (j >= 0) & (j < columns)
    return i, j, seen & inside


def kept_positions(
    position: Int64[Tensor, "grouped"], length: Int64[Tensor, "grouped"], most: int, latest: bool
) -> Bool[Tensor, "grouped"]:
    """Which positions of a sequence of `length` events the cap keeps.

    `latest` keeps the last `most`. Otherwise, with s = length // (most - 1), the first event and
    those at length - 1 - s * q for q = most - 2, ..., 0.
    """
    if latest or most == 1:
        return position >= length - most
    apart = (length // (most - 1)).clamp(min=1)
    from_end = length - 1 - position
    spread = (position == 0) | ((from_end % apart == 0) & (from_end // apart <= most - 2))
    return spread | (length <= most)


def group(
    x: Int[Tensor, "events"],
    y: Int[Tensor, "events"],
    offsets: Int64[Tensor, "samples_and_1"],
    field: Field,
    *,
    most: int,
    latest: bool,
) -> tuple[Int64[Tensor, "grouped"], Int64[Tensor, "sequences_and_1"], Int64[Tensor, "sequences"]]:
    """Order of events, sequence offsets, and cell of every sequence in [samples, rows, columns]."""
    rows, columns = field.cells
    i, j, valid = memberships(x, y, field)
    sample = sample_of_event(offsets, len(x))[:, None]
    key = ((sample * rows + i) * columns + j)[valid]
    event = torch.arange(len(x), device=x.device)[:, None].expand_as(valid)[valid]
    # Events are in stream order here, and a stable sort leaves them so within every cell.
    key, by_cell = torch.sort(key, stable=True)
    order = event[by_cell]
    cell, lengths = torch.unique_consecutive(key, return_counts=True)
    if most > 0:
        starts = lengths.cumsum(0) - lengths
        repeated = torch.repeat_interleave(torch.stack([starts, lengths]), lengths, dim=1)
        position = torch.arange(len(order), device=x.device) - repeated[0]
        order = order[kept_positions(position, repeated[1], most, latest)]
        lengths = lengths.clamp(max=most)
    sequence_offsets = torch.nn.functional.pad(lengths.cumsum(0), (1, 0))
    return order, sequence_offsets, cell
