from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import DistributedSampler

from evsurf.data.loading import BatchSampler


class Sized:
    """Samples of these lengths."""

    def __init__(self, lengths):
        self.lengths = torch.tensor(lengths)

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, index):
        return index


TEN = Sized(list(range(10)))


def test_samples_come_in_order_in_batches():
    assert list(BatchSampler(TEN, 4)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert list(BatchSampler(TEN, 4, drop_last=True)) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert list(BatchSampler(TEN, max_events=9)) == [[0, 1, 2, 3], [4, 5], [6], [7], [8], [9]]
    assert list(BatchSampler(TEN, 3, max_events=9)) == [[0, 1, 2], [3, 4], [5], [6], [7], [8], [9]]


def test_each_epoch_has_an_order_of_its_own_that_comes_again():
    sampler = BatchSampler(TEN, 5, shuffle=True, seed=3)
    epochs = [list(sampler) for _ in range(3)]
    assert sampler.epoch == 3
    assert len({str(epoch) for epoch in epochs}) == 3
    sampler.set_epoch(1)
    assert list(sampler) == epochs[1]
    assert list(BatchSampler(TEN, 5, shuffle=True, seed=4)) != epochs[0]


@given(st.data())
def test_every_sample_comes_once_in_an_epoch(data):
    lengths = data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=30))
    world = data.draw(st.integers(1, 4))
    options = {
        "batch_size": data.draw(st.none() | st.integers(1, 5)),
        "shuffle": data.draw(st.booleans()),
        "bucket": data.draw(st.booleans()),
        "max_events": data.draw(st.none() | st.integers(1, 30)),
    }
    if options["batch_size"] is None and options["max_events"] is None:
        options["batch_size"] = 2
    for uneven in ("keep", "repeat", "drop"):
        ranks = [
            list(BatchSampler(Sized(lengths), **options, uneven=uneven, rank=rank, world=world))
            for rank in range(world)
        ]
        seen = Counter(i for batches in ranks for batch in batches for i in batch)
        if uneven == "keep":
            assert seen == Counter(range(len(lengths)))
        elif uneven == "repeat":
            assert set(seen) == set(range(len(lengths)))
        else:
            assert set(seen.values()) <= {1}
        if uneven != "keep":
            assert len({len(batches) for batches in ranks}) == 1, "ranks keep in step"
        for batch in (batch for batches in ranks for batch in batches):
            total = sum(lengths[i] for i in batch)
            most = options["max_events"]
            assert most is None or total <= most or len(batch) == 1
            assert options["batch_size"] is None or len(batch) <= options["batch_size"]


@pytest.mark.parametrize("count", [7, 8, 10])
@pytest.mark.parametrize("drop", [False, True])
def test_shares_are_those_of_torchs_distributed_sampler(count, drop):
    data = Sized([1] * count)
    for rank in range(4):
        theirs = DistributedSampler(data, 4, rank, shuffle=False, drop_last=drop)
        ours = BatchSampler(data, 2, rank=rank, world=4, uneven="drop" if drop else "repeat")
        assert [i for batch in ours for i in batch] == list(theirs)


def test_rank_and_world_are_those_of_torch_where_it_is_initialised(tmp_path):
    distributed = torch.distributed
    sampler = BatchSampler(TEN, 4)
    assert sampler.place == (0, 1)
    distributed.init_process_group(
        "gloo", init_method=f"file://{tmp_path / 'meet'}", rank=0, world_size=1
    )
    try:
        assert sampler.place == (0, 1)
    finally:
        distributed.destroy_process_group()


def test_buckets_hold_samples_of_similar_length():
    lengths = [i % 50 for i in range(500)]
    sampler = BatchSampler(Sized(lengths), 10, shuffle=True, bucket=True)
    spread = [max(lengths[i] for i in b) - min(lengths[i] for i in b) for b in sampler]
    assert max(spread) <= 1
    first = [
        lengths[batch[0]] for batch in BatchSampler(Sized(lengths), 10, shuffle=True, bucket=True)
    ]
    assert first != sorted(first), "batches are shuffled"
    in_order = list(BatchSampler(Sized(lengths), 10, bucket=True))
    assert [lengths[i] for batch in in_order for i in batch] == sorted(lengths)


def test_half_an_epoch_goes_on_exactly():
    sampler = BatchSampler(TEN, 2, shuffle=True, seed=1)
    whole = [list(sampler), list(sampler)]
    sampler.set_epoch(0)
    batches = iter(sampler)
    first = [next(batches), next(batches)]
    state = sampler.state_dict()
    other = BatchSampler(TEN, 2, shuffle=True, seed=1)
    other.load_state_dict(state)
    assert [first + list(other), list(other)] == whole


def test_an_iteration_that_was_left_starts_the_epoch_anew_and_set_epoch_keeps_a_loaded_state():
    sampler = BatchSampler(TEN, 4)
    assert next(iter(sampler)) == [0, 1, 2, 3]
    state = sampler.state_dict()
    assert next(iter(sampler)) == [0, 1, 2, 3]
    sampler.load_state_dict(state)
    sampler.set_epoch(0)
    assert list(sampler) == [[4, 5, 6, 7], [8, 9]]
    sampler.load_state_dict(state)
    sampler.set_epoch(1)
    assert len(list(sampler)) == 3


def test_the_state_of_another_sampler_is_refused():
    state = BatchSampler(TEN, 2, shuffle=True, seed=1).state_dict()
    with pytest.raises(ValueError, match="a sampler with seed = 1, and this one has 2"):
        BatchSampler(TEN, 2, shuffle=True, seed=2).load_state_dict(state)
    with pytest.raises(ValueError, match="world = 1, and this one has 2"):
        BatchSampler(TEN, 2, shuffle=True, seed=1, rank=0, world=2).load_state_dict(state)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give batch_size, max_events or both"),
        ({"batch_size": 0}, "batch_size = 0 must be at least 1"),
        ({"max_events": -1}, "max_events = -1 must be at least 1"),
        ({"batch_size": 1, "uneven": "pad"}, "uneven = 'pad'"),
        ({"batch_size": 1, "rank": 1}, "go together"),
        ({"batch_size": 1, "rank": 2, "world": 2}, "rank = 2 must be from 0 to 1"),
    ],
)
@pytest.mark.usefixtures("own_errors")
def test_wrong_arguments_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        BatchSampler(TEN, **options)


def test_an_empty_data_set_is_refused():
    with pytest.raises(ValueError, match="the data set is empty"):
        BatchSampler(Sized([]), 1)
