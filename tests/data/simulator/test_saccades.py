"""Paths go through their places, smoothly, and are walked in small steps."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from evsurf.data.simulator import Saccades
from evsurf.data.simulator.saccades import ORIGINAL, atis

ZIGZAG = Saccades([0, 10, 20, 40], [(0, 0), (1, 2), (2, 4), (0, 4)])


def test_a_path_goes_through_its_places():
    assert [ZIGZAG.place(t) for t in (0, 10, 20, 40)] == [(0, 0), (1, 2), (2, 4), (0, 4)]


def test_a_path_stays_where_it_starts_and_ends():
    assert ZIGZAG.place(-5) == (0, 0)
    assert ZIGZAG.place(99) == (0, 4)


def test_a_straight_even_piece_is_straight_and_even():
    path = Saccades([0, 10, 20, 30], [(0, 0), (1, 2), (2, 4), (3, 6)])
    assert path.place(15) == (1.5, 3.0)
    assert path.place(12) == pytest.approx((1.2, 2.4))
    # At rest at the start: half of the way in more than half of the time.
    assert path.place(5) == (0.375, 0.75)


@pytest.mark.parametrize("t", [10.0, 20.0])
def test_the_speed_has_no_jumps(t):
    before, at, after = (ZIGZAG.place(t + dt) for dt in (-1e-4, 0.0, 1e-4))
    for axis in (0, 1):
        assert at[axis] - before[axis] == pytest.approx(after[axis] - at[axis], abs=1e-8)


@pytest.mark.parametrize("displacement", [0.1, 0.25, 1.0])
def test_steps_are_as_small_as_asked_for(displacement):
    times = ORIGINAL.instants(displacement, longest=1e6)
    assert (times[0], times[-1]) == (0.0, 310_000.0)
    assert times == sorted(set(times))
    places = [ORIGINAL.place(t) for t in times]
    steps = [math.dist(a, b) for a, b in pairwise(places)]
    assert max(steps) <= displacement * math.sqrt(2) * 1.05


def test_no_more_time_goes_by_than_asked_for():
    times = ORIGINAL.instants(9.0, longest=3_000.0)
    assert max(b - a for a, b in pairwise(times)) <= 3_000.0


def test_paths_are_slowed_and_enlarged():
    assert ZIGZAG.slowed(2.0).place(30) == ZIGZAG.place(15)
    assert ZIGZAG.scaled(3.0).place(10) == (3, 6)
    assert (ZIGZAG.reach, ZIGZAG.scaled(2).reach) == (4, 8)


def test_the_originals_come_back_to_nearly_where_they_were():
    assert math.dist(ORIGINAL.places[0], ORIGINAL.places[-1]) < 0.6
    assert ORIGINAL.reach < 3.1


def test_the_camera_of_the_originals_may_be_changed():
    camera = atis((34, 34), shot=0.0)
    assert (camera.size, camera.shot, camera.on) == ((34, 34), 0.0, 0.25)


@pytest.mark.parametrize(
    ("times", "places", "message"),
    [
        ([0], [(0, 0)], "at least two times, got 1 times and 1 places"),
        ([0, 1], [(0, 0)], "got 2 times and 1 places"),
        ([0, 0], [(0, 0), (1, 1)], "times must increase"),
        ([0, math.nan], [(0, 0), (1, 1)], "finite"),
        ([0, 1], [(0, 0), (1, math.inf)], "finite"),
    ],
)
def test_paths_that_lead_nowhere_are_refused(times, places, message):
    with pytest.raises(ValueError, match=message):
        Saccades(times, places)


def test_steps_of_no_size_are_refused():
    with pytest.raises(ValueError, match="displacement = 0 and longest = 5 must be above 0"):
        ORIGINAL.instants(0, 5)
