"""Transforms of transforms: one after the other, one of several, now and then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from evsurf.data.transforms.draws import Draws, Number
from evsurf.data.transforms.transform import Transform, rearranged, samples_of
from evsurf.events import EventBatch
from evsurf.events.ragged import stretches


@final
@dataclass(frozen=True)
class Compose(Transform):
    """One transform after the other."""

    transforms: Sequence[Transform]

    def __post_init__(self) -> None:
        object.__setattr__(self, "transforms", _checked(self.transforms))

    def apply(self, batch: EventBatch, draws: Draws) -> EventBatch:
        """Each transform draws its own numbers, by its place in the list."""
        for place, transform in enumerate(self.transforms):
            batch = transform.apply(batch, draws.part(place))
        return batch


@final
@dataclass(frozen=True)
class OneOf(Transform):
    """One of several transforms, drawn for each sample; `weights` say how likely each one is."""

    transforms: Sequence[Transform]
    weights: Sequence[Number] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "transforms", _checked(self.transforms))
        if not self.transforms:
            raise ValueError("OneOf needs at least one transform to draw from")
        if self.weights is None:
            return
        weights = tuple(float(weight) for weight in self.weights)
        if len(weights) != len(self.transforms):
            raise ValueError(
                f"weights must be one for each of {len(self.transforms)} transforms, got {weights}"
            )
        if not (min(weights) >= 0 and 0 < sum(weights) < float("inf")):
            raise ValueError(f"weights = {weights} must not be negative, and not all zero")
        object.__setattr__(self, "weights", weights)

    def apply(self, batch: EventBatch, draws: Draws) -> EventBatch:
        """Samples with the same transform go through it together."""
        chances = torch.tensor(self.weights or [1.0] * len(self.transforms), dtype=torch.float64)
        # Without the last border no fraction can fall behind every transform.
        borders = (chances.cumsum(0) / chances.sum())[:-1].to(batch.device)
        choice = torch.searchsorted(borders, draws.uniform(0), right=True)
        parts = []
        for number, transform in enumerate(self.transforms):
            chosen = (choice == number).nonzero().squeeze(1)
            mine = transform.apply(samples_of(batch, chosen), draws.among(chosen).part(number + 1))
            parts.append((chosen, mine))
        return _merged(parts)


@final
@dataclass(frozen=True)
class RandomApply(Transform):
    """A transform for a share of the samples, the others stay as they are."""

    transform: Transform
    probability: Number = 0.5

    def __post_init__(self) -> None:
        _checked([self.transform])
        check_probability("probability", self.probability)

    def apply(self, batch: EventBatch, draws: Draws) -> EventBatch:
        """Each sample draws whether it is changed."""
        change = draws.uniform(0) < self.probability
        changing, staying = change.nonzero().squeeze(1), (~change).nonzero().squeeze(1)
        made = self.transform.apply(samples_of(batch, changing), draws.among(changing).part(1))
        return _merged([(changing, made), (staying, samples_of(batch, staying))])


@final
@dataclass(frozen=True)
class Identity(Transform):
    """Events as they are, for one of several choices."""

    def apply(self, batch: EventBatch, _draws: Draws) -> EventBatch:
        """The batch itself."""
        return batch


def check_probability(name: str, value: Number) -> None:
    """Refuses what is no probability."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError(f"{name} = {value!r} must be a number from 0 to 1")


def _checked(transforms: Sequence[Transform]) -> tuple[Transform, ...]:
    for transform in transforms:
        if not isinstance(transform, Transform):
            raise TypeError(
                f"{transform!r} is no transform: give instances, such as HorizontalFlip(), of "
                "evsurf.data.transforms or evsurf.data.filters, or of a subclass of Transform"
            )
    return tuple(transforms)


def _merged(parts: list[tuple[Tensor, EventBatch]]) -> EventBatch:
    """One batch of the samples of several, each at the place that stands with it."""
    sizes = {part.size for _, part in parts}
    if len(sizes) > 1:
        raise ValueError(
            f"some samples would have size {min(sizes)} and some {max(sizes)}: a transform that "
            "changes the size goes to every sample, and all of OneOf must agree on it"
        )
    x, y, t, p = (torch.cat([getattr(part, name) for _, part in parts]) for name in "xytp")
    offsets = torch.cat([part.lengths for _, part in parts])
    offsets = torch.nn.functional.pad(offsets.cumsum(0), (1, 0))
    whole = EventBatch(x, y, t, p, offsets, parts[0][1].size, validate=False)
    back = torch.argsort(torch.cat([chosen for chosen, _ in parts]))
    starts, stops = offsets[:-1].index_select(0, back), offsets[1:].index_select(0, back)
    return rearranged(whole, *stretches(starts, stops))
