"""`ncars_like`: cars and no cars, as a camera in a car sees them for 100 ms in a made-up street."""

from __future__ import annotations

from typing import Any, final

import numpy as np
import numpy.typing as npt
from torch.utils.data import Dataset

from evsurf.data.arguments import check_least
from evsurf.data.datasets.labelled import Transform, checked_index, transformed
from evsurf.data.simulator.camera import Camera
from evsurf.data.simulator.motion import Motion, Pose
from evsurf.data.simulator.patterns import texture
from evsurf.data.simulator.scene import Panel, Pinhole, Scene
from evsurf.data.simulator.texture import Texture
from evsurf.events import Events

_DURATION = 100_000
_RIGHT, _DOWN = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
_TEXELS = 128
_FOCAL = 100.0
# Where the background and the car are, in metres.
_FAR, _NEAR = 20.0, 10.0


def ncars_like(samples: int = 1_000, *, seed: int = 0) -> StreetCrops:
    """Recordings like those of N-Cars: 100 ms, at most 100x120, with a car (1) or without (0).

    Every other one shows a car. Cars are drawn, the street behind is of random textures; both move
    as seen from a car. Everything about sample i follows from the seed and i.
    """
    return StreetCrops(samples, seed=seed)


@final
class StreetCrops(Dataset[tuple[Any, Any]]):
    """What `ncars_like` gives: `data[i]` is a pair of events and class."""

    classes = ("background", "cars")
    size = (100, 120)

    def __init__(self, samples: int, *, seed: int = 0) -> None:
        check_least("samples", samples, 1)
        check_least("seed", seed, 0)
        self.samples, self.seed = samples, seed
        self.transform: Transform | None = None
        self.target_transform: Transform | None = None

    @property
    def targets(self) -> list[int]:
        """The class of each recording."""
        return [i % 2 for i in range(self.samples)]

    def __len__(self) -> int:
        return self.samples

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        number = checked_index(index, len(self))
        generator = np.random.default_rng([self.seed, number])
        events = _recorded(generator, car=bool(number % 2))
        return transformed(events, number % 2, self.transform, self.target_transform)

    def __repr__(self) -> str:
        return f"StreetCrops({self.samples:,} recordings of 2 classes, at most 100x120)"


def _recorded(generator: np.random.Generator, *, car: bool) -> Events:
    height, width = _crop(generator)
    lens = Pinhole((height, width), focal=_FOCAL)
    behind = texture(("A", "B")[int(generator.integers(2))], generator, side=256)
    # Pixels a second. Faster where there is no car, or the number of events would tell.
    speed = generator.uniform(-40, 40, 2) * (1, 0.25) * (1 if car else 3) * _FAR / _FOCAL
    panels = [
        Panel(behind, (0, 0, _FAR), _RIGHT, _DOWN, (60, 60), 4.0, motion=_sliding(speed, 0.0))
    ]
    if car:
        half = 0.42 * width * _NEAR / _FOCAL
        own = generator.uniform(-80, 80, 2) * (1, 0.2) * _NEAR / _FOCAL
        # It comes nearer or falls behind.
        nearing = float(generator.uniform(-4.0, 4.0))
        panels.append(
            Panel(
                car_texture(generator),
                (0, 0.1 * height * _NEAR / _FOCAL, _NEAR),
                _RIGHT,
                _DOWN,
                (half, half * float(generator.uniform(0.6, 0.9))),
                _TEXELS / (2 * half),
                motion=_sliding(own, nearing),
            )
        )
    scene = Scene(tuple(panels), lens, samples=2)
    on = float(generator.uniform(0.15, 0.3))
    camera = Camera.preset("default", (height, width), on=on, off=on, shot=1.0)
    # A moment before, so that the recording begins in the midst of it.
    film = scene.film(-5_000, _DURATION, displacement=0.4, longest=5_000.0)
    events = camera.record(film, seed=int(generator.integers(2**62))).between(0, _DURATION)
    return Events(events.x, events.y, events.t, events.p, StreetCrops.size, validate=False)


def _crop(generator: np.random.Generator) -> tuple[int, int]:
    """Height and width of a cut-out, shapes as in N-Cars."""
    while True:
        width, height = int(generator.integers(30, 121)), int(generator.integers(25, 101))
        if 0.5 <= width / height <= 2:
            return height, width


def _sliding(speed: npt.NDArray[np.float64], nearing: float) -> Motion:
    def motion(seconds: float) -> Pose:
        return Pose(np.array([*(speed * seconds), -nearing * seconds]), np.eye(3))

    return motion


def car_texture(generator: np.random.Generator) -> Texture:
    """A car from behind, drawn with boxes: body, roof, window, lights, plate and wheels."""
    rows, columns = np.mgrid[:_TEXELS, :_TEXELS] / _TEXELS
    across = np.abs(columns - 0.5)
    paint, glass, tyre = generator.uniform(0.15, 0.95), generator.uniform(0.02, 0.3), 0.05
    light, plate = generator.uniform(0.5, 1.0, 2)
    roof, waist = generator.uniform(0.04, 0.2), generator.uniform(0.4, 0.5)
    # The cabin is narrower at the top.
    cabin = across < 0.30 + 0.14 * np.clip((rows - roof) / (waist - roof), 0, 1)
    picture, mask = np.zeros((_TEXELS, _TEXELS)), np.zeros((_TEXELS, _TEXELS), bool)
    window = cabin & (rows > roof + 0.06) & (rows < waist - 0.02) & (across < 0.33)
    parts = [
        ((rows > 0.8) & (across > 0.3) & (across < 0.44), tyre),
        (cabin & (rows > roof) & (rows < waist), paint),
        ((rows >= waist) & (rows < 0.88) & (across < 0.48), paint),
        ((rows > 0.8) & (rows < 0.88) & (across < 0.48), 0.5 * paint),
        (window, glass),
        ((rows > waist + 0.06) & (rows < waist + 0.18) & (across > 0.34) & (across < 0.46), light),
        ((rows > 0.66) & (rows < 0.74) & (across < 0.12), plate),
    ]
    for where, intensity in parts:
        picture[where] = intensity
        mask |= where
    return Texture(picture.astype(np.float32), mask.astype(np.float32), tiles=False)
