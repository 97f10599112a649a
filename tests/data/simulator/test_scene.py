"""Pictures show the panels where they are, and the flow says exactly where every point goes."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from evsurf.data.simulator import Camera
from evsurf.data.simulator.motion import Pose, turned
from evsurf.data.simulator.scene import Panel, Pinhole, Scene
from evsurf.data.simulator.texture import Texture
from tests.data.simulator.scenes import DOWN, RIGHT, discs, room, wall

LENS = Pinhole((60, 80), focal=100.0)


def sliding(speed: float):
    """A motion to the right at this many metres a second."""
    return lambda seconds: Pose(np.array([speed * seconds, 0.0, 0.0]), np.eye(3))


def sampled(picture: torch.Tensor, flow: torch.Tensor) -> torch.Tensor:
    """The picture at the places where the flow leads."""
    height, width = picture.shape
    y, x = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    grid = torch.stack(
        [2 * (x + flow[0]) / (width - 1) - 1, 2 * (y + flow[1]) / (height - 1) - 1], dim=-1
    )
    found = torch.nn.functional.grid_sample(
        picture[None, None], grid[None].float(), align_corners=True, padding_mode="border"
    )
    return found[0, 0]


def test_a_texel_a_pixel_shows_the_texture_itself():
    texture = discs(side=128)
    # The middle of the picture is that of the texture, which lies between texels.
    lens = Pinhole((60, 80), focal=100.0, centre=(39.5, 29.5))
    picture = Scene((wall(texture),), lens).picture(0.0).numpy()
    expected = texture.picture[34:94, 24:104]
    # Off the axis the wall stands aslant, and is read a little coarser.
    assert np.allclose(picture[25:35, 35:45], expected[25:35, 35:45], atol=2e-3)
    assert np.abs(picture - expected).mean() < 0.01


def test_far_texture_is_averaged_and_does_not_flicker():
    checks = np.indices((64, 64)).sum(axis=0) % 2
    scene = Scene((wall(Texture(checks.astype(np.float32)), depth=4.0),), LENS)
    far = Panel(scene.panels[0].texture, (0, 0, 40), RIGHT, DOWN, (50, 50), 25.0)
    picture = Scene((far,), LENS).picture(0.0)
    assert torch.allclose(picture, torch.full_like(picture, 0.5), atol=0.01)


def test_depth_panel_and_sky():
    small = Panel(discs(), (0, 0, 2), RIGHT, DOWN, (0.1, 0.1), 40.0)
    scene = Scene((wall(discs()), small), LENS, sky=0.25)
    depth, panel = scene.geometry(0.0)
    assert depth[30, 40].item() == pytest.approx(2.0)
    assert depth[0, 0].item() == pytest.approx(4.0)
    assert int((panel == 1).sum()) == 100
    alone = Scene((small,), LENS, sky=0.25)
    assert alone.picture(0.0)[0, 0].item() == 0.25
    assert alone.geometry(0.0).depth[0, 0].item() == 0
    assert alone.geometry(0.0).panel[0, 0].item() == -1


def test_one_sees_through_a_mask_in_the_share_that_it_lets_through():
    grey = Texture(np.full((2, 2), 0.8, np.float32), mask=np.full((2, 2), 0.25, np.float32))
    veil = Panel(grey, (0, 0, 2), RIGHT, DOWN, (9, 9), 1.0)
    scene = Scene((veil,), LENS, sky=0.4)
    assert scene.picture(0.0)[5, 5].item() == pytest.approx(0.25 * 0.8 + 0.75 * 0.4)
    assert scene.geometry(0.0).panel[5, 5].item() == -1


def test_the_flow_of_a_slide_is_the_same_everywhere():
    scene = Scene((wall(discs()),), LENS, sliding(0.4))
    flow, visible = scene.flow(0.0, 100_000.0)
    assert torch.allclose(flow[0], torch.full_like(flow[0], -1.0), atol=1e-5)
    assert torch.allclose(flow[1], torch.zeros_like(flow[1]), atol=1e-5)
    # What goes out on the left is gone.
    assert bool(visible[:, 1:].all())
    assert not bool(visible[:, 0].any())


def test_the_flow_of_a_wall_is_its_homography():
    turn = turned(np.array([0.02, -0.03, 0.05]))
    shift = np.array([0.1, -0.05, 0.2])
    scene = Scene(
        (wall(discs()),), LENS, lambda s: Pose(shift, turn) if s > 0 else Pose(0 * shift, np.eye(3))
    )
    flow, _ = scene.flow(0.0, 1.0)
    intrinsics = np.array([[100.0, 0, 39.5], [0, 100.0, 29.5], [0, 0, 1]])
    homography = turn.T @ (np.eye(3) - np.outer(shift, [0, 0, 1]) / 4.0)
    homography = intrinsics @ homography @ np.linalg.inv(intrinsics)
    for x, y in [(0, 0), (79, 59), (13, 47)]:
        ahead = homography @ [x, y, 1]
        expected = ahead[:2] / ahead[2] - [x, y]
        assert np.allclose(flow[:, y, x], expected, atol=1e-4)


def test_a_panel_that_moves_takes_its_points_along():
    def spin(seconds):
        return Pose(np.zeros(3), turned(np.array([0.0, 0.0, seconds])))

    scene = Scene((wall(discs(), motion=spin),), Pinhole((61, 81), focal=100.0))
    flow, visible = scene.flow(0.0, 100_000.0)
    x = torch.tensor([40.0, 50.0, 40.0]) - 40
    y = torch.tensor([30.0, 30.0, 45.0]) - 30
    sine, cosine = math.sin(0.1), math.cos(0.1)
    found = flow[:, (30 + y).long(), (40 + x).long()]
    expected = torch.stack([cosine * x - sine * y - x, sine * x + cosine * y - y])
    assert torch.allclose(found, expected, atol=1e-4)
    assert bool(visible[30, 40])


@pytest.mark.parametrize("seed", range(4))
def test_there_and_back_is_where_it_started(seed):
    scene = room(seed)
    flow, visible = scene.flow(200_000.0, 260_000.0)
    places = LENS.project(LENS.directions()) + np.moveaxis(flow.double().numpy(), 0, -1)
    # Back from where each point really came to lie, between pixels, by its depth there.
    back, back_visible = scene.flow(260_000.0, 200_000.0)
    there = torch.stack([sampled(part, flow) for part in back])
    smooth = torch.stack([sampled(back_visible.float(), flow)])[0] > 0.999
    edges = torch.nn.functional.max_pool2d((~visible).float()[None], 9, 1, 4)[0] == 0
    interior = visible & smooth & edges & _away_from_borders(scene, 200_000.0)
    error = (flow + there).norm(dim=0)[interior]
    assert len(error) > 1000
    assert float(error.max()) < 5e-3
    assert np.isfinite(places).all()


def _away_from_borders(scene: Scene, t: float) -> torch.Tensor:
    panel = scene.geometry(t).panel.float()[None]
    most = torch.nn.functional.max_pool2d(panel, 13, 1, 6)
    least = -torch.nn.functional.max_pool2d(-panel, 13, 1, 6)
    return (most == least)[0]


@pytest.mark.parametrize("seed", range(3))
def test_pictures_agree_with_the_flow(seed):
    scene = room(seed)
    first, second = 100_000.0, 130_000.0
    flow, visible = scene.flow(first, second)
    difference = (sampled(scene.picture(second), flow) - scene.picture(first)).abs()
    picture = scene.picture(first)
    steep = torch.zeros_like(visible)
    steep[1:-1, 1:-1] = (
        (picture[2:, 1:-1] - picture[:-2, 1:-1]).abs()
        + (picture[1:-1, 2:] - picture[1:-1, :-2]).abs()
    ) > 0.1
    calm = visible & ~steep & _away_from_borders(scene, first)
    assert float(difference[calm].mean()) < 0.01


def test_steps_of_a_film_are_as_long_as_the_motion_allows():
    scene = Scene((wall(discs()),), LENS, sliding(4.0))
    assert scene.speed(0.0) == pytest.approx(100.0, rel=1e-3)
    times = [t for t, _ in scene.film(0.0, 11_000.0, displacement=0.25)]
    assert times == pytest.approx([0.0, 2_500.0, 5_000.0, 7_500.0, 10_000.0, 11_000.0], rel=1e-3)
    still = Scene((wall(discs()),), LENS)
    assert [t for t, _ in still.film(0.0, 25_000.0)] == [0.0, 10_000.0, 20_000.0, 25_000.0]


def test_events_of_a_film_gather_on_contours():
    scene = Scene((wall(discs()),), LENS, sliding(2.0))
    events = Camera(LENS.size).record(scene.film(0.0, 100_000.0), seed=1)
    assert len(events) > 1000
    assert len(events) == len(Camera(LENS.size).record(scene.film(0.0, 100_000.0), seed=1))


def test_more_rays_make_borders_smoother():
    small = Panel(
        Texture(np.ones((2, 2), np.float32)), (0.013, 0, 2), RIGHT, DOWN, (0.1, 0.1), 40.0
    )
    coarse, fine = (Scene((small,), LENS, sky=0.0, samples=n).picture(0.0) for n in (1, 4))
    assert set(coarse.unique().tolist()) == {0.0, 1.0}
    assert len(fine.unique()) > 2
    assert float(fine.sum()) == pytest.approx(0.04 * 50 * 50, rel=0.03)


@pytest.mark.parametrize(
    ("start", "stop", "changes", "message"),
    [
        (0.0, 0.0, {}, "start = 0.0 and stop = 0.0 must be times"),
        (0.0, math.inf, {}, "stop = inf"),
        (0.0, 1.0, {"displacement": 0.0}, "displacement = 0.0"),
        (0.0, 1.0, {"shortest": 9.0, "longest": 8.0}, "shortest not above longest"),
    ],
)
def test_films_that_cannot_be_made_are_refused(start, stop, changes, message):
    with pytest.raises(ValueError, match=message):
        next(Scene((wall(discs()),), LENS).film(start, stop, **changes))
