"""`Motions`: the same shapes on the same ways; only when they are where tells the classes apart."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from evsurf.data.datasets.made import MadeRecordings
from evsurf.data.simulator.camera import Camera
from evsurf.data.simulator.screen import Screen
from evsurf.data.store import StoreWriter
from evsurf.events import Events

_SIZE = (32, 32)
_SIDE = 13
_LOOP = 100_000
_STEPS = 80
_SETS = {"train": 200, "test": 50}
_NOISE = 0.05
# How much of the pace at the one end is missing at the other.
_SLOWEST = 0.3
# Places are rounded to it, so that the last bits of a sine do not matter.
_FINEST = 2.0**-10


@final
class Motions(MadeRecordings):
    """A shape goes round a closed way once in 100 ms: 32x32, six classes of motion.

    It goes clockwise or anticlockwise; evenly, ever slower or ever faster. Six recordings in a row
    are one of each class, of one shape on one way before one camera, and **every pixel has the same
    number of ON and of OFF events in all six**: what does not look at time cannot be better than
    chance. Shape, way, contrast and thresholds differ from one six to the next.

    ```python
    train, test = Motions(split="train"), Motions(split="test")  # 1,200 and 300
    ```

    They are made at the first use, which takes seconds, and kept in `root`, the user's cache by
    default.
    """

    name = "motions"
    version = 1
    classes = tuple(
        f"{turn}, {pace}"
        for turn in ("clockwise", "anticlockwise")
        for pace in ("even", "slowing", "speeding")
    )

    def _make(self, writer: StoreWriter) -> None:
        for number in range(_SETS[self.split]):
            generator = np.random.default_rng([self.seed, self.split == "test", number])
            for target, events in enumerate(Round.drawn(generator).recordings()):
                writer.add(events, target)


@dataclass(frozen=True, eq=False)
class Round:
    """One shape on one closed way, before one camera."""

    picture: npt.NDArray[np.float32]
    places: list[tuple[float, float]]
    """Clockwise, the first one again at the end."""
    camera: Camera
    seed: int

    @classmethod
    def drawn(cls, generator: np.random.Generator) -> Round:
        """One at random."""
        on = float(generator.uniform(0.2, 0.4))
        # Pixels whose thresholds for ON and OFF differ would count rounds one way otherwise than
        # the other; so would events that a refractory period swallows.
        camera = Camera(_SIZE, on=on, off=on, spread=0.0, floor=0.05, refractory=0.0)
        return cls(shape(generator), way(generator), camera, int(generator.integers(2**62)))

    def recordings(self) -> Iterator[Events]:
        """One of each class, in order."""
        pictures = Screen(self.picture, _SIZE, blur=0.8).seen(self.places)
        paces = _paces(len(self.places))
        for film in (pictures, pictures.flip(0)):
            for number, pace in enumerate(paces):
                sensor = self.camera.sensor(self.seed)
                # A round before, so that no pixel still knows where it started: from then on each
                # goes through the same levels in every round, backwards in the other direction.
                sensor.see_film(film, [t - _LOOP for t in paces[0]])
                events = sensor.see_film(film[1:], pace[1:])
                yield self._with_noise(events, number + 3 * (film is not pictures))

    def _with_noise(self, events: Events, kind: int) -> Events:
        """Events at random times, at the same pixels in every class."""
        places = np.random.default_rng([self.seed, 0])
        count = int(places.poisson(_NOISE * len(events)))
        noise = (
            places.integers(0, _SIZE[1], count),
            places.integers(0, _SIZE[0], count),
            np.random.default_rng([self.seed, 1, kind]).integers(0, _LOOP, count),
            places.integers(0, 2, count, dtype=bool),
        )
        # By numpy: to wake torch's threads takes longer than to sort so few.
        columns = [
            np.concatenate([getattr(events, name).numpy(), one]).astype(one.dtype)
            for name, one in zip(Events.FIELDS, noise, strict=True)
        ]
        order = np.argsort(columns[2], kind="stable")
        x, y, t, p = (column[order] for column in columns)
        return Events.from_arrays(x, y, t, p, size=_SIZE)


def _paces(count: int) -> list[list[float]]:
    """When each place is reached: evenly, ever slower, ever faster."""
    shares = [k / (count - 1) for k in range(count)]
    a, b = _SLOWEST, 1 - _SLOWEST
    # The time u at which the share a u + b u^2 of the way is done.
    speeding = [(math.sqrt(a * a + 4 * b * share) - a) / (2 * b) for share in shares]
    slowing = [1 - u for u in reversed(speeding)]
    return [[u * _LOOP for u in pace] for pace in (shares, slowing, speeding)]


def way(generator: np.random.Generator) -> list[tuple[float, float]]:
    """A closed way around the middle, clockwise as one sees it, with a bulge or two."""
    radius = generator.uniform(4.5, 6.5)
    bulges = [
        (k, generator.uniform(0, 0.35 / k), generator.uniform(0, 2 * math.pi)) for k in (2, 3)
    ]
    flat, start = generator.uniform(0.7, 1.0), generator.uniform(0, 2 * math.pi)
    places = []
    for step in range(_STEPS):
        angle = start + 2 * math.pi * step / _STEPS
        away = radius * (1 + sum(a * math.cos(k * angle + phase) for k, a, phase in bulges))
        # Rows count downwards, so that growing angles go clockwise.
        x, y = away * math.cos(angle), flat * away * math.sin(angle)
        places.append((round(x / _FINEST) * _FINEST, round(y / _FINEST) * _FINEST))
    return [*places, places[0]]


def shape(generator: np.random.Generator) -> npt.NDArray[np.float32]:
    """A disc, ring, square, cross or triangle, bright or not so bright on a dark ground."""
    half = generator.uniform(3.0, 5.0)
    rows, columns = np.mgrid[:_SIDE, :_SIDE] - (_SIDE - 1) / 2
    away = np.sqrt(rows * rows + columns * columns)
    straight = np.maximum(np.abs(rows), np.abs(columns))
    thin = np.minimum(np.abs(rows), np.abs(columns))
    # How far inside each pixel is; an edge is a pixel wide.
    inside = (
        half - away,
        half * 0.35 - np.abs(away - half * 0.7),
        half - straight,
        np.minimum(half - straight, half * 0.35 - thin),
        np.minimum(half - rows, (rows + half) * 0.5 - np.abs(columns)),
    )[int(generator.integers(5))]
    light = np.clip(inside + 0.5, 0, 1) * generator.uniform(0.6, 1.0)
    return np.asarray(light, np.float32)
