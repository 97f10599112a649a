"""Writers refuse what their format cannot hold."""

from __future__ import annotations

import pytest

from evsurf.data.formats.writing import check_range
from evsurf.events import Events


def events(x, y, t):
    return Events.from_arrays([x], [y], [t], [1], size=(100, 100))


def test_what_fits_passes():
    check_range("TEST", events(9, 9, 0), largest=9, latest=0)
    check_range("TEST", Events.empty((5, 5)), largest=0, latest=0)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((10, 0, 0), "x = 10 does not fit: TEST holds coordinates up to 9"),
        ((0, 10, 0), "y = 10 does not fit"),
        ((0, 0, -5), "t = -5 does not fit: TEST holds no time before 0"),
        ((0, 0, 6), "t = 6 does not fit: TEST holds times up to 5 us. Subtract the start"),
    ],
)
def test_what_does_not_is_named_with_its_limit(values, message):
    with pytest.raises(ValueError, match=message):
        check_range("TEST", events(*values), largest=9, latest=5)
