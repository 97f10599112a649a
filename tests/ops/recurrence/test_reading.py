import dataclasses
import itertools
import math

import pytest

from evsurf.ops.recurrence.reading import (
    NORMALIZATIONS,
    POLARITIES,
    SCOPES,
    TIMES,
    Reading,
)


def legal() -> list[Reading]:
    """Every reading that there is."""
    flags = [False, True]
    choices = itertools.product(TIMES, SCOPES, NORMALIZATIONS, flags, flags, POLARITIES)
    return [
        Reading(*choice, time_scale=7.5)
        for choice in choices
        if choice[0] == "ts" or choice[1] != "absolute"
    ]


@pytest.mark.parametrize(
    ("options", "features"),
    [
        ({}, 2),
        ({"global_time": True}, 3),
        ({"coordinates": True}, 4),
        ({"coordinates": True, "global_time": True}, 5),
        ({"time": "ts", "scope": "absolute"}, 2),
    ],
)
def test_features_are_counted(options, features):
    assert Reading(**options).features == features


def test_the_usual_reading_is_the_delay_within_a_pixel():
    usual = Reading()
    assert (usual.time, usual.scope, usual.normalize) == ("delay", "relative", "range")
    assert (usual.global_time, usual.coordinates, usual.polarity) == (False, False, "binary")


def test_every_reading_comes_back_from_its_numbers():
    readings = legal()
    assert len(readings) == 7 * 16
    for reading in readings:
        assert Reading.from_numbers(reading.numbers(), 7.5) == reading
        assert all(type(n) is int for n in reading.numbers())


def test_times_by_a_fixed_scale_need_nothing_that_comes_later():
    fixed = {(r.time, r.scope) for r in legal() if r.fixed_scale}
    assert fixed == {
        ("ts", "fixed"),
        ("delay", "fixed"),
        ("log_delay", "fixed"),
        ("log_delay", "relative"),
    }


@pytest.mark.parametrize("name", ["time", "scope", "normalize", "polarity"])
@pytest.mark.parametrize("value", ["other", ""])
def test_an_unknown_choice_is_refused_beside_the_known_ones(name, value):
    default = getattr(Reading(), name)
    with pytest.raises(ValueError, match=f'{name} must be one of .*"{default}".*, not {value!r}'):
        Reading(**{name: value})


@pytest.mark.parametrize("time", ["delay", "log_delay"])
def test_delays_have_no_absolute_scope(time):
    with pytest.raises(ValueError, match=f'scope="absolute" needs time="ts"; a {time} belongs to'):
        Reading(time, "absolute")


@pytest.mark.parametrize("scale", [0.0, -1.0, math.inf, math.nan])
def test_a_time_scale_is_positive_and_finite(scale):
    with pytest.raises(ValueError, match="time_scale must be a positive number of microseconds"):
        Reading(time_scale=scale)


def test_a_reading_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Reading().time = "ts"  # type: ignore[misc]
