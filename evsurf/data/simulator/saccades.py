"""Eye movements: how N-MNIST and N-Caltech101 were recorded, and the camera that did it.

A camera before a screen made three small moves, one after another, and came back to nearly where it
was (Orchard et al., 2015). Its two motors start and stop on their own, so that no move is straight.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from evsurf.data.simulator.camera import Camera


@dataclass(frozen=True)
class Saccades:
    """Where the picture is seen over time: a smooth path through given places."""

    times: Sequence[float | int]
    """Microseconds, increasing."""
    places: Sequence[tuple[float | int, float | int]]
    """Pixels to the right and down that the picture lies off its middle at these times."""

    def __post_init__(self) -> None:
        if len(self.times) != len(self.places) or len(self.times) < 2:
            raise ValueError(
                f"a path needs a place for each of at least two times, got {len(self.times)} times "
                f"and {len(self.places)} places"
            )
        numbers = [*self.times, *(number for place in self.places for number in place)]
        if not all(math.isfinite(number) for number in numbers):
            raise ValueError("times and places must be finite numbers")
        if any(b <= a for a, b in pairwise(self.times)):
            raise ValueError("times must increase from one place to the next")

    @property
    def reach(self) -> float:
        """The farthest that the picture comes off its middle, on either axis."""
        return float(max(abs(number) for place in self.places for number in place))

    def place(self, t: float | int) -> tuple[float, float]:
        """Where the picture is at a time in microseconds; before and after, where the path ends."""
        t = min(max(float(t), float(self.times[0])), float(self.times[-1]))
        k = min(bisect_right(self.times, t) - 1, len(self.times) - 2)
        u = (t - self.times[k]) / (self.times[k + 1] - self.times[k])
        x, y = (self._hermite(k, axis, u) for axis in (0, 1))
        return x, y

    def _hermite(self, k: int, axis: int, u: float) -> float:
        """A share u of the way from one given place to the next, at their speeds there."""
        a, b = self.places[k][axis], self.places[k + 1][axis]
        speeds = (1 - u) * self._slope(k, axis) - u * self._slope(k + 1, axis)
        length = self.times[k + 1] - self.times[k]
        return a + (b - a) * u * u * (3 - 2 * u) + length * u * (1 - u) * speeds

    def _slope(self, k: int, axis: int) -> float:
        """Pixels a microsecond at a given place; none at both ends."""
        if k in (0, len(self.times) - 1):
            return 0.0
        moved = self.places[k + 1][axis] - self.places[k - 1][axis]
        return moved / (self.times[k + 1] - self.times[k - 1])

    def slowed(self, factor: float | int) -> Saccades:
        """The same path in so many times the time."""
        return Saccades([time * factor for time in self.times], self.places)

    def scaled(self, factor: float | int) -> Saccades:
        """The same path, so many times as far."""
        return Saccades(self.times, [(x * factor, y * factor) for x, y in self.places])

    def instants(
        self, displacement: float | int = 0.25, longest: float | int = 2_500.0
    ) -> list[float]:
        """Times from start to stop between which the picture moves by at most about so much."""
        if not (displacement > 0 and longest > 0):
            raise ValueError(
                f"displacement = {displacement} and longest = {longest} must be above 0"
            )
        found = [float(self.times[0])]
        for start, stop in pairwise(self.times):
            steps = 8
            stations = [self.place(start + (stop - start) * i / steps) for i in range(steps + 1)]
            way = max(max(abs(bx - ax), abs(by - ay)) for (ax, ay), (bx, by) in pairwise(stations))
            count = max(math.ceil(way * steps / displacement), math.ceil((stop - start) / longest))
            found += [start + (stop - start) * i / count for i in range(1, count + 1)]
        return found


_RIGHT = """
    -2.70 -2.71 -2.73 -2.74 -2.75 -2.69 -2.34 -1.91 -1.65 -1.54 -1.44 -1.28 -1.08 -0.61 0.09 0.73
    1.05 1.36 1.57 1.71 1.95 2.19 2.28 1.79 1.05 0.14 -0.84 -1.79 -2.42 -2.85 -3.03 -3.04
"""
_DOWN = """
    -2.20 -2.12 -1.75 -1.12 -0.16 0.97 2.00 2.68 2.92 2.92 2.86 2.80 2.79 2.61 1.99 0.96
    -0.17 -1.14 -1.64 -1.80 -1.80 -1.80 -1.80 -1.80 -1.80 -1.80 -1.80 -1.80 -1.80 -1.80 -1.80 -1.80
"""

ORIGINAL = Saccades(
    range(0, 320_000, 10_000),
    list(zip(map(float, _RIGHT.split()), map(float, _DOWN.split()), strict=True)),
)
"""The moves of the originals, found from recordings of N-MNIST and the pictures they show: down,
to the right and up, to the left, 310 ms in all."""


def atis(size: tuple[int, int], **changes: Any) -> Camera:
    """The camera of the originals, as found from the same recordings, with some fields changed."""
    fitted = {
        "on": 0.25,
        "off": 0.257,
        "spread": 0.08,
        "floor": 0.16,
        "refractory": 950.0,
        "cutoff": 700.0,
        "shot": 1.1,
    }
    return Camera(size, **(fitted | changes))
