import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evsurf.events import Events
from tests.events.strategies import MAX_TIME, MIN_TIME, recordings

# Five events of a sensor of 2 rows and 4 columns; two of them at the same time.
X, Y, T, P, SIZE = [3, 0, 1, 1, 2], [1, 1, 0, 0, 1], [10, 25, 25, 40, 90], [1, 0, 1, 1, 0], (2, 4)


@pytest.fixture
def events():
    return Events.from_arrays(X, Y, T, P, SIZE)


def _columns(events: Events) -> tuple[list[int], ...]:
    return tuple(getattr(events, name).tolist() for name in "xytp")


def test_the_constructor_keeps_the_tensors_it_is_given():
    x, y = torch.tensor([3, 0]).short(), torch.tensor([1, 1]).short()
    t, p = torch.tensor([10, 25]), torch.tensor([True, False])
    events = Events(x, y, t, p, (2, 4))
    assert events.x is x
    assert events.y is y
    assert events.t is t
    assert events.p is p
    assert events.size == (2, 4)


def test_length_is_the_number_of_events(events):
    assert len(events) == 5
    assert len(Events.empty(SIZE)) == 0


def test_an_empty_recording_has_the_same_types():
    empty = Events.empty((3, 7))
    assert empty.size == (3, 7)
    assert [v.dtype for v in (empty.x, empty.y, empty.t, empty.p)] == [
        torch.int16,
        torch.int16,
        torch.int64,
        torch.bool,
    ]


def test_a_slice_takes_a_range_of_events(events):
    assert _columns(events[1:3]) == ([0, 1], [1, 0], [25, 25], [False, True])
    assert events[1:3].size == SIZE


def test_a_slice_counts_from_the_end_and_stops_at_it(events):
    assert events[-2:].t.tolist() == [40, 90]
    assert len(events[7:]) == 0
    assert len(events[3:1]) == 0


def test_a_slice_shares_memory(events):
    assert events[2:].t.data_ptr() == events.t[2:].data_ptr()


def test_a_slice_with_a_step_is_contiguous(events):
    thinned = events[::2]
    assert thinned.t.tolist() == [10, 25, 90]
    assert all(v.is_contiguous() for v in (thinned.x, thinned.y, thinned.t, thinned.p))


@pytest.mark.parametrize("step", [0, -1])
def test_a_slice_backwards_is_refused(events, step):
    with pytest.raises(ValueError, match=rf"step = {step} must be positive.*sorted by time"):
        events[::step]


def test_a_mask_keeps_the_events_where_it_is_true(events):
    assert _columns(events[events.x < 2]) == ([0, 1, 1], [1, 0, 0], [25, 25, 40], [0, 1, 1])


def test_a_mask_may_keep_nothing(events):
    assert events[events.x > 3] == Events.empty(SIZE)


def test_a_mask_of_another_length_is_refused(events):
    with pytest.raises(ValueError, match=r"a mask must .* shape \(5,\), got shape \(4,\)"):
        events[torch.ones(4, dtype=torch.bool)]


@pytest.mark.parametrize("index", [2, np.int64(2)])
def test_one_event_by_number_is_refused_with_the_slice_to_write(events, index, own_errors):
    with pytest.raises(TypeError, match=r"events\[2\] is one event.*use events\[2:3\]"):
        events[index]


@pytest.mark.parametrize(
    ("index", "found"), [(torch.tensor([0, 1]), "torch.int64"), ([0, 1], "list"), ("x", "str")]
)
def test_other_indices_are_refused(events, index, found, own_errors):
    with pytest.raises(TypeError, match=f"by a slice or by a tensor of bools, got {found}"):
        events[index]


def test_between_is_closed_at_the_start_and_open_at_the_end(events):
    assert events.between(25, 40).t.tolist() == [25, 25]
    assert events.between(26, 41).t.tolist() == [40]
    assert events.between(11, 90).t.tolist() == [25, 25, 40]


def test_between_may_find_nothing(events):
    assert len(events.between(40, 40)) == 0
    assert len(events.between(-9, 10)) == 0
    assert len(events.between(91, 99)) == 0
    assert len(Events.empty(SIZE).between(0, 9)) == 0


def test_between_takes_any_python_int(events):
    assert events.between(-(10**30), 10**30) == events


def test_between_reaches_the_last_legal_time():
    ends = Events.from_arrays([0, 0], [0, 0], [MIN_TIME, MAX_TIME], [0, 1], (1, 1))
    assert ends.between(MIN_TIME, MAX_TIME).t.tolist() == [MIN_TIME]
    assert ends.between(MAX_TIME, MAX_TIME + 1).t.tolist() == [MAX_TIME]


def test_between_refuses_a_window_that_ends_before_it_starts(events):
    with pytest.raises(ValueError, match="t0 = 9 is after t1 = 4"):
        events.between(9, 4)


