"""Matrix-LSTM's surface from the reference's parts: group, read, run the cell, place."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from evsurf.ops.grouping import reference as grouping
from evsurf.ops.grouping.bins import window_offsets
from evsurf.ops.grouping.field import Field
from evsurf.ops.recurrence import reference
from evsurf.ops.recurrence.features import Sequences, event_features
from evsurf.ops.recurrence.reading import Reading
from evsurf.ops.recurrence.reference import Cell, State


@dataclass(frozen=True)
class Input:
    """Packed events, and how a surface is made of them."""

    x: Tensor
    y: Tensor
    t: Tensor
    p: Tensor
    offsets: Tensor
    field: Field
    bins: int
    most: int
    latest: bool
    reading: Reading

    def sequences(self) -> Sequences:
        """The events of every window, grouped by field."""
        windows = window_offsets(self.t, self.offsets, self.bins)
        order, offsets, cell = grouping.group(
            self.x, self.y, windows, self.field, most=self.most, latest=self.latest
        )
        return Sequences(order, offsets, cell, windows, self.offsets)

    def features(self, sequences: Sequences, dtype: torch.dtype) -> Tensor:
        """What the cell is fed."""
        features = event_features(
            self.x, self.y, self.t, self.p, sequences, self.field, self.reading
        )
        return features.to(dtype)

    def shape(self, hidden: int) -> tuple[int, int, int, int]:
        """Samples, channels, rows, columns of the surface."""
        return (len(self.offsets) - 1, self.bins * hidden, *self.field.cells)


def place(
    h: Float[Tensor, "sequences hidden"], cell: Tensor, shape: tuple[int, int, int, int]
) -> Float[Tensor, "samples channels rows columns"]:
    """Sequences' outputs at their cells, zero elsewhere. `cell` counts [windows, rows, columns];
    sequences in the cell behind the last are dropped. The bins of a sample become channels.
    """
    samples, channels, rows, columns = shape
    hidden = h.shape[1]
    windows = samples * channels // hidden
    dense = h.new_zeros(windows * rows * columns + 1, hidden).index_copy(0, cell, h)[:-1]
    return dense.view(windows, rows, columns, hidden).permute(0, 3, 1, 2).reshape(shape)


def forward(given: Input, cell: Cell) -> Float[Tensor, "samples channels rows columns"]:
    """The surface."""
    sequences = given.sequences()
    features = given.features(sequences, cell.w_ih.dtype)
    start = reference.initial_state(len(sequences.cell), cell, None, None)
    _, last = reference.forward(features, sequences.offsets, cell, start)
    return place(last.h, sequences.cell, given.shape(cell.hidden)).contiguous()


def backward(given: Input, cell: Cell, d_surface: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of w_ih, w_hh and of either bias."""
    sequences = given.sequences()
    features = given.features(sequences, cell.w_ih.dtype)
    start = reference.initial_state(len(sequences.cell), cell, None, None)
    rows, columns = given.field.cells
    dense = d_surface.reshape(-1, cell.hidden, rows, columns).permute(0, 2, 3, 1)
    d_last = dense.reshape(-1, cell.hidden)[sequences.cell]
    d_state = State(d_last, torch.zeros_like(d_last))
    g = reference.backward(features, sequences.offsets, cell, start, None, d_state)
    return g.w_ih, g.w_hh, g.bias
