"""What files of arrays say besides the events."""

from __future__ import annotations

import io

import numpy as np
import pytest

from evsurf.data.formats.tables.facts import stored_size, stored_unit
from evsurf.data.formats.tables.finding import StoredArray


def stored(**arrays) -> list[StoredArray]:
    found = []
    for name, values in arrays.items():
        array = np.asarray(values)
        opener = (lambda data: lambda: io.BytesIO(data))(array.tobytes())
        found.append(StoredArray(("a", name), array.shape, array.dtype, opener))
    return found


@pytest.mark.parametrize(
    ("arrays", "size"),
    [
        ({"size": [2, 3]}, (2, 3)),
        ({"height": 4, "width": [[5.0]]}, (4, 5)),
        ({"size": [2, 3], "width": 9}, (2, 3)),
        ({"size": [2, 3, 4]}, None),
        ({"size": [0, 3]}, None),
        ({"size": [2, 40_000]}, None),
        ({"size": [np.nan, 1.5]}, None),
        ({"height": 4}, None),
        ({}, None),
    ],
)
def test_a_size_is_two_numbers_of_pixels(arrays, size):
    assert stored_size(stored(**arrays)) == size


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("microseconds", "microseconds"),
        (b"seconds", "seconds"),
        ("weeks", None),
        (["a", "b"], None),
    ],
)
def test_a_unit_is_a_word(text, unit):
    assert stored_unit(stored(time_unit=text)) == unit


def test_no_unit_is_said_by_nothing():
    assert stored_unit(stored(time_unit=3.0, t=[1])) is None
