"""Packed events to a dense Matrix-LSTM surface, with any number of layers."""

from __future__ import annotations

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from evsurf.ops.arguments import check_same_device
from evsurf.ops.grouping.bins import window_offsets
from evsurf.ops.grouping.field import Field
from evsurf.ops.grouping.op import group
from evsurf.ops.packed import PackedEvents
from evsurf.ops.recurrence.features import Sequences, event_features
from evsurf.ops.recurrence.op import ragged_lstm
from evsurf.ops.recurrence.ragged import check_layers, computing_dtype
from evsurf.ops.recurrence.reading import Reading
from evsurf.ops.recurrence.reference import Cell
from evsurf.ops.recurrence.surface_op import lstm_surface as op
from evsurf.ops.recurrence.surface_reference import place


def lstm_surface(
    batch: PackedEvents,
    cells: Sequence[Cell],
    *,
    field: Field,
    reading: Reading,
    bins: int,
    cap: tuple[int, bool],
) -> Float[Tensor, "samples channels rows columns"]:
    """The surface of a batch in the computing dtype; `cells` are the layers, from the first.

    One layer is a single op, in which nothing but the surface is ever materialised. Several take
    the packed outputs of each layer to the next.
    """
    check_layers(cells, reading.features)
    check_same_device(batch.x, cells[0].w_ih)
    dtype = computing_dtype(cells[0].w_ih)
    layers = [cell.to(dtype) for cell in cells]
    most, latest = cap
    if len(layers) > 1:
        return _deep_surface(batch, layers, field, reading, bins, most, latest)
    surface: Tensor = op(
        batch.x, batch.y, batch.t, batch.p, batch.offsets,
        field.numbers(), bins, most, latest, reading.numbers(), reading.time_scale, *layers[0],
    )  # fmt: skip
    return surface


def _deep_surface(
    batch: PackedEvents, layers: list[Cell], field: Field, reading: Reading, bins: int, most: int,
    latest: bool,
) -> Tensor:  # fmt: skip
    windows = window_offsets(batch.t, batch.offsets, bins)
    order, offsets, cell, _ = group(batch.x, batch.y, windows, field.numbers(), most, latest)
    sequences = Sequences(order, offsets, cell, windows, batch.offsets)
    features = event_features(batch.x, batch.y, batch.t, batch.p, sequences, field, reading)
    h = run_layers(features.to(layers[0].w_ih.dtype), offsets, layers)
    samples = batch.offsets.shape[0] - 1
    return place(h, cell, (samples, bins * layers[-1].hidden, *field.cells))


def run_layers(
    features: Float[Tensor, "events features"], offsets: Tensor, layers: Sequence[Cell]
) -> Float[Tensor, "sequences hidden"]:
    """The last output of the last layer of every sequence."""
    for layer in layers[:-1]:
        features, _, _ = ragged_lstm(features, offsets, *layer, None, None, True)
    h: Tensor
    _, h, _ = ragged_lstm(features, offsets, *layers[-1], None, None, False)
    return h
