"""The two worlds: what is seen in them, how fast it moves, and that no path hits anything."""

from __future__ import annotations

import numpy as np
import pytest

from evsurf.data.simulator.motion import Pose
from evsurf.data.simulator.worlds import WORLDS, clearance, drive, fly
from tests.data.simulator.scenes import discs, wall

SMALL = (65, 86)


@pytest.fixture(scope="module", params=sorted(WORLDS))
def world(request):
    return request.param, WORLDS[request.param](0, seconds=1.0, size=SMALL)


def test_a_seed_makes_the_same_world_and_another_one_another(world):
    name, scene = world
    picture = scene.picture(300_000.0)
    assert picture.equal(WORLDS[name](0, seconds=1.0, size=SMALL).picture(300_000.0))
    assert not picture.equal(WORLDS[name](1, seconds=1.0, size=SMALL).picture(300_000.0))


def test_most_of_the_picture_is_panels_and_moves_as_far_as_in_recordings(world):
    name, scene = world
    seen = scene.geometry(500_000.0)
    assert float((seen.depth > 0).float().mean()) > 0.7
    frame = {"drive": 22_000.0, "fly": 32_000.0}[name]
    flow, visible = scene.flow(500_000.0, 500_000.0 + frame)
    # In pixels of the full picture, which is four times as wide.
    mean = 4 * float(flow.norm(dim=0)[visible].mean())
    assert 0.3 < mean < 8


def test_every_path_keeps_its_distance(world):
    _, scene = world
    assert clearance(list(scene.panels), scene.motion, 1.0) >= 0.4


def test_clearance_is_the_distance_to_the_nearest_point():
    panel = wall(discs(side=8), depth=4.0)
    assert clearance([panel], lambda t: Pose(np.array([0.0, 0.0, t]), np.eye(3)), 1.0) == (
        pytest.approx(3.0, abs=0.05)
    )
    beside = lambda t: Pose(np.array([53.0 + 0 * t, 0.0, 8.0]), np.eye(3))  # noqa: E731
    assert clearance([panel], beside, 1.0) == pytest.approx(5.0)


def test_a_path_through_a_wall_has_no_clearance_however_fast():
    panel = wall(discs(side=8), depth=4.0)
    through = lambda t: Pose(np.array([0.0, 0.0, 1000 * t]), np.eye(3))  # noqa: E731
    assert clearance([panel], through, 1.0) == 0


@pytest.mark.parametrize("seconds", [0.0, -1.0, 1e6])
def test_clips_of_no_or_endless_length_are_refused(seconds):
    with pytest.raises(ValueError, match=f"seconds = {seconds} must be above 0 and at most 600"):
        fly(0, seconds=seconds)


def test_a_longer_drive_has_a_longer_street(world):
    name, scene = world
    if name == "drive":
        assert len(drive(0, seconds=3.0, size=SMALL).panels) > len(scene.panels)
