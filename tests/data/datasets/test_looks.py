"""A recording of a picture depends on its number, the seed and the picture, and on nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from evsurf.data.datasets.looks import PictureRecordings
from evsurf.data.store import write_store

PICTURES = np.random.default_rng(0).integers(0, 256, (20, 12, 12), dtype=np.uint8)
TARGETS = [i % 2 for i in range(20)]


def looked(**changes):
    return PictureRecordings(PICTURES, TARGETS, ("even", "odd"), (16, 18), **changes)


def test_a_pair_of_events_and_label():
    data = looked()
    events, target = data[3]
    assert (len(data), events.size, target, len(events) > 100) == (20, (16, 18), 1, True)
    assert repr(data) == "PictureRecordings(20 recordings of 2 classes, 16x18)"


def test_a_recording_does_not_depend_on_the_others():
    few = PictureRecordings(PICTURES[:5], TARGETS[:5], ("even", "odd"), (16, 18))
    assert few[4] == looked()[4]
    assert looked(seed=1)[4] != looked()[4]


def test_one_by_one_or_all_together():
    data = looked()
    assert list(data.recordings()) == [data[i] for i in range(20)]


def test_the_same_picture_is_never_seen_the_same_way_twice():
    data = PictureRecordings(PICTURES[[0, 0]], [0, 0], ("even",), (16, 18))
    assert data[0][0] != data[1][0]
    assert data[0][0].t[-1] != data[1][0].t[-1]


def test_recordings_go_into_stores(tmp_path):
    store = write_store(looked(), tmp_path / "a.store")
    assert (store[7], store.classes) == (looked()[7], ("even", "odd"))


def test_what_does_not_fit_together_is_refused():
    with pytest.raises(ValueError, match="20 pictures need as many labels, got 1"):
        PictureRecordings(PICTURES, [0], ("even",), (16, 18))
    with pytest.raises(ValueError, match="seed = -1"):
        looked(seed=-1)
    with pytest.raises(IndexError, match="index 20 is outside the 20 samples"):
        looked()[20]
