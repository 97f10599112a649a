"""Features of grouped events in plain torch: the definition of correct for `Reading`."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float64, Int, Int64
from torch import Tensor

from evsurf.ops.grouping.field import Field
from evsurf.ops.grouping.reference import sample_of_event
from evsurf.ops.recurrence.reading import Reading


@dataclass(frozen=True)
class Sequences:
    """Grouped events (see Groups), and the windows and samples they come from."""

    order: Int64[Tensor, "grouped"]
    offsets: Int64[Tensor, "sequences_and_1"]
    cell: Int64[Tensor, "sequences"]
    windows: Int64[Tensor, "windows_and_1"]
    """Offsets of the windows within the packed events; `cell` counts by window."""
    samples: Int64[Tensor, "samples_and_1"]
    """Offsets of the samples; each holds the same number of windows."""


def event_features(
    x: Int[Tensor, "events"],
    y: Int[Tensor, "events"],
    t: Int64[Tensor, "events"],
    p: Bool[Tensor, "events"],
    sequences: Sequences,
    field: Field,
    reading: Reading,
) -> Float64[Tensor, "grouped features"]:
    """The feature vector of every grouped event."""
    order = sequences.order
    columns = [polarity_feature(p[order], reading)]
    if reading.global_time:
        columns.append(_scaled_times(t, sequences.samples, reading)[order])
    if reading.coordinates:
        columns += place_features(x, y, sequences, field)
    columns.append(_time(t, sequences, reading))
    return torch.stack(columns, dim=1)


def polarity_feature(
    brighter: Bool[Tensor, "grouped"], reading: Reading
) -> Float64[Tensor, "grouped"]:
    """0 and 1, or -1 and 1."""
    binary = brighter.to(torch.float64)
    return 2 * binary - 1 if reading.polarity == "signed" else binary


def _safe_reciprocal(a: Float64[Tensor, "any"]) -> Float64[Tensor, "any"]:
    return torch.where(a == 0, 0.0, 1 / torch.where(a == 0, 1.0, a))


def _scaled_times(
    t: Int64[Tensor, "events"], offsets: Int64[Tensor, "parts_and_1"], reading: Reading
) -> Float64[Tensor, "events"]:
    """(t - first) / (last - first) within each part, or t / last; parts follow one another."""
    if len(t) == 0:
        return t.to(torch.float64)
    limit = len(t) - 1
    first = t[offsets[:-1].clamp(max=limit)]
    last = t[(offsets[1:] - 1).clamp(min=0)]
    part = sample_of_event(offsets, len(t))
    if reading.normalize == "max":
        rate = _safe_reciprocal(last.to(torch.float64))
        # Where the latest time is 0 it is replaced by 1.
        return t.to(torch.float64) * torch.where(last == 0, 1.0, rate)[part]
    rate = _safe_reciprocal((last - first).to(torch.float64))
    return (t - first[part]).to(torch.float64) * rate[part]


def place_features(
    x: Int[Tensor, "events"], y: Int[Tensor, "events"], sequences: Sequences, field: Field
) -> list[Tensor]:
    """Column and row within the receptive field, each from 0 to 1."""
    rows, columns = field.cells
    cell = sequences.cell[sample_of_event(sequences.offsets, len(sequences.order))]
    i, j = cell // columns % rows, cell % columns
    across = x.long()[sequences.order] + field.before[1] - j * field.stride[1]
    down = y.long()[sequences.order] + field.before[0] - i * field.stride[0]
    return [
        across.to(torch.float64) / max(1, field.kernel[1] - 1),
        down.to(torch.float64) / max(1, field.kernel[0] - 1),
    ]


def _time(
    t: Int64[Tensor, "events"], sequences: Sequences, reading: Reading
) -> Float64[Tensor, "grouped"]:
    order, offsets = sequences.order, sequences.offsets
    if reading.time == "ts" and reading.scope == "absolute":
        return _scaled_times(t, sequences.windows, reading)[order]
    if reading.time == "ts" and reading.scope == "relative":
        return _scaled_times(t[order], offsets, reading)
    if reading.time == "ts":
        window = sample_of_event(sequences.windows, len(t))
        first = t[sequences.windows[:-1].clamp(max=max(len(t) - 1, 0))] if len(t) else t
        return fixed_scale((t - first[window])[order], reading)
    delay = delays(t[order], offsets)
    if reading.fixed_scale:
        return scaled_delays(delay, reading)
    longest = torch.segment_reduce(
        delay.to(torch.float64), "max", offsets=offsets, initial=0.0, unsafe=True
    )
    rate = _safe_reciprocal(longest)
    return delay.to(torch.float64) * rate[sample_of_event(offsets, len(order))]


def delays(
    t: Int64[Tensor, "grouped"], offsets: Int64[Tensor, "sequences_and_1"]
) -> Int64[Tensor, "grouped"]:
    """Time since the previous event of the same sequence, 0 for the first."""
    first = torch.zeros(len(t) + 1, dtype=torch.bool, device=t.device)
    first[offsets[:-1]] = True
    return torch.where(first[:-1], 0, t.diff(prepend=t[:1]))


def scaled_delays(delay: Int64[Tensor, "grouped"], reading: Reading) -> Float64[Tensor, "grouped"]:
    """Delays by the fixed scale, or the logarithm of 1 + that."""
    scaled = fixed_scale(delay, reading)
    return torch.log1p(scaled) if reading.time == "log_delay" else scaled


def fixed_scale(elapsed: Int64[Tensor, "grouped"], reading: Reading) -> Float64[Tensor, "grouped"]:
    """Microseconds in units of the time scale."""
    return elapsed.to(torch.float64) * (1 / reading.time_scale)
