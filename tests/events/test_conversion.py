from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evsurf.events import Events
from tests.events.strategies import recordings

SIZE = (3, 300)
WIDTHS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]


def _from(
    x: Any = (0, 1),
    y: Any = (0, 1),
    t: Any = (0, 1),
    p: Any = (0, 1),
    size: tuple[int, int] = SIZE,
    **options: bool,
) -> Events:
    return Events.from_arrays(x, y, t, p, size, **options)


def _types(events: Events) -> list[torch.dtype]:
    return [v.dtype for v in (events.x, events.y, events.t, events.p)]


EXACT = [torch.int16, torch.int16, torch.int64, torch.bool]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", [np.asarray, torch.as_tensor])
def test_integers_of_every_width_become_the_exact_types(width, kind):
    wide, small = (kind(np.array(values, width)) for values in ([0, 1, 100], [0, 1, 1]))
    events = _from(wide, small, wide, small)
    assert _types(events) == EXACT
    assert events.x.tolist() == events.t.tolist() == [0, 1, 100]
    assert events.y.tolist() == [0, 1, 1]
    assert events.p.tolist() == [False, True, True]


def test_lists_and_ranges_are_accepted():
    events = _from([0, 1, 2], range(3), (5, 5, 6), [True, False, True])
    assert _types(events) == EXACT
    assert events.t.tolist() == [5, 5, 6]


def test_empty_lists_give_an_empty_recording():
    assert _from([], [], [], []) == Events.empty(SIZE)


def test_arrays_of_the_other_byte_order_keep_their_values():
    values = np.array([0, 258], ">i4")
    assert _from(x=values, t=values.astype(">i8")).x.tolist() == [0, 258]


@pytest.mark.parametrize("step", [2, -2])
def test_strided_arrays_keep_their_values(step):
    values = np.array([1, 9, 2, 9, 0], np.int16)[::step]
    events = _from(values, values, [0, 1, 2], [1, 1, 1])
    assert events.x.tolist() == values.tolist()


def test_read_only_arrays_are_accepted():
    values = np.array([0, 1], np.int16)
    values.flags.writeable = False
    assert _from(x=values, y=values).x.tolist() == [0, 1]


def test_tensors_of_the_right_type_are_shared():
    t = torch.tensor([3, 4])
    assert _from(t=t).t.data_ptr() == t.data_ptr()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.array([0, 65535], np.uint16), r"x\[1\] = 65535 is outside the sensor"),
        (np.array([0, 2**32 - 1], np.uint32), r"x\[1\] = 4294967295 is outside the sensor"),
        (np.array([2**16, 0], np.int64), r"x\[0\] = 65536 is outside the sensor"),
        (np.array([0, 2**64 - 1], np.uint64), r"x\[1\] = 18446744073709551615 does not fit"),
        (np.array([-1, 0], np.int8), r"x\[0\] = -1 is outside the sensor"),
        (np.array([0, -(2**63)], np.int64), r"x\[1\] = -9223372036854775808 is outside"),
    ],
)
@pytest.mark.parametrize("kind", [np.asarray, torch.as_tensor])
def test_values_are_judged_before_they_are_narrowed(values, message, kind):
    with pytest.raises(ValueError, match=message):
        _from(x=kind(values))


def test_a_narrow_type_is_compared_with_a_wide_sensor():
    assert _from(x=np.array([0, 255], np.uint8)).x.tolist() == [0, 255]
    with pytest.raises(ValueError, match=r"x\[1\] = 255 is outside"):
        _from(x=np.array([0, 255], np.uint8), size=(3, 255))


def test_unsigned_times_beyond_the_range_are_refused():
    with pytest.raises(ValueError, match=r"t\[1\] = 9223372036854775808 does not fit in int64"):
        _from(t=np.array([0, 2**63], np.uint64))
    with pytest.raises(ValueError, match=r"t\[1\] = 4611686018427387905 is outside the range"):
        _from(t=np.array([0, 2**62 + 1], np.uint64))


def test_times_keep_all_of_their_bits():
    t = [2**62 - 1, 2**62]
    assert _from(t=t).t.tolist() == t
    assert _from(t=np.array(t, np.uint64)).t.tolist() == t


