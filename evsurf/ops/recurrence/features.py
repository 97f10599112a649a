"""Features of grouped events in plain torch: the definition of correct for `Reading`."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Float64, Int, Int64
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
    columns = [_polarity(p[order], reading)]
    if reading.global_time:
        columns.append(_scaled_times(t, sequences.samples, reading)[order])
    if reading.coordinates:
        columns += _places(x, y, sequences, field)
    columns.append(_time(t, sequences, reading))
    return torch.stack(columns, dim=1)


def _polarity(brighter: Tensor, reading: Reading) -> Float64[Tensor, "grouped"]:
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


def _places(
    x: Int[Tensor, "events"], y: Int[Tensor, "events"], sequences: Sequences, field: Field
) -> list[Tensor]:
    """Column and row within the receptive field, each from 0 to 1."""
    rows, columns = field.cells
    cell = torch.repeat_interleave(
        sequences.cell, sequences.offsets.diff(), output_size=len(sequences.order)
    )
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
        return ((t - first[window])[order]).to(torch.float64) * (1 / reading.time_scale)
    delay = delays(t[order], offsets)
    if reading.time == "log_delay" or reading.scope == "fixed":
        return scaled_delays(delay, reading)
    longest = torch.segment_reduce(
        delay.to(torch.float64), "max", offsets=offsets, initial=0.0, unsafe=True
    )
    rate = _safe_reciprocal(longest)
    return delay.to(torch.float64) * torch.repeat_interleave(
        rate, offsets.diff(), output_size=len(order)
    )


def delays(
    t: Int64[Tensor, "grouped"], offsets: Int64[Tensor, "sequences_and_1"]
) -> Int64[Tensor, "grouped"]:
    """Time since the previous event of the same sequence, 0 for the first."""
    delay = t.diff(prepend=t[:1])
    starts = offsets[:-1][offsets.diff() > 0]
    delay[starts] = 0
    return delay


def scaled_delays(
    delay: Int64[Tensor, "grouped"], reading: Reading
) -> Float64[Tensor, "grouped"]:
    """Delays by the fixed scale, or the logarithm of 1 + that."""
    scaled = delay.to(torch.float64) * (1 / reading.time_scale)
    return torch.log1p(scaled) if reading.time == "log_delay" else scaled


def live_features(
    t: Int64[Tensor, "grouped"],
    brighter: Bool[Tensor, "grouped"],
    offsets: Int64[Tensor, "sequences_and_1"],
    before: Int64[Tensor, "sequences"],
    reading: Reading,
) -> Float[Tensor, "grouped 2"]:
    """Causal features of a piece of a stream; `before` is each sequence's reference time.

    For delays that is its last event in earlier pieces (its first event here, if there was none);
    for timestamps the first event of the stream.
    """
    if reading.time == "ts":
        reference = torch.repeat_interleave(before, offsets.diff(), output_size=len(t))
        time = (t - reference).to(torch.float64) * (1 / reading.time_scale)
    else:
        delay = t.diff(prepend=t[:1])
        delay[offsets[:-1]] = t[offsets[:-1]] - before
        time = scaled_delays(delay, reading)
    return torch.stack([_polarity(brighter, reading), time], dim=1)
