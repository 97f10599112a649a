import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evsurf.events import EventBatch, Events
from tests.events.strategies import recordings

SIZE = (2, 4)


def _recording(*t: int) -> Events:
    n = len(t)
    return Events.from_arrays([i % 4 for i in range(n)], [1] * n, t, [1] * n, SIZE)


A, B, NONE = _recording(10, 20, 20), _recording(5, 7), Events.empty(SIZE)


@pytest.fixture
def batch():
    return EventBatch.pack([A, NONE, B])


def test_pack_puts_recordings_one_after_the_other(batch):
    assert batch.x.tolist() == [0, 1, 2, 0, 1]
    assert batch.y.tolist() == [1, 1, 1, 1, 1]
    assert batch.t.tolist() == [10, 20, 20, 5, 7]
    assert batch.p.tolist() == [True] * 5
    assert batch.offsets.tolist() == [0, 3, 3, 5]
    assert batch.offsets.dtype == torch.int64
    assert batch.size == SIZE


def test_counts_of_samples_and_events(batch):
    assert len(batch) == 3
    assert batch.num_events == 5
    assert batch.lengths.tolist() == [3, 0, 2]


def test_pack_takes_any_iterable():
    assert EventBatch.pack(sample for sample in (A, B)) == EventBatch.pack([A, B])


def test_pack_of_one_recording_shares_its_memory():
    assert EventBatch.pack([A]).t.data_ptr() == A.t.data_ptr()


def test_pack_of_nothing_needs_the_size():
    batch = EventBatch.pack([], size=SIZE)
    assert len(batch) == 0
    assert batch.offsets.tolist() == [0]
    assert batch.lengths.tolist() == []
    assert batch.unpack() == []
    with pytest.raises(ValueError, match=r"size is needed .*\(\[\], size=\(height, width\)\)"):
        EventBatch.pack([])


def test_pack_of_empty_recordings_keeps_them():
    batch = EventBatch.pack([NONE, NONE])
    assert batch.offsets.tolist() == [0, 0, 0]
    assert batch.unpack() == [NONE, NONE]


def test_pack_refuses_mixed_sizes_by_index():
    odd = Events.empty((3, 4))
    with pytest.raises(
        ValueError, match=r"events\[2\] has size \(3, 4\), but events\[0\] is \(2, 4\)"
    ):
        EventBatch.pack([A, B, odd])


def test_pack_refuses_a_sample_that_differs_from_the_given_size():
    with pytest.raises(ValueError, match=r"events\[0\] has size \(2, 4\), but size is \(2, 5\)"):
        EventBatch.pack([A], size=(2, 5))


def test_pack_refuses_mixed_devices():
    elsewhere = A.to("meta")
    with pytest.raises(ValueError, match=r"events\[1\] is on meta, but events\[0\] on cpu"):
        EventBatch.pack([A, elsewhere])


def test_pack_refuses_what_is_not_events(own_errors):
    with pytest.raises(TypeError, match=r"events\[1\] must be Events, got int"):
        EventBatch.pack([A, 3])


def test_pack_refuses_a_recording_outside_a_list(own_errors):
    with pytest.raises(TypeError, match=r"EventBatch.pack\(\[events\]\)"):
        EventBatch.pack(A)


def test_an_int_gives_a_recording(batch):
    assert batch[0] == A
    assert batch[1] == NONE
    assert batch[2] == B
    assert batch[-1] == B
    assert batch[-3] == A


@pytest.mark.parametrize("kind", [np.int64, np.uint8, torch.tensor])
def test_an_int_of_another_library_gives_a_recording(batch, kind, own_errors):
    assert batch[kind(2)] == B


@pytest.mark.parametrize("index", [3, -4])
def test_an_int_beyond_the_batch_is_refused(batch, index):
    with pytest.raises(IndexError, match=rf"batch\[{index}\] does not exist: .* 3 samples"):
        batch[index]


