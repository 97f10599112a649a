"""A picture on a screen is seen where it should be, and its recordings are like the real ones."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
import torch

from evsurf.data.simulator import Saccades, Screen, look
from evsurf.data.simulator.saccades import ORIGINAL, atis

SQUARE = np.full((28, 28), 0, np.uint8)
SQUARE[9:19, 9:19] = 255


def centre(picture: torch.Tensor) -> tuple[float, float]:
    """Row and column of the middle of the light."""
    rows, columns = (torch.arange(side, dtype=torch.float64) for side in picture.shape)
    light = picture.double()
    total = light.sum()
    return (
        float((light.sum(1) * rows).sum() / total),
        float((light.sum(0) * columns).sum() / total),
    )


def test_digits_of_28_pixels_lie_in_34_at_offset_3():
    (seen,) = Screen(SQUARE, (34, 34)).seen([(0.0, 0.0)])
    assert centre(seen) == pytest.approx((3 + 13.5, 3 + 13.5))
    assert float(seen[17, 17]) == pytest.approx(1.0)
    assert float(seen[0].max()) == 0.0


@pytest.mark.parametrize("place", [(1.0, 0.0), (0.0, -2.5), (0.37, 1.81), (-2.999, 2.999)])
def test_the_picture_moves_right_and_down_by_its_place(place):
    seen = Screen(SQUARE, (34, 34)).seen([(0.0, 0.0), place])
    (row, column), (moved_row, moved_column) = map(centre, seen)
    assert (moved_column - column, moved_row - row) == pytest.approx(place, abs=1e-4)
    assert float(seen[1].sum()) == pytest.approx(float(seen[0].sum()), rel=1e-5)


@pytest.mark.parametrize("blur", [0.58, 0.65, 1.0, 2.0])
def test_a_point_becomes_as_wide_as_the_blur(blur):
    point = np.zeros((31, 31), np.float32)
    point[15, 15] = 1.0
    for place in ((0.0, 0.0), (0.5, 0.25)):
        (seen,) = Screen(point, (31, 31), blur=blur).seen([place])
        rows = torch.arange(31, dtype=torch.float64) - centre(seen)[0]
        variance = float((seen.double().sum(1) * rows**2).sum() / seen.double().sum())
        assert variance == pytest.approx(blur**2, rel=0.02)


def test_screens_shine_by_the_power_of_the_grey():
    grey = np.full((8, 8), 0.5, np.float32)
    (seen,) = Screen(grey, (4, 4), gamma=2.0).seen([(0.0, 0.0)])
    assert seen.tolist() == [[0.25] * 4] * 4


def test_pictures_larger_than_the_camera_show_their_middle():
    columns = np.tile(np.linspace(0, 1, 21, dtype=np.float32), (9, 1))
    (seen,) = Screen(columns, (3, 5), gamma=1.0).seen([(0.0, 0.0)])
    assert np.allclose(seen.numpy(), columns[:3, 8:13], atol=1e-6)


def test_around_the_picture_is_what_surrounds_it():
    (seen,) = Screen(SQUARE, (60, 60), surround=0.25).seen([(0.0, 0.0)])
    assert float(seen[5, 5]) == 0.25


def test_a_film_is_what_is_seen_from_place_to_place():
    screen, path = Screen(SQUARE, (34, 34)), Saccades([0, 1000], [(0, 0), (1, 0)])
    film = list(screen.film(path, displacement=0.5))
    assert [t for t, _ in film][-1] == 1000.0
    assert torch.equal(film[-1][1], screen.seen([(1.0, 0.0)])[0])


def test_a_look_is_the_camera_that_sees_the_film():
    film = list(Screen(SQUARE, (34, 34)).film(ORIGINAL))
    assert look(SQUARE, (34, 34), seed=4) == atis((34, 34)).record(film, seed=4)
    assert look(SQUARE, (34, 34), seed=4) != look(SQUARE, (34, 34), seed=5)


def test_every_machine_sees_these_events():
    rows, columns = np.arange(28)[:, None], np.arange(28)[None, :]
    picture = ((rows * 7 + columns * 5) % 29 * 8).astype(np.uint8)
    events = look(picture, (34, 34), seed=3)
    digest = hashlib.sha256(events.numpy().tobytes()).hexdigest()
    assert (len(events), digest[:16]) == (7611, "da7f8c4d34bcd91c")


def test_what_cannot_be_shown_is_refused(own_errors):
    with pytest.raises(ValueError, match=r"at least 2 x 2 pixels; got shape \(1, 1\)"):
        Screen(np.zeros((1, 1), np.float32), (34, 34))
    with pytest.raises(ValueError, match=r"grey, .* got shape \(4, 4, 3\)"):
        Screen(np.zeros((4, 4, 3), np.uint8), (34, 34))
    with pytest.raises(ValueError, match="Divide pictures of 8 bits by 255"):
        Screen(np.full((4, 4), 255.0), (34, 34))
    with pytest.raises(ValueError, match="intensities must be from 0"):
        Screen(torch.full((4, 4), float("nan")), (34, 34))
    with pytest.raises(TypeError, match="floats from 0 to 1 or uint8, got int64"):
        Screen(np.zeros((4, 4), np.int64), (34, 34))
    with pytest.raises(TypeError, match="an array or a tensor, got list"):
        Screen([[0.0]], (34, 34))
    for changes in ({"surround": 2.0}, {"blur": 0.1}, {"gamma": 0.0}):
        with pytest.raises(ValueError, match=f"{next(iter(changes))} = "):
            Screen(SQUARE, (34, 34), **changes)
