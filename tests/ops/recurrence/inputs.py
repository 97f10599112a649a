"""Batches as the surface's op and its reference take them."""

from __future__ import annotations

from typing import Any

import torch

from evsurf.events import EventBatch
from evsurf.ops.grouping.field import Field
from evsurf.ops.recurrence.reading import Reading
from evsurf.ops.recurrence.surface_reference import Input
from tests.naive import Options


def surface_input(batch: EventBatch, options: Options) -> Input:
    """What the reference takes; fails where the field does not fit."""
    field = Field.of(batch.size, options.kernel_size, options.stride, options.padding)
    reading = Reading(
        options.time, options.scope, options.normalize, options.global_time,
        options.with_coordinates, options.polarity, options.scale,
    )  # fmt: skip
    return Input(
        batch.x, batch.y, batch.t, batch.p, batch.offsets, field, options.bins,
        options.max_events or 0, options.keep == "latest", reading,
    )  # fmt: skip


def op_arguments(given: Input, device: torch.device | str = "cpu") -> list[Any]:
    """What the op takes before the weights."""
    events = [a.to(device) for a in (given.x, given.y, given.t, given.p, given.offsets)]
    return [
        *events, given.field.numbers(), given.bins, given.most, given.latest,
        given.reading.numbers(), given.reading.time_scale,
    ]  # fmt: skip