def test_an_int_beyond_a_batch_of_none_is_refused():
    with pytest.raises(IndexError, match=r"batch\[0\] does not exist: .* 0 samples"):
        EventBatch.pack([], size=SIZE)[0]


@pytest.mark.parametrize("index", [0.5, None, "a"])
def test_an_index_of_another_kind_is_refused(batch, index, own_errors):
    with pytest.raises(TypeError, match="index"):
        batch[index]


def test_a_bool_is_not_a_sample_number(batch):
    with pytest.raises(TypeError, match=r"index must be an int .* got True"):
        batch[True]


def test_a_slice_gives_a_batch(batch):
    assert batch[1:] == EventBatch.pack([NONE, B])
    assert batch[:2] == EventBatch.pack([A, NONE])
    assert batch[::-1] == EventBatch.pack([B, NONE, A])
    assert batch[::2] == EventBatch.pack([A, B])


@pytest.mark.parametrize("where", [slice(2, 1), slice(3, None), slice(0, 0), slice(0, 0, 2)])
def test_an_empty_slice_gives_a_batch_of_none(batch, where):
    assert batch[where] == EventBatch.pack([], size=SIZE)


def test_a_slice_shares_the_memory_of_its_events(batch):
    assert batch[2:].t.data_ptr() == batch.t[3:].data_ptr()


@pytest.mark.parametrize("kind", [list, tuple, torch.tensor, np.array])
def test_sample_numbers_give_a_batch_in_their_order(batch, kind):
    assert batch[kind([2, 0, -2, 2])] == EventBatch.pack([B, A, NONE, B])


@pytest.mark.parametrize("kind", [list, torch.tensor, np.array])
def test_a_mask_over_samples_keeps_those_where_it_is_true(batch, kind):
    assert batch[kind([True, False, True])] == EventBatch.pack([A, B])


def test_no_sample_numbers_give_a_batch_of_none(batch):
    assert batch[[]] == EventBatch.pack([], size=SIZE)
    assert batch[torch.tensor([], dtype=torch.int64)] == EventBatch.pack([], size=SIZE)
    assert batch[[False, False, False]] == EventBatch.pack([], size=SIZE)


def test_a_sample_number_beyond_the_batch_is_refused(batch):
    with pytest.raises(IndexError, match=r"batch\[3\] does not exist: .* 3 samples"):
        batch[[0, 3, 4]]


def test_a_mask_of_another_length_is_refused(batch):
    with pytest.raises(ValueError, match=r"a mask over 3 samples .* \(3,\), got \(2,\)"):
        batch[[True, False]]


@pytest.mark.parametrize("index", [[0.0, 1.0], torch.tensor([[0, 1]])])
def test_indices_of_another_kind_are_refused(batch, index, own_errors):
    with pytest.raises(TypeError, match=r"a list of ints or a mask of bools, got .* shape"):
        batch[index]


def test_iteration_gives_the_recordings(batch):
    assert list(batch) == [A, NONE, B]
    assert batch.unpack() == [A, NONE, B]


def test_the_printed_form_shows_counts_not_numbers(batch):
    assert repr(batch) == "EventBatch(3 samples, 5 events, 2x4, cpu)"
    assert repr(EventBatch.pack([A[:1]])) == "EventBatch(1 sample, 1 event, 2x4, cpu)"
    thousand = EventBatch.pack([_recording(*range(1234))])
    assert repr(thousand) == "EventBatch(1 sample, 1,234 events, 2x4, cpu)"


def _constructed(
    offsets: list[int], t: tuple[int, ...] = (10, 20, 20, 5, 7), **options: bool
) -> EventBatch:
    x, p = torch.zeros(len(t), dtype=torch.int16), torch.ones(len(t), dtype=torch.bool)
    return EventBatch(x, x, torch.tensor(t), p, torch.tensor(offsets), SIZE, **options)


