"""Textures hold their halved copies and refuse what has none."""

from __future__ import annotations

import numpy as np
import pytest

from evsurf.data.simulator.texture import Texture


def test_every_copy_is_the_mean_of_four():
    picture = np.arange(16, dtype=np.float32).reshape(4, 4) / 16
    levels = Texture(picture).levels
    assert levels[:16].tolist() == picture.ravel().tolist()
    assert levels[16:20].tolist() == [2.5 / 16, 4.5 / 16, 10.5 / 16, 12.5 / 16]
    assert levels[20:].tolist() == [7.5 / 16]


@pytest.mark.parametrize("shape", [(3, 3), (4, 8), (0, 0), (16384, 16384)])
def test_sides_must_be_equal_powers_of_two(shape):
    with pytest.raises(ValueError, match="square with a side that is a power of two"):
        Texture(np.broadcast_to(np.float32(0.5), shape))


def test_intensities_beyond_0_to_1_are_refused():
    with pytest.raises(ValueError, match="picture must hold numbers from 0 to 1, got 0.0 to 2.0"):
        Texture(np.array([[0, 2], [1, 1]], dtype=np.float32))
    with pytest.raises(ValueError, match="mask must have the picture's shape"):
        Texture(np.zeros((2, 2), np.float32), mask=np.zeros((4, 4), np.float32))


def test_a_picture_of_any_shape_lies_in_the_middle():
    bright = Texture.of_picture(np.full((2, 3), 255, np.uint8), surround=0.0)
    assert bright.picture.tolist() == [[0, 0, 0, 0], [1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 0, 0]]
    going_on = Texture.of_picture(np.array([[0.2, 0.4, 0.6], [0.1, 0.3, 0.5]]))
    assert np.allclose(going_on.picture[0], [0.2, 0.4, 0.6, 0.6])
    assert not going_on.tiles


@pytest.mark.parametrize("shape", [(1, 1), (5, 1), (4, 4, 3)])
def test_what_is_no_grey_picture_is_refused(shape):
    with pytest.raises(ValueError, match="grey and at least 2 x 2 pixels"):
        Texture.of_picture(np.zeros(shape))
