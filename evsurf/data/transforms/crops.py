"""Transforms that cut a rectangle out of the sensor, or put the events on a canvas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import torch

from evsurf.data.transforms.draws import Draws
from evsurf.data.transforms.placing import (
    Frame,
    Whole,
    check_sides,
    check_within,
    moved,
    ranges,
    to_events,
)
from evsurf.data.transforms.transform import Recorded, Transform, as_batch, like
from evsurf.events import EventBatch


def crop(events: Recorded, *, top: Whole, left: Whole, height: int, width: int) -> Recorded:
    """The events inside a rectangle, whose top left corner becomes (0, 0) of a sensor of its size.

    The rectangle may reach beyond the sensor on any side, and lie elsewhere in each sample.
    """
    size = check_sides(height, width)
    batch = as_batch(events)
    x = batch.x.int() - to_events(left, batch)
    y = batch.y.int() - to_events(top, batch)
    return like(events, moved(batch, x, y, size))


def centre_crop(events: Recorded, *, height: int, width: int, within: Frame = "sensor") -> Recorded:
    """`crop` of the middle of the sensor; of a smaller sensor, all of it in the middle.

    With `within="cloud"`, the middle of the rectangle around the events of each sample. The
    original Matrix-LSTM takes (max - min) // 2 for the middle, without adding min, and keeps
    223 columns of 224; a cloud that does not begin at 0 loses events there.
    """
    check_within(within)
    batch = as_batch(events)
    top, left = (
        torch.div(low + high + 1 - side, 2, rounding_mode="floor")
        for (low, high), side in zip(ranges(batch, within), (height, width), strict=True)
    )
    return like(events, crop(batch, top=top, left=left, height=height, width=width))


@final
@dataclass(frozen=True)
class Crop(Transform):
    """`crop` of one rectangle."""

    top: int
    left: int
    height: int
    width: int

    def __post_init__(self) -> None:
        check_sides(self.height, self.width)

    def apply(self, batch: EventBatch, _draws: Draws) -> EventBatch:
        """Nothing is drawn."""
        return crop(batch, top=self.top, left=self.left, height=self.height, width=self.width)


@final
@dataclass(frozen=True)
class CentreCrop(Transform):
    """`centre_crop`."""

    height: int
    width: int
    within: Frame = "sensor"

    def __post_init__(self) -> None:
        check_sides(self.height, self.width)
        check_within(self.within)

    def apply(self, batch: EventBatch, _draws: Draws) -> EventBatch:
        """Nothing is drawn."""
        return centre_crop(batch, height=self.height, width=self.width, within=self.within)


@final
@dataclass(frozen=True)
class RandomCrop(Transform):
    """`crop` at a random place, evenly over all those inside the sensor.

    A smaller sensor is placed as a whole, at random, on the larger canvas; each axis for itself.
    """

    height: int
    width: int

    def __post_init__(self) -> None:
        check_sides(self.height, self.width)

    def apply(self, batch: EventBatch, draws: Draws) -> EventBatch:
        """Each sample draws its place."""
        return _placed(batch, draws, (self.height, self.width), "sensor")


@final
@dataclass(frozen=True)
class ExtendRandomCrop(Transform):
    """`crop` at a random place, evenly over all those that fit the cloud of the sample's events.

    Where the cloud is larger than the rectangle this lies inside it, otherwise it holds all of it.
    The original Matrix-LSTM never takes the last places: of 240 columns it keeps 224 from
    0 to 14, here from 0 to 16.
    """

    height: int
    width: int

    def __post_init__(self) -> None:
        check_sides(self.height, self.width)

    def apply(self, batch: EventBatch, draws: Draws) -> EventBatch:
        """Each sample draws its place."""
        return _placed(batch, draws, (self.height, self.width), "cloud")


def _placed(batch: EventBatch, draws: Draws, size: tuple[int, int], within: Frame) -> EventBatch:
    corner = []
    for axis, ((low, high), side) in enumerate(zip(ranges(batch, within), size, strict=True)):
        other = high - side + 1
        first, last = torch.minimum(low, other), torch.maximum(low, other)
        corner.append(draws.integers(axis, first, last))
    top, left = corner
    return crop(batch, top=top, left=left, height=size[0], width=size[1])
