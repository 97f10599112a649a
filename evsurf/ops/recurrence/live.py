"""Streams in pieces: the next events of every stream through the cell, from the state it is in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from evsurf import _core
from evsurf.ops.grouping.by_pixel import Groups
from evsurf.ops.grouping.field import Field
from evsurf.ops.grouping.op import group
from evsurf.ops.grouping.reference import sample_of_event
from evsurf.ops.packed import PackedEvents, address
from evsurf.ops.recurrence.features import (
    Sequences,
    fixed_scale,
    place_features,
    polarity_feature,
    scaled_delays,
)
from evsurf.ops.recurrence.op import (
    ragged_lstm,
    runs_compiled,
    warn_where_slow,
    weight_addresses,
)
from evsurf.ops.recurrence.reading import Reading
from evsurf.ops.recurrence.reference import Cell

Maybe = Tensor | None


class Memory(NamedTuple):
    """State of every cell of every stream; cells are counted [samples, rows, columns]."""

    h: Float[Tensor, "layers cells channels"]
    c: Float[Tensor, "layers cells channels"]
    last: Int64[Tensor, "cells"]
    """Time of each cell's last event."""
    seen: Int64[Tensor, "cells"]
    """Events that each cell has read; 0 where it has none to remember."""


class Rows(NamedTuple):
    """New rows of the memory, for the cells that a piece of events touches."""

    cell: Int64[Tensor, "touched"]
    memory: Memory


class Piece(NamedTuple):
    """The next events of every stream, and the time of each stream's very first one."""

    x: Tensor
    y: Tensor
    t: Tensor
    p: Tensor
    offsets: Tensor
    size: tuple[int, int]
    start: Int64[Tensor, "samples"]

    @staticmethod
    def of(batch: PackedEvents, start: Int64[Tensor, "samples"]) -> Piece:
        """The events of a batch as the next ones of their streams."""
        return Piece(batch.x, batch.y, batch.t, batch.p, batch.offsets, batch.size, start)


def new_rows(
    piece: Piece, layers: Sequence[Cell], field: Field, reading: Reading, memory: Memory
) -> Rows:
    """What reading a piece changes; differentiable in the weights and in h and c."""
    numbers = field.numbers()
    order, ends, cell, counts = group(piece.x, piece.y, piece.offsets, numbers, 0, False)
    sequences, kept = counts.tolist()
    groups = Groups(
        order[:kept], ends[: sequences + 1], cell[:sequences], len(piece.offsets) - 1, field.cells
    )
    t = piece.t.index_select(0, groups.order)
    features = _features(piece, groups, t, field, reading, memory).to(layers[0].w_ih.dtype)
    hs, cs = [], []
    for layer, weights in enumerate(layers):
        h0 = memory.h[layer].index_select(0, groups.cell)
        c0 = memory.c[layer].index_select(0, groups.cell)
        not_last = layer + 1 < len(layers)
        features, h, c = ragged_lstm(features, groups.offsets, *weights, h0, c0, not_last)
        hs.append(h)
        cs.append(c)
    last = t.index_select(0, groups.offsets[1:] - 1)
    seen = memory.seen.index_select(0, groups.cell) + groups.lengths
    return Rows(groups.cell, Memory(torch.stack(hs), torch.stack(cs), last, seen))


def _features(
    piece: Piece, groups: Groups, t: Tensor, field: Field, reading: Reading, memory: Memory
) -> Tensor:
    """The feature vectors of a piece, made as `event_features` makes those of a whole window."""
    offsets = groups.offsets
    columns = [polarity_feature(piece.p.index_select(0, groups.order), reading)]
    if reading.coordinates:
        sequences = Sequences(groups.order, offsets, groups.cell, piece.offsets, piece.offsets)
        columns += place_features(piece.x, piece.y, sequences, field)
    if reading.time == "ts":
        sequence = sample_of_event(offsets, len(t))
        columns.append(fixed_scale(t - piece.start[groups.position[0]][sequence], reading))
    else:
        first = t.index_select(0, offsets[:-1])
        known = memory.seen.index_select(0, groups.cell) > 0
        before = torch.where(known, memory.last.index_select(0, groups.cell), first)
        delay = t.diff(prepend=t[:1]).index_copy(0, offsets[:-1], first - before)
        columns.append(scaled_delays(delay, reading))
    return torch.stack(columns, dim=1)


