"""Streams in pieces: what a causal Matrix-LSTM remembers, and how a piece of events moves it on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from evsurf.events import EventBatch, Events
from evsurf.ops.arguments import check_same_device
from evsurf.ops.grouping.field import Pair
from evsurf.ops.recurrence.live import Memory, Piece, live_step, new_rows, put_rows
from evsurf.ops.recurrence.ragged import check_layers, computing_dtype
from evsurf.ops.recurrence.reference import Cell
from evsurf.surfaces.matrix_lstm import MatrixLSTM
from evsurf.surfaces.surface import as_batch


@dataclass(frozen=True)
class Clock:
    """Where the streams are in time."""

    start: Int64[Tensor, "samples"]
    """Time of each stream's first event."""
    now: Int64[Tensor, "samples"]
    """Time of each stream's last event."""
    begun: Bool[Tensor, "samples"]
    """Whether a stream has had any event."""

    def after(self, batch: EventBatch) -> Clock:
        """The clock when these events have been read; they must not be older than the last ones."""
        begin, end = batch.offsets[:-1], batch.offsets[1:]
        if len(batch.t) == 0:
            return self
        some = end > begin
        limit = len(batch.t) - 1
        first, last = batch.t[begin.clamp(max=limit)], batch.t[(end - 1).clamp(min=0)]
        late = some & self.begun & (first < self.now)
        if bool(late.any()):
            n = int(late.nonzero()[0])
            raise ValueError(
                f"events must not be older than those already read: stream {n} has come to "
                f"t = {int(self.now[n])}, and the piece starts at t = {int(first[n])}. "
                "Use reset() before another recording"
            )
        start = torch.where(some & ~self.begun, first, self.start)
        return Clock(start, torch.where(some, last, self.now), self.begun | some)


@dataclass(frozen=True)
class StreamState:
    """What a surface remembers of every stream of a batch."""

    memory: Memory
    clock: Clock
    size: Pair
    """Sensor height and width."""

    def detach(self) -> StreamState:
        """The same numbers cut off from the graph, for truncated back-propagation through time."""
        memory = self.memory._replace(h=self.memory.h.detach(), c=self.memory.c.detach())
        return replace(self, memory=memory)

    def reset(self, where: Bool[Tensor, "samples rows columns"]) -> StreamState:
        """The state with these cells as they were before their first event."""
        chosen = where.flatten()
        h, c = (a.masked_fill(chosen[:, None], 0) for a in (self.memory.h, self.memory.c))
        seen = self.memory.seen.masked_fill(chosen, 0)
        return replace(self, memory=self.memory._replace(h=h, c=c, seen=seen))


def check_causal(surface: MatrixLSTM) -> None:
    """Refuses a surface whose value would need events that are yet to come."""
    causes = {
        "bins > 1 (a bin's end is not known before it)": surface.bins > 1,
        "max_events (which events are kept is not known before the last)": (
            surface.max_events is not None
        ),
        "global_time (it is measured against the last event)": surface.reading.global_time,
        f'time="{surface.reading.time}" with scope="{surface.reading.scope}" '
        "(it is normalised by later events)": not surface.reading.fixed_scale,
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
    memory = Memory(h, torch.zeros_like(h), per_cell, per_cell.clone())
    return StreamState(memory, Clock(per_sample, per_sample.clone(), per_sample.bool()), size)


def push(surface: MatrixLSTM, batch: EventBatch, state: StreamState) -> StreamState:
    """Reads the next piece of every stream, in the memory of the state it was given.

    What it costs depends on the piece, not on the sensor. Nothing is differentiated.
    """
    layers = _layers_of(surface, batch, state)
    clock = state.clock.after(batch)
    field, reading, memory = surface.field(batch.size), surface.reading, state.memory
    if len(layers) == 1:
        live_step(
            batch.x, batch.y, batch.t, batch.p, batch.offsets, clock.start, field.numbers(),
            reading.numbers(), reading.time_scale, *layers[0],
            memory.h[0], memory.c[0], memory.last, memory.seen,
        )  # fmt: skip
    else:
        piece = Piece.of(batch, clock.start)
        put_rows(memory, new_rows(piece, layers, field, reading, memory))
    return replace(state, clock=clock)


def step(
    surface: MatrixLSTM, batch: EventBatch | Events, state: StreamState | None = None
) -> tuple[Float[Tensor, "samples channels rows columns"], StreamState]:
    """Reads the next piece of every sample's stream: the surface so far, and the new state.

    Feeding a recording in any number of pieces gives the surface of feeding it whole. Gradients
    flow through the state; `state.detach()` cuts them. Cells without new events keep their value.
    """
    batch = as_batch(batch)
    samples = len(batch)
    if state is not None and not isinstance(state, StreamState):
        raise TypeError(f"state must be a StreamState or None, not {type(state).__name__}")
    state = new_state(surface, batch.size, samples) if state is None else state
    if state.size != batch.size or len(state.clock.now) != samples:
        raise ValueError(
            f"the state is of {len(state.clock.now)} streams of size {state.size}, the batch of "
            f"{samples} of size {batch.size}"
        )
    layers = _layers_of(surface, batch, state)
    clock = state.clock.after(batch)
    memory = state.memory
    field = surface.field(batch.size)
    cell, rows = new_rows(Piece.of(batch, clock.start), layers, field, surface.reading, memory)
    moved = Memory(
        memory.h.index_copy(1, cell, rows.h),
        memory.c.index_copy(1, cell, rows.c),
        memory.last.index_copy(0, cell, rows.last),
        memory.seen.index_copy(0, cell, rows.seen),
    )
    state = StreamState(moved, clock, batch.size)
    return image_of(surface, state), state


def _layers_of(surface: MatrixLSTM, batch: EventBatch, state: StreamState) -> list[Cell]:
    """The weights in the state's dtype; refuses a state that another surface has left."""
    check_same_device(batch.x, surface.weight)
    layers, memory = list(surface.cells()), state.memory
    check_layers(layers, surface.reading.features)
    rows, columns = surface.field(batch.size).cells
    shape = (surface.layers, len(batch) * rows * columns, surface.channels)
    if tuple(memory.h.shape) != shape:
        raise ValueError(
            f"the state is of another surface: it holds {list(memory.h.shape)} [layers, cells, "
            f"channels], this surface {list(shape)}"
        )
    if memory.h.device != batch.device:
        raise ValueError(
            f"the state is on {memory.h.device} and the events on {batch.device}: a stream stays "
            "on the device on which it began"
        )
    return [cell.to(memory.h.dtype) for cell in layers]


def image_of(
    surface: MatrixLSTM, state: StreamState
) -> Float[Tensor, "samples channels rows columns"]:
    """The surface that a state shows."""
    rows, columns = surface.field(state.size).cells
    dense = state.memory.h[-1].view(-1, rows, columns, surface.channels)
    return surface.finish(dense.permute(0, 3, 1, 2).contiguous())
