"""Where things are at a time: poses, and smooth motions through them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Numbers: TypeAlias = npt.NDArray[np.float64]

Vector: TypeAlias = Sequence[float | int]
"""A few numbers, such as x, y and z."""

Motion: TypeAlias = Callable[[float], "Pose"]
"""The pose at a time in seconds."""


@dataclass(frozen=True)
class Pose:
    """A position, and how something is turned there."""

    position: Numbers
    """x to the right, y down, z forward."""
    axes: Numbers
    """Columns are the thing's own right, down and forward in the world."""

    @staticmethod
    def at_rest() -> Pose:
        """In the origin, not turned."""
        return Pose(np.zeros(3), np.eye(3))


def still(seconds: float) -> Pose:
    """The motion of what does not move."""
    del seconds
    return Pose.at_rest()


def turned(vector: Numbers) -> Numbers:
    """The rotation about a vector by its length in radians."""
    angle = float(np.sqrt(vector @ vector))
    x, y, z = vector
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    if angle < 1e-8:
        nearly: Numbers = np.eye(3) + cross
        return nearly
    first, second = np.sin(angle) / angle, (1 - np.cos(angle)) / angle**2
    turn: Numbers = np.eye(3) + first * cross + second * (cross @ cross)
    return turn


@dataclass(frozen=True)
class Wander:
    """A smooth random motion: on each axis a constant speed and three sine waves.

    Call it with a time in seconds. It passes through its start, not turned, at time 0.
    """

    velocity: Numbers
    """Constant part: x, y, z in metres a second, then rotation in radians a second."""
    amplitudes: Numbers
    """[6, 3], of the waves."""
    frequencies: Numbers
    """[6, 3], in Hz."""
    phases: Numbers
    """[6, 3], in radians."""
    start: Numbers

    @classmethod
    def drawn(
        cls,
        generator: np.random.Generator,
        *,
        speeds: Vector,
        velocity: Vector = (0.0, 0.0, 0.0),
        fastest: float = 0.7,
        start: Vector = (0.0, 0.0, 0.0),
    ) -> Wander:
        """A motion of these root-mean-square speeds along and about the axes.

        Waves have random frequencies from 0.1 Hz to `fastest`.
        """
        frequencies = generator.uniform(0.1, fastest, (6, 3))
        phases = generator.uniform(0.0, 2 * np.pi, (6, 3))
        # Three waves of equal speed: each has the root-mean-square a * 2 pi f / sqrt(2).
        waves = np.asarray(speeds)[:, None] / np.sqrt(3) * np.sqrt(2) / (2 * np.pi * frequencies)
        constant = np.array([*velocity, 0.0, 0.0, 0.0])
        return cls(constant, waves, frequencies, phases, np.asarray(start, dtype=np.float64))

    def __call__(self, seconds: float) -> Pose:
        """The pose at this time."""
        angles = 2 * np.pi * self.frequencies * seconds + self.phases
        waves = self.amplitudes * (np.sin(angles) - np.sin(self.phases))
        along = self.velocity * seconds + waves.sum(axis=1)
        return Pose(self.start + along[:3], turned(along[3:]))
