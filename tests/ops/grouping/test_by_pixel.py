import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import evsurf as es
from evsurf.events import EventBatch, Events
from evsurf.ops.grouping import reference
from evsurf.ops.grouping.by_pixel import Groups, check_cap
from evsurf.ops.grouping.field import Field
from tests import naive
from tests.random_events import FIELDS, event_batches, random_batch

A = Events.from_arrays(
    [0, 1, 0, 0, 1], [0, 0, 0, 0, 1], [1000, 1010, 1030, 1100, 1100], [1, 0, 1, 0, 1], (2, 2)
)
B = Events.from_arrays([1, 1], [0, 0], [500, 700], [0, 1], (2, 2))
NONE = Events.empty((2, 2))
BATCH = EventBatch.pack([A, B])
LARGE = random_batch([40, 0, 25, 1], (4, 5))


def by_reference(batch: EventBatch, **options) -> Groups:
    most, latest = check_cap(options.pop("max_events", None), options.pop("keep", "uniform"))
    field = Field.of(batch.size, **options)
    made = reference.group(batch.x, batch.y, batch.offsets, field, most=most, latest=latest)
    return Groups(*made, len(batch), field.cells)


both = pytest.mark.parametrize("group", [es.ops.group_by_pixel, by_reference], ids=["op", "loop"])


def one_pixel(events: int) -> EventBatch:
    """Events one after the other, on one pixel alone."""
    zeros = [0] * events
    return EventBatch.pack([Events.from_arrays(zeros, zeros, range(events), zeros, (1, 1))])


@both
def test_pixels_come_sample_by_sample_in_raster_order(group, device):
    groups = group(BATCH.to(device))
    assert len(groups) == 4
    assert groups.order.tolist() == [0, 2, 3, 1, 4, 5, 6]
    assert groups.offsets.tolist() == [0, 3, 4, 5, 7]
    assert groups.lengths.tolist() == [3, 1, 1, 2]
    assert groups.cell.tolist() == [0, 1, 3, 5]
    samples, rows, columns = (v.tolist() for v in groups.position)
    assert samples == [0, 0, 0, 1]
    assert rows == [0, 0, 1, 0]
    assert columns == [0, 1, 1, 1]
    assert BATCH.p.to(device)[groups.order].int().tolist() == [1, 1, 0, 0, 1, 0, 1]


@both
def test_the_padded_view_ends_in_zeros(group, device):
    batch = BATCH.to(device)
    padded, lengths = group(batch).padded(batch.p[:, None].float())
    assert padded[..., 0].tolist() == [[1, 1, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0]]
    assert lengths.tolist() == [3, 1, 1, 2]


@both
@pytest.mark.parametrize("empty", [[], [NONE], [NONE, NONE]])
def test_batches_without_events_have_no_sequences(group, device, empty):
    groups = group(EventBatch.pack(empty, size=(2, 2)).to(device), kernel_size=3)
    assert len(groups) == 0
    assert groups.samples == len(empty)
    assert groups.order.tolist() == []
    assert groups.offsets.tolist() == [0]
    assert groups.cell.tolist() == []
    padded, lengths = groups.padded(torch.zeros(0, 3, device=device))
    assert padded.shape == (0, 0, 3)
    assert lengths.shape == (0,)


@both
def test_an_empty_sample_has_no_sequence(group):
    groups = group(EventBatch.pack([NONE, B, NONE]))
    assert groups.cell.tolist() == [5]
    assert groups.order.tolist() == [0, 1]


@both
def test_one_event_is_one_sequence(group):
    groups = group(EventBatch.pack([A[:1]]))
    assert (groups.order.tolist(), groups.offsets.tolist(), groups.cell.tolist()) == (
        [0],
        [0, 1],
        [0],
    )


@both
def test_events_at_one_time_keep_their_order(group):
    tied = Events.from_arrays([0] * 4, [0] * 4, [7] * 4, [0, 1, 1, 0], (1, 1))
    assert group(EventBatch.pack([tied])).order.tolist() == [0, 1, 2, 3]


@both
def test_an_event_is_listed_for_every_field_that_sees_it(group):
    corner = Events.from_arrays([0, 4], [0, 3], [1, 2], [0, 1], (4, 5))
    groups = group(EventBatch.pack([corner]), kernel_size=2)
    assert groups.cells == (4, 5)
    assert groups.cell.tolist() == [0, 1, 5, 6, 19]
    assert groups.order.tolist() == [0, 0, 0, 0, 1]


@both
def test_fields_without_padding_leave_a_smaller_output(group):
    last = Events.from_arrays([5], [3], [0], [1], (4, 6))
    groups = group(EventBatch.pack([last]), kernel_size=2, stride=2, padding="valid")
    assert groups.cells == (2, 3)
    assert [int(v) for v in groups.position] == [0, 1, 2]


