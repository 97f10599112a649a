"""Times of any kind to whole microseconds.

What the unit is, in this order: the name of the column (`t_ns`, `time [s]`); the type, where it has
a unit (NumPy's datetime64 and timedelta64); the values. Numbers with fractions are seconds and
whole numbers are microseconds, unless that were a time after the year 5138 (10^11 seconds from
1970): then they are a unit finer, microseconds and nanoseconds.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from evsurf.data.formats.columns import Column
from evsurf.data.formats.tables.names import unit_of
from evsurf.events.checks import LATEST

POWERS: Mapping[str, int] = {
    "seconds": 6,
    "milliseconds": 3,
    "microseconds": 0,
    "nanoseconds": -3,
}
"""Units by name; one is ten to this many microseconds."""

LATEST_SECOND = 10**11
"""No recording is from after the year 5138."""

_NUMPY_UNITS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}


def time_unit(sample: Column, name: str | None = None) -> str:
    """The unit of a column of times, from its name and its first values."""
    named = unit_of(name)
    if named is not None:
        return named
    if sample.dtype.kind in "mM":
        unit, step = np.datetime_data(sample.dtype)
        if step == 1 and unit in _NUMPY_UNITS:
            return _NUMPY_UNITS[unit]
        return "microseconds"
    return unit_by_value(sample)


def unit_by_value(sample: Column) -> str:
    """The unit by the values alone."""
    if sample.dtype.kind == "f":
        sample = sample[np.isfinite(sample)]
        fractions = bool(len(sample)) and bool((np.trunc(sample) != sample).any())
    else:
        fractions = False
    # The median, so that a damaged value does not decide.
    usual = abs(float(np.median(sample))) if len(sample) else 0.0
    if fractions:
        return "seconds" if usual < LATEST_SECOND else "microseconds"
    return "microseconds" if usual < LATEST_SECOND * 1e6 else "nanoseconds"


def microseconds(times: Column, unit: str) -> Column:
    """Times in this unit to the nearest microsecond.

    Floats stay floats, for they may hold what is no time; whole ones beyond the range of times
    become one that is out of it.
    """
    power = POWERS[unit]
    if times.dtype.kind in "mM":
        numpy_unit, step = np.datetime_data(times.dtype)
        if step != 1 or _NUMPY_UNITS.get(numpy_unit) != unit:
            times = times.astype(f"{times.dtype.kind}8[us]")
            power = 0
        times = times.view(np.int64)
    if times.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            # Rounding microseconds too: what has no fraction stays, and the head has decided.
            rounded: Column = np.rint(times.astype(np.float64) * 10.0**power)
        return rounded
    if power < 0:
        step = 10**-power
        wide = times.astype(np.uint64 if times.dtype == np.uint64 else np.int64)
        whole: Column = (wide // step + (wide % step >= step // 2)).astype(np.int64)
        return whole
    if power == 0:
        return times
    most = LATEST // 10**power
    outside = (times > most) | (times < -most)
    scaled: Column = np.where(outside, LATEST + 1, times.astype(np.int64) * 10**power)
    return scaled
