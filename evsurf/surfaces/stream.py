"""Streams in pieces: what a causal Matrix-LSTM remembers, and how a piece of events moves it on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from evsurf.events import EventBatch
from evsurf.ops.grouping.by_pixel import Groups, group_by_pixel
from evsurf.ops.grouping.field import Pair
from evsurf.ops.grouping.reference import sample_of_event
from evsurf.ops.recurrence.features import (
    Sequences,
    fixed_scale,
    place_features,
    polarity_feature,
    scaled_delays,
)
from evsurf.ops.recurrence.op import ragged_lstm
from evsurf.ops.recurrence.ragged import computing_dtype
from evsurf.surfaces.matrix_lstm import MatrixLSTM


@dataclass(frozen=True)
class StreamState:
    """Memory of every cell of every stream; cells are counted [samples, rows, columns]."""

    h: Float[Tensor, "layers cells channels"]
    c: Float[Tensor, "layers cells channels"]
    last: Int64[Tensor, "cells"]
    """Time of each cell's last event."""
    count: Int64[Tensor, "cells"]
    """Events that each cell has read; 0 where it has none to remember."""
    start: Int64[Tensor, "samples"]
    """Time of each stream's first event."""
    now: Int64[Tensor, "samples"]
    """Time of each stream's last event."""
    begun: Bool[Tensor, "samples"]
    """Whether a stream has had any event."""
    size: Pair
    """Sensor height and width."""

    def detach(self) -> StreamState:
        """The same numbers cut off from the graph, for truncated back-propagation through time."""
        return replace(self, h=self.h.detach(), c=self.c.detach())

    def reset(self, where: Bool[Tensor, "samples rows columns"]) -> StreamState:
        """The state with these cells as they were before their first event."""
        chosen = where.flatten()
        keep = ~chosen[:, None]
        return replace(
            self, h=self.h * keep, c=self.c * keep, count=torch.where(chosen, 0, self.count)
        )


@dataclass(frozen=True)
class Piece:
    """What a piece of events changes: new rows of the state for the cells that it touches."""

    cell: Int64[Tensor, "touched"]
    h: Float[Tensor, "layers touched channels"]
    c: Float[Tensor, "layers touched channels"]
    last: Int64[Tensor, "touched"]
    count: Int64[Tensor, "touched"]
    start: Int64[Tensor, "samples"]
    now: Int64[Tensor, "samples"]
    begun: Bool[Tensor, "samples"]


def check_causal(surface: MatrixLSTM) -> None:
    """Refuses a surface whose value would need events that are yet to come."""
    causes = {
        "bins > 1 (a bin's end is not known before it)": surface.bins > 1,
        "max_events (which events are kept is not known before the last)": (
            surface.max_events is not None
        ),
        "global_time (it is measured against the last event)": surface.reading.global_time,
        f'time="{surface.reading.time}" with scope="{surface.reading.scope}" '
        "(it is normalised by later events)": not (
            surface.reading.scope == "fixed" or surface.reading.time == "log_delay"
        ),
    }
    found = [cause for cause, present in causes.items() if present]
    if found:
        raise ValueError(
            f"a stream needs a causal surface, and this one has {'; '.join(found)}. Causal are "
            'MatrixLSTM(..., time="log_delay"), or time="delay" or "ts" with scope="fixed", with '
            "one bin and no max_events"
        )


def new_state(surface: MatrixLSTM, size: Pair, samples: int = 1) -> StreamState:
    """The state before the first event."""
    check_causal(surface)
    weight = surface.weight
    rows, columns = surface.field(size).cells
    cells = samples * rows * columns
    h = weight.detach().new_zeros(
        (surface.layers, cells, surface.channels), dtype=computing_dtype(weight)
    )
    per_cell = torch.zeros(cells, dtype=torch.int64, device=weight.device)
    per_sample = torch.zeros(samples, dtype=torch.int64, device=weight.device)
    return StreamState(
        h, torch.zeros_like(h), per_cell, per_cell.clone(), per_sample, per_sample.clone(),
        per_sample.bool(), size,
    )  # fmt: skip