def test_floats_that_hold_whole_numbers_are_accepted():
    events = _from(x=[0.0, 299.0], y=np.array([0, 2], np.float16), t=torch.tensor([0.0, 2.0**40]))
    assert events.x.tolist() == [0, 299]
    assert events.t.tolist() == [0, 2**40]


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("t", [0.0, float("nan")], r"t\[1\] = nan is not a number that an event can have"),
        ("t", [float("inf"), 0.0], r"t\[0\] = inf is not"),
        ("t", [0.0, 0.25], r"t\[1\] = 0\.25 has a fraction. Times are whole microseconds.*1e6"),
        ("t", [0.0, 2.0**63], r"t\[1\] = 9\.22\S+ does not fit in int64"),
        ("t", [0.0, -(2.0**62)], r"t\[1\] = -4611686018427387904 is outside the range"),
        ("x", [0.0, 1.5], r"x\[1\] = 1\.5 has a fraction. Coordinates are whole pixels"),
        ("y", [-float("inf"), 0.0], r"y\[0\] = -inf is not"),
        ("x", [0.0, 1e30], r"x\[1\] = 1e\+30 does not fit"),
    ],
)
def test_other_floats_are_refused(name, values, message):
    with pytest.raises(ValueError, match=message):
        _from(**{name: values})


@pytest.mark.parametrize(
    ("name", "values", "found"),
    [
        ("x", [True, False], "torch.bool"),
        ("t", [1j, 2j], "complex128"),
        ("t", torch.tensor([1j, 2j]), "torch.complex64"),
        ("y", ["0", "1"], "<U1"),
        ("p", [None, 1], "object"),
        ("t", np.array([1, 2], "timedelta64[us]"), "timedelta64"),
        ("t", [10**30, 0], "object"),
    ],
)
def test_values_that_are_no_numbers_are_refused(name, values, found, own_errors):
    with pytest.raises(TypeError, match=f"{name} must hold .*, got dtype {found}"):
        _from(**{name: values})


@pytest.mark.parametrize(
    "values",
    [
        [False, True, True],
        [0, 1, 1],
        [-1, 1, 1],
        [-1.0, 1.0, 1.0],
        np.array([0, 1, 1], np.uint8),
        np.array([-1, 1, 1], np.int8),
        torch.tensor([-1, 1, 1]),
    ],
    ids=str,
)
def test_polarities_are_bools_or_zero_one_or_signs(values):
    events = _from([0] * 3, [0] * 3, [0] * 3, values)
    assert events.p.tolist() == [False, True, True]


@pytest.mark.parametrize("value", [0, -1])
def test_polarities_may_all_be_off(value):
    assert _from(p=[value, value]).p.tolist() == [False, False]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0, 2], r"p\[1\] = 2 is no polarity: p must be bool, 0 and 1, or -1 and 1"),
        ([-2, 1], r"p\[0\] = -2 is no polarity"),
        ([1.0, 0.5], r"p\[1\] = 0\.5 is no polarity"),
        ([float("nan"), 1], r"p\[0\] = nan is no polarity"),
        (np.array([1, 255], np.uint8), r"p\[1\] = 255 is no polarity.*unsigned"),
        (np.array([1, 2**64 - 1], np.uint64), r"p\[1\] = 18446744073709551615"),
    ],
)
def test_other_polarities_are_refused(values, message):
    with pytest.raises(ValueError, match=message):
        _from(p=values)


def test_polarities_of_both_notations_are_refused():
    with pytest.raises(ValueError, match=r"p\[2\] = 0 and p\[1\] = -1: .*unclear what 0 stands"):
        _from([0] * 3, [0] * 3, [0] * 3, [1, -1, 0])


def test_sorting_keeps_the_order_of_events_at_the_same_time():
    events = _from([0, 1, 2, 3], [0, 1, 2, 0], [7, 5, 7, 5], [1, 0, 0, 1], sort=True)
    assert events.t.tolist() == [5, 5, 7, 7]
    assert events.x.tolist() == [1, 3, 0, 2]
    assert events.y.tolist() == [1, 0, 0, 2]
    assert events.p.tolist() == [False, True, True, False]


