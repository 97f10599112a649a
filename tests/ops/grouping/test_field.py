import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evsurf.ops.grouping.field import Field
from evsurf.ops.grouping.reference import memberships
from tests import naive


def cells_of(event: tuple[int, int], field: Field) -> set[tuple[int, int]]:
    """Rows and columns of the cells that see an event at (x, y)."""
    x, y = (torch.tensor([v], dtype=torch.int16) for v in event)
    i, j, seen = memberships(x, y, field)
    return set(zip(i[seen].tolist(), j[seen].tolist(), strict=True))


def rectangle(rows: range, columns: range) -> set[tuple[int, int]]:
    return {(i, j) for i in rows for j in columns}


@pytest.mark.parametrize(
    ("kernel", "event", "cells"),
    [
        (3, (0, 0), rectangle(range(2), range(2))),
        (3, (2, 1), rectangle(range(3), range(1, 4))),
        (5, (2, 1), rectangle(range(4), range(5))),
        (2, (0, 0), rectangle(range(2), range(2))),
        (2, (4, 3), {(3, 4)}),
        (1, (4, 3), {(3, 4)}),
        ((3, 1), (2, 1), rectangle(range(3), range(2, 3))),
        ((1, 3), (2, 1), rectangle(range(1, 2), range(1, 4))),
    ],
)
def test_same_padding_keeps_the_size_and_centres_odd_kernels(kernel, event, cells):
    field = Field.of((4, 5), kernel)
    assert field.cells == (4, 5)
    assert cells_of(event, field) == cells


def test_a_two_by_two_field_looks_back_at_its_event():
    field = Field.of((4, 5), 2)
    assert field.before == (1, 1)
    assert cells_of((1, 1), field) == rectangle(range(1, 3), range(1, 3))


def test_without_padding_only_whole_fields_are_cells():
    field = Field.of((4, 6), 2, 2, "valid")
    assert field.cells == (2, 3)
    assert cells_of((5, 3), field) == {(1, 2)}
    assert Field.of((5, 7), 2, 2, "valid").cells == (2, 3)
    assert cells_of((6, 4), Field.of((5, 7), 2, 2, "valid")) == set()


def test_explicit_padding_is_left_right_top_bottom():
    field = Field.of((4, 6), 3, 1, (2, 0, 0, 1))
    assert field.cells == (3, 6)
    assert field.before == (0, 2)
    assert cells_of((0, 3), field) == rectangle(range(1, 3), range(3))


def test_same_padding_keeps_the_size_at_any_stride():
    field = Field.of((4, 5), 3, 2)
    # Rows: padded to (4 - 1) * 2 + 3 = 9, that is 5 more, 3 of them above.
    assert field.before == (3, 3)
    assert field.cells == (4, 5)


def test_events_between_fields_belong_to_none():
    field = Field.of((1, 7), 1, (1, 3), "valid")
    assert [cells_of((x, 0), field) for x in range(7)] == [
        {(0, 0)}, set(), set(), {(0, 1)}, set(), set(), {(0, 2)},
    ]  # fmt: skip


def test_overlapping_fields_with_a_stride_share_events():
    field = Field.of((1, 5), (1, 3), (1, 2), "valid")
    assert [len(cells_of((x, 0), field)) for x in range(5)] == [1, 1, 2, 1, 1]
    assert field.overlap == 2


sides = st.integers(1, 6)
pads = st.tuples(*[st.integers(0, 3)] * 4)


@given(
    st.tuples(sides, sides),
    st.tuples(sides, sides),
    st.tuples(sides, sides),
    st.sampled_from(["same", "valid"]) | pads,
)
def test_cells_see_what_the_definition_says(size, kernel, stride, padding):
    rows, columns = naive.axes(
        size, naive.Options(kernel_size=kernel, stride=stride, padding=padding)
    )
    if rows.cells < 1 or columns.cells < 1:
        with pytest.raises(ValueError, match="no output cell is left"):
            Field.of(size, kernel, stride, padding)
        return
    field = Field.of(size, kernel, stride, padding)
    assert field.cells == (rows.cells, columns.cells)
    assert padding != "same" or field.cells == size
    for y in range(size[0]):
        for x in range(size[1]):
            expected = {
                (i, j)
                for i in range(rows.cells)
                for j in range(columns.cells)
                if rows.sees(i, y) and columns.sees(j, x)
            }
            assert cells_of((x, y), field) == expected
            assert len(expected) <= field.overlap


@given(st.tuples(sides, sides), st.tuples(sides, sides), st.tuples(sides, sides))
def test_a_field_comes_back_from_its_numbers(size, kernel, stride):
    field = Field.of(size, kernel, stride)
    assert Field.from_numbers(field.numbers()) == field


@pytest.mark.parametrize("value", [2.0, "3", (1, 2, 3), (1, 2.0), None, True, (True, 1)])
@pytest.mark.parametrize("name", ["kernel_size", "stride"])
def test_what_is_no_pair_of_ints_is_refused(name, value, own_errors):
    with pytest.raises(TypeError, match=rf"{name} must be an int or a pair \(height, width\)"):
        Field.of((4, 5), **{name: value})


@pytest.mark.parametrize("value", [0, -1, (1, 0), (-2, 1)])
@pytest.mark.parametrize("name", ["kernel_size", "stride"])
def test_kernels_and_strides_below_one_are_refused(name, value):
    with pytest.raises(ValueError, match=f"{name} must be at least 1, not"):
        Field.of((4, 5), **{name: value})


@pytest.mark.parametrize("padding", ["full", (1, 2), (1, 2, 3, 4, 5), (1.0, 0, 0, 0), 1, None])
def test_padding_of_another_kind_is_refused(padding, own_errors):
    with pytest.raises(ValueError, match=r'padding must be "same", "valid" or \(left, right'):
        Field.of((4, 5), 3, padding=padding)


def test_negative_padding_is_refused():
    with pytest.raises(ValueError, match=r"padding must not be negative, not \(0, -1, 0, 0\)"):
        Field.of((4, 5), 3, padding=(0, -1, 0, 0))


def test_a_kernel_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"kernel_size \(5, 5\) does not fit .* \(4, 5\)"):
        Field.of((4, 5), 5, padding="valid")


@pytest.mark.parametrize("value", [2**16, (1, 2**31), 2**70])
@pytest.mark.parametrize("name", ["kernel_size", "stride"])
def test_what_32_bits_cannot_hold_is_refused(name, value):
    with pytest.raises(ValueError, match=f"{name} must be at most 65535, not"):
        Field.of((4, 5), **{name: value})
    with pytest.raises(ValueError, match="padding must be at most 65535, not"):
        Field.of((4, 5), padding=(0, 0, 2**16, 0))


def test_the_largest_field_still_fits_32_bits():
    most = 2**16 - 1
    field = Field.of((2**15 - 1, 2**15 - 1), most, most)
    assert max(field.numbers()) < 2**31
    assert max(side + pad for side, pad in zip(field.size, field.before, strict=True)) < 2**31


def test_no_more_cells_see_an_event_than_there_are():
    assert Field.of((4, 5), 1001).overlap == 20
