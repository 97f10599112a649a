"""Columns by their names."""

from __future__ import annotations

import pytest

from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.tables.names import (
    check_order,
    missing_roles,
    order_by_name,
    role_of,
    unit_of,
)


@pytest.mark.parametrize(
    ("names", "order"),
    [
        (["x", "y", "t", "p"], "xytp"),
        (["t", "x", "y", "on"], "txyp"),
        (["t", "y", "x", "p"], "tyxp"),
        (["timestamp", "x", "y", "polarity"], "txyp"),
        (["xs", "ys", "ts", "ps"], "xytp"),
        (["X", " Y", "Time [us]", "Pol"], "xytp"),
        (["id", "t_ns", "col", "row", "sign"], "-txyp"),
        (["t", "ts", "x", "y", "p"], "t-xyp"),
    ],
)
def test_columns_are_known_under_the_names_that_libraries_give_them(names, order):
    assert order_by_name(names) == order


@pytest.mark.parametrize("names", [["x", "y", "t", "label"], [None] * 4, []])
def test_fewer_than_four_names_are_no_order(names):
    assert order_by_name(names) is None


def test_what_no_name_stands_for_is_missing():
    assert missing_roles(["time", None, "x", "label"]) == "yp"


def test_a_name_may_say_the_unit():
    names = ["t", "t_us", "time(s)", "timestamp [ns]", "t ms", "s", None]
    units = [None, "microseconds", "seconds", "nanoseconds", "milliseconds", None, None]
    assert [unit_of(name) for name in names] == units
    assert role_of("t_us") == "t"


def test_an_order_may_skip_columns():
    assert check_order("-TxyP", 5) == "-txyp"


@pytest.mark.parametrize("columns", ["xyt", "xytt", "xytpq", ""])
def test_an_order_has_each_letter_once(columns):
    with pytest.raises(ValueError, match="x, y, t and p once each"):
        check_order(columns, 4)


def test_an_order_has_as_many_letters_as_there_are_columns():
    with pytest.raises(FormatError, match="says 4 columns, and the file has 5"):
        check_order("xytp", 5)
