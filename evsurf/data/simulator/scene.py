"""`Scene`: textured panels in space and a camera among them, with exact motion of every pixel."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float32, Float64, Int16
from torch import Tensor

from evsurf import _core
from evsurf.data.simulator.motion import Motion, Numbers, Vector, still
from evsurf.data.simulator.texture import Texture

_RECTANGLE = np.dtype(
    [
        ("origin", "f8", 3),
        ("across", "f8", 3),
        ("down", "f8", 3),
        ("half", "f8", 2),
        ("texels", "f8"),
        ("offset", "f8", 2),
        ("texture", "i4"),
        ("pad", "i4"),
    ]
)
assert _RECTANGLE.itemsize == _core.rectangle_bytes

# A point is hidden where what is seen in its place is nearer or farther than this.
_SAME_DEPTH = 0.02
# Speeds are looked at on every fourth pixel of every fourth row.
_SPARSE = 4
_FASTEST_SHARE = 0.995
# Microseconds in which the speed of what is seen hardly changes.
_LOOK_AGAIN = 4_000.0


@dataclass(frozen=True)
class Pinhole:
    """An ideal lens: where a direction meets the picture."""

    size: tuple[int, int]
    """Height and width of the picture in pixels."""
    focal: float | int = 226.0
    """Pixels."""
    centre: Vector | None = None
    """Column and row that the camera looks along; None: the middle."""

    @property
    def middle(self) -> tuple[float, float]:
        """Column and row that the camera looks along."""
        x, y = self.centre or ((self.size[1] - 1) / 2, (self.size[0] - 1) / 2)
        return x, y

    def thinned(self, apart: int) -> Pinhole:
        """A lens with the same directions, of every so-manieth pixel of every so-manieth row."""
        height, width = (-(-side // apart) for side in self.size)
        x, y = self.middle
        return Pinhole((height, width), self.focal / apart, (x / apart, y / apart))

    def directions(self) -> Numbers:
        """[rows, columns, 3] of every pixel, of length 1 along the third axis."""
        x, y = self.middle
        across = (np.arange(self.size[1]) - x) / self.focal
        down = (np.arange(self.size[0]) - y) / self.focal
        grid = np.ones((len(down), len(across), 3))
        grid[..., 0], grid[..., 1] = across[None, :], down[:, None]
        return grid

    def project(self, points: Numbers) -> Numbers:
        """Column and row of points in front of the camera."""
        with np.errstate(divide="ignore", invalid="ignore"):
            flat: Numbers = points[..., :2] / points[..., 2:] * self.focal + np.asarray(self.middle)
        return flat


@dataclass(frozen=True, eq=False)
class Panel:
    """A textured rectangle. It may move: its motion turns it about its middle and shifts it."""

    texture: Texture
    origin: Vector
    """Its middle, at rest."""
    across: Vector
    """Unit vector along its texture's rows."""
    down: Vector
    """Unit vector along its texture's columns."""
    half: Vector
    """Half its extents along these."""
    texels: float | int
    """Texels in a unit of length."""
    offset: Vector | None = None
    """Texel in its middle; None: the texture's."""
    motion: Motion = still

    def placed(self, seconds: float) -> tuple[Numbers, Numbers, Numbers]:
        """Middle and sides at a time."""
        pose = self.motion(seconds)
        return (
            np.asarray(self.origin) + pose.position,
            pose.axes @ np.asarray(self.across),
            pose.axes @ np.asarray(self.down),
        )


class Geometry(NamedTuple):
    """What is seen in the middle of each pixel."""

    depth: Float64[Tensor, "height width"]
    """Along the direction in which the camera looks; 0 where there is nothing."""
    panel: Int16[Tensor, "height width"]
    """Number of the panel, -1 for none."""


class Flow(NamedTuple):
    """Where every pixel's point goes."""

    flow: Float32[Tensor, "2 height width"]
    """Pixels to the right, pixels down."""
    visible: Bool[Tensor, "height width"]
    """Whether the point is within the picture, and not hidden, at both times."""


