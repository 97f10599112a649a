import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evsurf.data import transforms as T
from evsurf.events import EventBatch, Events
from tests.data.transforms.strategies import checked
from tests.random_events import event_batches, random_batch

TEN = Events.from_arrays(range(10), [0] * 10, range(0, 100, 10), [1] * 10, (1, 10))


@pytest.mark.parametrize(
    ("count", "keep", "positions"),
    [
        (4, "uniform", [2, 4, 7, 9]),
        (1, "uniform", [9]),
        (10, "uniform", list(range(10))),
        (0, "uniform", []),
        (3, "earliest", [0, 1, 2]),
        (3, "latest", [7, 8, 9]),
        (99, "latest", list(range(10))),
    ],
)
def test_limits_worked_by_hand(count, keep, positions):
    assert T.limit_events(TEN, count, keep=keep).x.tolist() == positions


@given(event_batches(), st.integers(0, 5), st.sampled_from(["uniform", "earliest", "latest"]))
def test_a_limit_is_reached_exactly_by_each_sample(batch, count, keep):
    made = T.limit_events(batch, count, keep=keep)
    assert torch.equal(made.lengths, batch.lengths.clamp(max=count))


def is_part(part: Events, whole: Events) -> bool:
    rows = iter(zip(*(getattr(whole, n).tolist() for n in "xytp"), strict=True))
    return all(
        row in rows for row in zip(*(getattr(part, n).tolist() for n in "xytp"), strict=True)
    )


@given(
    event_batches(),
    st.sampled_from([T.DropEvents(0.4), T.DropTime(), T.DropArea((0.2, 0.9)), T.event_drop()]),
    st.integers(0, 99),
)
def test_dropping_changes_no_event_that_stays(batch, drop, seed):
    made = drop(batch, seed=seed)
    checked(made)
    assert all(is_part(part, whole) for part, whole in zip(made, batch, strict=True))


@pytest.mark.parametrize("drop", [T.DropEvents, T.DropTime, T.DropArea])
def test_a_share_of_nothing_and_of_all(drop):
    batch = random_batch([50, 0, 1], (5, 4))
    assert drop(0)(batch, seed=1) == batch
    assert drop(1)(batch, seed=1).num_events == 0


def test_events_are_dropped_at_their_rate():
    batch = random_batch([20_000], (5, 4))
    assert 13_700 < T.DropEvents(0.3)(batch, seed=1).num_events < 14_300
    spread = T.DropEvents((0.0, 1.0))(random_batch([200] * 50, (5, 4)), seed=1).lengths
    assert spread.min() < 40
    assert spread.max() > 160


def test_a_dropped_stretch_is_one_gap_of_its_share():
    n = 1000
    events = Events.from_arrays([0] * n, [0] * n, range(n), [1] * n, (1, 1))
    for seed in range(10):
        made = T.DropTime(0.25)(events, seed=seed)
        gone = sorted(set(range(n)) - set(made.t.tolist()))
        assert 249 <= len(gone) <= 251
        assert gone == list(range(gone[0], gone[-1] + 1))


def test_a_dropped_area_is_one_rectangle():
    x, y = torch.arange(200) % 20, torch.arange(200) // 20
    events = Events.from_arrays(x, y, x * 0, x * 0, (10, 20))
    corners = set()
    for seed in range(30):
        made = T.DropArea(0.3)(events, seed=seed)
        left = torch.ones(10, 20, dtype=torch.bool)
        left[made.y.long(), made.x.long()] = False
        rows, columns = left.nonzero().unbind(1)
        assert len(rows) == 3 * 6
        assert (int(rows.max() - rows.min()), int(columns.max() - columns.min())) == (2, 5)
        corners.add((int(rows.min()), int(columns.min())))
    assert len(corners) > 20


def test_event_drop_takes_each_of_its_four():
    batch = EventBatch.pack([random_batch([300], (20, 20))[0]] * 200)
    made = T.event_drop()(batch, seed=0)
    same = sum(len(sample) == 300 for sample in made)
    assert 25 < same < 80


def test_noise_adds_the_expected_number_everywhere_and_keeps_the_rest():
    events = Events.from_arrays([0, 9], [0, 9], [0, 1_000_000], [1, 0], (10, 10))
    batch = EventBatch.pack([events] * 20)
    made = T.BackgroundNoise(2.505)(batch, seed=0)
    checked(made)
    added = made.lengths - 2
    assert set(added.tolist()) == {250, 251}
    assert all(is_part(events, sample) for sample in made)
    pixels = torch.bincount(made.y.long() * 10 + made.x, minlength=100)
    assert pixels.min() > 20
    assert abs(float(made.p.float().mean()) - 0.5) < 0.03
    assert float((made.t.float() / 1e6).mean()) == pytest.approx(0.5, abs=0.03)


def test_noise_needs_time_to_happen_in():
    still = Events.from_arrays([0, 1], [0, 0], [5, 5], [1, 1], (2, 2))
    assert len(T.BackgroundNoise(1e6)(still, seed=0)) <= 3
    assert T.BackgroundNoise(0)(TEN, seed=0) == TEN


def test_noise_at_the_same_time_comes_after_what_was_there():
    dense = Events.from_arrays(range(4), [0] * 4, [0, 1, 1, 2], [1] * 4, (1, 4))
    made = T.BackgroundNoise(1e6)(dense, seed=0)
    here = made.between(1, 2)
    assert here.x.tolist()[:2] == [1, 2]
    assert len(made) == 12
