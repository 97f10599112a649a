"""Data sets that look like tonic's give `Events`."""

from __future__ import annotations

import numpy as np
import pytest

from evsurf.data.datasets import TonicDataset
from evsurf.events import Events

KIND = np.dtype([("t", np.int64), ("x", np.int16), ("y", np.int16), ("p", bool)])


class Like:
    """Two samples, the second one out of order in time."""

    classes = ("wave", "clap")
    sensor_size: tuple[int, ...] | None = (8, 4, 2)

    def __init__(self, cut: bool = False) -> None:
        self.cut = cut

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int):
        array = np.array([(10, 7, 3, True), (20 if index == 0 else 5, 1, 0, False)], KIND)
        return ([array[:1], array[1:]] if self.cut else array), index


def test_samples_become_events():
    data = TonicDataset(Like())
    assert len(data) == 2
    assert data.size == (4, 8)
    events, target = data[0]
    assert events == Events.from_arrays([7, 1], [3, 0], [10, 20], [1, 0], (4, 8))
    assert target == 0


def test_events_out_of_order_are_sorted():
    events, target = TonicDataset(Like())[-1]
    assert events.t.tolist() == [5, 10]
    assert target == 1


def test_slices_stay_a_list():
    events, _ = TonicDataset(Like(cut=True))[0]
    assert [len(part) for part in events] == [1, 1]


def test_classes_transforms_and_the_printed_form():
    data = TonicDataset(Like(), transform=len, target_transform=str)
    assert data[1] == (2, "1")
    assert data.class_to_idx == {"wave": 0, "clap": 1}
    assert repr(data) == "TonicDataset(Like: 2 recordings of 2 classes, 4x8)"


def test_it_can_be_walked_to_its_end():
    assert len(list(TonicDataset(Like()))) == 2


def test_a_size_that_is_not_said_must_be_given():
    class Silent(Like):
        sensor_size = None

    with pytest.raises(ValueError, match="size must be given as"):
        TonicDataset(Silent())
    assert TonicDataset(Silent(), size=(4, 8)).size == (4, 8)


def test_what_is_no_pair_is_refused():
    class Single(Like):
        def __getitem__(self, index: int):
            return super().__getitem__(index)[0]

    with pytest.raises(TypeError, match="pair of a structured array and a target"):
        TonicDataset(Single())[0]
