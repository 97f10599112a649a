"""Counts of events say nothing about the class of a motion, and their order says all."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch

from evsurf.data.datasets import Motions
from evsurf.data.datasets.motions import Round, shape, way
from evsurf.data.simulator import Screen

SETS = 50


@pytest.fixture(scope="module")
def motions(tmp_path_factory):
    return Motions(tmp_path_factory.mktemp("motions"), "test")


def counts(events) -> torch.Tensor:
    """Events of each polarity at each pixel."""
    place = (events.p.long() * 32 + events.y.long()) * 32 + events.x.long()
    return torch.bincount(place, minlength=2 * 32 * 32)


def angle(events, start: int, stop: int) -> complex:
    """Where, seen from the middle, the events of a piece of time lie."""
    piece = events.between(start, stop)
    x, y = (float(column.double().mean()) - 15.5 for column in (piece.x, piece.y))
    return complex(x, y)


def class_by_time(events) -> int:
    """Clockwise or not by how the middle of the events turns, and the pace by how far when."""
    middles = [angle(events, t, t + 10_000) for t in range(0, 100_000, 10_000)]
    turns = np.array([np.angle(b / a) for a, b in pairwise(middles)])
    early, late = abs(turns[:3].sum()), abs(turns[-3:].sum())
    pace = 0 if max(early, late) < 1.6 * min(early, late) else (1 if early > late else 2)
    return pace + 3 * bool(turns.sum() < 0)


def test_there_are_six_classes_in_turn(motions):
    assert (len(motions), motions.size) == (6 * SETS, (32, 32))
    assert motions.targets == [0, 1, 2, 3, 4, 5] * SETS
    assert motions.classes[4] == "anticlockwise, slowing"


def test_every_pixel_has_as_many_events_of_each_polarity_in_all_six_classes(motions):
    for first in range(0, len(motions), 6):
        expected = counts(motions[first][0])
        assert int(expected.sum()) > 500
        for number in range(first + 1, first + 6):
            assert torch.equal(counts(motions[number][0]), expected)


def test_whatever_looks_at_counts_alone_is_right_once_in_six(motions):
    """Here the nearest mean of half of them; equal counts force it for every other rule too."""
    maps = torch.stack([counts(events).double() for events, _ in motions])
    targets = torch.tensor(motions.targets)
    half = 6 * SETS // 2
    means = torch.stack([maps[:half][targets[:half] == kind].mean(0) for kind in range(6)])
    found = torch.cdist(maps[half:], means).argmin(1)
    assert float((found == targets[half:]).double().mean()) == pytest.approx(1 / 6)


def test_what_looks_at_time_is_nearly_always_right(motions):
    right = [class_by_time(events) == target for events, target in motions]
    assert np.mean(right) > 0.9


def test_without_noise_a_pixel_has_as_many_on_as_off_events():
    one = Round.drawn(np.random.default_rng(3))
    sensor = one.camera.sensor(one.seed)
    film = Screen(one.picture, (32, 32)).seen(one.places)
    times = [1000.0 * k for k in range(len(film))]
    sensor.see_film(film, times)
    events = sensor.see_film(film[1:], [t + times[-1] for t in times[1:]])
    on, off = counts(events).reshape(2, -1)
    assert int(on.sum()) > 300
    assert torch.equal(on, off)


@pytest.mark.parametrize("seed", range(20))
def test_shapes_on_their_ways_stay_within_the_picture(seed):
    generator = np.random.default_rng(seed)
    places, picture = way(generator), shape(generator)
    assert places[0] == places[-1]
    assert max(abs(number) for place in places for number in place) <= 10
    assert 0.5 < picture.max() <= 1
    assert picture.min() == 0
    turns = [np.angle(complex(*b) / complex(*a)) for a, b in pairwise(places)]
    assert sum(turns) == pytest.approx(2 * np.pi)


def test_a_seed_makes_it_and_another_one_another(motions, tmp_path):
    one, other = (Round.drawn(np.random.default_rng([seed, True, 0])) for seed in (0, 1))
    assert next(one.recordings()) == motions[0][0]
    assert next(other.recordings()) != motions[0][0]
