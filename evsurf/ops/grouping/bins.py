"""Grouping by time: every sample cut into windows of equal duration."""

from __future__ import annotations

import torch
from jaxtyping import Int64
from torch import Tensor

# Enough for the 2^32 events that a sample may hold.
_MOST_HALVINGS = 33


def bin_edges(
    first: Int64[Tensor, "samples"], last: Int64[Tensor, "samples"], bins: int
) -> Int64[Tensor, "samples bins"]:
    """First microsecond of every bin: first + ceil(bin * (last - first) / bins), exactly."""
    span = (last - first)[:, None]
    bin_index = torch.arange(bins, device=first.device)
    # Quotient and remainder apart, so that no product exceeds the span or bins squared.
    edge = span // bins * bin_index + (span % bins * bin_index + bins - 1) // bins
    return first[:, None] + edge


def ragged_search(
    t: Int64[Tensor, "events"],
    begin: Int64[Tensor, "samples"],
    end: Int64[Tensor, "samples"],
    values: Int64[Tensor, "samples bins"],
) -> Int64[Tensor, "samples bins"]:
    """Index of the first event of each sample at or after each value; bisects all at once."""
    low = begin[:, None].expand_as(values).clone()
    high = end[:, None].expand_as(values).clone()
    # A compiled graph must not depend on the number of events; it halves more often than needed.
    halvings = _MOST_HALVINGS if torch.compiler.is_compiling() else len(t).bit_length()
    for _ in range(halvings):
        middle = (low + high) // 2
        before = (middle < high) & (t[middle.clamp(max=len(t) - 1)] < values)
        low = torch.where(before, middle + 1, low)
        high = torch.where(before, high, middle)
    return low


def window_offsets(
    t: Int64[Tensor, "events"], offsets: Int64[Tensor, "samples_and_1"], bins: int
) -> Int64[Tensor, "windows_and_1"]:
    """Offsets of the windows that each sample's own span is cut into, sample by sample.

    Bin b starts where bins * (t - first) >= b * (last - first); the last event is in the last bin,
    and where all times are equal every event is in bin 0.
    """
    if bins == 1 or len(t) == 0:
        samples = offsets[:-1].repeat_interleave(bins)
        return torch.cat([samples, offsets[-1:]])
    begin, end = offsets[:-1], offsets[1:]
    limit = len(t) - 1
    first, last = t[begin.clamp(max=limit)], t[(end - 1).clamp(min=0)]
    starts = ragged_search(t, begin, end, bin_edges(first, last, bins))
    starts = torch.where((first == last)[:, None], end[:, None], starts)
    starts = torch.cat([begin[:, None], starts[:, 1:]], dim=1)
    return torch.cat([starts.flatten(), offsets[-1:]])
