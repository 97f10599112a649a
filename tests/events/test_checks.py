import time
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evsurf.events import EventBatch, Events
from evsurf.events.checks import EARLIEST
from tests.random_events import event_batches

SIZE = (3, 5)


def _events(
    x: Any = (0, 1), y: Any = (0, 1), t: Any = (0, 1), size: Any = SIZE, **options: bool
) -> Events:
    return Events(
        torch.tensor(x, dtype=torch.int16),
        torch.tensor(y, dtype=torch.int16),
        torch.tensor(t, dtype=torch.int64),
        torch.ones(len(t), dtype=torch.bool),
        size,
        **options,
    )


def test_the_last_row_and_column_are_inside():
    assert len(_events(x=(4, 0), y=(2, 2))) == 2


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("x", (0, 5), r"x\[1\] = 5 is outside the sensor: x must be 0 to 4"),
        ("x", (-1, 0), r"x\[0\] = -1 is outside the sensor: x must be 0 to 4"),
        ("x", (0, -(2**15)), r"x\[1\] = -32768 is outside the sensor"),
        ("x", (0, 2**15 - 1), r"x\[1\] = 32767 is outside the sensor"),
        (
            "y",
            (3, 9),
            r"y\[0\] = 3 is outside the sensor: y must be 0 to 2 for height 3 and width 5",
        ),
        ("t", (5, 4), r"t\[1\] = 4 is earlier than t\[0\] = 5.*from_arrays\(\.\.\., sort=True\)"),
        ("t", (-(2**62), 0), r"t\[0\] = -4611686018427387904 is outside the range of times"),
        (
            "t",
            (0, 2**62 + 1),
            r"t\[1\] = 4611686018427387905 is outside .* -2\*\*62 \+ 1 to 2\*\*62",
        ),
        ("t", (-(2**63), 2**63 - 1), r"t\[0\] = -9223372036854775808 is outside"),
    ],
)
def test_a_wrong_value_is_named_with_its_place(name, values, message):
    with pytest.raises(ValueError, match=message):
        _events(**{name: values})


def test_times_at_both_ends_of_the_range_are_legal():
    assert _events(t=(-(2**62) + 1, 2**62)).t.tolist() == [-(2**62) + 1, 2**62]


def test_events_at_the_same_time_are_legal():
    assert len(_events(t=(7, 7))) == 2


def test_swapped_coordinates_are_recognised():
    with pytest.raises(ValueError, match=r"y\[1\] = 4 .*Likely x and y are swapped"):
        _events(x=(0, 2), y=(1, 4))


def test_coordinates_that_count_from_one_are_recognised():
    with pytest.raises(ValueError, match=r"x\[1\] = 5 .*count from 1: subtract 1"):
        _events(x=(1, 5), y=(1, 3))


def test_no_cause_is_guessed_without_evidence():
    with pytest.raises(ValueError, match=r"width 5\.$"):
        _events(x=(0, 9), y=(0, 9))


@pytest.mark.parametrize("name", ["x", "y", "t", "p"])
@pytest.mark.parametrize("validate", [True, False])
def test_a_wrong_dtype_is_named_beside_the_right_one(name, validate, own_errors):
    fields = dict.fromkeys("xy", torch.zeros(1).short())
    fields |= {"t": torch.zeros(1).long(), "p": torch.zeros(1).bool()}
    wanted = fields[name].dtype
    fields[name] = fields[name].float()
    with pytest.raises(
        TypeError, match=f"{name} must have dtype {wanted}, got torch.float32.*Events.from_arrays"
    ):
        Events(**fields, size=SIZE, validate=validate)


@pytest.mark.parametrize(("value", "kind"), [([0], "list"), (np.zeros(1, np.int16), "ndarray")])
def test_what_is_no_tensor_is_refused(value, kind, own_errors):
    x, t = torch.zeros(1).short(), torch.zeros(1).long()
    with pytest.raises(TypeError, match=f"y must be a tensor of dtype torch.int16, got {kind}"):
        Events(x, value, t, t.bool(), SIZE)


@pytest.mark.parametrize("validate", [True, False])
def test_more_than_one_dimension_is_refused(validate, own_errors):
    x, t = torch.zeros(2, 1).short(), torch.zeros(2).long()
    with pytest.raises(ValueError, match=r"x must have one dimension.*got shape \(2, 1\)"):
        Events(x, t.short(), t, t.bool(), SIZE, validate=validate)


@pytest.mark.parametrize("validate", [True, False])
def test_unequal_lengths_are_refused(validate, own_errors):
    with pytest.raises(ValueError, match="one entry per event each, got x: 3, y: 2, t: 2, p: 2"):
        _events(x=(0, 0, 0), validate=validate)


@pytest.mark.parametrize("validate", [True, False])
def test_several_devices_are_refused(validate):
    x, t = torch.zeros(1).short(), torch.zeros(1).long()
    with pytest.raises(ValueError, match="on one device, got x: cpu, y: cpu, t: meta, p: cpu"):
        Events(x, x, t.to("meta"), t.bool(), SIZE, validate=validate)
    with pytest.raises(ValueError, match="p: cpu, offsets: meta"):
        EventBatch(x, x, t, t.bool(), torch.zeros(2).long().to("meta"), SIZE, validate=validate)


