import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import evsurf as es
from evsurf.events import EventBatch, Events
from tests import naive
from tests.random_events import MAX_TIME, MIN_TIME, event_batches

SIZE = (2, 3)


def recording(*t: int) -> Events:
    n = len(t)
    return Events.from_arrays(
        [k % 3 for k in range(n)], [0] * n, t, [k % 2 for k in range(n)], SIZE
    )


LONG, SHORT, NONE = recording(0, 10, 30, 50, 60, 80, 100), recording(5, 7), Events.empty(SIZE)
BATCH = EventBatch.pack([LONG, NONE, SHORT])


def times(batch: EventBatch) -> list[list[int]]:
    return [events.t.tolist() for events in batch]


def test_windows_of_a_sample_follow_one_another(device):
    binned = es.ops.group_by_time(BATCH.to(device), 2)
    assert len(binned) == 6
    assert times(binned) == [[0, 10, 30], [50, 60, 80, 100], [], [], [5], [7]]
    assert binned.size == SIZE


def test_four_windows(device):
    binned = es.ops.group_by_time(EventBatch.pack([LONG]).to(device), 4)
    assert times(binned) == [[0, 10], [30], [50, 60], [80, 100]]


def test_one_window_is_the_sample():
    binned = es.ops.group_by_time(BATCH, 1)
    assert binned == BATCH
    assert binned.t.data_ptr() == BATCH.t.data_ptr()


def test_windows_share_the_memory_of_the_events():
    binned = es.ops.group_by_time(BATCH, 3)
    for name in ("x", "y", "t", "p"):
        assert getattr(binned, name).data_ptr() == getattr(BATCH, name).data_ptr()


def test_a_span_of_all_samples_leaves_out_what_is_outside(device):
    binned = es.ops.group_by_time(BATCH.to(device), 2, span=(5, 80))
    # The middle of 5 to 80 is 42.5.
    assert times(binned) == [[10, 30], [50, 60, 80], [], [], [5, 7], []]


def test_a_span_beyond_the_events_keeps_all(device):
    binned = es.ops.group_by_time(BATCH.to(device), 2, span=(-1000, 1000))
    assert times(binned) == [[], LONG.t.tolist(), [], [], [], [5, 7]]


def test_each_sample_may_have_its_own_span(device):
    spans = torch.tensor([[0, 40], [0, 1], [6, 8]], device=device)
    binned = es.ops.group_by_time(BATCH.to(device), 2, span=spans)
    assert times(binned) == [[0, 10], [30], [], [], [], [7]]


def test_the_end_of_a_span_belongs_to_the_last_window():
    binned = es.ops.group_by_time(EventBatch.pack([LONG]), 2, span=(0, 60))
    assert times(binned) == [[0, 10], [30, 50, 60]]


def test_a_span_without_duration_is_all_first_window():
    binned = es.ops.group_by_time(EventBatch.pack([recording(4, 5, 5, 6)]), 3, span=(5, 5))
    assert times(binned) == [[5, 5], [], []]


def test_no_events_and_no_samples_have_windows_too():
    assert times(es.ops.group_by_time(EventBatch.pack([NONE]), 2, span=(0, 9))) == [[], []]
    assert times(es.ops.group_by_time(EventBatch.pack([NONE]), 2)) == [[], []]
    assert len(es.ops.group_by_time(EventBatch.pack([], size=SIZE), 2)) == 0


@given(event_batches(max_events=20), st.integers(1, 6))
def test_windows_agree_with_exact_arithmetic(batch, bins):
    expected = [
        [sample[k] for k in part]
        for sample in naive.samples(batch)
        for part in naive.bin_indices([e.t for e in sample], bins)
    ]
    assert naive.samples(es.ops.group_by_time(batch, bins)) == expected


moments = (
    st.integers(-3, 30) | st.integers(2**31, 2**31 + 20) | st.sampled_from([MIN_TIME, MAX_TIME])
)


@given(event_batches(max_events=20), st.integers(1, 6), st.tuples(moments, moments).map(sorted))
def test_windows_of_a_span_agree_with_exact_arithmetic(batch, bins, span):
    start, end = span
    expected: list[list[naive.Event]] = []
    for sample in naive.samples(batch):
        windows: list[list[naive.Event]] = [[] for _ in range(bins)]
        for e in sample:
            if start <= e.t <= end:
                windows[naive.bin_of(e.t, start, end, bins)].append(e)
        expected += windows
    assert naive.samples(es.ops.group_by_time(batch, bins, span=(start, end))) == expected


@given(event_batches(), st.integers(1, 5))
def test_the_samples_own_spans_are_what_is_taken_without_one(batch, bins):
    events = [sample for sample in naive.samples(batch) if sample]
    whole = batch[batch.lengths > 0]
    ends = [[e[0].t, e[-1].t] for e in events]
    spans = torch.tensor(ends, dtype=torch.int64).reshape(-1, 2)
    assert es.ops.group_by_time(whole, bins, span=spans) == es.ops.group_by_time(whole, bins)


@pytest.mark.parametrize("bins", [0, -2])
def test_fewer_than_one_bin_is_refused(bins):
    with pytest.raises(ValueError, match=f"bins must be at least 1, not {bins}"):
        es.ops.group_by_time(BATCH, bins)


@pytest.mark.parametrize("bins", [2.0, "2", True, None])
def test_bins_that_are_no_int_are_refused(bins, own_errors):
    with pytest.raises(TypeError, match="bins must be an int, not"):
        es.ops.group_by_time(BATCH, bins)


@pytest.mark.parametrize(
    "span",
    [(0.0, 1.0), (1, 2, 3), torch.zeros(2, 2, dtype=torch.int64), torch.zeros(3, 2), 5],
)
def test_spans_of_another_kind_are_refused(span, own_errors):
    with pytest.raises(
        ValueError, match=r"span must be \(start, end\) in whole .* \[3, 2\]; found"
    ):
        es.ops.group_by_time(BATCH, 2, span=span)


@pytest.mark.parametrize("span", ["now", (0, 2**70), (None, 3)])
def test_spans_that_no_tensor_holds_are_refused(span, own_errors):
    with pytest.raises(ValueError, match=r"span must be \(start, end\) in whole microseconds, not"):
        es.ops.group_by_time(BATCH, 2, span=span)


@pytest.mark.parametrize("span", [(-(2**62), 0), (0, 2**62 + 1), (-(2**63), 2**63 - 1)])
def test_a_span_beyond_the_range_of_times_is_refused(span):
    with pytest.raises(ValueError, match=r"span must lie within the range of times.*sample 0 has"):
        es.ops.group_by_time(BATCH, 2, span=span)


def test_the_longest_span_holds_every_event():
    whole = es.ops.group_by_time(BATCH, 1, span=(-(2**62) + 1, 2**62))
    assert whole == BATCH


def test_a_span_that_ends_before_it_starts_is_refused():
    spans = torch.tensor([[0, 1], [5, 4], [0, 1]])
    with pytest.raises(ValueError, match=r"must not end before it starts; sample 1 has \(5, 4\)"):
        es.ops.group_by_time(BATCH, 2, span=spans)


def test_what_is_no_batch_is_refused(own_errors):
    with pytest.raises(TypeError, match="batch must be an EventBatch, not Events"):
        es.ops.group_by_time(LONG, 2)  # type: ignore[type-var]
