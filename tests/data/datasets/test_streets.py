"""Cut-outs with and without cars have the sizes and the length of N-Cars, and differ."""

from __future__ import annotations

import numpy as np
import pytest

from evsurf.data.datasets import ncars_like
from evsurf.data.datasets.streets import car_texture
from evsurf.data.store import write_store


def test_every_other_sample_is_a_car():
    data = ncars_like(6)
    assert (len(data), data.targets, data.classes) == (6, [0, 1] * 3, ("background", "cars"))
    assert [data[i][1] for i in range(6)] == [0, 1] * 3
    assert repr(data) == "StreetCrops(6 recordings of 2 classes, at most 100x120)"


def test_recordings_take_100_ms_and_have_the_sizes_of_n_cars():
    events = [ncars_like(8)[i][0] for i in range(8)]
    assert {one.size for one in events} == {(100, 120)}
    assert all(0 <= int(one.t[0]) and int(one.t[-1]) < 100_000 for one in events)
    extents = {(int(one.x.max()) + 1, int(one.y.max()) + 1) for one in events}
    assert len(extents) > 5
    assert 1_000 < np.mean([len(one) for one in events]) < 20_000


def test_a_sample_depends_on_its_number_and_the_seed_alone():
    assert ncars_like(4)[3] == ncars_like(400)[3]
    assert ncars_like(4, seed=1)[3] != ncars_like(4)[3]


def test_recordings_go_into_stores(tmp_path):
    assert write_store(ncars_like(2), tmp_path / "a.store")[1] == ncars_like(2)[1]


@pytest.mark.parametrize("seed", range(5))
def test_a_car_is_as_broad_below_as_its_wheels_and_one_sees_through_beside_its_roof(seed):
    car = car_texture(np.random.default_rng(seed))
    assert car.mask is not None
    assert car.mask[5, :10].max() == 0
    assert car.mask[80, 10:118].min() == 1


def test_numbers_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="samples = 0"):
        ncars_like(0)
    with pytest.raises(ValueError, match="seed = -1"):
        ncars_like(2, seed=-1)
    with pytest.raises(IndexError, match="index 2 is outside the 2 samples"):
        ncars_like(2)[2]
