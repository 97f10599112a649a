"""An order of samples, cut into batches."""

from __future__ import annotations

import torch
from torch import Tensor


def by_count(order: list[int], batch_size: int, *, drop_last: bool) -> list[list[int]]:
    """Batches of so many samples; the last may have fewer."""
    batches = [order[i : i + batch_size] for i in range(0, len(order), batch_size)]
    if drop_last and batches and len(batches[-1]) < batch_size:
        batches.pop()
    return batches


def by_events(
    order: list[int], lengths: list[int], batch_size: int | None, max_events: int | None
) -> list[list[int]]:
    """Batches of at most so many samples and events; a longer sample is one alone."""
    batches: list[list[int]] = []
    events = 0
    for number, length in zip(order, lengths, strict=True):
        events += length
        full = not batches or len(batches[-1]) == batch_size
        if full or (max_events is not None and events > max_events):
            batches.append([])
            events = length
        batches[-1].append(number)
    return batches


def similar(order: Tensor, lengths: Tensor, pool: int) -> Tensor:
    """The order with each pool of neighbours sorted by length."""
    pieces = [
        piece[torch.argsort(lengths[piece], stable=True)] for piece in torch.split(order, pool)
    ]
    return torch.cat(pieces)
