"""`Screen`: a picture on a screen before a camera, seen from anywhere near its middle.

Sums and products alone, in one order, so that every machine sees the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Float32
from torch import Tensor

from evsurf.data.simulator.camera import Camera, Picture
from evsurf.data.simulator.saccades import ORIGINAL, Saccades, atis
from evsurf.events import Events
from evsurf.events.checks import check_size

# The variance of a cubic B-spline, by which a picture is sampled between its pixels.
_SPLINE_VARIANCE = 1 / 3


@dataclass(frozen=True, eq=False)
class Screen:
    """A picture on a screen, a pixel of it to a pixel of the camera, slightly out of focus."""

    picture: Picture
    """Grey intensities [height, width]: floats from 0 to 1, or uint8. Its middle is the camera's;
    what does not fit is not seen."""
    size: tuple[int, int]
    """Height and width of the camera."""
    surround: float | int = 0.0
    """Intensity of the screen around the picture."""
    blur: float = 0.77
    """Standard deviation in pixels of what a point becomes, at least 0.58."""
    gamma: float = 2.5
    """The screen's light is the grey of the picture to this power."""

    def __post_init__(self) -> None:
        check_size(self.size)
        if not 0 <= self.surround <= 1:
            raise ValueError(f"surround = {self.surround} must be an intensity from 0 to 1")
        if not _SPLINE_VARIANCE <= self.blur**2 <= 100:
            raise ValueError(f"blur = {self.blur} must be from 0.58 to 10 pixels")
        if not 0.1 <= self.gamma <= 10:
            raise ValueError(f"gamma = {self.gamma} must be from 0.1 to 10")
        object.__setattr__(self, "picture", _light(_grey(self.picture), self.gamma))

    def film(
        self,
        saccades: Saccades,
        *,
        displacement: float | int = 0.25,
        longest: float | int = 2_500.0,
    ) -> Iterator[tuple[float, Float32[Tensor, "height width"]]]:
        """What the camera sees on this path, with times in microseconds.

        From one picture to the next the eye moves by at most `displacement` pixels, and no more
        than `longest` microseconds go by.
        """
        times = saccades.instants(displacement, longest)
        for t in times:
            yield t, self.seen([saccades.place(t)])[0]

    def seen(
        self, places: Sequence[tuple[float | int, float | int]]
    ) -> Float32[Tensor, "places height width"]:
        """What the camera sees with the picture at each of these places, to the right and down."""
        return seen_together([self], places)[0]

    def canvas(self, margin: int) -> npt.NDArray[np.float32]:
        """The screen as the camera sees it in its middle place, with a margin around."""
        height, width = self.size
        canvas = np.full((height + 2 * margin, width + 2 * margin), self.surround, np.float32)
        light = np.asarray(self.picture)
        inside, taken = [], []
        for have, room in zip(light.shape, canvas.shape, strict=True):
            start = (room - have) // 2
            inside.append(slice(max(start, 0), max(start, 0) + min(have, room)))
            taken.append(slice(max(-start, 0), max(-start, 0) + min(have, room)))
        canvas[tuple(inside)] = light[tuple(taken)]
        return _blurred(canvas, self.blur**2 - _SPLINE_VARIANCE)


def seen_together(
    screens: Sequence[Screen], places: Sequence[tuple[float | int, float | int]]
) -> Float32[Tensor, "screens places height width"]:
    """What `Screen.seen` gives of several, in less time; all before a camera of one size."""
    reach = max((abs(number) for place in places for number in place), default=0.0)
    margin = math.ceil(reach) + 3
    height, width = screens[0].size
    # Screens along the last axis, which numpy is quickest with.
    canvas = np.stack([screen.canvas(margin) for screen in screens], axis=-1)
    pictures = np.empty((len(screens), len(places), height, width), np.float32)
    for k, (x, y) in enumerate(places):
        rows = _shifted(canvas, margin - y, height)
        columns = _shifted(rows.swapaxes(0, 1), margin - x, width)
        pictures[:, k] = columns.transpose(2, 1, 0)
    return torch.from_numpy(pictures)


def _grey(picture: Any) -> npt.NDArray[np.float32]:
    if not isinstance(picture, Tensor | np.ndarray):
        raise TypeError(f"a picture must be an array or a tensor, got {type(picture).__qualname__}")
    light = picture if isinstance(picture, np.ndarray) else picture.detach().cpu().numpy()
    if light.ndim != 2 or min(light.shape) < 2:
        raise ValueError(
            "a picture must be grey, [height, width], and at least 2 x 2 pixels; "
            f"got shape {light.shape}"
        )
    if light.dtype == np.uint8:
        return light.astype(np.float32) / np.float32(255)
    if light.dtype.kind != "f":
        raise TypeError(f"a picture must hold floats from 0 to 1 or uint8, got {light.dtype}")
    if not (light.min() >= 0 and light.max() <= 1):
        raise ValueError(
            f"intensities must be from 0 (dark) to 1 (white), got {light.min()} to {light.max()}. "
            "Divide pictures of 8 bits by 255."
        )
    return light.astype(np.float32)


def _light(grey: npt.NDArray[np.float32], gamma: float) -> npt.NDArray[np.float32]:
    """What a screen makes of grey; rounded, so that the last bits of a power do not matter."""
    light = np.rint(grey.astype(np.float64) ** gamma * 2**20) / 2**20
    return light.astype(np.float32)


def _blurred(light: npt.NDArray[np.float32], variance: float) -> npt.NDArray[np.float32]:
    """The picture with this variance of blur, by sums that are the same on every machine."""
    passes = math.ceil(2 * variance - 1e-9)
    for _ in range(passes):
        side = np.float32(variance / passes / 2)
        for axis in (0, 1):
            around = np.pad(light, [(1, 1) if a == axis else (0, 0) for a in (0, 1)], mode="edge")
            before, after = (np.take(around, range(k, k + light.shape[axis]), axis) for k in (0, 2))
            light = light + side * (before + after - 2 * light)
    return light


def _shifted(
    canvas: npt.NDArray[np.float32], start: float | int, count: int
) -> npt.NDArray[np.float32]:
    """So many rows from a place between rows on, by cubic B-splines."""
    first = math.floor(start)
    u = start - first
    weights = (
        (1 - u) ** 3 / 6,
        (3 * u**3 - 6 * u**2 + 4) / 6,
        (-3 * u**3 + 3 * u**2 + 3 * u + 1) / 6,
        u**3 / 6,
    )
    parts = [
        np.float32(weight) * canvas[first + k - 1 : first + k - 1 + count]
        for k, weight in enumerate(weights)
    ]
    rows: npt.NDArray[np.float32] = parts[0] + parts[1] + parts[2] + parts[3]
    return rows


def look(
    picture: Picture,
    size: tuple[int, int],
    *,
    saccades: Saccades = ORIGINAL,
    camera: Camera | None = None,
    surround: float | int = 0.0,
    seed: int = 0,
) -> Events:
    """What an event camera gives of a picture under eye movements, as N-MNIST was made.

    A pixel of the picture is as large as one of the camera's. Without `camera` it is `atis(size)`,
    the one of the originals.
    """
    screen = Screen(picture, size, surround=surround)
    times = saccades.instants()
    pictures = screen.seen([saccades.place(t) for t in times])
    return (camera or atis(size)).sensor(seed).see_film(pictures, times)
