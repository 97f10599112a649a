"""Streams made up from a seed, with the statistics of real ones: for timing, tests and first steps.

The events of a camera lie along moving contours, most active pixels have one or two of them and a
few have very many. `camera_like` draws such streams, `density_controlled` streams where every
active pixel has the same number. Sample i depends on the seed and on i alone, so a small batch is
the beginning of a larger one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evsurf.data.arguments import check_least
from evsurf.events import EventBatch, Events
from evsurf.events.checks import check_size

Integers = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Preset:
    """What a camera-like stream looks like."""

    size: tuple[int, int]
    duration: int
    """Microseconds."""
    events: tuple[int, int]
    """Fewest and most events of a sample; the mean is 37% of the way."""
    active: float
    """The largest share of the pixels that have events."""
    tail: float = 1.0
    """Sigma of the log-normal weights by which pixels attract events: from 2 on, a few get most."""

    def __post_init__(self) -> None:
        check_size(self.size)
        if not isinstance(self.events, tuple | list) or len(self.events) != 2:
            raise TypeError(f"events must be (fewest, most) of a sample, got {self.events!r}")
        fewest, most = self.events
        check_least("duration", self.duration, 1)
        check_least("events[0]", fewest, 1)
        check_least("events[1]", most, fewest)
        if not 0 < self.active <= 1:
            raise ValueError(
                f"active = {self.active!r} must be a share of the pixels, above 0 and up to 1"
            )
        if not 0 <= self.tail < np.inf:
            raise ValueError(f"tail = {self.tail!r} must be a finite number and not negative")


PRESETS: dict[str, Preset] = {
    "ncars": Preset((100, 120), 100_000, (2_000, 8_000), 0.25),
    "ncars-heavy": Preset((100, 120), 100_000, (2_000, 8_000), 0.25, tail=2.0),
    "mvsec-20k": Preset((260, 346), 50_000, (20_000, 20_000), 0.20),
    "mvsec-100k": Preset((260, 346), 50_000, (100_000, 100_000), 0.20),
    "megapixel": Preset((720, 1280), 50_000, (1_000_000, 1_000_000), 0.25),
}

# Of every ten events at most seven are the first of their pixel: 1.7 events an active pixel.
_FIRST_EVENTS = 0.7
_WAVES = 10
# How far, as a share of the window, a pixel's events lie from the moment an edge passes.
_SPREAD = 0.1
_FLIPPED = 0.25


def camera_like(preset: str | Preset, samples: int, seed: int = 0) -> EventBatch:
    """A batch that resembles what a camera gives; `PRESETS` lists the names.

    >>> from evsurf.data.synthetic import camera_like
    >>> camera_like("mvsec-20k", samples=2)
    EventBatch(2 samples, 40,000 events, 260x346, cpu)
    """
    chosen = _preset(preset)
    check_least("samples", samples, 0)
    check_least("seed", seed, 0)
    drawn = (_camera_sample(chosen, np.random.default_rng([seed, i])) for i in range(samples))
    return EventBatch.pack(drawn, chosen.size)


def density_controlled(
    size: tuple[int, int],
    *,
    density: float,
    events_per_pixel: int,
    samples: int,
    seed: int = 0,
) -> EventBatch:
    """A batch in which a share of the pixels, `density`, has the same number of events each.

    A share that is no whole number of pixels is rounded down. Which pixels these are differs from
    sample to sample. Events come in random order, 1 us apart.
    """
    size = check_size(size)
    if not 0 <= density <= 1:
        raise ValueError(f"density = {density!r} must be a share of the pixels, from 0 to 1")
    check_least("events_per_pixel", events_per_pixel, 1)
    check_least("samples", samples, 0)
    check_least("seed", seed, 0)
    # Rounded down, but 0.29 of 100 is 29, though the product of these floats is a bit less.
    active = int(density * size[0] * size[1] * (1 + 8 * np.finfo(float).eps))
    drawn = []
    for i in range(samples):
        generator = np.random.default_rng([seed, i])
        pixels = generator.permutation(size[0] * size[1])[:active]
        order = generator.permutation(np.repeat(pixels, events_per_pixel))
        brighter = generator.integers(0, 2, len(order))
        drawn.append(_events(order, np.arange(len(order)), brighter, size))
    return EventBatch.pack(drawn, size)


def _preset(preset: str | Preset) -> Preset:
    if isinstance(preset, Preset):
        return preset
    if preset not in PRESETS:
        raise ValueError(f"preset must be a Preset or one of {', '.join(PRESETS)}, not {preset!r}")
    return PRESETS[preset]


def _camera_sample(preset: Preset, generator: np.random.Generator) -> Events:
    fewest, most = preset.events
    # A mean of 0.37 with more short samples than long ones.
    count = fewest + round((most - fewest) * generator.beta(1.2, 2.05))
    pixels = _contour(preset, count, generator)
    owner = _owners(count, len(pixels), preset.tail, generator)
    rows, columns = np.divmod(pixels, preset.size[1])
    t = _times(rows, columns, owner, preset, generator)
    # Neighbours mostly agree on the polarity, as the two sides of a moving thing do.
    brighter = _waves(rows, columns, preset.size, generator)[owner] > 0
    brighter ^= generator.random(count) < _FLIPPED
    return _events(pixels[owner], t, brighter, preset.size)


def _contour(preset: Preset, events: int, generator: np.random.Generator) -> Integers:
    """Pixels along the level line of a smooth random field."""
    height, width = preset.size
    # Even of a tiny sensor one pixel is active.
    active = max(1, min(int(preset.active * height * width), int(_FIRST_EVENTS * events)))
    rows, columns = np.divmod(np.arange(height * width), width)
    field = _waves(rows, columns, preset.size, generator)
    distance = np.abs(field - np.median(field))
    nearest = np.argpartition(distance, active - 1)[:active]
    return np.sort(nearest)


def _waves(
    rows: Integers, columns: Integers, size: tuple[int, int], generator: np.random.Generator
) -> Numbers:
    """A sum of plane waves, long ones the highest, at these pixels."""
    angle = generator.uniform(0, 2 * np.pi, _WAVES)
    cycles = generator.uniform(1, 8, _WAVES)
    phase = generator.uniform(0, 2 * np.pi, _WAVES)
    field = np.zeros(len(rows))
    for a, n, start in zip(angle, cycles, phase, strict=True):
        way = (np.cos(a) * columns + np.sin(a) * rows) / max(size)
        field += np.cos(2 * np.pi * n * way + start) / n
    return field


def _owners(count: int, pixels: int, tail: float, generator: np.random.Generator) -> Integers:
    """Which active pixel each event belongs to: every pixel has one, the rest go by weight."""
    weights = generator.lognormal(0.0, tail, pixels)
    more = generator.multinomial(count - pixels, weights / weights.sum())
    return np.repeat(np.arange(pixels), 1 + more)


def _times(
    rows: Integers,
    columns: Integers,
    owner: Integers,
    preset: Preset,
    generator: np.random.Generator,
) -> Integers:
    """An edge sweeps the sensor once; every event falls about when it passes its pixel."""
    angle = generator.uniform(0, 2 * np.pi)
    passing = (np.cos(angle) * columns + np.sin(angle) * rows) / max(preset.size)
    passing = passing[owner] + generator.uniform() + generator.normal(0, _SPREAD, len(owner))
    t: Integers = np.floor(passing % 1.0 * preset.duration).astype(np.int64)
    return t


def _events(
    pixels: Integers,
    t: Integers,
    brighter: npt.NDArray[np.bool_] | Integers,
    size: tuple[int, int],
) -> Events:
    order = np.argsort(t, kind="stable")
    y, x = np.divmod(pixels[order], size[1])
    return Events.from_arrays(x, y, t[order], brighter[order], size)
