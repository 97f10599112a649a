"""Samples to time bins, by moving the borders between samples."""

from __future__ import annotations

from typing import TypeVar

import torch
from jaxtyping import Int64
from torch import Tensor

from evsurf.ops.arguments import check_count
from evsurf.ops.grouping.bins import bin_edges, ragged_search, window_offsets
from evsurf.ops.packed import PackedEvents, check_packed

Batch = TypeVar("Batch", bound=PackedEvents)

# What an event's time may be.
_EARLIEST, _LATEST = -(2**62) + 1, 2**62


def group_by_time(
    batch: Batch,
    bins: int,
    *,
    span: tuple[int, int] | Int64[Tensor, "samples 2"] | None = None,
) -> Batch:
    """Cuts every sample into `bins` windows of equal duration.

    Window b of sample n becomes sample n * bins + b. Windows are half open, [start, end), and the
    last one holds its end as well. They divide each sample's own span, from its first to its last
    event, or `span`: start and end in microseconds, one pair for all samples or one for each;
    events outside it are left out. No event is copied unless some are left out.
    """
    check_packed(batch)
    check_count("bins", bins)
    if span is None:
        return _with_events(batch, None, window_offsets(batch.t, batch.offsets, bins))
    first, last = _check_span(span, batch)
    starts = _span_starts(batch, first, last, bins)
    ends = torch.cat([starts[:, 1:], _first_after(batch, last)[:, None]], dim=1)
    lengths = (ends - starts).flatten()
    offsets = torch.nn.functional.pad(lengths.cumsum(0), (1, 0))
    kept = torch.arange(int(offsets[-1]), device=offsets.device)
    shift = torch.repeat_interleave(starts.flatten() - offsets[:-1], lengths)
    return _with_events(batch, kept + shift, offsets)


def _span_starts(batch: PackedEvents, first: Tensor, last: Tensor, bins: int) -> Tensor:
    begin, end = batch.offsets[:-1], batch.offsets[1:]
    if len(batch.t) == 0:
        return begin[:, None].expand(-1, bins)
    starts = ragged_search(batch.t, begin, end, bin_edges(first, last, bins))
    # A span without duration is all bin 0.
    empty = (first == last)[:, None] & (torch.arange(bins, device=begin.device) > 0)
    return torch.where(empty, _first_after(batch, last)[:, None], starts)


def _first_after(batch: PackedEvents, last: Tensor) -> Tensor:
    begin, end = batch.offsets[:-1], batch.offsets[1:]
    if len(batch.t) == 0:
        return begin
    return ragged_search(batch.t, begin, end, (last + 1)[:, None])[:, 0]


def _check_span(span: object, batch: PackedEvents) -> tuple[Tensor, Tensor]:
    samples = len(batch.offsets) - 1
    try:
        pairs = torch.as_tensor(span, device=batch.offsets.device)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(
            f"span must be (start, end) in whole microseconds, not {span!r}"
        ) from error
    if pairs.dtype != torch.int64 or pairs.shape not in ((2,), (samples, 2)):
        raise ValueError(
            "span must be (start, end) in whole microseconds, or an int64 tensor of one such pair "
            f"a sample, [{samples}, 2]; found {pairs.dtype} of shape {tuple(pairs.shape)}"
        )
    first, last = pairs.expand(samples, 2).unbind(1)
    if bool((last < first).any()):
        n = int((last < first).nonzero()[0])
        raise ValueError(
            f"span must not end before it starts; sample {n} has ({int(first[n])}, {int(last[n])})"
        )
    # Beyond these, differences would no longer fit in int64.
    strays = (first < _EARLIEST) | (last > _LATEST)
    if bool(strays.any()):
        n = int(strays.nonzero()[0])
        raise ValueError(
            "span must lie within the range of times, -2**62 + 1 to 2**62 microseconds; "
            f"sample {n} has ({int(first[n])}, {int(last[n])})"
        )
    return first.contiguous(), last.contiguous()


def _with_events(batch: Batch, kept: Tensor | None, offsets: Tensor) -> Batch:
    columns = [batch.x, batch.y, batch.t, batch.p]
    if kept is not None:
        columns = [column[kept] for column in columns]
    x, y, t, p = columns
    return type(batch)(x, y, t, p, offsets, batch.size, validate=False)  # type: ignore[call-arg]