def put_rows(memory: Memory, rows: Rows) -> None:
    """Writes new rows into the memory, in place."""
    memory.h.index_copy_(1, rows.cell, rows.memory.h)
    memory.c.index_copy_(1, rows.cell, rows.memory.c)
    memory.last.index_copy_(0, rows.cell, rows.memory.last)
    memory.seen.index_copy_(0, rows.cell, rows.memory.seen)


_SCHEMA = (
    "(Tensor x, Tensor y, Tensor t, Tensor p, Tensor offsets, Tensor start, int[] field, "
    "int[] reading, float time_scale, Tensor w_ih, Tensor w_hh, Tensor? b_ih, Tensor? b_hh, "
    "Tensor(a!) h, Tensor(b!) c, Tensor(c!) last, Tensor(d!) seen) -> ()"
)


def _step_reference(
    x: Tensor, y: Tensor, t: Tensor, p: Tensor, offsets: Tensor, start: Tensor, field: list[int],
    reading: list[int], time_scale: float, w_ih: Tensor, w_hh: Tensor, b_ih: Maybe, b_hh: Maybe,
    h: Tensor, c: Tensor, last: Tensor, seen: Tensor,
) -> None:  # fmt: skip
    warn_where_slow(x.device)
    fields = Field.from_numbers(field)
    memory = Memory(h[None], c[None], last, seen)
    piece = Piece(x, y, t, p, offsets, fields.size, start)
    cell = Cell(w_ih, w_hh, b_ih, b_hh)
    put_rows(
        memory, new_rows(piece, [cell], fields, Reading.from_numbers(reading, time_scale), memory)
    )


live_step = torch.library.custom_op(
    "evsurf::live_step",
    _step_reference,
    mutates_args=("h", "c", "last", "seen"),
    schema=_SCHEMA,
)
"""Reads the next events of every stream with one layer, in place; nothing is differentiated."""


@live_step.register_fake
def _(
    x: Tensor, y: Tensor, t: Tensor, p: Tensor, offsets: Tensor, start: Tensor, field: list[int],
    reading: list[int], time_scale: float, w_ih: Tensor, w_hh: Tensor, b_ih: Maybe, b_hh: Maybe,
    h: Tensor, c: Tensor, last: Tensor, seen: Tensor,
) -> None:  # fmt: skip
    return None


@live_step.register_kernel("cpu")
def _(
    x: Tensor, y: Tensor, t: Tensor, p: Tensor, offsets: Tensor, start: Tensor, field: list[int],
    reading: list[int], time_scale: float, w_ih: Tensor, w_hh: Tensor, b_ih: Maybe, b_hh: Maybe,
    h: Tensor, c: Tensor, last: Tensor, seen: Tensor,
) -> None:  # fmt: skip
    cell = Cell(w_ih, w_hh, b_ih, b_hh).contiguous()
    in_place = all(a.is_contiguous() for a in (h, c, last, seen))
    if not in_place or not runs_compiled(cell.hidden):
        _step_reference(
            x, y, t, p, offsets, start, field, reading, time_scale, w_ih, w_hh, b_ih, b_hh,
            h, c, last, seen,
        )  # fmt: skip
        return
    events = [a.contiguous() for a in (x, y, t, p, offsets, start)]
    ax, ay, at, ap, a_offsets, a_start = (address(a) for a in events)
    double = w_ih.dtype == torch.float64
    run = _core.live_step_double if double else _core.live_step_float
    run(
        (ax, ay, at, ap, a_offsets), len(offsets) - 1, len(x), field, reading, time_scale,
        weight_addresses(cell), cell.hidden, torch.get_num_threads(),
        (address(h), address(c), address(last), address(seen), a_start),
    )  # fmt: skip