def test_unsorted_times_are_refused_unless_sorting():
    with pytest.raises(ValueError, match=r"t\[1\] = 1 is earlier than t\[0\] = 2.*sort=True"):
        _from(t=[2, 1])


def test_sorting_does_not_hide_a_wrong_value():
    with pytest.raises(ValueError, match=r"x\[1\] = 300 is outside"):
        _from(x=[0, 300], t=[2, 1], sort=True)
    with pytest.raises(ValueError, match=r"t\[0\] = 4611686018427387905 is outside the range"):
        _from(t=[2**62 + 1, 0], sort=True)


def test_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="one entry per event each, got x: 3, y: 2, t: 2, p: 2"):
        _from(x=[0, 0, 0])


@pytest.mark.parametrize("values", [3, [[0, 1]]])
def test_more_or_fewer_dimensions_are_refused(values, own_errors):
    with pytest.raises(ValueError, match="t must have one dimension"):
        _from(t=values)


@pytest.mark.parametrize(
    "dtype",
    [
        [("x", "u2"), ("y", "u2"), ("t", "i8"), ("p", "?")],
        [("t", "u8"), ("x", "i4"), ("y", "i4"), ("p", "i1")],
        [("timestamp", "i8"), ("x", "u2"), ("y", "u2"), ("polarity", "u1")],
        [("p", "i8"), ("ts", "f8"), ("y", "u1"), ("x", "u2")],
        [("pad", "i1"), ("x", ">u2"), ("y", ">u2"), ("timestamps", ">u4"), ("pol", "?")],
    ],
    ids=str,
)
def test_structured_arrays_of_other_libraries_are_read(dtype):
    array = np.zeros(3, dtype)
    names = array.dtype.names or ()
    t = next(name for name in names if name.startswith("t"))
    p = next(name for name in names if name in ("p", "pol", "polarity"))
    array["x"], array["y"], array[t], array[p] = [5, 0, 299], [0, 2, 1], [7, 7, 9], [1, 0, 1]
    events = Events.from_numpy(array, SIZE)
    assert _types(events) == EXACT
    assert events == _from([5, 0, 299], [0, 2, 1], [7, 7, 9], [1, 0, 1])


def test_structured_arrays_are_sorted_on_demand():
    array = np.array([(1, 1, 9, True), (2, 2, 3, False)], [(n, "i8") for n in "xytp"])
    assert Events.from_numpy(array, SIZE, sort=True).t.tolist() == [3, 9]
    with pytest.raises(ValueError, match=r"t\[1\] = 3 is earlier"):
        Events.from_numpy(array, SIZE)


def test_a_missing_field_is_named_beside_those_found():
    array = np.zeros(3, [("x", "i2"), ("y", "i2"), ("time", "i8"), ("p", "?")])
    with pytest.raises(
        ValueError, match=r"no field for t \(t or ts or .*its fields are x, y, time, p"
    ):
        Events.from_numpy(array, SIZE)


@pytest.mark.parametrize(
    ("value", "found"),
    [(np.zeros((3, 4)), r"dtype float64 and shape \(3, 4\)"), ([1, 2], "list")],
)
def test_what_is_no_structured_array_is_refused(value, found, own_errors):
    with pytest.raises(TypeError, match=rf"structured_array must be .* got .*{found}.*from_arrays"):
        Events.from_numpy(value, SIZE)


@given(recordings(), st.sampled_from(["i8", "u8", "f8", "i4", "u4"]))
def test_any_type_that_holds_the_values_gives_the_same_events(events, width):
    array = events.numpy()
    t = array["t"].astype(width)
    if [int(v) for v in t.tolist()] == array["t"].tolist():
        x, y, p = (array[name].astype(width) for name in "xyp")
        assert Events.from_arrays(x, y, t, p, events.size) == events


@given(recordings(), st.randoms(use_true_random=False))
def test_sorting_a_shuffled_recording_sorts_as_python_does(events, random):
    rows = events.numpy().tolist()
    random.shuffle(rows)
    x, y, t, p = zip(*rows, strict=True) if rows else ((), (), (), ())
    again = Events.from_arrays(x, y, t, p, events.size, sort=True)
    assert again.numpy().tolist() == sorted(rows, key=lambda row: row[2])
