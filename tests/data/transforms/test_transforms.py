"""What holds for every transform."""

import dataclasses
import itertools
import pickle

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evsurf.data import transforms
from evsurf.data.synthetic import camera_like
from evsurf.data.transforms import seed_for
from evsurf.events import EventBatch, Events
from tests.data.transforms.strategies import EVERY, checked
from tests.random_events import event_batches, random_batch

every = pytest.mark.parametrize("transform", EVERY, ids=str)
COUNTS = [7, 0, 1, 30, 0]
# Noise of a recording as long as all time would be more events than memory holds.
some = event_batches(max_side=5, max_events=8).filter(
    lambda batch: all(sample.duration < 10**5 for sample in batch)
)


@every
def test_a_sample_becomes_what_it_becomes_alone(transform, device):
    batch = random_batch(COUNTS, (5, 4), seed=3, origin=-50).to(device)
    made = transform(batch, seed=11)
    checked(made)
    assert len(made) == len(batch)
    seeds = torch.tensor([seed_for(11, i) for i in range(len(batch))], device=device)
    assert transform(batch, seed=seeds) == made
    for i, sample in enumerate(batch):
        assert made[i] == transform(sample, seed=seed_for(11, i))


@given(some, st.sampled_from(EVERY), st.integers(-(2**63), 2**64))
def test_whatever_comes_out_is_legal_and_independent_of_batch_mates(batch, transform, seed):
    made = transform(batch, seed=seed)
    checked(made)
    for i, sample in enumerate(batch):
        alone = transform(sample, seed=seed_for(seed, i))
        checked(alone)
        assert made[i] == alone


@every
def test_a_transform_leaves_what_it_is_given(transform):
    batch = random_batch(COUNTS, (5, 4), seed=3)
    before = pickle.loads(pickle.dumps(batch))
    transform(batch, seed=1)
    transform(batch[0], seed=1)
    assert batch == before


@every
def test_nothing_gives_nothing_of_the_right_size(transform):
    nothing = Events.empty((5, 4))
    size = transform(random_batch([3], (5, 4)), seed=0).size
    assert transform(nothing, seed=0) == Events.empty(size)
    none = transform(EventBatch.pack([], size=(5, 4)), seed=0)
    assert (len(none), none.size) == (0, size)


@every
def test_the_same_seed_gives_the_same_and_what_is_printed_can_be_typed(transform):
    batch = random_batch([40, 50], (5, 4), seed=5)
    assert transform(batch, seed=4) == transform(batch, seed=4)
    again = eval(repr(transform), vars(transforms))  # noqa: S307
    assert again == transform
    assert pickle.loads(pickle.dumps(transform)) == transform
    with pytest.raises(dataclasses.FrozenInstanceError):
        transform.anything = 1


def test_random_transforms_differ_from_seed_to_seed_and_from_sample_to_sample():
    sample = random_batch([200], (30, 30), seed=5)[0]
    batch = EventBatch.pack([sample] * 2)
    drop = transforms.DropEvents(0.5)
    made = drop(batch, seed=0)
    assert made[0] != made[1]
    assert drop(sample, seed=0) != drop(sample, seed=1)


def test_generators_and_manual_seeds_make_calls_repeatable():
    sample = random_batch([200], (30, 30), seed=5)[0]
    drop = transforms.DropEvents(0.5)

    def calls(**options):
        return [drop(sample, **options) for _ in range(2)]

    first = calls(generator=torch.Generator().manual_seed(3))
    source = torch.Generator().manual_seed(3)
    assert [drop(sample, generator=source), drop(sample, generator=source)] == first
    torch.manual_seed(9)
    one = calls()
    torch.manual_seed(9)
    assert calls() == one
    assert one[0] != one[1]


def test_workers_and_epochs_of_a_loader_draw_different_numbers():
    sample = random_batch([200], (30, 30), seed=5)[0]
    drop = transforms.DropEvents(0.5)
    data = _Dropped(drop, sample)

    def epochs():
        torch.manual_seed(0)
        loader = torch.utils.data.DataLoader(
            data, batch_size=2, num_workers=2, collate_fn=EventBatch.pack
        )
        return [batch for _ in range(2) for batch in loader]

    batches = epochs()
    assert epochs() == batches
    for a, b in itertools.combinations(batches, 2):
        assert a[0] != b[0]


class _Dropped:
    def __init__(self, drop, sample) -> None:
        self.drop, self.sample = drop, sample

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> Events:
        made: Events = self.drop(self.sample)
        return made


def test_wrong_seeds_are_refused(own_errors):
    batch = random_batch([3, 4], (5, 5))
    drop = transforms.DropEvents(0.5)
    with pytest.raises(ValueError, match="exclude each other"):
        drop(batch, seed=0, generator=torch.Generator())
    with pytest.raises(ValueError, match="one int64 for each of 2 samples"):
        drop(batch, seed=torch.tensor([1, 2, 3]))
    with pytest.raises(TypeError, match="seed must be an int"):
        drop(batch, seed=0.5)
    with pytest.raises(TypeError, match="must be Events or EventBatch, got list"):
        drop([1, 2])  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: transforms.HorizontalFlip(1.5), "probability = 1.5"),
        (lambda: transforms.VerticalFlip(within="image"), "within = 'image' must be"),
        (lambda: transforms.Crop(0, 0, 0, 5), "height and width must be from 1"),
        (lambda: transforms.Rotate(20, 10), "low = 20 must not be above high = 10"),
        (lambda: transforms.Shear(-1), "x = -1"),
        (lambda: transforms.Downscale(0), "factor = 0 must be at least 1"),
        (lambda: transforms.SpatialJitter(-1), "radius = -1 must be at least 0"),
        (lambda: transforms.TimeWindow(5, 4), "end = 4 must be at least 5"),
        (lambda: transforms.RandomTimeWindow(5, 4), "high = 4 must be at least 5"),
        (lambda: transforms.TimeJitter(-1), "radius = -1"),
        (lambda: transforms.DropEvents(1.1), "rate = 1.1 must be"),
        (lambda: transforms.DropTime((0.5, 0.2)), "must be \\(lowest, highest\\)"),
        (lambda: transforms.DropArea("a"), "share = 'a' must be a number"),
        (lambda: transforms.MaxEvents(3, keep="best"), "keep = 'best' must be"),
        (lambda: transforms.BackgroundNoise(-1), "rate = -1"),
        (lambda: transforms.OneOf([]), "at least one"),
        (lambda: transforms.OneOf([transforms.Identity()], weights=[0]), "not all zero"),
        (lambda: transforms.OneOf([transforms.Identity()], weights=[1, 1]), "one for each of 1"),
        (lambda: transforms.RandomApply(transforms.Identity(), -0.1), "probability = -0.1"),
    ],
)
def test_wrong_parameters_are_refused(make, message, own_errors):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_class_is_no_transform(own_errors):
    with pytest.raises(TypeError, match="is no transform: give instances, such as"):
        transforms.Compose([transforms.Identity])


@pytest.mark.parametrize("number", range(2))
def test_batches_as_of_a_camera_go_through_everything(number):
    batch = camera_like("ncars", 4, seed=number)
    for transform in EVERY:
        if not isinstance(transform, transforms.BackgroundNoise):
            checked(transform(batch, seed=number))