def test_a_later_sample_may_start_earlier():
    assert _constructed([0, 3, 5]).t.tolist() == [10, 20, 20, 5, 7]
    assert len(_constructed([0, 0, 3, 3, 5, 5])) == 5


def test_each_sample_must_be_sorted():
    with pytest.raises(
        ValueError,
        match=r"t\[3\] \(in sample 1\) = 5 is earlier than t\[2\] = 20.*sorts each sample",
    ):
        _constructed([0, 2, 5])


def test_the_sample_of_an_offender_skips_empty_samples():
    with pytest.raises(ValueError, match=r"t\[3\] \(in sample 3\)"):
        _constructed([0, 0, 2, 2, 5])


def test_a_stray_event_is_named_with_its_sample():
    x, p = torch.tensor([0, 4, 1, 9], dtype=torch.int16), torch.ones(4, dtype=torch.bool)
    y, t, offsets = torch.zeros_like(x), torch.arange(4), torch.tensor([0, 1, 4])
    with pytest.raises(ValueError, match=r"x\[1\] \(in sample 1\) = 4 is outside the sensor"):
        EventBatch(x, y, t, p, offsets, SIZE)


def test_offsets_start_at_zero():
    with pytest.raises(ValueError, match=r"offsets\[0\] = 1 must be 0"):
        _constructed([1, 3, 5])


def test_offsets_end_at_the_number_of_events():
    with pytest.raises(ValueError, match=r"offsets\[-1\] = 4 must be the number of events, 5"):
        _constructed([0, 3, 4])
    with pytest.raises(ValueError, match=r"offsets\[-1\] = 6 must be the number of events, 5"):
        _constructed([0, 3, 6])


def test_offsets_do_not_decrease():
    with pytest.raises(ValueError, match=r"offsets\[2\] = 2 is below offsets\[1\] = 3"):
        _constructed([0, 3, 2, 5])


def test_lengths_in_place_of_offsets_are_recognised():
    with pytest.raises(ValueError, match=r"offsets\[0\] = 3 must be 0.*look like lengths"):
        _constructed([3, 2])
    with pytest.raises(ValueError, match=r"offsets\[-1\] = 5 .* 7.*look like lengths"):
        _constructed([0, 2, 5], t=(1, 2, 3, 4, 5, 6, 7))


@pytest.mark.parametrize("validate", [True, False])
def test_offsets_have_at_least_one_entry(validate):
    none = torch.zeros(0, dtype=torch.int64)
    with pytest.raises(ValueError, match=r"offsets must have one entry more .* got none"):
        EventBatch(none.short(), none.short(), none, none.bool(), none, SIZE, validate=validate)


@pytest.mark.parametrize("validate", [True, False])
def test_offsets_are_int64(validate, own_errors):
    none, offsets = torch.zeros(0, dtype=torch.int64), torch.zeros(1)
    with pytest.raises(TypeError, match=r"offsets must have dtype torch.int64, got torch.float32"):
        EventBatch(none.short(), none.short(), none, none.bool(), offsets, SIZE, validate=validate)


def test_trusted_values_are_not_read():
    assert len(_constructed([0, 9, 2], validate=False)) == 2


@given(st.lists(recordings(size=(3, 2), max_events=6), max_size=6))
def test_pack_and_unpack_change_nothing(samples):
    batch = EventBatch.pack(samples, size=(3, 2))
    assert batch.unpack() == samples
    again = EventBatch(batch.x, batch.y, batch.t, batch.p, batch.offsets, batch.size)
    assert again == batch


@given(st.lists(recordings(size=(3, 2), max_events=6), min_size=1, max_size=6), st.data())
def test_indexing_a_batch_is_indexing_the_list(samples, data):
    batch = EventBatch.pack(samples)
    where = data.draw(st.slices(len(samples)))
    numbers = data.draw(st.lists(st.integers(-len(samples), len(samples) - 1), max_size=8))
    assert batch[where].unpack() == samples[where]
    assert batch[numbers].unpack() == [samples[i] for i in numbers]
