import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evsurf.ops.grouping import reference
from evsurf.ops.grouping.field import Field
from tests import naive
from tests.random_events import FIELDS, event_batches, lengths_with_offsets


def kept(length: int, most: int, *, latest: bool = False) -> list[int]:
    """Positions that a cap keeps of one sequence."""
    position = torch.arange(length)
    mask = reference.kept_positions(position, torch.full_like(position, length), most, latest)
    return position[mask].tolist()


def test_a_uniform_cap_keeps_first_and_last_and_counts_from_the_end():
    assert kept(10, 4) == [0, 3, 6, 9]
    assert kept(9, 4) == [0, 2, 5, 8]
    assert kept(7, 4) == [0, 2, 4, 6]
    assert kept(5, 4) == [0, 2, 3, 4]
    assert kept(600, 512) == [0, *range(89, 600)]


def test_a_latest_cap_keeps_the_end():
    assert kept(10, 4, latest=True) == [6, 7, 8, 9]


@pytest.mark.parametrize("latest", [True, False])
def test_a_cap_of_one_keeps_the_last_event(latest):
    assert kept(5, 1, latest=latest) == [4]


@pytest.mark.parametrize("latest", [True, False])
def test_a_sequence_within_the_cap_is_kept_whole(latest):
    assert kept(4, 4, latest=latest) == [0, 1, 2, 3]
    assert kept(3, 4, latest=latest) == [0, 1, 2]
    assert kept(0, 4, latest=latest) == []


@given(st.integers(1, 200), st.integers(1, 60), st.booleans())
def test_a_cap_keeps_as_many_as_it_says(length, most, latest):
    positions = kept(length, most, latest=latest)
    assert len(positions) == min(length, most)
    assert positions[-1] == length - 1
    assert latest or most == 1 or positions[0] == 0


@given(lengths_with_offsets())
def test_every_event_knows_its_sample(case):
    lengths, offsets = case
    expected = [n for n, length in enumerate(lengths) for _ in range(length)]
    assert reference.sample_of_event(offsets, sum(lengths)).tolist() == expected


@given(event_batches(), st.sampled_from(FIELDS), st.sampled_from([0, 1, 2, 3]), st.booleans())
def test_groups_are_those_of_a_loop_over_cells(batch, field_options, most, latest):
    keep = "latest" if latest else "uniform"
    options = naive.Options(**field_options, max_events=most or None, keep=keep)
    rows, columns = naive.axes(batch.size, options)
    if rows.cells < 1 or columns.cells < 1:
        return
    field = Field.of(batch.size, **field_options)
    order, offsets, cell = reference.group(
        batch.x, batch.y, batch.offsets, field, most=most, latest=latest
    )
    expected = [
        ((n * rows.cells + i) * columns.cells + j, [int(batch.offsets[n]) + k for k in read])
        for n, sample in enumerate(naive.samples(batch))
        for i, j, read in naive.sequences(sample, batch.size, options)
    ]
    borders = zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    found = [order[a:b].tolist() for a, b in borders]
    assert list(zip(cell.tolist(), found, strict=True)) == expected
    assert int(offsets[-1]) == len(order)
