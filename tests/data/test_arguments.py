"""Shared checks refuse what they say they refuse."""

import numpy as np
import pytest

from evsurf.data.arguments import check_least


@pytest.mark.parametrize("value", [1.0, "2", True, None])
def test_what_is_no_int_is_refused(value):
    with pytest.raises(TypeError, match=rf"samples must be an int \(at least 0\), got {value!r}"):
        check_least("samples", value, 0)


def test_less_than_the_least_is_refused():
    with pytest.raises(ValueError, match="samples = -1 must be at least 0"):
        check_least("samples", -1, 0)
    with pytest.raises(ValueError, match="duration = 0 must be at least 1"):
        check_least("duration", 0, 1)


@pytest.mark.parametrize("value", [3, 4, np.int16(3)])
def test_the_least_and_more_are_allowed(value):
    check_least("samples", value, 3)
