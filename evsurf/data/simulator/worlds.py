"""Two worlds to fly and drive through: `drive`, a street, and `fly`, a room.

They differ in what there is to see and in how one moves, as the outdoor recordings that optical
flow is trained with differ from the indoor ones that it is tested with. A seed makes a clip; no two
seeds share a texture or a path.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evsurf.data.simulator.motion import Motion, Numbers, Vector, Wander
from evsurf.data.simulator.patterns import Family, texture
from evsurf.data.simulator.scene import Panel, Pinhole, Scene

SIZE = (260, 346)
"""Height and width of the camera, those of a DAVIS 346."""

_FOCAL = 226.0
_RIGHT, _DOWN, _FORWARD = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
# No path comes closer to anything, in metres.
_CLEARANCE = 0.4
_TRIES = 200
# How often a path is looked at, in seconds.
_LOOK = 0.02


def drive(seed: int, *, seconds: float = 10.0, size: tuple[int, int] = SIZE) -> Scene:
    """A street of family A's textures, along which a car drives for so many seconds."""
    generator = np.random.default_rng([seed, 1])
    speed = float(generator.uniform(2.0, 7.0))
    reach = speed * seconds + 100.0

    def path() -> Wander:
        return Wander.drawn(
            generator,
            speeds=(0.1, 0.03, 0.5, 0.01, 0.10, 0.01),
            velocity=(0.0, 0.0, speed),
            fastest=0.6,
        )

    def wall(middle: Vector, across: Vector, down: Vector, half: Vector, texels: float) -> Panel:
        return _panel("A", generator, middle, across, down, half, texels)

    middle = reach / 2 - 10.0
    panels = [
        wall((0.0, 1.5, middle), _RIGHT, _FORWARD, (14.0, reach / 2 + 10.0), 60.0),
        wall((0.0, 0.0, reach + 60.0), _RIGHT, _DOWN, (reach, 40.0), 3.0),
    ]
    for side in (-1.0, 1.0):
        away = side * float(generator.uniform(6.0, 12.0))
        panels.append(wall((away, -3.0, middle), _FORWARD, _DOWN, (reach / 2 + 10.0, 4.5), 40.0))
    # Signs and bushes, spread over the whole way.
    for ahead in np.arange(4.0, reach, 6.0):
        away = float(generator.choice([-1.0, 1.0]) * generator.uniform(3.0, 6.0))
        half = float(generator.uniform(0.3, 1.5)), float(generator.uniform(0.5, 1.2))
        at = (away, 1.5 - half[1], float(ahead + generator.uniform(-2.0, 2.0)))
        panels.append(wall(at, _RIGHT, _DOWN, half, 120.0))
    return _with_path(panels, path, seconds, size)


def fly(seed: int, *, seconds: float = 10.0, size: tuple[int, int] = SIZE) -> Scene:
    """A room of family B's textures, in which something hovers about for so many seconds."""
    generator = np.random.default_rng([seed, 2])

    def path() -> Wander:
        return Wander.drawn(generator, speeds=(0.30, 0.20, 0.30, 0.10, 0.12, 0.10), fastest=0.8)

    def wall(middle: Vector, across: Vector, down: Vector, half: Vector, texels: float) -> Panel:
        return _panel("B", generator, middle, across, down, half, texels)

    # The middle of an 8 x 8 m room, 3.5 m high.
    panels = [
        wall((0.0, 1.75, 0.0), _RIGHT, _FORWARD, (4.0, 4.0), 90.0),
        wall((0.0, -1.75, 0.0), _RIGHT, _FORWARD, (4.0, 4.0), 90.0),
        wall((0.0, 0.0, 4.0), _RIGHT, _DOWN, (4.0, 1.75), 90.0),
        wall((0.0, 0.0, -4.0), _RIGHT, _DOWN, (4.0, 1.75), 90.0),
        wall((-4.0, 0.0, 0.0), _FORWARD, _DOWN, (4.0, 1.75), 90.0),
        wall((4.0, 0.0, 0.0), _FORWARD, _DOWN, (4.0, 1.75), 90.0),
    ]
    for _ in range(6):
        half = tuple(float(side) for side in generator.uniform(0.2, 0.6, 2))
        at = (
            float(generator.uniform(-2.0, 2.0)),
            float(generator.uniform(-0.8, 1.0)),
            float(generator.uniform(1.2, 3.5)),
        )
        panels.append(wall(at, _RIGHT, _DOWN, half, 200.0))
    return _with_path(panels, path, seconds, size)


FRAMES_A_SECOND = {"drive": 45.7, "fly": 31.6}
"""How often a DAVIS takes a frame in each."""

WORLDS: dict[str, Callable[..., Scene]] = {"drive": drive, "fly": fly}
"""The worlds by name."""


def _panel(
    family: Family,
    generator: np.random.Generator,
    middle: Vector,
    across: Vector,
    down: Vector,
    half: Vector,
    texels: float,
) -> Panel:
    seen = texture(family, generator)
    start = generator.uniform(0, seen.side, 2)
    return Panel(seen, middle, across, down, half, texels, (float(start[0]), float(start[1])))


def _with_path(
    panels: list[Panel], draw: Callable[[], Wander], seconds: float, size: tuple[int, int]
) -> Scene:
    """The scene with the first path that comes close to nothing."""
    if not 0 < seconds <= 600:
        raise ValueError(f"seconds = {seconds} must be above 0 and at most 600")
    lens = Pinhole(size, focal=_FOCAL * size[1] / SIZE[1])
    for _ in range(_TRIES):
        path = draw()
        if clearance(panels, path, seconds) >= _CLEARANCE:
            return Scene(tuple(panels), lens, path)
    raise ValueError(
        f"none of {_TRIES} paths of {seconds} s keeps {_CLEARANCE} m away from everything: "
        "choose another seed or a shorter clip"
    )


def clearance(panels: list[Panel], motion: Motion, seconds: float) -> float:
    """How near a path comes to any panel at rest, in metres; 0 if it goes through one."""
    path = np.stack([motion(t).position for t in np.arange(0.0, seconds + _LOOK, _LOOK)])
    return min(_distance(panel, path) for panel in panels)


def _distance(panel: Panel, path: Numbers) -> float:
    middle, across, down = panel.placed(0.0)
    offset = path - middle
    over = np.maximum(np.abs(offset @ across) - panel.half[0], 0)
    under = np.maximum(np.abs(offset @ down) - panel.half[1], 0)
    away = offset @ np.cross(across, down)
    through = (away[1:] * away[:-1] < 0) & (over[1:] == 0) & (under[1:] == 0)
    if through.any():
        return 0.0
    return float(np.sqrt(over**2 + under**2 + away**2).min())
