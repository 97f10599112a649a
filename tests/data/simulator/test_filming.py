"""Clips have a frame at each time, exposed as long as asked for, and the events between."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from evsurf.data.simulator import Camera
from evsurf.data.simulator.filming import Film, record
from evsurf.data.simulator.motion import Pose
from evsurf.data.simulator.scene import Pinhole, Scene
from evsurf.events import Events
from tests.data.simulator.scenes import discs, room, wall

TIMES = [0.0, 20_000.0, 40_000.0, 60_000.0]


def test_a_clip_is_the_same_for_a_seed_and_valid():
    scene = room(1)
    clips = [record(scene, Camera(scene.lens.size), TIMES, seed=seed) for seed in (5, 5, 6)]
    assert clips[0].events == clips[1].events
    assert clips[0].frames.equal(clips[1].frames)
    assert not clips[0].frames.equal(clips[2].frames)
    assert clips[0].frames.shape == (4, 60, 80)
    assert clips[0].frames.dtype == torch.uint8
    events = clips[0].events
    assert len(events) > 100
    Events(events.x, events.y, events.t, events.p, events.size, validate=True)
    assert 0 <= int(events.t[0]) <= int(events.t[-1]) <= 60_000


def test_pieces_between_frames_do_not_change_the_events():
    """One long piece sees what several do, where the steps between pictures are the same."""
    slide = lambda seconds: Pose(np.array([2.0 * seconds, 0, 0]), np.eye(3))  # noqa: E731
    scene = Scene((wall(discs()),), Pinhole((60, 80), focal=100.0), slide)
    film = Film(displacement=0.25)
    many = record(scene, Camera((60, 80)), TIMES, film=film).events
    few = record(scene, Camera((60, 80)), [TIMES[0], TIMES[-1]], film=film).events
    assert len(many) == pytest.approx(len(few), rel=0.01)


def test_an_instant_frame_without_noise_is_the_picture_under_a_gain():
    scene = room(2)
    clip = record(scene, Camera(scene.lens.size), TIMES, film=Film(exposure=0.0, noise=0.0))
    picture = scene.picture(TIMES[1])
    gain = clip.frames[1].float() / picture
    steady = gain[(clip.frames[1] > 50) & (clip.frames[1] < 255)]
    assert float(steady.std() / steady.mean()) < 0.02
    bright = np.quantile(clip.frames.numpy(), 0.95)
    assert bright == pytest.approx(200, abs=8)


def test_a_long_exposure_blurs_what_moves():
    slide = lambda seconds: Pose(np.array([8.0 * seconds, 0, 0]), np.eye(3))  # noqa: E731
    scene = Scene((wall(discs()),), Pinhole((60, 80), focal=100.0), slide)
    sharp, blurred = (
        record(scene, Camera((60, 80)), TIMES, film=Film(exposure=span, noise=0.0)).frames[2]
        for span in (0.0, 15_000.0)
    )
    across = [float(frame.float().diff(dim=1).square().mean()) for frame in (sharp, blurred)]
    assert across[1] < 0.8 * across[0]


@pytest.mark.parametrize("times", [[], [5.0], [0.0, 0.0], [3.0, 1.0]])
def test_times_that_do_not_rise_are_refused(times):
    scene = room(1)
    with pytest.raises(ValueError, match="times must be at least two, rising"):
        record(scene, Camera(scene.lens.size), times)
