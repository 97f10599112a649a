"""Surfaces are made by name."""

from __future__ import annotations

import pytest

from evsurf import surfaces


def test_every_name_makes_a_surface():
    for name in surfaces.names():
        surface = surfaces.create(name, channels=2)
        assert isinstance(surface, surfaces.Surface)
        assert surface.out_channels == 2


def test_names_are_sorted_and_hold_the_learned_surfaces():
    assert surfaces.names() == sorted(surfaces.names())
    assert {"matrix_lstm", "conv_lstm"} <= set(surfaces.names())


def test_an_unknown_name_is_refused_with_those_that_exist():
    with pytest.raises(ValueError, match=r"name must be one of .*matrix_lstm.*, not 'matrix'"):
        surfaces.create("matrix")
