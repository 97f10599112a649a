"""Filters by pixel and by polarity, and finding the pixels that fire too often."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Bool, Int64
from torch import Tensor

from evsurf.data.arguments import check_least
from evsurf.data.filters.filter import Filter
from evsurf.data.transforms.draws import Number
from evsurf.data.transforms.transform import Recorded, as_batch
from evsurf.events import EventBatch, Events
from evsurf.events.checks import check_integer, check_size


@final
@dataclass(frozen=True, eq=False)
class HotPixels:
    """Pixels that fire too often, and how often each pixel fired."""

    mask: Bool[Tensor, "rows columns"]
    """True at the hot ones; what `DropPixels` takes."""
    counts: Int64[Tensor, "rows columns"]
    """Events of each pixel."""

    @property
    def number(self) -> int:
        """How many are hot."""
        return int(self.mask.sum())

    def __repr__(self) -> str:
        share = int(self.counts[self.mask].sum()) / max(1, int(self.counts.sum()))
        return f"HotPixels({self.number:,} of {self.mask.numel():,}, {share:.0%} of the events)"


def event_counts(events: Events | EventBatch) -> Int64[Tensor, "rows columns"]:
    """How many events each pixel has, in all samples together."""
    height, width = events.size
    pixel = events.y.long() * width + events.x
    return torch.bincount(pixel, minlength=height * width).view(height, width)


def hot_pixels(
    events: Events | EventBatch, *, rate: Number | None = None, top: int | None = None
) -> HotPixels:
    """The pixels above a rate, in events per second, or the `top` ones with the most events.

    The rate is over the time from first to last event, of all samples together: hot pixels are the
    sensor's. Of the pixels with equally many events the first in raster order come first; a pixel
    without events is never hot.

    >>> from evsurf import Events
    >>> t = [0, 1, 2, 999_999]
    >>> events = Events.from_arrays([0, 1, 1, 1], [0] * 4, t, [1] * 4, size=(1, 3))
    >>> hot_pixels(events, rate=2.5).mask
    tensor([[False,  True, False]])
    """
    if (rate is None) == (top is None):
        raise ValueError(f"hot pixels need one of rate and top, got rate = {rate}, top = {top}")
    counts = event_counts(events)
    if top is not None:
        check_least("top", top, 0)
        order = torch.sort(counts.flatten(), descending=True, stable=True).indices[:top]
        mask = torch.zeros_like(counts, dtype=torch.bool)
        mask.view(-1)[order] = True
        return HotPixels(mask & (counts > 0), counts)
    assert rate is not None
    if isinstance(rate, bool) or not 0 <= rate < float("inf"):
        raise ValueError(f"rate = {rate!r} must be in events per second, from 0 on")
    samples = [events] if isinstance(events, Events) else list(events)
    seconds = sum(sample.duration + 1 for sample in samples if len(sample)) / 1e6
    return HotPixels((counts > rate * seconds) & (counts > 0), counts)


def area(
    size: tuple[int, int], *, top: int, left: int, height: int, width: int
) -> Bool[Tensor, "rows columns"]:
    """A mask that is True inside a rectangle, for `keep_pixels` and `drop_pixels`."""
    rows, columns = check_size(size)
    sides = {"top": top, "left": left, "height": height, "width": width}
    top, left, height, width = (check_integer(n, v, "pixels") for n, v in sides.items())
    if (
        top < 0
        or left < 0
        or height < 0
        or width < 0
        or top + height > rows
        or left + width > columns
    ):
        raise ValueError(
            f"the area top = {top}, left = {left}, height = {height}, width = {width} must lie "
            f"inside the sensor of height {rows} and width {columns}"
        )
    mask = torch.zeros(rows, columns, dtype=torch.bool)
    mask[top : top + height, left : left + width] = True
    return mask


def keep_pixels(events: Recorded, mask: Bool[Tensor, "rows columns"]) -> Recorded:
    """The events where the mask is True; size and coordinates stay, unlike with a crop."""
    return KeepPixels(mask)(events, seed=0)


def drop_pixels(events: Recorded, mask: Bool[Tensor, "rows columns"]) -> Recorded:
    """The events where the mask is False."""
    return DropPixels(mask)(events, seed=0)


def keep_polarity(events: Recorded, on: bool) -> Recorded:
    """The events of one polarity: True for brighter, False for darker."""
    return KeepPolarity(on)(events, seed=0)


@dataclass(frozen=True)
class _Memoryless(Filter):
    """Judges each event by itself, in a stream as in a recording."""

    def started(self, _size: tuple[int, int]) -> Callable[[Events], Bool[Tensor, "events"]]:
        """Nothing is remembered."""
        return lambda piece: self.mask(as_batch(piece))


@dataclass(frozen=True, eq=False)
class _Masked(_Memoryless):
    chosen: Bool[Tensor, "rows columns"]

    def __post_init__(self) -> None:
        mask = self.chosen
        if not isinstance(mask, Tensor) or mask.dtype != torch.bool or mask.ndim != 2:
            raise TypeError("the mask must be a tensor of bools, [rows, columns]")

    def _at(self, batch: EventBatch) -> Bool[Tensor, "events"]:
        if tuple(self.chosen.shape) != batch.size:
            raise ValueError(
                f"the mask has shape {tuple(self.chosen.shape)}, the events' size is {batch.size}"
            )
        mask = self.chosen.to(batch.device).reshape(-1)
        return mask.index_select(0, batch.y.int() * batch.size[1] + batch.x)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, _Masked)
        return torch.equal(self.chosen, other.chosen)

    # As of events, a hash would have to read the whole mask.
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        pixels = f"{int(self.chosen.sum()):,} of {self.chosen.numel():,} pixels"
        return f"{type(self).__name__}({pixels})"


@final
@dataclass(frozen=True, eq=False, repr=False)
class KeepPixels(_Masked):
    """`keep_pixels`."""

    def mask(self, batch: EventBatch) -> Bool[Tensor, "events"]:
        """True inside the mask."""
        return self._at(batch)


@final
@dataclass(frozen=True, eq=False, repr=False)
class DropPixels(_Masked):
    """`drop_pixels`."""

    def mask(self, batch: EventBatch) -> Bool[Tensor, "events"]:
        """True outside the mask."""
        return ~self._at(batch)


@final
@dataclass(frozen=True)
class KeepPolarity(_Memoryless):
    """`keep_polarity`."""

    on: bool

    def mask(self, batch: EventBatch) -> Bool[Tensor, "events"]:
        """True at the events of this polarity."""
        return batch.p if self.on else ~batch.p
