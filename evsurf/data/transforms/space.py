"""Transforms of where events are: mirrors, rotation, shear, scale, jitter.

Pixels are whole, so whatever turns or shears rounds to the nearest pixel; two events may come to
lie on one, and what leaves the sensor is dropped. Times and polarities stay, and so does causality:
each event moves on its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Int64
from torch import Tensor

from evsurf.data.arguments import check_least
from evsurf.data.transforms.compose import check_probability
from evsurf.data.transforms.draws import Draws, Number
from evsurf.data.transforms.placing import Frame, Real, check_within, mirrored, moved, to_events
from evsurf.data.transforms.transform import Recorded, Transform, as_batch, kept, like
from evsurf.events import EventBatch
from evsurf.events.ragged import sample_of


def hflip(events: Recorded, *, within: Frame = "sensor") -> Recorded:
    """Left and right exchanged: x becomes width - 1 - x.

    `within="cloud"` mirrors each sample inside the columns that its events span, as the original
    Matrix-LSTM does: x becomes min(x) + max(x) - x.
    """
    check_within(within)
    return like(events, mirrored(as_batch(events), "x", within))


def vflip(events: Recorded, *, within: Frame = "sensor") -> Recorded:
    """Top and bottom exchanged; otherwise as `hflip`."""
    check_within(within)
    return like(events, mirrored(as_batch(events), "y", within))


def rotate(events: Recorded, degrees: Real) -> Recorded:
    """Turned clockwise about the centre of the sensor, which keeps its size.

    By a multiple of 90 degrees a square sensor is turned exactly.
    """
    batch = as_batch(events)
    angle = torch.deg2rad(torch.as_tensor(degrees, dtype=torch.float64, device=batch.device))
    x, y, centre_x, centre_y = _centred(batch)
    cosine, sine = to_events(angle.cos(), batch), to_events(angle.sin(), batch)
    across, down = x * cosine - y * sine, x * sine + y * cosine
    return like(events, _rounded(batch, across + centre_x, down + centre_y))


def shear(events: Recorded, *, x: Real = 0.0, y: Real = 0.0) -> Recorded:
    """Slanted about the centre: rows move by x times their distance from it, columns by y times."""
    batch = as_batch(events)
    across, down, centre_x, centre_y = _centred(batch)
    new_x = across + down * to_events(x, batch) + centre_x
    new_y = down + across * to_events(y, batch) + centre_y
    return like(events, _rounded(batch, new_x, new_y))


def _centred(batch: EventBatch) -> tuple[Tensor, Tensor, float, float]:
    """Distances from the centre of the sensor, and where that is."""
    centre_x, centre_y = (batch.size[1] - 1) / 2, (batch.size[0] - 1) / 2
    return batch.x.double() - centre_x, batch.y.double() - centre_y, centre_x, centre_y


def _rounded(batch: EventBatch, x: Tensor, y: Tensor) -> EventBatch:
    # Halves go up, in every quadrant alike; what an angle of 90 degrees leaves of its cosine is
    # too small to matter and must not decide.
    half = 0.5 + 1e-9
    return moved(batch, (x + half).floor(), (y + half).floor(), batch.size)


def downscale(events: Recorded, factor: int, *, dedup: bool = False) -> Recorded:
    """Squares of factor x factor pixels become one pixel each; a rest at right and bottom too.

    `dedup=True` keeps one of several events that then are equal in pixel, time and polarity.
    """
    check_least("factor", factor, 1)
    batch = as_batch(events)
    height, width = (-(-side // factor) for side in batch.size)
    x = torch.div(batch.x, factor, rounding_mode="floor")
    y = torch.div(batch.y, factor, rounding_mode="floor")
    smaller = EventBatch(x, y, batch.t, batch.p, batch.offsets, (height, width), validate=False)
    return like(events, kept(smaller, _first_of_equals(smaller)) if dedup else smaller)


def _first_of_equals(batch: EventBatch) -> Tensor:
    """True at the first of the events of a sample that are equal in all fields."""
    first = torch.ones_like(batch.p)
    if not batch.num_events:
        return first
    height, width = batch.size
    place = (batch.y.long() * width + batch.x) * 2 + batch.p
    # Events of one sample and time are neighbours already: a group, within which to sort by place.
    new = (batch.t.diff() != 0) | (sample_of(batch.offsets, batch.num_events).diff() != 0)
    group = torch.nn.functional.pad(new.cumsum(0), (1, 0))
    key, order = torch.sort(group * (2 * height * width) + place, stable=True)
    first[order[1:][key.diff() == 0]] = False
    return first


@final
@dataclass(frozen=True)
class HorizontalFlip(Transform):
    """`hflip` for a share of the samples."""

    probability: Number = 0.5
    within: Frame = "sensor"

    def __post_init__(self) -> None:
        check_probability("probability", self.probability)
        check_within(self.within)

    def apply(self, batch: EventBatch, draws: Draws) -> EventBatch:
        """Each sample draws whether it is mirrored."""
        return mirrored(batch, "x", self.within, draws.uniform(0) < self.probability)


@final
@dataclass(frozen=True)
class VerticalFlip(Transform):
    """`vflip` for a share of the samples."""

    probability: Number = 0.5
    within: Frame = "sensor"

    def __post_init__(self) -> None:
        check_probability("probability", self.probability)
        check_within(self.within)

    def apply(self, batch: EventBatch, draws: Draws) -> EventBatch:
        """Each sample draws whether it is mirrored."""
        return mirrored(batch, "y", self.within, draws.uniform(0) < self.probability)


@final
@dataclass(frozen=True)
class Rotate(Transform):
    """`rotate` by an angle in degrees, evenly from `low` to `high`, clockwise."""

    low: Number = -15.0
    high: Number = 15.0

    def __post_init__(self) -> None:
        check_range("low", self.low, "high", self.high)

    def apply(self, batch: EventBatch, draws: Draws) -> EventBatch:
        """Each sample draws its angle."""
        return rotate(batch, draws.uniform(0, self.low, self.high))


@final
@dataclass(frozen=True)
class Shear(Transform):
    """`shear` by a slant evenly from -x to x along rows, and from -y to y along columns."""

    x: Number = 0.2
    y: Number = 0.2

    def __post_init__(self) -> None:
        check_range("0", 0, "x", self.x)
        check_range("0", 0, "y", self.y)

    def apply(self, batch: EventBatch, draws: Draws) -> EventBatch:
        """Each sample draws both slants."""
        x, y = draws.uniform(0, -self.x, self.x), draws.uniform(1, -self.y, self.y)
        return shear(batch, x=x, y=y)


@final
@dataclass(frozen=True)
class Downscale(Transform):
    """`downscale` by a whole factor."""

    factor: int = 2
    dedup: bool = False

    def __post_init__(self) -> None:
        check_least("factor", self.factor, 1)

    def apply(self, batch: EventBatch, _draws: Draws) -> EventBatch:
        """Nothing is drawn."""
        return downscale(batch, self.factor, dedup=self.dedup)


@final
@dataclass(frozen=True)
class SpatialJitter(Transform):
    """Each event moves by whole pixels, evenly from -radius to radius along both axes."""

    radius: int = 1

    def __post_init__(self) -> None:
        check_least("radius", self.radius, 0)
        check_range("radius", self.radius, "the largest sensor", 2**15 - 1)

    def apply(self, batch: EventBatch, draws: Draws) -> EventBatch:
        """Each event draws its step."""
        bits = draws.bits(0, batch.offsets, batch.num_events)
        x, y = (self._step(part) for part in ((bits >> 32) & 0xFFFFFFFF, bits & 0xFFFFFFFF))
        return moved(batch, batch.x.int() + x, batch.y.int() + y, batch.size)

    def _step(self, bits: Int64[Tensor, "events"]) -> Tensor:
        return ((bits * (2 * self.radius + 1)) >> 32).int() - self.radius


def check_range(low_name: str, low: Number, high_name: str, high: Number) -> None:
    """Refuses numbers that are no range."""
    if not float("-inf") < low <= high < float("inf"):
        raise ValueError(f"{low_name} = {low} must not be above {high_name} = {high}")
