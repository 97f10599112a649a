"""Columns by the numbers in them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.tables.values import order_by_value

X = np.array([7, 3, 300, 2])
Y = np.array([9, 120, 4, 8])
T = np.array([0, 40_000, 40_000, 90_000])
P = np.array([0, 1, 0, 1])


def columns(order: str, dtype=np.int64) -> list:
    values = {"x": X, "y": Y, "t": T, "p": P}
    return [values[role].astype(dtype) for role in order]


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
@pytest.mark.parametrize(
    "order",
    [o for o in map("".join, itertools.permutations("xytp")) if o.index("x") < o.index("y")],
)
def test_every_order_with_x_before_y_is_found(order, dtype):
    assert order_by_value(columns(order, dtype), None, "it") == order


def test_polarities_may_be_minus_one_and_one():
    assert order_by_value([X, Y, T, 2 * P - 1], None, "it") == "xytp"


def test_times_may_be_seconds():
    assert order_by_value([T / 1e6, X, Y, P], None, "it") == "txyp"


def test_y_is_before_x_where_only_that_fits_the_size():
    assert order_by_value([T, Y, X, P], (130, 310), "it") == "tyxp"
    assert order_by_value([T, X, Y, P], (130, 310), "it") == "txyp"


def test_what_may_be_two_orders_is_refused():
    rising = np.arange(4)
    with pytest.raises(FormatError, match='may be xytp or txyp: say columns="txyp"'):
        order_by_value([rising, rising, rising, P], None, "it")


def test_what_is_no_event_is_refused():
    with pytest.raises(FormatError, match="no order of x, y, t and p fits"):
        order_by_value([X, Y, T, T], None, "it")


def test_without_rows_any_order_will_do():
    assert order_by_value([X[:0]] * 4, None, "it") == "xytp"


def test_one_damaged_value_does_not_decide():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 100, (2, 1000)).astype(float)
    t, p = np.arange(0, 5e6, 5e3), rng.integers(0, 2, 1000).astype(float)
    x[7], y[8], t[9], p[10] = np.nan, -5, 1e9, 7
    assert order_by_value([x, y, t, p], None, "it") == "xytp"
