import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evsurf.data import transforms as T
from evsurf.events import EventBatch, Events
from tests.data.transforms.strategies import checked
from tests.events.strategies import recordings

# Rows and columns of a sensor of 3 x 5.
EVENTS = Events.from_arrays([0, 1, 4, 3], [0, 2, 1, 1], [5, 6, 6, 9], [1, 0, 1, 1], (3, 5))


def places(events: Events) -> list[tuple[int, int]]:
    return list(zip(events.x.tolist(), events.y.tolist(), strict=True))


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (T.hflip(EVENTS), [(4, 0), (3, 2), (0, 1), (1, 1)]),
        (T.hflip(EVENTS[1:], within="cloud"), [(4, 2), (1, 1), (2, 1)]),
        (T.vflip(EVENTS), [(0, 2), (1, 0), (4, 1), (3, 1)]),
        (T.vflip(EVENTS[1:], within="cloud"), [(1, 1), (4, 2), (3, 2)]),
        (T.rotate(EVENTS, 180), [(4, 2), (3, 0), (0, 1), (1, 1)]),
        # A quarter clockwise takes the right to the bottom; what has no room there is gone.
        (T.rotate(EVENTS, 90), [(1, 0), (2, 2)]),
        (T.rotate(EVENTS, -90), [(3, 2), (2, 0)]),
        (T.shear(EVENTS, x=1.0), [(2, 2), (4, 1), (3, 1)]),
        (T.shear(EVENTS, y=0.5), [(1, 2), (4, 2), (3, 2)]),
        (T.downscale(EVENTS, 2), [(0, 0), (0, 1), (2, 0), (1, 0)]),
        (T.downscale(EVENTS, 7), [(0, 0)] * 4),
    ],
)
def test_moves_worked_by_hand(made, expected):
    if made.size == (3, 5) and len(made) == 4:
        assert torch.equal(made.t, EVENTS.t)
        assert torch.equal(made.p, EVENTS.p)
    assert places(made) == expected
    checked(made)


def test_a_square_sensor_turns_exactly_by_right_angles(device):
    for side in (4, 5):
        x, y = torch.arange(side * side) % side, torch.arange(side * side) // side
        whole = Events.from_arrays(x, y, x * 0, x * 0, (side, side)).to(device)
        turned = T.rotate(whole, 90)
        assert turned.x.tolist() == (side - 1 - y).tolist()
        assert turned.y.tolist() == x.tolist()
        for quarter in range(-4, 5):
            assert len(T.rotate(whole, 90 * quarter)) == side * side
        assert T.rotate(whole, 360) == whole


def test_each_sample_of_a_batch_turns_by_its_own_angle(device):
    batch = EventBatch.pack([EVENTS, EVENTS]).to(device)
    turned = T.rotate(batch, torch.tensor([0.0, 180.0], dtype=torch.float64))
    assert turned[0] == batch[0]
    assert turned[1] == T.rotate(batch[1], 180)
    with pytest.raises(ValueError, match="one for each of 2 samples, got shape"):
        T.rotate(batch, torch.tensor([0.0], dtype=torch.float64))


@given(recordings(), st.sampled_from(["sensor", "cloud"]))
def test_flipping_twice_gives_the_same(events, within):
    for flip in (T.hflip, T.vflip):
        once = flip(events, within=within)
        checked(once)
        assert flip(once, within=within) == events
    if within == "sensor":
        assert T.hflip(T.vflip(events)) == T.rotate(events, 180)


@given(recordings(), st.integers(1, 4))
def test_a_smaller_sensor_keeps_every_event(events, factor):
    small = T.downscale(events, factor)
    assert torch.equal(small.t, events.t)
    assert torch.equal(small.p, events.p)
    assert places(small) == [(x // factor, y // factor) for x, y in places(events)]
    once = T.downscale(events, factor, dedup=True)
    rows = list(dict.fromkeys(zip(*(getattr(small, n).tolist() for n in "xytp"), strict=True)))
    assert list(zip(*(getattr(once, n).tolist() for n in "xytp"), strict=True)) == rows


@given(recordings(), st.integers(0, 3), st.integers(0, 9))
def test_jitter_moves_no_event_further_than_its_radius(events, radius, seed):
    made = T.SpatialJitter(radius)(events, seed=seed)
    checked(made)
    assert len(made) <= len(events)
    if radius == 0:
        assert made == events


def test_jitter_takes_every_step_alike():
    n = 9_000
    middle = [5] * n
    events = Events.from_arrays(middle, middle, range(n), [1] * n, (11, 11))
    made = T.SpatialJitter(1)(events, seed=0)
    assert len(made) == n
    steps = torch.bincount((made.x.long() - 4) * 3 + made.y - 4, minlength=9)
    assert steps.min() > 850
    assert steps.max() < 1150


def test_flips_come_as_often_as_said():
    batch = EventBatch.pack([EVENTS] * 400)
    made = T.HorizontalFlip(0.25)(batch, seed=1)
    flipped = sum(sample != EVENTS for sample in made)
    assert 70 < flipped < 130
    assert T.HorizontalFlip(0.0)(batch) == batch
    assert T.VerticalFlip(1.0)(batch) == T.vflip(batch)
