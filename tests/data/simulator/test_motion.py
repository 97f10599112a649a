"""Motions are smooth, start where they should, and are as fast as asked for."""

from __future__ import annotations

import numpy as np
import pytest

from evsurf.data.simulator.motion import Wander, still, turned


def test_a_quarter_turn_about_each_axis():
    quarter = np.pi / 2
    assert np.allclose(turned(np.array([0, 0, quarter])) @ [1, 0, 0], [0, 1, 0])
    assert np.allclose(turned(np.array([quarter, 0, 0])) @ [0, 1, 0], [0, 0, 1])
    assert np.allclose(turned(np.array([0, quarter, 0])) @ [0, 0, 1], [1, 0, 0])


@pytest.mark.parametrize("scale", [0.0, 1e-10, 1e-5, 3.0])
def test_a_turn_keeps_lengths_and_hands(scale):
    turn = turned(scale * np.array([0.3, -0.5, 0.8]))
    assert np.allclose(turn @ turn.T, np.eye(3), atol=1e-12)
    assert np.isclose(np.linalg.det(turn), 1)


def test_what_is_still_stays():
    assert still(3.0).position.tolist() == [0, 0, 0]
    assert still(3.0).axes.tolist() == np.eye(3).tolist()


def test_wandering_starts_at_its_start_without_a_turn():
    motion = Wander.drawn(
        np.random.default_rng(1), speeds=(0.3, 0.2, 0.3, 0.1, 0.1, 0.1), start=(1.0, 2.0, 3.0)
    )
    assert np.allclose(motion(0.0).position, [1, 2, 3])
    assert np.allclose(motion(0.0).axes, np.eye(3))


def test_wandering_has_the_speeds_that_were_asked_for():
    generator = np.random.default_rng(2)
    squares = []
    for _ in range(200):
        motion = Wander.drawn(generator, speeds=(0.3, 0.2, 0.1, 0, 0, 0), velocity=(0, 0, 5.0))
        times = generator.uniform(0, 100, 20)
        speeds = [(motion(t + 1e-4).position - motion(t).position) / 1e-4 for t in times]
        squares.append(np.square(np.array(speeds) - [0, 0, 5.0]).mean(axis=0))
    assert np.allclose(np.sqrt(np.mean(squares, axis=0)), [0.3, 0.2, 0.1], rtol=0.05)
