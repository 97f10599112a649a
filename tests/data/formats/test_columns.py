"""The sieve keeps what can be events and notes the rest."""

from __future__ import annotations

import numpy as np
import pytest

from evsurf.data.formats.columns import Columns, Sieve
from evsurf.data.formats.damage import Damage, DamageError
from evsurf.events.checks import LATEST

TYPES = [np.int16, np.int16, np.int64, np.bool_]


def columns(x, y, t, p) -> Columns:
    return Columns(np.array(x), np.array(y), np.array(t), np.array(p))


def lists(found: Columns) -> list:
    assert [column.dtype for column in found] == TYPES
    return [column.tolist() for column in found]


def test_good_events_pass_with_the_types_of_events():
    damage = Damage()
    found = Sieve((2, 4), damage).sift(columns([3, 0], [1, 0], [5, 5], [1, -1]))
    assert lists(found) == [[3, 0], [1, 0], [5, 5], [True, False]]
    assert not damage


@pytest.mark.parametrize(
    ("bad", "name"),
    [
        ((4, 0, 2, 1), "out_of_bounds"),
        ((0, 2, 2, 1), "out_of_bounds"),
        ((-1, 0, 2, 1), "out_of_bounds"),
        ((0, 0, 0, 1), "time_backwards"),
        ((0, 0, LATEST + 1, 1), "time_out_of_range"),
        ((0, 0, 2, 2), "invalid_polarity"),
        ((0, 0, 2, -2), "invalid_polarity"),
    ],
)
def test_what_cannot_be_an_event_is_left_out_and_noted(bad, name):
    rows = [(1, 1, 1, 1), bad, (2, 1, 3, 0)]
    damage = Damage()
    found = Sieve((2, 4), damage).sift(columns(*zip(*rows, strict=True)))
    assert lists(found) == [[1, 2], [1, 1], [1, 3], [True, False]]
    assert str(damage) == f"{name}: 1, first at event 1"


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.5, 1e300])
def test_a_time_that_is_no_whole_number_is_left_out(value):
    damage = Damage()
    found = Sieve(None, damage).sift(columns([0, 0], [0, 0], [value, 7.0], [0, 1]))
    assert lists(found) == [[0], [0], [7], [True]]
    assert list(damage.violations) == ["not_a_number"]


def test_places_count_on_from_piece_to_piece():
    damage = Damage()
    sieve = Sieve((2, 4), damage)
    sieve.sift(columns([0, 0], [0, 0], [1, 9], [0, 1]))
    sieve.sift(columns([0, 0], [0, 0], [9, 8], [0, 1]))
    assert str(damage) == "time_backwards: 1, first at event 3"
    sieve.sift(columns([9], [0], [9], [0]), place="byte", start=400)
    assert str(damage).endswith("out_of_bounds: 1, first at byte 400")


def test_late_events_are_kept_where_that_is_asked_for_and_noted_all_the_same():
    damage = Damage()
    found = Sieve((2, 4), damage, keep_unsorted=True).sift(
        columns([0, 1, 2], [0, 0, 0], [5, 3, 5], [0, 1, 1])
    )
    assert lists(found)[2] == [5, 3, 5]
    assert str(damage) == "time_backwards: 1, first at event 1"


def test_strict_damage_raises():
    with pytest.raises(DamageError, match="out_of_bounds"):
        Sieve((1, 1), Damage(strict=True)).sift(columns([1], [0], [0], [0]))


def test_pieces_are_joined_in_order():
    one, two = Columns.none(), columns([1], [2], [3], [True])
    assert lists(Columns.joined([])) == [[], [], [], []]
    assert Columns.joined([two]) is two
    assert Columns.joined([one, two, two]).length == 2
    assert two.part(0, 0).length == 0


def test_the_latest_time_may_be_given():
    damage = Damage()
    found = Sieve(None, damage, after=5).sift(columns([0, 0], [0, 0], [4, 5], [0, 1]))
    assert lists(found) == [[0], [0], [5], [True]]
    assert list(damage.violations) == ["time_backwards"]


@pytest.mark.parametrize("p", [np.array([255, 1], np.uint8), np.array([np.nan, 1.0])])
def test_a_polarity_that_is_none_is_left_out(p):
    damage = Damage()
    x, y, t, _ = columns([0, 0], [0, 0], [4, 5], [0, 1])
    assert lists(Sieve(None, damage).sift(Columns(x, y, t, p))) == [[0], [0], [5], [True]]
    assert list(damage.violations) == ["invalid_polarity"]