def test_between_refuses_fractions(events, own_errors):
    with pytest.raises(TypeError, match=r"t1 must be an int \(microseconds\), got 0.5"):
        events.between(0, 0.5)


def test_crop_moves_the_corner_to_the_origin(events):
    cropped = events.crop(top=0, left=1, height=2, width=2)
    assert _columns(cropped) == ([0, 0, 1], [0, 0, 1], [25, 40, 90], [True, True, False])
    assert cropped.size == (2, 2)
    assert cropped.x.dtype == torch.int16


def test_crop_to_the_whole_sensor_changes_nothing(events):
    assert events.crop(0, 0, *SIZE) == events


def test_crop_works_at_the_far_corner_of_the_largest_sensor():
    size = (32767, 32767)
    events = Events.from_arrays([32766, 0], [32766, 0], [0, 1], [1, 1], size)
    assert _columns(events.crop(32766, 32766, 1, 1)) == ([0], [0], [0], [True])


@pytest.mark.parametrize(
    "rectangle", [(0, 0, 3, 4), (0, 0, 2, 5), (1, 0, 2, 4), (-1, 0, 2, 4), (0, 0, 0, 4)]
)
def test_crop_outside_the_sensor_is_refused(events, rectangle):
    top, left, height, width = rectangle
    with pytest.raises(
        ValueError,
        match=f"top = {top}, left = {left}, height = {height}, width = {width} must "
        "lie inside the sensor of height 2 and width 4",
    ):
        events.crop(top, left, height, width)


def test_crop_refuses_fractions(events, own_errors):
    with pytest.raises(TypeError, match=r"left must be an int \(pixels\), got 1.0"):
        events.crop(0, 1.0, 1, 1)


def test_duration_is_the_last_time_less_the_first(events):
    assert events.duration == 80
    assert events[:1].duration == 0
    assert Events.empty(SIZE).duration == 0


def test_duration_is_exact_over_the_whole_range_of_times():
    ends = Events.from_arrays([0, 0], [0, 0], [MIN_TIME, MAX_TIME], [0, 1], (1, 1))
    assert ends.duration == 2**63 - 1
    assert int(ends.t[1] - ends.t[0]) == 2**63 - 1


def test_numpy_gives_the_documented_record(events):
    array = events.numpy()
    assert array.dtype == np.dtype([("x", "<i2"), ("y", "<i2"), ("t", "<i8"), ("p", "?")])
    assert array.tolist()[:2] == [(3, 1, 10, True), (0, 1, 25, False)]


def test_numpy_is_a_copy(events):
    events.numpy()["t"][:] = -1
    assert events.t.tolist() == T


@given(recordings())
def test_numpy_and_back_changes_nothing(events):
    assert Events.from_numpy(events.numpy(), events.size) == events


@given(recordings(), st.slices(20))
def test_slices_agree_with_numpy(events, where):
    if where.step is None or where.step > 0:
        assert events[where].numpy().tolist() == events.numpy()[where].tolist()


@given(recordings(), st.data())
def test_masks_agree_with_numpy(events, data):
    mask = data.draw(st.lists(st.booleans(), min_size=len(events), max_size=len(events)))
    mask = torch.tensor(mask, dtype=torch.bool)
    assert events[mask].numpy().tolist() == events.numpy()[mask.numpy()].tolist()


@given(recordings(), st.integers(MIN_TIME, MAX_TIME))
def test_a_recording_cut_in_time_has_all_of_its_events_once(events, cut):
    before, after = events.between(MIN_TIME, cut), events.between(cut, MAX_TIME + 1)
    assert before.numpy().tolist() + after.numpy().tolist() == events.numpy().tolist()


@pytest.mark.parametrize(
    ("t", "text"),
    [
        ([0, 999], "Events(2 events, 100x120, 999 us, 50% ON, cpu)"),
        ([0, 99_950], "Events(2 events, 100x120, 99.95 ms, 50% ON, cpu)"),
        ([0, 12_345_678], "Events(2 events, 100x120, 12.35 s, 50% ON, cpu)"),
        ([5], "Events(1 event, 100x120, 0 us, 100% ON, cpu)"),
        ([], "Events(0 events, 100x120, cpu)"),
        (range(4096), "Events(4,096 events, 100x120, 4.09 ms, 50% ON, cpu)"),
    ],
)
def test_the_printed_form_shows_counts_not_numbers(t, text):
    n = len(t)
    p = [i % 2 == 0 for i in range(n)]
    assert repr(Events.from_arrays([0] * n, [0] * n, list(t), p, (100, 120))) == text


def test_events_are_not_iterable(events, own_errors):
    with pytest.raises(TypeError, match="is one event"):
        next(iter(events))
