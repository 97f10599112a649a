"""Counts of pieces are those of the whole, on large and on absurd sensors."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evsurf.data.formats.columns import Columns
from evsurf.data.formats.tally import Tally


def columns(rows) -> Columns:
    x, y, t, p = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Columns(
        np.array(x, np.int16), np.array(y, np.int16), np.array(t, np.int64), np.array(p, np.bool_)
    )


def test_a_worked_example():
    tally = Tally()
    tally.add(columns([(3, 0, 10, 1), (1, 2, 20, 0)]))
    tally.add(columns([(3, 0, 30, 1), (1, 2, 40, 1), (3, 0, 50, 0)]))
    assert (tally.events, tally.on, tally.start, tally.end) == (5, 3, 10, 50)
    assert tally.size == (3, 4)
    assert tally.hottest(9) == [(3, 0, 3), (1, 2, 2)]
    assert tally.hottest(1) == [(3, 0, 3)]


def test_nothing_is_counted_as_nothing():
    tally = Tally()
    tally.add(columns([]))
    assert (tally.events, tally.start, tally.end, tally.size) == (0, None, None, (1, 1))
    assert tally.hottest(3) == []


# The last of these makes a sensor of more pixels than are counted one by one.
SIDE = st.integers(0, 3) | st.sampled_from([500, 32_766])


@given(pieces=st.lists(st.lists(st.tuples(SIDE, SIDE), max_size=6), max_size=4))
def test_pixels_are_counted_however_the_events_are_cut(pieces):
    tally, counts = Tally(), {}
    for piece in pieces:
        tally.add(columns([(x, y, 0, 1) for x, y in piece]))
        for x, y in piece:
            counts[y, x] = counts.get((y, x), 0) + 1
    expected = sorted(((-n, y, x) for (y, x), n in counts.items()))
    assert tally.hottest(3) == [(x, y, -n) for n, y, x in expected[:3]]
