import torch
from hypothesis import given
from hypothesis import strategies as st

from evsurf.ops.grouping.bins import bin_edges, ragged_search, window_offsets
from tests import naive
from tests.random_events import MAX_TIME, MIN_TIME, event_batches


def lengths(times: list[int], bins: int) -> list[int]:
    """Events in each bin of one sample."""
    offsets = window_offsets(torch.tensor(times), torch.tensor([0, len(times)]), bins)
    return offsets.diff().tolist()


def test_bins_are_of_equal_duration():
    times = [0, 10, 30, 50, 60, 80, 100]
    assert lengths(times, 1) == [7]
    assert lengths(times, 2) == [3, 4]
    assert lengths(times, 4) == [2, 1, 2, 2]


def test_an_event_on_an_inner_edge_is_in_the_later_bin():
    assert lengths([0, 2, 4], 2) == [1, 2]
    assert lengths([0, 1, 2, 3], 3) == [1, 1, 2]


def test_an_edge_between_two_microseconds_is_not_rounded():
    # Half of 0 to 3 is 1.5: 1 lies before it and 2 behind.
    assert lengths([0, 1, 2, 3], 2) == [2, 2]


def test_the_last_event_is_in_the_last_bin():
    assert lengths([0, 7], 5) == [1, 0, 0, 0, 1]


def test_equal_times_are_all_in_the_first_bin():
    assert lengths([9, 9, 9], 4) == [3, 0, 0, 0]
    assert lengths([9], 3) == [1, 0, 0]


def test_samples_are_cut_by_their_own_spans():
    t = torch.tensor([0, 100, 5, 6, 7])
    offsets = torch.tensor([0, 2, 2, 5])
    assert window_offsets(t, offsets, 2).tolist() == [0, 1, 2, 2, 2, 3, 5]


def test_a_batch_without_events_has_empty_bins():
    none = torch.zeros(0, dtype=torch.int64)
    assert window_offsets(none, torch.tensor([0]), 3).tolist() == [0]
    assert window_offsets(none, torch.tensor([0, 0, 0]), 2).tolist() == [0] * 5


def test_edges_of_the_longest_span_are_exact():
    edges = bin_edges(torch.tensor([MIN_TIME]), torch.tensor([MAX_TIME]), 7)
    span = MAX_TIME - MIN_TIME
    assert edges[0].tolist() == [MIN_TIME - (-b * span // 7) for b in range(7)]


@given(event_batches(max_events=20), st.integers(1, 9) | st.integers(1, 1000))
def test_bins_agree_with_exact_arithmetic(batch, bins):
    offsets = window_offsets(batch.t, batch.offsets, bins)
    parts = [
        len(part)
        for sample in naive.samples(batch)
        for part in naive.bin_indices([e.t for e in sample], bins)
    ]
    assert offsets.diff().tolist() == parts
    assert int(offsets[0]) == 0


@given(event_batches(max_events=20), st.data())
def test_search_finds_the_first_event_at_or_after_a_value(batch, data):
    value = st.integers(-3, 30) | st.sampled_from([MIN_TIME, MAX_TIME, *batch.t.tolist()])
    columns = data.draw(st.integers(1, 3))
    wanted = data.draw(
        st.lists(
            st.lists(value, min_size=columns, max_size=columns),
            min_size=len(batch),
            max_size=len(batch),
        )
    )
    begin, end = batch.offsets[:-1], batch.offsets[1:]
    values = torch.tensor(wanted, dtype=torch.int64).reshape(len(batch), columns)
    found = ragged_search(batch.t, begin, end, values)
    for n, sample in enumerate(naive.samples(batch)):
        before = [sum(e.t < v for e in sample) for v in wanted[n]]
        assert (found[n] - begin[n]).tolist() == before