@dataclass(frozen=True, eq=False)
class Scene:
    """Panels, a lens and how it moves. Times are in microseconds."""

    panels: tuple[Panel, ...]
    lens: Pinhole
    motion: Motion = still
    sky: float | int = 0.5
    """Intensity where there is no panel."""
    samples: int = 1
    """Rays along each side of a pixel: more make the borders of panels smoother."""

    def picture(self, t: float | int) -> Float32[Tensor, "height width"]:
        """The light that reaches every pixel."""
        light = torch.empty(self.lens.size, dtype=torch.float32)
        self._render(t, self.samples, light.data_ptr(), 0, 0)
        return light

    def geometry(self, t: float | int) -> Geometry:
        """Depth and panel of every pixel."""
        light = torch.empty(self.lens.size, dtype=torch.float32)
        depth = torch.empty(self.lens.size, dtype=torch.float64)
        panel = torch.empty(self.lens.size, dtype=torch.int16)
        self._render(t, 1, light.data_ptr(), depth.data_ptr(), panel.data_ptr())
        return Geometry(depth, panel)

    def _render(self, t: float | int, samples: int, light: int, depth: int, panel: int) -> None:
        seconds = t / 1e6
        eye = self.motion(seconds)
        rectangles = np.zeros(len(self.panels), _RECTANGLE)
        textures = list({id(one.texture): one.texture for one in self.panels}.values())
        numbers = {id(texture): k for k, texture in enumerate(textures)}
        for rectangle, one in zip(rectangles, self.panels, strict=True):
            rectangle["origin"], rectangle["across"], rectangle["down"] = one.placed(seconds)
            rectangle["half"], rectangle["texels"] = one.half, one.texels
            middle = one.texture.side / 2
            rectangle["offset"] = one.offset or (middle, middle)
            rectangle["texture"] = numbers[id(one.texture)]
        x, y = self.lens.middle
        view = [self.lens.focal, self.lens.focal, x, y, *eye.axes.ravel(), *eye.position, self.sky]
        _core.render(
            (*self.lens.size, samples),
            [float(number) for number in view],
            rectangles.ctypes.data,
            len(rectangles),
            [_addresses(texture) for texture in textures],
            torch.get_num_threads(),
            light,
            depth,
            panel,
        )

    def flow(self, t0: float | int, t1: float | int) -> Flow:
        """How the point that each pixel sees at t0 has moved in the picture at t1."""
        before, after = self.geometry(t0), self.geometry(t1)
        ahead = self._moved(before, t0, t1)
        places = self.lens.project(ahead)
        flow = places - self.lens.project(self.lens.directions())
        depth = ahead[..., 2]
        height, width = self.lens.size
        inside = (
            (depth > 0)
            & (places >= -0.5).all(axis=-1)
            & (places < (width - 0.5, height - 0.5)).all(axis=-1)
        )
        columns, rows = (np.where(inside, np.rint(places[..., k]), 0).astype(int) for k in (0, 1))
        there = after.depth.numpy()[rows, columns]
        same = np.abs(depth - there) < _SAME_DEPTH * np.maximum(depth, 0)
        same &= after.panel.numpy()[rows, columns] == before.panel.numpy()
        visible = torch.from_numpy(inside & same & (before.depth.numpy() > 0))
        moved = torch.from_numpy(np.moveaxis(np.where(np.isfinite(flow), flow, 0), -1, 0).copy())
        return Flow(moved.float(), visible)

    def _moved(self, seen: Geometry, t0: float | int, t1: float | int) -> Numbers:
        """Where the camera has at t1 the points that it saw at t0; of the sky, their directions."""
        eye0, eye1 = self.motion(t0 / 1e6), self.motion(t1 / 1e6)
        depth, panel = seen.depth.numpy()[..., None], seen.panel.numpy()
        rays = self.lens.directions() @ eye0.axes.T
        points = np.where(depth > 0, eye0.position + depth * rays, rays)
        for number, one in enumerate(self.panels):
            if one.motion is still:
                continue
            middle0, across0, down0 = one.placed(t0 / 1e6)
            middle1, across1, down1 = one.placed(t1 / 1e6)
            here = panel == number
            offset = points[here] - middle0
            points[here] = (
                middle1 + (offset @ across0)[:, None] * across1 + (offset @ down0)[:, None] * down1
            )
        seen_from = np.where(depth > 0, points - eye1.position, points)
        ahead: Numbers = seen_from @ eye1.axes
        return ahead

    def speed(self, t: float | int, *, apart: float = 100.0) -> float:
        """Pixels a second of nearly the fastest points in the picture."""
        few = replace(self, lens=self.lens.thinned(_SPARSE))
        points = few._moved(few.geometry(t), t, t + apart)
        flow = few.lens.project(points) - few.lens.project(few.lens.directions())
        lengths = np.sqrt((flow**2).sum(axis=-1)) * _SPARSE
        lengths = lengths[np.isfinite(lengths) & (points[..., 2] > 0)]
        if not lengths.size:
            return 0.0
        return float(np.quantile(lengths, _FASTEST_SHARE)) / apart * 1e6

    def film(
        self,
        start: float | int,
        stop: float | int,
        *,
        displacement: float = 0.25,
        shortest: float = 250.0,
        longest: float = 10_000.0,
    ) -> Iterator[tuple[float, Float32[Tensor, "height width"]]]:
        """Pictures with their times, as close as the motion needs, the last one at `stop`.

        From one to the next nearly no point moves by more than `displacement` pixels, as long as
        steps of `shortest` to `longest` microseconds allow.
        """
        if not (math.isfinite(start) and math.isfinite(stop) and start < stop):
            raise ValueError(f"start = {start} and stop = {stop} must be times, the first earlier")
        if not displacement > 0 or not 0 < shortest <= longest:
            raise ValueError(
                f"displacement = {displacement}, shortest = {shortest} and longest = {longest} "
                "must be above 0, and shortest not above longest"
            )
        t, looked = float(start), -math.inf
        step = longest
        yield t, self.picture(t)
        while t < stop:
            if t - looked >= _LOOK_AGAIN:
                looked, speed = t, self.speed(t)
                step = displacement / speed * 1e6 if speed > 0 else longest
                step = min(max(step, shortest), longest)
            t = min(t + step, float(stop))
            yield t, self.picture(t)


def _addresses(texture: Texture) -> tuple[int, int, int, int]:
    mask = 0 if texture.mask_levels is None else texture.mask_levels.ctypes.data
    return texture.levels.ctypes.data, mask, texture.side, int(texture.tiles)
