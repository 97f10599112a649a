"""Matrix-LSTM as it is defined: one event, one cell, one bin after another, in double precision.

Slow and plainly right. Nothing here knows how the library does it. Times are Python's integers,
which cannot overflow, and gradients come from autograd.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from evsurf.events import EventBatch

Weights = tuple[Tensor, Tensor, Tensor | None, Tensor | None]


class Event(NamedTuple):
    x: int
    y: int
    t: int
    p: int


@dataclass(frozen=True)
class Options:
    """The arguments of MatrixLSTM of the same names."""

    bins: int = 1
    time: str = "delay"
    scope: str = "relative"
    normalize: str = "range"
    global_time: bool = False
    polarity: str = "binary"
    kernel_size: int | tuple[int, int] = 1
    stride: int | tuple[int, int] = 1
    padding: str | tuple[int, int, int, int] = "same"
    coordinates: bool | None = None
    max_events: int | None = None
    keep: str = "uniform"
    time_scale: float | None = None

    @property
    def scale(self) -> float:
        if self.time_scale is not None:
            return self.time_scale
        return 1_000.0 if self.time == "log_delay" else 100_000.0

    @property
    def with_coordinates(self) -> bool:
        if self.coordinates is not None:
            return self.coordinates
        return self.kernel_size not in (1, (1, 1))


def samples(batch: EventBatch) -> list[list[Event]]:
    """The events of every sample."""
    rows = zip(batch.x.tolist(), batch.y.tolist(), batch.t.tolist(), batch.p.tolist(), strict=True)
    events = [Event(x, y, t, int(p)) for x, y, t, p in rows]
    offsets = batch.offsets.tolist()
    return [events[a:b] for a, b in pairwise(offsets)]


def bin_of(t: int, first: int, last: int, bins: int) -> int:
    """The bin of a time between the first and the last one."""
    return 0 if first == last else min(bins * (t - first) // (last - first), bins - 1)


def bin_indices(times: Sequence[int], bins: int) -> list[list[int]]:
    """Which times, by index, fall into each bin of their own span."""
    parts: list[list[int]] = [[] for _ in range(bins)]
    for k, t in enumerate(times):
        parts[bin_of(t, times[0], times[-1], bins)].append(k)
    return parts


class Axis(NamedTuple):
    """Receptive fields along rows or along columns."""

    kernel: int
    stride: int
    before: int
    cells: int

    def sees(self, cell: int, position: int) -> bool:
        start = cell * self.stride
        return start <= position + self.before < start + self.kernel

    def place(self, cell: int, position: int) -> float:
        return (position + self.before - cell * self.stride) / max(1, self.kernel - 1)


def axes(size: tuple[int, int], options: Options) -> tuple[Axis, Axis]:
    """Rows and columns of the output."""
    kernel, stride = (
        v if isinstance(v, tuple) else (v, v) for v in (options.kernel_size, options.stride)
    )
    made = []
    for axis in (0, 1):
        n, k, s = size[axis], kernel[axis], stride[axis]
        if options.padding == "same":
            extra = (n - 1) * s + k - n
            before, after = extra - extra // 2, extra // 2
        elif isinstance(options.padding, tuple):
            left, right, top, bottom = options.padding
            before, after = ((top, bottom), (left, right))[axis]
        else:
            before, after = 0, 0
        made.append(Axis(k, s, before, (n + before + after - k) // s + 1))
    return made[0], made[1]


def capped(indices: list[int], options: Options) -> list[int]:
    """The indices that a cap on events leaves."""
    n, most = len(indices), options.max_events
    if most is None or n <= most:
        return indices
    if options.keep == "latest" or most == 1:
        return indices[-most:]
    apart = n // (most - 1)
    return [indices[0], *(indices[n - 1 - apart * (most - 1 - q)] for q in range(1, most))]


def sequences(
    events: Sequence[Event], size: tuple[int, int], options: Options
) -> Iterator[tuple[int, int, list[int]]]:
    """Row and column of every cell that sees an event, and the events that it reads, by index."""
    rows, columns = axes(size, options)
    for i in range(rows.cells):
        for j in range(columns.cells):
            seen = [k for k, e in enumerate(events) if rows.sees(i, e.y) and columns.sees(j, e.x)]
            if seen:
                yield i, j, capped(seen, options)


def scaled(t: int, first: int, last: int, options: Options) -> float:
    """A time among others, from first to last."""
    if options.normalize == "max":
        return t / (last or 1)
    return (t - first) / (last - first) if last > first else 0.0


def times(own: list[int], window: list[int], options: Options) -> list[float]:
    """The time feature of one sequence, whose events happened at `own`."""
    if options.time == "ts" and options.scope == "fixed":
        return [(t - window[0]) / options.scale for t in own]
    if options.time == "ts":
        among = window if options.scope == "absolute" else own
        return [scaled(t, among[0], among[-1], options) for t in own]
    delays = [0, *(b - a for a, b in pairwise(own))]
    if options.time == "log_delay":
        return [math.log1p(d / options.scale) for d in delays]
    longest = options.scale if options.scope == "fixed" else max(delays)
    return [d / longest if longest else 0.0 for d in delays]


def features(
    window: list[Event], sample: list[Event], cell: tuple[int, int], read: list[int],
    size: tuple[int, int], options: Options,
) -> list[list[float]]:  # fmt: skip
    """What the LSTM is fed: [polarity, (global time), (column, row), time] of every event."""
    rows, columns = axes(size, options)
    time = times([window[k].t for k in read], [e.t for e in window], options)
    vectors = []
    for k, now in zip(read, time, strict=True):
        e = window[k]
        vector = [float(2 * e.p - 1 if options.polarity == "signed" else e.p)]
        if options.global_time:
            vector.append(scaled(e.t, sample[0].t, sample[-1].t, options))
        if options.with_coordinates:
            vector += [columns.place(cell[1], e.x), rows.place(cell[0], e.y)]
        vectors.append([*vector, now])
    return vectors


def step(weights: Weights, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    """The LSTM's output and memory after one input."""
    w_ih, w_hh, b_ih, b_hh = weights
    z = w_ih @ x + w_hh @ h
    if b_ih is not None and b_hh is not None:
        z = z + b_ih + b_hh
    i, f, g, o = z.chunk(4)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def lstm(
    weights: Weights, inputs: Sequence[Tensor], h: Tensor | None = None, c: Tensor | None = None
) -> tuple[list[Tensor], Tensor, Tensor]:
    """Output after every input, and the last output and memory, from a given state or zero."""
    zero = weights[1].new_zeros(weights[1].shape[1])
    h, c = zero if h is None else h, zero if c is None else c
    outputs = []
    for x in inputs:
        h, c = step(weights, x, h, c)
        outputs.append(h)
    return outputs, h, c


def surface(batch: EventBatch, layers: Sequence[Weights], options: Options) -> Tensor:
    """[samples, bins * hidden, rows, columns] of weights in double precision."""
    hidden = layers[-1][1].shape[1]
    rows, columns = axes(batch.size, options)
    image = torch.zeros(
        len(batch), options.bins * hidden, rows.cells, columns.cells, dtype=torch.float64
    )
    for n, sample in enumerate(samples(batch)):
        for b, part in enumerate(bin_indices([e.t for e in sample], options.bins)):
            window = [sample[k] for k in part]
            for i, j, read in sequences(window, batch.size, options):
                vectors = features(window, sample, (i, j), read, batch.size, options)
                x = list(torch.tensor(vectors, dtype=torch.float64))
                for layer in layers:
                    x, _, _ = lstm(layer, x)
                image[n, b * hidden : (b + 1) * hidden, i, j] = x[-1]
    return image
