"""A simulated camera that watches simple shapes move: a stream to look at, without a download."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from evsurf.data.arguments import check_least
from evsurf.events import Events
from evsurf.events.checks import check_size

Image = npt.NDArray[np.float64]
Outline = Callable[[Image, Image], Image]

# Logarithm of the brightness by which a shape differs from the background.
_CONTRAST = 1.0
# Pixels on either side of a border over which the brightness changes.
_BLUR = 1.0
# Pixels do not all react at the same change; share of the threshold, one sigma.
_MISMATCH = 0.05
_STEP = 500.0


@dataclass(frozen=True)
class Shape:
    """One thing that moves; lengths in pixels, times in seconds, angles in radians."""

    outline: Outline
    """Signed distance from the border of the shape at rest, negative inside."""
    reach: float
    """No point of the shape is farther from its centre."""
    start: tuple[float, float]
    """Row and column of its centre."""
    velocity: tuple[float, float]
    turning: float
    contrast: float

    def add_to(self, image: Image, seconds: float) -> None:
        """Adds what the shape changes in the logarithm of the brightness."""
        centre = [s + v * seconds for s, v in zip(self.start, self.velocity, strict=True)]
        # Only the part of the image that the shape can touch, which is small.
        (top, bottom), (left, right) = (
            (max(0, int(c - self.reach - _BLUR)), max(0, int(c + self.reach + _BLUR) + 2))
            for c in centre
        )
        part = image[top:bottom, left:right]
        down = np.arange(top, top + part.shape[0])[:, None] - centre[0]
        across = np.arange(left, left + part.shape[1])[None, :] - centre[1]
        sine, cosine = np.sin(self.turning * seconds), np.cos(self.turning * seconds)
        distance = self.outline(cosine * down - sine * across, sine * down + cosine * across)
        part += self.contrast * np.clip(0.5 - distance / (2 * _BLUR), 0, 1)


def moving_shapes(
    size: tuple[int, int] = (180, 240),
    *,
    duration: int = 150_000,
    shapes: int = 5,
    threshold: float = 0.25,
    seed: int = 0,
) -> Events:
    """What an event camera sees of shapes that drift and turn before an even background.

    A pixel sends an event each time the logarithm of its brightness has changed by about
    `threshold`; `duration` is in microseconds. The seed chooses the shapes and how they move.
    """
    size = check_size(size)
    for name, value, least in (("duration", duration, 1), ("shapes", shapes, 0), ("seed", seed, 0)):
        check_least(name, value, least)
    if not 0.01 <= threshold <= 1:
        raise ValueError(f"threshold = {threshold!r} must be from 0.01 to 1")
    generator = np.random.default_rng(seed)
    scene = [_shape(k, size, generator) for k in range(shapes)]

    def brightness(t: float) -> Image:
        image = np.zeros(size)
        for shape in scene:
            shape.add_to(image, t / 1e6)
        return image

    levels = threshold * (1 + _MISMATCH * generator.standard_normal(size))
    # Never so mismatched that a pixel fires all the time.
    return _watch(brightness, np.maximum(levels, threshold / 2), size, duration)


def _shape(number: int, size: tuple[int, int], generator: np.random.Generator) -> Shape:
    """The number decides what it is, the generator where it is and how it moves."""
    radius = min(size) * generator.uniform(0.14, 0.19)
    outlines = [
        _polygon(4, radius),
        _disc(radius),
        _polygon(3, radius),
        _star(radius),
        _bar(radius),
    ]
    # One place each on a ring around the middle, so that they rarely cover one another.
    place = 2 * np.pi * (number * 0.4 + generator.uniform(-0.05, 0.05))
    start = (
        size[0] * (0.5 + 0.30 * np.sin(place)),
        size[1] * (0.5 + 0.33 * np.cos(place)),
    )
    way, speed = generator.uniform(0, 2 * np.pi), min(size) * generator.uniform(0.9, 2.0)
    return Shape(
        outlines[number % len(outlines)],
        1.5 * radius,
        start,
        (speed * np.sin(way), speed * np.cos(way)),
        generator.choice([-1, 1]) * generator.uniform(4, 14),
        _CONTRAST * (1 if number % 2 == 0 else -1),
    )


def _disc(radius: float) -> Outline:
    return lambda down, across: np.hypot(down, across) - radius


def _bar(radius: float) -> Outline:
    return lambda down, across: np.maximum(np.abs(down) - radius / 6, np.abs(across) - 1.4 * radius)


def _star(radius: float) -> Outline:
    def outline(down: Image, across: Image) -> Image:
        reach = radius * (0.85 + 0.3 * np.cos(5 * np.arctan2(down, across)))
        distance: Image = np.hypot(down, across) - reach
        return distance

    return outline


def _polygon(sides: int, radius: float) -> Outline:
    angles = 2 * np.pi * np.arange(sides) / sides

    def outline(down: Image, across: Image) -> Image:
        edges = [np.cos(a) * across + np.sin(a) * down for a in angles]
        distance: Image = np.max(edges, axis=0) - radius * np.cos(np.pi / sides)
        return distance

    return outline


def _watch(
    brightness: Callable[[float], Image], levels: Image, size: tuple[int, int], duration: int
) -> Events:
    """Events of every crossing of a level, their times interpolated between two looks."""
    looks = np.linspace(0, duration, max(2, round(duration / _STEP) + 1))
    rest = before = brightness(0.0)
    # Levels passed so far, up less down. Counted, not added up: whole numbers are not rounded, so
    # that a pixel which has stopped changing passes no further level.
    passed = np.zeros(size)
    pixels, times, signs = [], [], []
    for start, end in pairwise(looks):
        now = brightness(end)
        crossings = np.trunc((now - rest) / levels - passed)
        active = np.flatnonzero(crossings)
        number = np.abs(crossings.flat[active]).astype(np.int64)
        owner = np.repeat(active, number)
        step = np.sign(crossings.flat[owner])
        k = np.arange(len(owner)) - np.repeat(np.cumsum(number) - number, number) + 1
        crossed = rest.flat[owner] + (passed.flat[owner] + k * step) * levels.flat[owner]
        share = (crossed - before.flat[owner]) / (now.flat[owner] - before.flat[owner])
        pixels.append(owner)
        times.append(start + np.clip(share, 0, 1) * (end - start))
        signs.append(step > 0)
        passed += crossings
        before = now
    pixel, t, brighter = (np.concatenate(parts) for parts in (pixels, times, signs))
    y, x = np.divmod(pixel, size[1])
    t = np.minimum(t.astype(np.int64), duration - 1)
    return Events.from_arrays(x, y, t, brighter, size, sort=True)
