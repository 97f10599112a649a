import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evsurf.data import transforms as T
from evsurf.data.transforms.time import sorted_by_time
from evsurf.data.transforms.transform import as_batch, changed
from evsurf.events import EventBatch, Events
from tests.data.transforms.strategies import checked
from tests.events.strategies import MAX_TIME, MIN_TIME, recordings
from tests.random_events import event_batches

EVENTS = Events.from_arrays([0, 1, 2, 3], [0, 0, 0, 0], [100, 105, 105, 120], [1, 0, 1, 1], (1, 4))


@pytest.mark.parametrize(
    ("made", "times"),
    [
        (T.time_window(EVENTS, 5, 19), [105, 105]),
        (T.time_window(EVENTS, 0, 5), [100, 105, 105]),
        (T.time_window(EVENTS, 6), [120]),
        (T.time_window(EVENTS, 30), []),
        (T.remove_offset(EVENTS), [0, 5, 5, 20]),
        (T.reverse_time(EVENTS), [100, 115, 115, 120]),
        (T.TimeWindow(5, 20)(EVENTS), [105, 105, 120]),
    ],
)
def test_times_worked_by_hand(made, times):
    assert made.t.tolist() == times
    checked(made)


def test_reversal_turns_order_and_polarity():
    back = T.reverse_time(EVENTS)
    assert back.x.tolist() == [3, 2, 1, 0]
    assert back.p.tolist() == [False, False, True, False]


@given(recordings())
def test_reversing_or_flipping_twice_gives_the_same(events):
    assert T.reverse_time(T.reverse_time(events)) == events
    assert T.flip_polarity(T.flip_polarity(events)) == events
    back = T.reverse_time(events)
    checked(back)
    assert back.duration == events.duration
    assert int(back.p.sum()) == len(events) - int(events.p.sum())


@given(recordings())
def test_without_offset_only_the_origin_changes(events):
    made = T.remove_offset(events)
    checked(made)
    if len(events) and events.duration <= MAX_TIME:
        assert made.t.tolist() == [int(t) - int(events.t[0]) for t in events.t]


def test_the_longest_recording_loses_its_offset_within_the_range_of_times():
    events = Events.from_arrays([0, 0, 0], [0] * 3, [MIN_TIME, 0, MAX_TIME], [1, 1, 1], (1, 1))
    checked(T.remove_offset(events))
    assert T.reverse_time(events).t.tolist() == [MIN_TIME, 1, MAX_TIME]
    assert T.TimeJitter(2**40)(events, seed=0).t.tolist()[0] >= MIN_TIME


def durations(transform, events, draws=300) -> set[tuple[int, int]]:
    made = transform(EventBatch.pack([events] * draws), seed=0)
    return {(int(s.t[0]), int(s.t[-1])) for s in made if len(s)}


def test_random_windows_have_every_duration_and_with_a_random_start_every_place():
    ticks = Events.from_arrays([0] * 10, [0] * 10, range(50, 60), [1] * 10, (1, 1))
    prefixes = T.RandomTimeWindow(2, 4)
    assert durations(prefixes, ticks) == {(50, 52), (50, 53), (50, 54)}
    anywhere = T.RandomTimeWindow(7, 7, random_start=True)
    assert durations(anywhere, ticks) == {(50, 57), (51, 58), (52, 59)}
    assert durations(T.RandomTimeWindow(20, 30, random_start=True), ticks) == {(50, 59)}


@given(event_batches(max_events=8), st.integers(0, 5), st.integers(0, 9))
def test_jittered_times_are_sorted_and_near(batch, radius, seed):
    made = T.TimeJitter(radius)(batch, seed=seed)
    checked(made)
    assert torch.equal(made.offsets, batch.offsets)
    # Sorting moves no time further than the largest shift.
    within = (made.t - batch.t).abs() <= radius
    assert bool(within.all())
    if radius == 0:
        assert made == batch


@given(event_batches(max_events=8), st.integers(0, 9))
def test_sorting_keeps_events_of_one_time_in_their_order(batch, seed):
    generator = torch.Generator().manual_seed(seed)
    mixed = changed(batch, t=batch.t[torch.randperm(len(batch.t), generator=generator)])
    made = sorted_by_time(mixed)
    checked(made)
    for sample, wild in zip(made, mixed, strict=True):
        order = sorted(range(len(wild)), key=lambda i: int(wild.t[i]))
        assert sample == Events(*(getattr(wild, n)[order] for n in "xytp"), wild.size)


def test_shares_of_samples_are_reversed_and_flipped():
    batch = EventBatch.pack([EVENTS] * 200)
    for transform, whole in (
        (T.TimeReversal(0.5), T.reverse_time),
        (T.PolarityFlip(0.5), T.flip_polarity),
    ):
        made = list(transform(batch, seed=2))
        turned = made.count(whole(EVENTS))
        assert 70 < turned < 130
        assert made.count(EVENTS) == 200 - turned
    assert as_batch(EVENTS)[0] == EVENTS