def test_strided_tensors_become_contiguous():
    x = torch.tensor([0, 9, 1, 9], dtype=torch.int16)[::2]
    t = torch.arange(2)
    events = Events(x, x, t, t.bool(), SIZE)
    assert events.x.is_contiguous()
    assert events.x.tolist() == [0, 1]


def test_trusted_values_are_not_read():
    assert _events(x=(9, -9), t=(5, 4), validate=False).x.tolist() == [9, -9]


@pytest.mark.parametrize("size", [(1, 1), (32767, 32767), [3, 5], (np.int64(3), np.int32(5))])
def test_sizes_become_a_pair_of_ints(size, own_errors):
    made = Events.empty(size).size
    assert made == tuple(size)
    assert [type(side) for side in made] == [int, int]
    assert type(made) is tuple


@pytest.mark.parametrize("size", [(0, 5), (3, 0), (-1, 5), (3, 32768), (2**40, 5)])
def test_a_size_that_no_sensor_has_is_refused(size):
    with pytest.raises(ValueError, match=rf"size = \({size[0]}, {size[1]}\) .*from 1 to 32767"):
        _events(size=size, validate=False)


@pytest.mark.parametrize("size", [5, "35", (3,), (3, 5, 2), None])
def test_a_size_that_is_no_pair_is_refused(size, own_errors):
    with pytest.raises(TypeError, match=r"size must be \(height, width\) in pixels, got"):
        _events(size=size)


@pytest.mark.parametrize("size", [(3.0, 5), (3, "5"), (True, 5)])
def test_sides_that_are_no_ints_are_refused(size, own_errors):
    with pytest.raises(TypeError, match=r"size must be an int .* got"):
        _events(size=size)


@pytest.mark.parametrize("first", [0, 999_999])
def test_the_first_of_many_offenders_is_found(first):
    x = torch.zeros(1_000_000, dtype=torch.int16)
    x[first:] = 5
    t = torch.arange(len(x))
    with pytest.raises(ValueError, match=rf"x\[{first}\] = 5"):
        Events(x, torch.zeros_like(x), t, t.bool(), SIZE)


def test_a_million_events_are_checked_within_ten_milliseconds():
    t = torch.arange(1_000_000)
    x, p, offsets = (t % 5).short(), t.bool(), torch.arange(0, 1_000_001, 1000)
    y = torch.zeros_like(x)

    def seconds() -> float:
        start = time.process_time()
        EventBatch(x, y, t, p, offsets, SIZE)
        return time.process_time() - start

    # Time of one core, and the best of several: other work on the machine only ever adds.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        assert min(seconds() for _ in range(10)) < 0.01
    finally:
        torch.set_num_threads(threads)


@given(event_batches(), st.sampled_from(["x", "y"]), st.data())
def test_any_coordinate_off_the_sensor_is_named_with_its_sample(batch, name, data):
    if batch.num_events == 0:
        return
    side = batch.size[1 if name == "x" else 0]
    wrong = data.draw(st.sampled_from([-1, side, -(2**15), 2**15 - 1, -side]))
    i = data.draw(st.integers(0, batch.num_events - 1))
    fields = {field: getattr(batch, field).clone() for field in EventBatch.FIELDS}
    fields[name][i] = wrong
    sample = next(n for n, stop in enumerate(batch.offsets.tolist()[1:]) if i < stop)
    place = rf"{name}\[{i}\] \(in sample {sample}\) = {wrong} is outside the sensor"
    with pytest.raises(ValueError, match=place):
        EventBatch(**fields, size=batch.size)


@given(event_batches(), st.data())
def test_any_time_that_breaks_the_order_or_the_range_is_named(batch, data):
    if batch.num_events == 0:
        return
    i = data.draw(st.integers(0, batch.num_events - 1))
    wrong = data.draw(st.sampled_from([2**62 + 1, 2**63 - 1, -(2**62), -(2**63)]))
    fields = {field: getattr(batch, field).clone() for field in EventBatch.FIELDS}
    fields["t"][i] = wrong
    with pytest.raises(ValueError, match=rf"t\[{i}\] .* = {wrong} is outside the range of times"):
        EventBatch(**fields, size=batch.size)
    starts = set(batch.offsets.tolist())
    inner = [k for k in range(batch.num_events) if k not in starts and batch.t[k - 1] > EARLIEST]
    if inner:
        k = data.draw(st.sampled_from(inner))
        fields["t"] = batch.t.clone()
        fields["t"][k] = batch.t[k - 1] - 1
        with pytest.raises(ValueError, match=rf"t\[{k}\] .* is earlier than t\[{k - 1}\]"):
            EventBatch(**fields, size=batch.size)


@given(event_batches(), st.data())
def test_offsets_are_legal_or_refused_by_name(batch, data):
    extreme = st.sampled_from([-(2**63), -1, 2**31, 2**63 - 1])
    number = st.integers(0, batch.num_events) | extreme
    offsets = data.draw(st.lists(number, max_size=5))
    legal = (
        bool(offsets)
        and offsets == sorted(offsets)
        and (offsets[0], offsets[-1]) == (0, batch.num_events)
    )
    # One time for all, so that every cut is sorted.
    fields = {"x": batch.x, "y": batch.y, "t": 0 * batch.t, "p": batch.p, "size": batch.size}
    if legal:
        assert len(EventBatch(**fields, offsets=torch.tensor(offsets))) == len(offsets) - 1
        return
    with pytest.raises(ValueError, match="offsets"):
        EventBatch(**fields, offsets=torch.tensor(offsets, dtype=torch.int64))
