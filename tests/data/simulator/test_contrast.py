"""Moved back along the true flow, the events of a contour meet; along another, they do not."""

from __future__ import annotations

import numpy as np
import pytest

from evsurf.data.simulator import Camera
from evsurf.data.simulator.motion import Pose
from evsurf.data.simulator.scene import Pinhole, Scene
from tests.data.simulator.scenes import discs, wall

SIZE = (100, 130)
WINDOW = 50_000
MARGIN = 20


def recorded(seed: int, velocity: tuple[float, float]):
    """Events of a wall that passes by at so many pixels a second, to the right and down."""
    across, down = velocity

    def slide(seconds: float) -> Pose:
        return Pose(np.array([-across * seconds * 0.04, -down * seconds * 0.04, 0.0]), np.eye(3))

    scene = Scene((wall(discs(seed)),), Pinhole(SIZE, focal=100.0), slide)
    flow, _ = scene.flow(0.0, WINDOW)
    expected = np.array(velocity)[:, None, None] * WINDOW / 1e6
    assert np.allclose(flow.numpy(), expected, atol=1e-3)
    return Camera(SIZE, on=0.3, off=0.3).record(scene.film(0.0, WINDOW), seed=seed)


def contrast(events, velocity: np.ndarray) -> float:
    """Variance of the picture of all events, moved to the middle of the window."""
    away = (WINDOW / 2 - events.t.double().numpy()) / 1e6
    x = events.x.double().numpy() + velocity[0] * away
    y = events.y.double().numpy() + velocity[1] * away
    picture = np.zeros((SIZE[0] + 2, SIZE[1] + 2))
    left, top = np.floor(x).astype(int), np.floor(y).astype(int)
    for i in (0, 1):
        for j in (0, 1):
            share = np.abs(1 - i - (y - top)) * np.abs(1 - j - (x - left))
            row, column = np.clip(top + i, 0, SIZE[0]), np.clip(left + j, 0, SIZE[1])
            np.add.at(picture, (row, column), share)
    # Blurred, or votes between pixels would look smoother than those on pixels.
    kernel = np.exp(-0.5 * np.arange(-3, 4) ** 2)
    kernel /= kernel.sum()
    for axis in (0, 1):
        shifted = [np.roll(picture, k, axis) for k in range(-3, 4)]
        picture = sum(weight * one for weight, one in zip(kernel, shifted, strict=True))
    return float(picture[MARGIN:-MARGIN, MARGIN:-MARGIN].var())


def turned(velocity: np.ndarray, degrees: float) -> np.ndarray:
    angle = np.radians(degrees)
    cosine, sine = np.cos(angle), np.sin(angle)
    x, y = velocity
    return np.array([cosine * x - sine * y, sine * x + cosine * y])


@pytest.mark.parametrize(
    ("seed", "velocity"), [(0, (130.0, 60.0)), (1, (-80.0, 130.0)), (2, (30.0, -150.0))]
)
def test_events_are_sharpest_along_the_true_flow(seed, velocity):
    events, true = recorded(seed, velocity), np.array(velocity)
    scales = np.arange(0.5, 1.51, 0.1)
    found = np.array([contrast(events, scale * true) for scale in scales])
    best = found.max()
    assert 0.85 < scales[found.argmax()] < 1.15
    assert best / contrast(events, 0 * true) > 1.3
    assert max(found[0], found[-1]) < 0.92 * best
    assert contrast(events, turned(true, 30)) < 0.97 * best
    assert contrast(events, turned(true, 90)) < 0.8 * best
