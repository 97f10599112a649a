"""Pieces of other lengths hold the same events."""

from __future__ import annotations

import numpy as np
import pytest

from evsurf.data.formats.columns import Columns
from evsurf.data.formats.recut import recut


def piece(*values: int) -> Columns:
    return Columns(*(np.array(values) for _ in range(4)))


@pytest.mark.parametrize(
    ("count", "cut"),
    [
        (1, [[1], [2], [3], [4], [5], [6]]),
        (2, [[1, 2], [3, 4], [5, 6]]),
        (4, [[1, 2, 3, 4], [5, 6]]),
        (6, [[1, 2, 3, 4, 5, 6]]),
        (2**62, [[1, 2, 3, 4, 5, 6]]),
    ],
)
def test_each_piece_but_the_last_has_the_count(count, cut):
    pieces = [piece(1), piece(), piece(2, 3, 4, 5), piece(6)]
    assert [found.t.tolist() for found in recut(pieces, count)] == cut


def test_nothing_stays_nothing():
    assert not list(recut([], 3))
    assert not list(recut([piece()], 3))
