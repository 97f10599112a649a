import pytest

from evsurf.data import transforms as T
from evsurf.data.transforms import seed_for
from evsurf.events import EventBatch, Events
from tests.random_events import random_batch

EVENTS = Events.from_arrays([0, 1, 2], [0, 0, 0], [100, 105, 120], [1, 0, 1], (1, 4))


def test_transforms_follow_each_other_in_order():
    both = T.Compose([T.Crop(0, 1, 1, 3), T.HorizontalFlip(1.0), T.RemoveOffset()])
    made = both(EVENTS)
    assert made.x.tolist() == [2, 1]
    assert made.t.tolist() == [0, 15]
    assert T.Compose([])(EVENTS) == EVENTS


def test_each_place_of_a_list_draws_its_own_numbers():
    batch = random_batch([500], (30, 30), seed=1)
    drop = T.DropEvents(0.5)
    twice = T.Compose([drop, drop])(batch[0], seed=3)
    assert 80 < len(twice) < 170
    assert twice == drop(drop(batch[0], seed=seed_for(3, 0)), seed=seed_for(3, 1))


def test_one_of_draws_by_weight():
    batch = EventBatch.pack([EVENTS] * 400)
    one = T.OneOf([T.RemoveOffset(), T.MaxEvents(1), T.MaxEvents(0)], weights=[1, 3, 0])
    made = list(one(batch, seed=0))
    counts = [made.count(choice(EVENTS)) for choice in one.transforms]
    assert sum(counts) == 400
    assert counts[2] == 0
    assert 70 < counts[0] < 130


def test_a_transform_is_applied_as_often_as_said():
    batch = EventBatch.pack([EVENTS] * 400)
    made = list(T.RandomApply(T.RemoveOffset(), 0.25)(batch, seed=0))
    changed = made.count(T.remove_offset(EVENTS))
    assert 70 < changed < 130
    assert made.count(EVENTS) == 400 - changed
    assert T.RandomApply(T.RemoveOffset(), 0.0)(batch) == batch
    assert T.RandomApply(T.RemoveOffset(), 1.0)(batch) == T.remove_offset(batch)


def test_samples_of_one_batch_cannot_come_to_differ_in_size():
    batch = EventBatch.pack([EVENTS] * 4)
    for transform in (
        T.RandomApply(T.CentreCrop(1, 2)),
        T.OneOf([T.CentreCrop(1, 2), T.CentreCrop(1, 3)]),
    ):
        with pytest.raises(ValueError, match="a transform that changes the size goes to every"):
            transform(batch)
        with pytest.raises(ValueError, match="a transform that changes the size goes to every"):
            transform(EVENTS, seed=0)
