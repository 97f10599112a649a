"""Textures tile, cover the range of intensities, and come from families with nothing in common."""

from __future__ import annotations

import numpy as np
import pytest

from evsurf.data.simulator.patterns import texture


@pytest.mark.parametrize("family", ["A", "B"])
def test_a_seed_makes_the_same_texture_and_another_one_another(family):
    one, again, other = (
        texture(family, np.random.default_rng(seed), side=64).picture for seed in (3, 3, 4)
    )
    assert (one == again).all()
    assert (one != other).any()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("family", ["A", "B"])
def test_textures_have_contrast_and_are_as_smooth_across_their_borders_as_within(family, seed):
    picture = texture(family, np.random.default_rng(seed), side=128).picture.astype(np.float64)
    assert 0 <= picture.min() < picture.max() <= 1
    assert np.log(picture.max() / picture.min()) > 0.5
    # Boxes, stripes and blots may end at the border, but no steeper than they end elsewhere.
    for axis in (0, 1):
        within = np.abs(np.diff(picture, axis=axis)).max()
        across = np.abs(np.take(picture, 0, axis) - np.take(picture, -1, axis)).max()
        assert across <= within + 1e-6


def test_an_unknown_family_is_refused(own_errors):
    with pytest.raises(ValueError, match="family must be 'A' or 'B', got 'C'"):
        texture("C", np.random.default_rng(0))
