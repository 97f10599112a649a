"""Samples to batches, for any loader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from evsurf.data.store.gathering import Packed
from evsurf.events import EventBatch, Events


def collate(samples: Sequence[tuple[Events, Any]] | Packed) -> tuple[EventBatch, Any]:
    """One batch of pairs (events, target), and their targets together.

    For `torch.utils.data.DataLoader(dataset, collate_fn=collate)`; with `pin_memory=True` the batch
    comes pinned. Numbers become one tensor (int64, float64 or bool), tensors are stacked,
    dictionaries are collated entry by entry, targets that are all None become None, and of anything
    else there is a list. What a `Store` hands out as a whole batch passes through.
    """
    if isinstance(samples, Packed):
        return samples.batch(), samples.targets
    for i, sample in enumerate(samples):
        if not isinstance(sample, tuple | list) or len(sample) != 2:
            raise TypeError(
                f"samples[{i}] must be a pair (events, target), got {type(sample).__qualname__}"
            )
    events, targets = zip(*samples, strict=True) if samples else ((), ())
    return EventBatch.pack(events), collate_targets(targets)


def collate_targets(targets: Sequence[Any]) -> Any:
    """The targets of a batch's samples together."""
    kinds = {type(target) for target in targets}
    if kinds == {type(None)}:
        return None
    if kinds == {bool} or kinds == {int}:
        return torch.tensor(targets)
    if kinds and kinds <= {int, float}:
        return torch.tensor(targets, dtype=torch.float64)
    if targets and all(isinstance(target, Tensor) for target in targets):
        return torch.stack(list(targets))
    if targets and all(isinstance(target, Mapping) for target in targets):
        return {key: collate_targets([target[key] for target in targets]) for key in targets[0]}
    return list(targets)