@both
@pytest.mark.parametrize(
    ("events", "most", "uniform"),
    [
        (10, 4, [0, 3, 6, 9]),
        (9, 4, [0, 2, 5, 8]),
        (7, 4, [0, 2, 4, 6]),
        (5, 4, [0, 2, 3, 4]),
        (600, 512, [0, *range(89, 600)]),
        (5, 1, [4]),
        (4, 4, [0, 1, 2, 3]),
    ],
)
def test_a_cap_keeps_the_indices_of_its_definition(group, device, events, most, uniform):
    batch = one_pixel(events).to(device)
    assert group(batch, max_events=most).order.tolist() == uniform
    latest = group(batch, max_events=most, keep="latest")
    assert latest.order.tolist() == list(range(max(events - most, 0), events))
    assert latest.offsets.tolist() == [0, min(events, most)]


@both
def test_a_cap_counts_for_each_field_alone(group):
    groups = group(BATCH, max_events=2)
    assert groups.order.tolist() == [0, 3, 1, 4, 5, 6]
    assert groups.offsets.tolist() == [0, 2, 3, 4, 6]


def test_gradients_reach_the_values_through_the_padded_view():
    groups = es.ops.group_by_pixel(LARGE, kernel_size=3)
    values = torch.randn(LARGE.num_events, 2, dtype=torch.float64, requires_grad=True)
    padded, _ = groups.padded(values)
    padded.sum().backward()
    times_listed = torch.bincount(groups.order, minlength=LARGE.num_events)
    assert torch.equal(values.grad, times_listed[:, None].expand(-1, 2).double())


@given(event_batches(), st.sampled_from(FIELDS))
def test_the_padded_view_holds_every_sequence(batch, options):
    if batch.size[0] < 3 or batch.size[1] < 3:
        return
    groups = es.ops.group_by_pixel(batch, **options)
    values = torch.arange(1.0, batch.num_events + 1)[:, None]
    padded, lengths = groups.padded(values)
    for row, length, begin in zip(padded, lengths, groups.offsets, strict=False):
        assert torch.equal(row[:length], values[groups.order[begin : begin + length]])
        assert not row[length:].any()


@given(event_batches(), st.sampled_from(FIELDS), st.sampled_from([None, 1, 2, 5]))
def test_every_kept_event_lies_in_its_field(batch, options, most):
    if batch.size[0] < 3 or batch.size[1] < 3:
        return
    groups = es.ops.group_by_pixel(batch, **options, max_events=most)
    rows, columns = naive.axes(batch.size, naive.Options(**options))
    n, i, j = (v.repeat_interleave(groups.lengths) for v in groups.position)
    for event, *cell in torch.stack([groups.order, n, i, j], dim=1).tolist():
        assert batch.offsets[cell[0]] <= event < batch.offsets[cell[0] + 1]
        assert rows.sees(cell[1], int(batch.y[event]))
        assert columns.sees(cell[2], int(batch.x[event]))


@given(event_batches(), st.permutations(range(3)))
def test_a_sample_is_grouped_as_if_it_were_alone(batch, order):
    groups = es.ops.group_by_pixel(batch, kernel_size=2)
    for n, events in enumerate(batch):
        alone = es.ops.group_by_pixel(EventBatch.pack([events]), kernel_size=2)
        own = groups.position[0] == n
        inside = own.repeat_interleave(groups.lengths)
        assert torch.equal(groups.order[inside] - batch.offsets[n], alone.order)
        assert torch.equal(groups.lengths[own], alone.lengths)
        cells = groups.cells[0] * groups.cells[1]
        assert torch.equal(groups.cell[own] - n * cells, alone.cell)


def test_the_printed_form_shows_counts_not_numbers():
    groups = es.ops.group_by_pixel(BATCH)
    assert repr(groups) == "Groups(4 sequences of 7 events, 2 x 2x2 cells, cpu)"


def test_what_is_no_batch_is_refused(own_errors):
    with pytest.raises(TypeError, match=r"batch must be an EventBatch, not Events; .*pack"):
        es.ops.group_by_pixel(A)
    with pytest.raises(TypeError, match="batch must be an EventBatch, not list"):
        es.ops.group_by_pixel([A])


@pytest.mark.parametrize("most", [0, -1])
def test_caps_below_one_are_refused(most):
    with pytest.raises(ValueError, match=f"max_events must be at least 1, or None .* not {most}"):
        es.ops.group_by_pixel(BATCH, max_events=most)


@pytest.mark.parametrize("most", [2.0, "3", True])
def test_caps_that_are_no_ints_are_refused(most, own_errors):
    with pytest.raises(TypeError, match="max_events must be an int or None, not"):
        es.ops.group_by_pixel(BATCH, max_events=most)


@pytest.mark.parametrize("keep", ["uniform", "latest"])
def test_a_cap_beyond_all_numbers_of_events_is_none(keep):
    groups, capped = (
        es.ops.group_by_pixel(BATCH, kernel_size=2, max_events=most, keep=keep)
        for most in (None, 2**70)
    )
    assert torch.equal(capped.order, groups.order)
    assert torch.equal(capped.offsets, groups.offsets)


def test_values_of_too_few_events_are_refused_by_the_padded_view():
    with pytest.raises(ValueError, match="one row per event of the batch, at least 7, not 6"):
        es.ops.group_by_pixel(BATCH).padded(torch.zeros(6, 1))


def test_another_policy_is_refused():
    with pytest.raises(ValueError, match='keep must be "uniform" or "latest", not \'first\''):
        es.ops.group_by_pixel(BATCH, max_events=3, keep="first")
