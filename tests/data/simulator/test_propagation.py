"""Flow between frames, put together from flow that is known 20 times a second, as MVSEC's is."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise

import numpy as np
import pytest

from evsurf.data.simulator.motion import Wander
from evsurf.data.simulator.scene import Pinhole, Scene
from tests.data.simulator.scenes import discs, wall

EVERY = 50_000.0
SIZE = (130, 173)
BORDER = 12


def nearest(flow: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The flow at the pixels that are nearest to some places; 0 outside of the picture."""
    columns, rows = np.rint(places).astype(int)
    height, width = flow.shape[1:]
    inside = (columns >= 0) & (columns < width) & (rows >= 0) & (rows < height)
    found = flow[:, np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1)]
    return np.where(inside, found, 0.0)


def propagated(flows: list[np.ndarray], times: list[float], t0: float, t1: float) -> np.ndarray:
    """The flow from t0 to t1; `flows[k]` is that from `times[k]` to the next time."""
    if not times[0] <= t0 < t1 <= times[-1]:
        raise ValueError(f"the flow from {t0} to {t1} is not known")
    k = bisect_right(times, t0) - 1
    length = times[k + 1] - times[k]
    if length > t1 - t0:
        return flows[k] * (t1 - t0) / length
    grid = np.stack(np.meshgrid(*(np.arange(side) for side in flows[0].shape[:0:-1])))
    places = grid.astype(float)
    t = t0
    while t < t1:
        stop = min(times[k + 1], t1)
        places += nearest(flows[k], places) * (stop - t) / (times[k + 1] - times[k])
        t, k = stop, k + 1
    return places - grid


def test_a_constant_flow_goes_on_for_as_long_as_it_is_followed():
    constant = np.broadcast_to(np.array([2.0, 0.0])[:, None, None], (2, 40, 60))
    flows, times = [constant] * 5, [EVERY * k for k in range(6)]
    found = propagated(flows, times, 10_000.0, 137_000.0)
    assert np.allclose(found[0, :, :50], 5.08)
    assert np.allclose(found[1], 0)
    assert np.allclose(propagated(flows, times, 50_000.0, 80_000.0)[0], 1.2)
    with pytest.raises(ValueError, match="is not known"):
        propagated(flows, times, -1.0, 10.0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("window", "most"), [(31_600.0, 0.25), (126_500.0, 0.1)])
def test_flow_from_20_hz_is_near_the_exact_one(seed, window, most):
    path = Wander.drawn(
        np.random.default_rng(seed), speeds=(0.5, 0.4, 0.5, 0.1, 0.1, 0.2), fastest=1.5
    )
    scene = Scene((wall(discs(seed)),), Pinhole(SIZE, focal=113.0), path)
    times = [EVERY * k for k in range(9)]
    flows = [scene.flow(a, b).flow.double().numpy() for a, b in pairwise(times)]
    errors, lengths = [], []
    for start in (12_000.0, 90_000.0, 171_000.0, 233_000.0):
        exact, visible = scene.flow(start, start + window)
        inner = np.zeros(SIZE, bool)
        inner[BORDER:-BORDER, BORDER:-BORDER] = visible.numpy()[BORDER:-BORDER, BORDER:-BORDER]
        difference = propagated(flows, times, start, start + window) - exact.double().numpy()
        errors.append(np.hypot(*difference)[inner].mean())
        lengths.append(np.hypot(*exact.double().numpy())[inner].mean())
    assert np.mean(lengths) > 0.4
    assert np.mean(errors) < most
