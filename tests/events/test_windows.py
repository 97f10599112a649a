import pickle

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from evsurf.events import EventBatch, Events
from tests.events.strategies import MAX_TIME, MIN_TIME, recordings
from tests.random_events import event_batches

TIMES = [10, 25, 25, 40, 90]


@pytest.fixture
def events():
    return Events.from_arrays([3, 0, 1, 1, 2], [1, 1, 0, 0, 1], TIMES, [1, 0, 1, 1, 0], (2, 4))


def times(windows) -> list[list[int]]:
    return [window.t.tolist() for window in windows]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"duration": 15}, [[10], [25, 25], [40], [], [], [90]]),
        ({"duration": 16}, [[10, 25, 25], [40], [], [], [], [90]]),
        ({"duration": 100}, [TIMES]),
        ({"duration": 30, "stride": 40}, [[10, 25, 25], [], [90]]),
        ({"duration": 30, "stride": 20}, [[10, 25, 25], [40], [], [90], [90]]),
        ({"duration": 40, "start": 0}, [[10, 25, 25], [40], [90]]),
        ({"duration": 40, "start": 41}, [[], [90]]),
        ({"duration": 40, "start": 91}, []),
        ({"duration": 40, "partial": False}, [[10, 25, 25, 40], []]),
        ({"duration": 81, "partial": False}, [TIMES]),
        ({"duration": 82, "partial": False}, []),
        ({"count": 2}, [[10, 25], [25, 40]]),
        ({"count": 2, "partial": True}, [[10, 25], [25, 40], [90]]),
        ({"count": 3, "stride": 1}, [[10, 25, 25], [25, 25, 40], [25, 40, 90]]),
        ({"count": 1, "stride": 3}, [[10], [40]]),
        ({"count": 6}, []),
        ({"count": 6, "partial": True}, [TIMES]),
        ({"at": [(10, 25), (25, 26), (0, 1000), (50, 50)]}, [[10], [25, 25], TIMES, []]),
        ({"at": [91, 25, 0], "duration": 51}, [[40, 90], [10], []]),
        ({"at": []}, []),
        ({"at": [], "duration": 5}, []),
    ],
)
def test_windows_worked_by_hand(events, options, expected):
    windows = events.windows(**options)
    assert times(windows) == expected
    assert len(windows) == len(expected)
    assert [windows[k].t.tolist() for k in range(len(windows))] == expected


def test_windows_are_views_of_the_recording(events):
    window = events.windows(duration=30)[0]
    assert window.t.data_ptr() == events.t.data_ptr()
    assert window.size == events.size
    assert window == events[:3]


def test_a_recording_of_nothing_has_no_windows_unless_they_are_listed():
    nothing = Events.empty((2, 4))
    assert len(nothing.windows(duration=5)) == 0
    assert len(nothing.windows(duration=5, start=-7)) == 0
    assert len(nothing.windows(count=5, partial=True)) == 0
    assert times(nothing.windows(at=[(0, 5), (5, 9)])) == [[], []]


def test_windows_count_from_the_end_and_slice_as_lists(events):
    windows = events.windows(duration=15)
    assert windows[-1].t.tolist() == [90]
    assert times(windows[1:3]) == [[25, 25], [40]]
    assert windows.bounds(-1) == (85, 100)
    assert events.windows(count=2).bounds(1) == (2, 4)
    with pytest.raises(IndexError, match=r"windows\[6\] does not exist: there are 6"):
        windows[6]


def test_windows_go_to_workers_and_into_a_loader(events):
    windows = pickle.loads(pickle.dumps(events.windows(duration=15)))
    loader = torch.utils.data.DataLoader(windows, batch_size=3, collate_fn=EventBatch.pack)
    assert [batch.lengths.tolist() for batch in loader] == [[1, 2, 1], [0, 0, 1]]


def test_stamps_may_be_arrays_or_tensors(events):
    for stamps in (np.array([91, 25], np.uint32), torch.tensor([91, 25]), (91.0, 25.0)):
        assert times(events.windows(at=stamps, duration=51)) == [[40, 90], [10]]


def test_more_windows_than_one_block_are_the_same_as_each_alone():
    t = torch.arange(0, 30_000, 3)
    events = Events.from_arrays(t * 0, t * 0, t, t * 0, (1, 1))
    windows = events.windows(duration=4)
    assert len(windows) == 7500
    found = times(windows)
    assert found == [
        list(range(k * 4 + -k * 4 % 3, min(k * 4 + 4, 30_000), 3)) for k in range(7500)
    ]


def test_windows_at_the_ends_of_time_do_not_wrap_around():
    events = Events.from_arrays([0, 0], [0, 0], [MIN_TIME, MAX_TIME], [1, 1], (1, 1))
    assert times(events.windows(duration=2**62 - 1)) == [[MIN_TIME], [], [MAX_TIME]]
    assert times(events.windows(duration=1, at=[MAX_TIME, MIN_TIME])) == [[], []]
    far = events.windows(duration=1)
    assert events.windows(duration=1).bounds(0) == (MIN_TIME, MIN_TIME + 1)
    assert next(iter(far)).t.tolist() == [MIN_TIME]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "one of duration .* count .* or at"),
        ({"duration": 5, "count": 5}, "one of duration .* count .* or at"),
        ({"duration": 0}, "duration = 0 must be at least 1"),
        ({"duration": 2**62}, "below 2\\*\\*62"),
        ({"count": -1}, "count = -1 must be at least 1"),
        ({"duration": 5, "stride": 0}, "stride = 0 must be at least 1"),
        ({"count": 5, "start": 0}, "start is a time"),
        ({"at": [(0, 1)], "count": 5}, "count does not go with at"),
        ({"at": [(0, 1)], "stride": 5}, "stride does not go with at"),
        ({"at": [1, 2]}, "at must be a list of \\(start, stop\\).*duration"),
        ({"at": [(1, 2)], "duration": 5}, "must be a list of times"),
        ({"at": [(0, 1), (5, 4)]}, r"at\[1\] = \(5, 4\) stops before it starts"),
        ({"at": [2**63 - 1], "duration": 5}, "beyond 2\\*\\*62"),
        ({"duration": 5, "start": 2**63}, "start = 9223372036854775808 must be"),
    ],
)
def test_wrong_arguments_are_refused(events, options, message):
    with pytest.raises(ValueError, match=message):
        events.windows(**options)


