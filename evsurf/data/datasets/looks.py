"""`PictureRecordings`: pictures with labels, seen by an event camera under eye movements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, final, runtime_checkable

import numpy as np
from torch import Tensor
from torch.utils.data import Dataset

from evsurf.data.arguments import check_least
from evsurf.data.datasets.labelled import Transform, checked_index, transformed
from evsurf.data.simulator.camera import Camera, Picture
from evsurf.data.simulator.saccades import ORIGINAL, Saccades, atis
from evsurf.data.simulator.screen import Screen, seen_together
from evsurf.events import Events
from evsurf.events.checks import check_size

# How much the real recordings of one data set differ besides their pictures.
_SENSITIVITY = 0.2
_PACE = 0.02
# Pixels and microseconds from one picture to the next: finer ones change no statistics.
_DISPLACEMENT, _LONGEST = 0.35, 4_000.0
# Recordings of small pictures that are made together.
_AT_ONCE, _SMALL = 16, 4096


@runtime_checkable
class Pictures(Protocol):
    """Pictures by number."""

    def __len__(self) -> int:
        """How many there are."""

    def __getitem__(self, index: int) -> Picture:
        """One of them, grey."""


class _Draw(NamedTuple):
    """What chance decides about one recording."""

    camera: Camera
    seed: int
    pace: float

    @classmethod
    def of(cls, camera: Camera, seed: int, index: int) -> _Draw:
        generator = np.random.default_rng([seed, index])
        factor = float(generator.uniform(1 - _SENSITIVITY, 1 + _SENSITIVITY))
        pace = float(generator.uniform(1 - _PACE, 1 + _PACE))
        one = replace(camera, on=camera.on * factor, off=camera.off * factor)
        return cls(one, int(generator.integers(2**62)), pace)

    def record(self, film: Tensor, times: Sequence[float]) -> Events:
        return self.camera.sensor(self.seed).see_film(film, [t * self.pace for t in times])


@final
class PictureRecordings(Dataset[tuple[Any, Any]]):
    """Pictures with labels, seen by an event camera under eye movements.

    `data[i]` is a pair of events and label. Recordings are made when they are asked for. That of
    number i depends on the seed, i and its picture alone: the thresholds of the camera differ by up
    to 20 % from one to the next, the pace of the eye by up to 2 %.

    With a `border`, the camera sees a picture without so many pixels on each side, at column and
    row 0 of `size`; otherwise the picture lies in the middle, and around it is `surround`.
    """

    def __init__(
        self,
        pictures: Pictures,
        targets: Sequence[int],
        classes: Sequence[str],
        size: tuple[int, int],
        *,
        saccades: Saccades = ORIGINAL,
        camera: Camera | None = None,
        border: int = 0,
        surround: float = 0.0,
        seed: int = 0,
    ) -> None:
        if len(pictures) != len(targets):
            raise ValueError(
                f"{len(pictures):,} pictures need as many labels, got {len(targets):,}"
            )
        check_least("seed", seed, 0)
        check_least("border", border, 0)
        self.pictures = pictures
        self.targets = [int(target) for target in targets]
        """The class of each recording."""
        self.classes = tuple(classes)
        """Names of the classes; a target is a place in here."""
        self.size = check_size(size)
        """Height and width of every recording."""
        self.saccades, self.seed = saccades, seed
        self.border, self.surround = border, surround
        self.camera = atis(self.size) if camera is None else camera
        self.transform: Transform | None = None
        self.target_transform: Transform | None = None

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        number = checked_index(index, len(self))
        (events,) = self._recorded([number])
        return transformed(events, self.targets[number], self.transform, self.target_transform)

    def recordings(self) -> Iterator[tuple[Events, int]]:
        """All of them in order, in less time than one by one where pictures are small."""
        alike = not self.border and self.size[0] * self.size[1] < _SMALL
        at_once = _AT_ONCE if alike else 1
        for start in range(0, len(self), at_once):
            numbers = range(start, min(start + at_once, len(self)))
            yield from zip(self._recorded(numbers), self.targets[start:], strict=False)

    def _recorded(self, numbers: Sequence[int]) -> Iterator[Events]:
        times = self.saccades.instants(_DISPLACEMENT, _LONGEST)
        places = [self.saccades.place(t) for t in times]
        screens = [self._screen(i) for i in numbers]
        films = seen_together(screens, places)
        for i, screen, film in zip(numbers, screens, films, strict=True):
            draw = _Draw.of(replace(self.camera, size=screen.size), self.seed, i)
            events = draw.record(film, times)
            if screen.size != self.size:
                x, y, t, p = (getattr(events, name) for name in Events.FIELDS)
                events = Events(x, y, t, p, self.size, validate=False)
            yield events

    def _screen(self, number: int) -> Screen:
        picture = self.pictures[number]
        if not self.border:
            return Screen(picture, self.size, surround=self.surround)
        height, width = (side - 2 * self.border for side in picture.shape)
        if not (1 <= height <= self.size[0] and 1 <= width <= self.size[1]):
            raise ValueError(
                f"picture {number} has {tuple(picture.shape)} pixels; without a border of "
                f"{self.border} they must be from (1, 1) to {self.size}"
            )
        return Screen(picture, (height, width))

    def __repr__(self) -> str:
        return (
            f"PictureRecordings({len(self):,} recordings of {len(self.classes)} classes, "
            f"{self.size[0]}x{self.size[1]})"
        )
