"""Where the events of each sample lie, and moving them: what the transforms of space share."""

from __future__ import annotations

from typing import Literal, TypeAlias

import torch
from jaxtyping import Bool, Float64, Int64, Num, Shaped
from torch import Tensor

from evsurf.data.transforms.draws import Number
from evsurf.data.transforms.transform import changed
from evsurf.events import EventBatch
from evsurf.events.checks import check_integer, check_size
from evsurf.events.ragged import extremes, sample_of

Frame: TypeAlias = Literal["sensor", "cloud"]
"""What something is placed within: the whole sensor, or the rectangle around a sample's events."""

Whole: TypeAlias = int | Int64[Tensor, "samples"]
Real: TypeAlias = Number | Float64[Tensor, "samples"]


def to_events(
    values: Shaped[Tensor, "..."] | Number, batch: EventBatch
) -> Shaped[Tensor, "..."] | Number:
    """The value of each event's sample, where the samples have one each."""
    if not isinstance(values, Tensor) or not values.ndim:
        return values
    if values.shape != (len(batch),):
        raise ValueError(
            f"a parameter must be one number, or one for each of {len(batch)} samples, got shape "
            f"{tuple(values.shape)}"
        )
    values = values.to(batch.device)
    if len(batch) == 1:
        return values
    return values.index_select(0, sample_of(batch.offsets, batch.num_events))


def moved(
    batch: EventBatch,
    x: Num[Tensor, "events"],
    y: Num[Tensor, "events"],
    size: tuple[int, int],
) -> EventBatch:
    """The events at other places of a sensor of this size; those that leave it are dropped."""
    height, width = size
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    places = inside.nonzero().squeeze(1)
    return changed(
        batch,
        x=x.index_select(0, places).short(),
        y=y.index_select(0, places).short(),
        t=batch.t.index_select(0, places),
        p=batch.p.index_select(0, places),
        offsets=torch.searchsorted(places, batch.offsets),
        size=size,
    )


def ranges(
    batch: EventBatch, within: Frame
) -> list[tuple[Int64[Tensor, "samples"], Int64[Tensor, "samples"]]]:
    """Lowest and highest row, then column, that each sample may have, or has. Empty: the sensor."""
    filled = batch.offsets.diff() > 0
    found = []
    for values, side in ((batch.y, batch.size[0]), (batch.x, batch.size[1])):
        low, high = (
            torch.zeros_like(batch.offsets[1:]),
            torch.full_like(batch.offsets[1:], side - 1),
        )
        if within == "cloud":
            first, last = extremes(values, batch.offsets)
            low, high = torch.where(filled, first, low), torch.where(filled, last, high)
        found.append((low, high))
    return found


def check_within(within: object) -> None:
    """Refuses what is neither the sensor nor the cloud."""
    if within not in ("sensor", "cloud"):
        raise ValueError(f"within = {within!r} must be 'sensor' or 'cloud'")


def check_sides(height: object, width: object) -> tuple[int, int]:
    """The size of a cut-out."""
    sides = check_integer("height", height, "pixels"), check_integer("width", width, "pixels")
    return check_size(sides)


def mirrored(
    batch: EventBatch,
    axis: Literal["x", "y"],
    within: Frame,
    chosen: Bool[Tensor, "samples"] | None = None,
) -> EventBatch:
    """The chosen samples mirrored along an axis, each within its frame."""
    low, high = ranges(batch, within)[axis == "x"]
    values: Tensor = getattr(batch, axis)
    if within == "sensor" and chosen is None:
        return changed(batch, **{axis: batch.size[axis == "x"] - 1 - values})
    chosen = torch.ones_like(low, dtype=torch.bool) if chosen is None else chosen
    # x becomes sum - x or 0 + x, whichever the sample drew.
    total = torch.where(chosen, low + high, 0).short()
    sign = torch.where(chosen, -1, 1).short()
    if len(batch) != 1:
        owner = sample_of(batch.offsets, batch.num_events)
        total, sign = total.index_select(0, owner), sign.index_select(0, owner)
    return changed(batch, **{axis: values * sign + total})
