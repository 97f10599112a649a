"""A small recording that the tests of formats write in many ways."""

from __future__ import annotations

from typing import Any

import numpy as np

from evsurf.events import Events

SIZE = (130, 346)

X = np.array([7, 3, 345, 2, 40, 0])
Y = np.array([9, 120, 4, 8, 129, 0])
T = np.array([0, 40_000, 40_000, 90_000, 2_500_001, 2_600_000])
P = np.array([0, 1, 0, 1, 1, 0])


def recording() -> Events:
    return Events.from_arrays(X, Y, T, P, SIZE)


def column(role: str) -> np.ndarray[Any, Any]:
    return {"x": X, "y": Y, "t": T, "p": P}[role]


def lists(events: Any) -> list[list[int]]:
    return [[int(value) for value in getattr(events, name)] for name in "xytp"]


EXPECTED = [X.tolist(), Y.tolist(), T.tolist(), P.tolist()]


def long_recording(count: int = 150_000, seed: int = 0) -> Events:
    """More events than a reader takes at once."""
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, SIZE[1], count), rng.integers(0, SIZE[0], count)
    t = np.sort(rng.integers(0, 10_000_000, count))
    return Events.from_arrays(x, y, t, rng.integers(0, 2, count), SIZE)


def same(a: Events, b: Events) -> bool:
    equal = all(bool((getattr(a, name) == getattr(b, name)).all()) for name in "xytp")
    return equal and a.size == b.size