def advance(surface: MatrixLSTM, batch: EventBatch, state: StreamState) -> Piece:
    """Reads the next piece of every stream; what it costs depends on the piece alone."""
    start, now, begun = _clock(batch, state)
    groups = group_by_pixel(
        batch, kernel_size=surface.kernel_size, stride=surface.stride, padding=surface.padding
    )
    t = batch.t.index_select(0, groups.order)
    offsets = groups.offsets
    features = _features(surface, batch, groups, t, start, state)
    hs, cs = [], []
    dtype = computing_dtype(surface.weight)
    layers = [cell.to(dtype) for cell in surface.cells()]
    for layer, cell in enumerate(layers):
        h0 = state.h[layer].index_select(0, groups.cell)
        c0 = state.c[layer].index_select(0, groups.cell)
        not_last = layer + 1 < len(layers)
        features, h, c = ragged_lstm(features.to(dtype), offsets, *cell, h0, c0, not_last)
        hs.append(h)
        cs.append(c)
    count = state.count.index_select(0, groups.cell) + groups.lengths
    last = t.index_select(0, offsets[1:] - 1)
    return Piece(groups.cell, torch.stack(hs), torch.stack(cs), last, count, start, now, begun)


def _clock(batch: EventBatch, state: StreamState) -> tuple[Tensor, Tensor, Tensor]:
    """Start and current time of every stream with this piece, and whether it has begun."""
    begin, end = batch.offsets[:-1], batch.offsets[1:]
    some = end > begin
    if len(batch.t) == 0:
        return state.start, state.now, state.begun
    limit = len(batch.t) - 1
    first, last = batch.t[begin.clamp(max=limit)], batch.t[(end - 1).clamp(min=0)]
    late = some & state.begun & (first < state.now)
    if bool(late.any()):
        n = int(late.nonzero()[0])
        raise ValueError(
            f"events must not be older than those already read: stream {n} has come to "
            f"t = {int(state.now[n])}, and the piece starts at t = {int(first[n])}. "
            "Use reset() before another recording"
        )
    start = torch.where(some & ~state.begun, first, state.start)
    return start, torch.where(some, last, state.now), state.begun | some


def _features(
    surface: MatrixLSTM, batch: EventBatch, groups: Groups, t: Tensor, start: Tensor,
    state: StreamState,
) -> Tensor:  # fmt: skip
    """The feature vectors of a piece, made as `event_features` makes those of a whole window."""
    reading, offsets = surface.reading, groups.offsets
    columns = [polarity_feature(batch.p.index_select(0, groups.order), reading)]
    if reading.coordinates:
        sequences = Sequences(groups.order, offsets, groups.cell, batch.offsets, batch.offsets)
        columns += place_features(batch.x, batch.y, sequences, surface.field(batch.size))
    if reading.time == "ts":
        sequence = sample_of_event(offsets, len(t))
        columns.append(fixed_scale(t - start[groups.position[0]][sequence], reading))
    else:
        first = t.index_select(0, offsets[:-1])
        known = state.count.index_select(0, groups.cell) > 0
        before = torch.where(known, state.last.index_select(0, groups.cell), first)
        delay = t.diff(prepend=t[:1]).index_copy(0, offsets[:-1], first - before)
        columns.append(scaled_delays(delay, reading))
    return torch.stack(columns, dim=1)


def step(
    surface: MatrixLSTM, batch: EventBatch, state: StreamState | None = None
) -> tuple[Float[Tensor, "samples channels rows columns"], StreamState]:
    """Reads the next piece of every sample's stream: the surface so far, and the new state.

    Feeding a recording in any number of pieces gives the surface of feeding it whole. Gradients
    flow through the state; `state.detach()` cuts them. Cells without new events keep their value.
    """
    samples = len(batch)
    state = new_state(surface, batch.size, samples) if state is None else state
    if state.size != batch.size or len(state.begun) != samples:
        raise ValueError(
            f"the state is of {len(state.begun)} streams of size {state.size}, the batch of "
            f"{samples} of size {batch.size}"
        )
    piece = advance(surface, batch, state)
    moved = StreamState(
        state.h.index_copy(1, piece.cell, piece.h),
        state.c.index_copy(1, piece.cell, piece.c),
        state.last.index_copy(0, piece.cell, piece.last),
        state.count.index_copy(0, piece.cell, piece.count),
        piece.start,
        piece.now,
        piece.begun,
        state.size,
    )
    return image_of(surface, moved), moved


def image_of(
    surface: MatrixLSTM, state: StreamState
) -> Float[Tensor, "samples channels rows columns"]:
    """The surface that a state shows."""
    rows, columns = surface.field(state.size).cells
    dense = state.h[-1].view(-1, rows, columns, surface.channels)
    return surface.finish(dense.permute(0, 3, 1, 2).contiguous())