def test_windows_of_a_batch_reach_the_end_of_time():
    events = Events.from_arrays([0, 0], [0, 0], [MIN_TIME, MAX_TIME], [1, 1], (1, 1))
    windows = EventBatch.pack([events]).windows(duration=2**62 - 1)
    assert [window.num_events for window in windows] == [1, 0, 1]


def test_floats_are_no_durations(events, own_errors):
    with pytest.raises(TypeError, match="duration must be an int"):
        events.windows(duration=0.02)


@given(recordings(), st.integers(1, 12), st.integers(1, 12), st.integers(-3, 12) | st.none())
def test_windows_of_time_are_what_between_gives(events, duration, stride, start):
    origin = start if start is not None or not len(events) else int(events.t[0])
    windows = events.windows(duration=duration, stride=stride, start=start)
    for k in range(min(len(windows), 20)):
        begin = origin + k * stride
        assert windows[k] == events.between(begin, begin + duration)
        assert windows.bounds(k) == (begin, begin + duration)
    if len(windows):
        assert windows.bounds(len(windows) - 1)[0] <= int(events.t[-1])


@given(recordings(), st.integers(1, 8))
def test_windows_without_stride_hold_every_event_once(events, count):
    joined = [t for window in times(events.windows(count=count, partial=True)) for t in window]
    assert joined == events.t.tolist()
    if events.duration < 1000:
        joined = [t for window in times(events.windows(duration=count)) for t in window]
        assert joined == events.t.tolist()


def test_a_batch_gives_the_same_window_of_every_sample(events, device):
    late = Events.from_arrays([0, 0], [0, 0], [1000, 1020], [1, 0], (2, 4))
    batch = EventBatch.pack([events, Events.empty((2, 4)), late]).to(device)
    windows = batch.windows(duration=15)
    assert len(windows) == 6
    assert [[sample.t.tolist() for sample in window] for window in windows][:3] == [
        [[10], [], [1000]],
        [[25, 25], [], [1020]],
        [[40], [], []],
    ]
    assert [window.lengths.tolist() for window in batch.windows(count=2, partial=True)] == [
        [2, 0, 2],
        [2, 0, 0],
        [1, 0, 0],
    ]
    assert batch.windows(at=[(0, 16)])[0].lengths.tolist() == [3, 0, 1]
    assert [window.lengths.tolist() for window in batch.windows(count=2)] == [[2, 0, 2], [2, 0, 0]]
    full = batch.windows(duration=21, partial=False)
    assert [window.lengths.tolist() for window in full] == [[3, 0, 2], [1, 0, 0], [0, 0, 0]]
    # As the docstring says.
    whole = EventBatch.pack(part for window in windows for part in window)
    assert len(whole) == 18


@given(
    event_batches(),
    st.sampled_from(
        [
            {"duration": 3},
            {"duration": 5, "stride": 2},
            {"duration": 2, "stride": 3, "start": 1},
            {"count": 2},
            {"duration": 5, "partial": False},
            {"duration": 900},
            {"count": 3, "stride": 1, "partial": True},
            {"count": 3, "stride": 4, "partial": True},
        ]
    ),
)
def test_a_sample_has_the_windows_it_has_alone(batch, options):
    # One as long as all time counts one microsecond less in a batch.
    assume(all(sample.duration < 2**63 - 1 for sample in batch))
    windows = batch.windows(**options)
    found = [windows[k] for k in range(min(len(windows), 12))]
    for i, sample in enumerate(batch):
        start = (
            {"start": options["start"] + int(sample.t[0])}
            if "start" in options and len(sample)
            else {}
        )
        alone = sample.windows(**options | start)
        assert len(alone) <= len(windows)
        for k, window in enumerate(found):
            assert window[i] == (alone[k] if k < len(alone) else sample[:0])


def test_a_batch_of_no_samples_or_no_events_has_no_windows():
    nothing = EventBatch.pack([], size=(2, 4))
    assert list(nothing.windows(duration=5)) == []
    assert list(EventBatch.pack([Events.empty((2, 4))]).windows(count=5, partial=True)) == []
    assert len(nothing.windows(at=[(0, 5)])[0]) == 0


def test_the_printed_form_says_how_many_and_of_what(events):
    assert repr(events.windows(duration=15, stride=5)) == (
        "Windows(17 of Events(5 events, 2x4, 80 us, 60% ON, cpu): 15 us, 5 us apart)"
    )
    assert "2 events" in repr(events.windows(count=2))
    assert "at given times" in repr(events.windows(at=[(0, 5)]))
