"""Times of any unit and type to whole microseconds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evsurf.data.formats.tables.time_unit import microseconds, time_unit
from evsurf.events.checks import LATEST


@pytest.mark.parametrize(
    ("times", "unit"),
    [
        (np.array([0, 5, 10**16]), "microseconds"),
        (np.array([1_700_000_000_000_000] * 3), "microseconds"),
        (np.array([1_700_000_000_000_000_000] * 3), "nanoseconds"),
        (np.array([0.0, 0.25, 1.0]), "seconds"),
        (np.array([1.7e9, 1.7e9 + 0.5], np.float64), "seconds"),
        (np.array([1.7e15, 1.7e15 + 0.5], np.float64), "microseconds"),
        (np.array([0.0, 12.0, 3e6], np.float32), "microseconds"),
        (np.array([0, 1], "m8[ns]"), "nanoseconds"),
        (np.array([0, 1], "M8[s]"), "seconds"),
        (np.array([], np.float64), "microseconds"),
    ],
)
def test_the_unit_comes_from_type_and_values(times, unit):
    assert time_unit(times) == unit


def test_a_name_overrules_the_values():
    assert time_unit(np.array([0.5]), "t_ms") == "milliseconds"


def test_a_damaged_time_does_not_decide():
    times = np.array([0.0, 0.5, np.nan, np.inf, 1e30, 1.5])
    assert time_unit(times) == "seconds"


def test_seconds_become_the_nearest_microsecond():
    times = np.array([0.1 + 0.2, 0.0000014, 1504645177.419957, -0.25])
    assert microseconds(times, "seconds").tolist() == [300000, 1, 1504645177419957, -250000]
    assert microseconds(np.float32([0.5]), "seconds").tolist() == [500000]


@given(st.integers(-(10**15), 10**15))
def test_a_microsecond_survives_being_written_in_seconds(t):
    assert microseconds(np.array([t / 1e6]), "seconds").tolist() == [t]


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, "m8[ns]"])
def test_nanoseconds_are_rounded(dtype):
    times = np.array([1_499, 1_500, 10**18]).astype(dtype)
    assert microseconds(times, "nanoseconds").tolist() == [1, 2, 10**15]


def test_whole_seconds_are_multiplied():
    assert microseconds(np.array([3], np.uint8), "seconds").tolist() == [3_000_000]
    assert microseconds(np.array([3], "m8[m]"), "microseconds").tolist() == [180_000_000]


def test_what_does_not_fit_is_out_of_range():
    assert microseconds(np.array([2**62]), "milliseconds").tolist() == [LATEST + 1]
    assert not np.isfinite(microseconds(np.array([np.nan, 1e308]), "seconds")).any()
