"""What a DAVIS records of a scene: events, and grey frames beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Float32, UInt8
from torch import Tensor

from evsurf.data.simulator.camera import Camera
from evsurf.data.simulator.scene import Scene
from evsurf.events import Events

# What the gain makes of the brightness that one pixel in twenty exceeds.
_BRIGHT = 200.0
_BRIGHT_SHARE = 0.95


@dataclass(frozen=True)
class Film:
    """How a scene is filmed."""

    displacement: float = 0.5
    """Pixels that nearly no point moves by between the pictures that events are made of."""
    exposure: float = 4_000.0
    """Microseconds in which a frame gathers light, up to its time; 0: an instant."""
    noise: float = 2.0
    """Standard deviation of the frames' noise, of 255."""


@dataclass(frozen=True, eq=False)
class Clip:
    """Events and frames of one scene."""

    events: Events
    frames: UInt8[Tensor, "frames height width"]
    times: tuple[float, ...]
    """When each frame's exposure ended, in microseconds."""


def record(
    scene: Scene,
    camera: Camera,
    times: Sequence[float],
    *,
    seed: int = 0,
    film: Film | None = None,
    tell: Callable[[float], None] | None = None,
) -> Clip:
    """Events from the first to the last of these times, and a frame at each.

    The seed decides the camera's pixels and all noise. `tell` hears the time of every picture.
    """
    if len(times) < 2 or any(a >= b for a, b in pairwise(times)):
        raise ValueError(
            f"times must be at least two, rising, in microseconds; got {len(times)}: "
            f"{list(times)[:5]}"
        )
    film = film or Film()
    sensor = camera.sensor(seed)
    pieces: list[Events] = []
    exposures: list[Float32[Tensor, "height width"]] = []
    lit: list[tuple[float, Tensor]] = []
    for t, picture in _pictures(scene, times, film):
        pieces.append(sensor.see(picture, t))
        if tell is not None:
            tell(t)
        lit = [*((was, light) for was, light in lit if was > t - film.exposure), (t, picture)]
        if len(exposures) < len(times) and t == times[len(exposures)]:
            exposures.append(torch.stack([light for _, light in lit]).mean(dim=0))
    x, y, t_all, p = (
        torch.cat([getattr(piece, name) for piece in pieces]) for name in Events.FIELDS
    )
    events = Events(x, y, t_all, p, camera.size, validate=False)
    return Clip(events, _developed(torch.stack(exposures), film, seed), tuple(times))


def _pictures(
    scene: Scene, times: Sequence[float], film: Film
) -> Iterator[tuple[float, Float32[Tensor, "height width"]]]:
    """Pictures as close as the motion needs, with one at each of the times."""
    for number, (start, stop) in enumerate(pairwise(times)):
        pictures = scene.film(start, stop, displacement=film.displacement)
        if number:
            # The last picture of the piece before.
            next(pictures)
        yield from pictures


def _developed(
    exposures: Float32[Tensor, "frames height width"], film: Film, seed: int
) -> UInt8[Tensor, "frames height width"]:
    """Frames of bytes, under a gain that is the same for all."""
    # Every so-manieth value: a quantile of all would sort them.
    some = exposures.flatten()[:: max(1, exposures.numel() // 1_000_000)]
    gain = _BRIGHT / max(float(np.quantile(some.numpy(), _BRIGHT_SHARE)), 1e-6)
    noise = np.random.default_rng([seed, 7])
    frames = np.empty(exposures.shape, np.uint8)
    for frame, light in zip(frames, exposures.numpy(), strict=True):
        disturbed = light * gain + film.noise * noise.standard_normal(light.shape)
        frame[:] = np.clip(np.rint(disturbed), 0, 255)
    return torch.from_numpy(frames)
