import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evsurf.events import EventBatch
from evsurf.ops.grouping import reference
from evsurf.ops.grouping.field import Field
from evsurf.ops.grouping.op import group
from tests.random_events import FIELDS, event_batches, random_batch

BATCH = random_batch([9, 0, 7], (4, 5))


def assert_as_reference(batch: EventBatch, field: Field, most: int = 0, latest: bool = False):
    """The op gives the reference's groups, and behind them empty ones."""
    made = group(batch.x, batch.y, batch.offsets, field.numbers(), most, latest)
    order, offsets, cell, counts = (a.cpu() for a in made)
    wanted = reference.group(
        batch.x.cpu(), batch.y.cpu(), batch.offsets.cpu(), field, most=most, latest=latest
    )
    sequences, events = len(wanted[2]), len(wanted[0])
    assert counts.tolist() == [sequences, events]
    assert torch.equal(order[:events], wanted[0])
    assert torch.equal(offsets[: sequences + 1], wanted[1])
    assert torch.equal(cell[:sequences], wanted[2])
    assert (offsets[sequences:] == events).all()
    assert (cell[sequences:] == len(batch) * field.cells[0] * field.cells[1]).all()
    assert ((order >= 0) & (order < max(len(batch.t), 1))).all()


@given(
    batch=event_batches(max_events=20),
    options=st.sampled_from(FIELDS),
    most=st.sampled_from([0, 1, 2, 3, 5]),
    latest=st.booleans(),
)
def test_any_batch_is_grouped_as_by_the_reference(device, batch, options, most, latest):
    try:
        field = Field.of(batch.size, **options)
    except ValueError:
        return
    assert_as_reference(batch.to(device), field, most, latest)


# Outputs of more than 32,768 cells are cut into bands of rows, and so are windows of more than
# 65,536 events: every row, and every event of a field across a border, must be found once.
@pytest.mark.parametrize(
    ("size", "counts", "options"),
    [
        ((260, 346), [5000, 0, 700], {}),
        ((260, 346), [5000, 0, 700], {"kernel_size": 3}),
        ((720, 1280), [20000], {}),
        ((720, 1280), [5000], {"kernel_size": 5, "stride": 2}),
        ((720, 1280), [5000, 10], {"kernel_size": (9, 2), "stride": (4, 2), "padding": "valid"}),
        ((2, 40000 // 2), [3000], {"kernel_size": 3}),
        ((40, 3), [150_000], {}),
        ((40, 3), [70_000, 5], {"kernel_size": 9}),
        ((7, 2), [200_000], {"kernel_size": (3, 1), "stride": (2, 1)}),
        ((1, 1), [100_000], {}),
        ((90, 30), [200_000], {"kernel_size": 1, "stride": 4}),
    ],
)
def test_large_windows_are_cut_without_loss(device, size, counts, options):
    batch = random_batch(counts, size)
    assert_as_reference(batch.to(device), Field.of(size, **options))


@pytest.mark.parametrize("latest", [True, False])
def test_a_cap_reaches_across_bands(device, latest):
    batch = random_batch([100_000], (9, 4))
    assert_as_reference(batch.to(device), Field.of((9, 4), 3), 512, latest)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_make_no_difference(threads, threads_set):
    batch = random_batch([30_000, 10, 0, 80_000], (50, 40))
    field = Field.of(batch.size, 3)
    threads_set(threads)
    assert_as_reference(batch, field)


def test_strided_columns_are_read_as_they_are(device):
    x, y = (torch.stack([a, a + 1], dim=1).to(device)[:, 0] for a in (BATCH.x, BATCH.y))
    assert not x.is_contiguous()
    field = Field.of(BATCH.size, 2).numbers()
    offsets = BATCH.offsets.to(device)
    strided = group(x, y, offsets.repeat_interleave(2)[::2], field, 0, False)
    whole = group(x.contiguous(), y.contiguous(), offsets, field, 0, False)
    assert all(torch.equal(a, b) for a, b in zip(strided, whole, strict=True))


@given(st.lists(st.tuples(st.integers(-(2**15), 2**15 - 1), st.integers(-3, 8)), max_size=12))
@pytest.mark.parametrize("options", [{}, {"kernel_size": 3}, {"kernel_size": 2, "stride": 3}])
def test_events_off_the_sensor_are_left_out(device, options, places):
    """Validation refuses them; where it is switched off they must not do any harm."""
    size = (4, 5)
    field = Field.of(size, **options)
    x, y = (
        (torch.tensor(v, dtype=torch.int16) for v in zip(*places, strict=True))
        if places
        else (torch.zeros(0, dtype=torch.int16),) * 2
    )
    on = ((x >= 0) & (x < size[1]) & (y >= 0) & (y < size[0])).nonzero()[:, 0]
    offsets = torch.tensor([0, len(x)])
    made = group(x.to(device), y.to(device), offsets.to(device), field.numbers(), 0, False)
    order, borders, cell, counts = (a.cpu() for a in made)
    sequences, events = counts.tolist()
    wanted = reference.group(x[on], y[on], torch.tensor([0, len(on)]), field, most=0, latest=False)
    assert torch.equal(order[:events], on[wanted[0]])
    assert torch.equal(borders[: sequences + 1], wanted[1])
    assert torch.equal(cell[:sequences], wanted[2])


@pytest.mark.parametrize(
    ("offsets", "message"),
    [
        ([0, 9, 9, 15], "end at the number of events, 16"),
        ([1, 9, 9, 16], "start at 0"),
        ([0, 9, 8, 16], r"offsets must not decrease; offsets\[2\] = 8 comes after 9"),
    ],
)
def test_offsets_that_name_no_events_are_refused_by_the_core(offsets, message):
    with pytest.raises(ValueError, match=message):
        group(BATCH.x, BATCH.y, torch.tensor(offsets), Field.of(BATCH.size).numbers(), 0, False)


# To checked annotations, the sizes that stand for any number are no ints.
@pytest.mark.usefixtures("own_errors")
def test_the_operator_is_well_made(device):
    batch = BATCH.to(device)
    for options, most in (({}, 0), ({"kernel_size": 3}, 2)):
        field = Field.of(batch.size, **options).numbers()
        torch.library.opcheck(group, (batch.x, batch.y, batch.offsets, field, most, most > 0))
