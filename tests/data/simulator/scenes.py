"""Small scenes for tests."""

from __future__ import annotations

import numpy as np

from evsurf.data.simulator.motion import Motion, Wander, still
from evsurf.data.simulator.scene import Panel, Pinhole, Scene
from evsurf.data.simulator.texture import Texture

RIGHT, DOWN, FORWARD = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def discs(seed: int = 0, side: int = 256, count: int = 120) -> Texture:
    """A pile of discs, slightly blurred."""
    generator = np.random.default_rng(seed)
    rows, columns = np.mgrid[:side, :side]
    picture = np.full((side, side), 0.5)
    for _ in range(count):
        y, x = generator.uniform(0, side, 2)
        radius = np.exp(generator.uniform(np.log(4), np.log(30)))
        down = (rows - y + side / 2) % side - side / 2
        across = (columns - x + side / 2) % side - side / 2
        picture[down**2 + across**2 < radius**2] = generator.uniform(0.1, 1.0)
    for axis in (0, 1):
        sides = np.roll(picture, 1, axis) + np.roll(picture, -1, axis)
        picture = 0.5 * picture + 0.25 * sides
    return Texture(picture.astype(np.float32))


def wall(texture: Texture, *, depth: float = 4.0, motion: Motion = still) -> Panel:
    """A large panel that faces the camera, with a texel a pixel at a focal length of 100."""
    return Panel(texture, (0, 0, depth), RIGHT, DOWN, (50, 50), 100 / depth, motion=motion)


def room(seed: int = 0, size: tuple[int, int] = (60, 80)) -> Scene:
    """Two walls at different depths, and a camera that wanders."""
    near = Panel(discs(seed + 1), (-0.6, 0.2, 2.5), RIGHT, DOWN, (0.7, 0.5), 40.0)
    motion = Wander.drawn(
        np.random.default_rng(seed), speeds=(0.3, 0.2, 0.3, 0.1, 0.1, 0.1), fastest=0.8
    )
    return Scene((wall(discs(seed)), near), Pinhole(size, focal=100.0), motion)
