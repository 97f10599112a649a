import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evsurf.data import transforms as T
from evsurf.events import EventBatch, Events
from tests.data.transforms.strategies import checked
from tests.events.strategies import recordings


def row(*columns: int, width: int = 10) -> Events:
    n = len(columns)
    return Events.from_arrays(list(columns), [0] * n, range(n), [1] * n, (1, width))


WHOLE = row(*range(10))


@pytest.mark.parametrize(
    ("made", "columns"),
    [
        (T.crop(WHOLE, top=0, left=3, height=1, width=4), [0, 1, 2, 3]),
        (T.crop(WHOLE, top=0, left=-3, height=1, width=5), [3, 4]),
        (T.crop(WHOLE, top=0, left=8, height=1, width=5), [0, 1]),
        (T.crop(WHOLE, top=-1, left=0, height=1, width=5), []),
        (T.crop(WHOLE, top=0, left=-32767, height=1, width=5), []),
        (T.centre_crop(WHOLE, height=1, width=4), [0, 1, 2, 3]),
        (T.centre_crop(row(3, 4, 5, 6), height=1, width=4), [0, 1, 2, 3]),
        (T.centre_crop(WHOLE, height=1, width=14), list(range(2, 12))),
        # The cloud spans columns 6 to 9; its middle two are 7 and 8.
        (T.centre_crop(row(6, 8, 9), height=1, width=2, within="cloud"), [1]),
        (T.centre_crop(row(6, 8, 9), height=1, width=8, within="cloud"), [2, 4, 5]),
    ],
)
def test_crops_worked_by_hand(made, columns):
    assert made.x.tolist() == columns
    checked(made)


def test_a_batch_is_cropped_where_each_sample_says(device):
    batch = EventBatch.pack([WHOLE, WHOLE]).to(device)
    left = torch.tensor([0, 7])
    made = T.crop(batch, top=0, left=left, height=1, width=3)
    assert [sample.t.tolist() for sample in made] == [[0, 1, 2], [7, 8, 9]]


def drawn(transform, events, draws=300) -> set[int]:
    """Where the crop was, in each of many draws."""
    found = set()
    for sample in transform(EventBatch.pack([events] * draws), seed=0):
        found.add(int(events.x[sample.t[0]]) - int(sample.x[0]))
    return found


def test_random_crops_take_every_place_inside_the_sensor():
    assert drawn(T.RandomCrop(1, 7), WHOLE) == {0, 1, 2, 3}
    assert drawn(T.RandomCrop(1, 10), WHOLE) == {0}
    assert drawn(T.RandomCrop(1, 12), WHOLE) == {0, -1, -2}


def test_random_crops_of_clouds_take_every_place_inside_or_around_them():
    cloud = row(2, 3, 4, 5, 6, 7)
    assert drawn(T.ExtendRandomCrop(1, 4), cloud) == {2, 3, 4}
    assert drawn(T.ExtendRandomCrop(1, 6), cloud) == {2}
    assert drawn(T.ExtendRandomCrop(1, 8), cloud) == {0, 1, 2}
    # As the specification says of a full sensor: 224 of 240 columns, left from 0 to 16.
    full = row(*range(240), width=240)
    assert drawn(T.ExtendRandomCrop(1, 224), full) == set(range(17))


def test_a_cloud_that_fits_is_kept_whole():
    cloud = row(2, 7)
    made = T.ExtendRandomCrop(1, 8)(EventBatch.pack([cloud] * 50), seed=3)
    assert made.lengths.tolist() == [2] * 50
    assert T.ExtendRandomCrop(3, 8)(cloud, seed=1).size == (3, 8)


@given(recordings(), st.integers(0, 4), st.integers(0, 4), st.integers(1, 5), st.integers(1, 5))
def test_crops_inside_the_sensor_are_those_of_the_recording(events, top, left, height, width):
    rows, columns = events.size
    top, left = min(top, rows - 1), min(left, columns - 1)
    height, width = min(height, rows - top), min(width, columns - left)
    made = T.crop(events, top=top, left=left, height=height, width=width)
    assert made == events.crop(top, left, height, width)
    assert T.Crop(top, left, height, width)(events) == made
