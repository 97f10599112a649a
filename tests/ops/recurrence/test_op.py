import warnings
from typing import Any

import pytest
import torch
from torch import Tensor

from evsurf import _core
from evsurf.ops.recurrence import reference
from evsurf.ops.recurrence.op import ragged_lstm, ragged_lstm_backward, warn_of_reference
from evsurf.ops.recurrence.reference import Cell
from tests.random_events import random_weights
from tests.tolerances import assert_near

# Around the number of sequences that advance together, around the length where sorting changes, and
# beyond the events and sequences that one thread takes at a time.
LENGTHS = {
    "none": [],
    "empty": [0] * 40,
    "one": [1],
    "31 singles": [1] * 31,
    "32 pairs": [2] * 32,
    "33 and empty ones": [1, 0, 2] * 11 + [0, 0],
    "mixed": [5, 0, 17, 1, 1, 3, 64, 0, 65, 63, 130, 1, 2, 2, 7] * 3,
    "many": [1, 0, 3, 1] * 2200,
    "long": [100] * 180,
}
each_shape = pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)


def inputs(
    lengths: list[int], features: int = 2, hidden: int = 3, dtype: torch.dtype = torch.float64
) -> tuple[Tensor, Tensor, list[Any], Tensor, Tensor]:
    """Features, offsets, weights and initial state."""
    generator = torch.Generator().manual_seed(len(lengths) + hidden)

    def draw(rows: int, columns: int) -> Tensor:
        return torch.randn(rows, columns, generator=generator, dtype=torch.float64).to(dtype)

    offsets = torch.tensor([0, *lengths]).cumsum(0)
    weights = random_weights(features, hidden, dtype=dtype)
    count = len(lengths)
    return draw(sum(lengths), features), offsets, weights, draw(count, hidden), draw(count, hidden)


@each_shape
@pytest.mark.parametrize("started", [True, False], ids=["from a state", "from zero"])
def test_values_are_those_of_the_reference(device, lengths, started):
    x, offsets, weights, h0, c0 = inputs(lengths)
    state = reference.initial_state(
        len(lengths), Cell(*weights), *((h0, c0) if started else (None, None))
    )
    wanted, last = reference.forward(x, offsets, Cell(*weights), state)
    start = (h0, c0) if started else (None, None)
    given = [None if a is None else a.to(device) for a in (x, offsets, *weights, *start)]
    for every in (True, False):
        every_h, h, c = ragged_lstm(*given, every)
        assert_near(every_h, wanted if every else wanted[:0])
        assert_near(h, last.h)
        assert_near(c, last.c)


@each_shape
@pytest.mark.parametrize("started", [True, False], ids=["from a state", "from zero"])
@pytest.mark.parametrize("asked", ["every", "last"])
def test_gradients_are_those_of_the_reference(device, lengths, started, asked):
    x, offsets, weights, h0, c0 = inputs(lengths)
    cell = Cell(*weights)
    generator = torch.Generator().manual_seed(7)
    slopes = [
        torch.randn(v.shape, generator=generator).double() for v in (x @ cell.w_ih[:3].T, h0, c0)
    ]
    d_every, d_h, d_c = slopes if asked == "every" else (None, *slopes[1:])
    start = (h0, c0) if started else (None, None)
    g = reference.backward(
        x, offsets, cell, reference.initial_state(len(lengths), cell, *start), d_every,
        reference.State(d_h, d_c),
    )  # fmt: skip
    given = [
        None if a is None else a.to(device)
        for a in (x, offsets, *weights, *start, d_every, d_h, d_c)
    ]
    found = ragged_lstm_backward(*given, True)
    initial = (g.h0, g.c0) if started else (g.h0[:0], g.c0[:0])
    for actual, wanted in zip(found, (g.features, g.w_ih, g.w_hh, g.bias, *initial), strict=True):
        assert_near(actual, wanted, kind="gradient")


def test_gradients_that_nobody_asks_for_are_left_out():
    x, offsets, weights, h0, _ = inputs([3, 1])
    found = ragged_lstm_backward(x, offsets, *weights, None, None, None, h0, None, False)
    assert [tuple(g.shape) for g in found] == [(0, 2), (12, 2), (12, 3), (12,), (0, 3), (0, 3)]


@pytest.mark.parametrize(
    ("hidden", "features"),
    [
        *((hidden, 2) for hidden in (1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 32, 63, 64)),
        *((3, 1), (3, 5), (4, 3), (5, 4), (16, 9), (64, 5)),
    ],
)
def test_every_hidden_size_is_computed(device, isa, hidden, features):
    lengths = [4, 0, 1, 2, 9, 1, 12] + [1, 2] * 15
    x, offsets, weights, h0, c0 = inputs(lengths, features, hidden, torch.float32)
    cell = Cell(*weights)
    state = reference.State(h0, c0)
    given = [a.to(device) for a in (x, offsets, *weights, h0, c0)]
    wanted, last = reference.forward(x, offsets, cell, state)
    every_h, h, c = ragged_lstm(*given, True)
    for actual, expected in ((every_h, wanted), (h, last.h), (c, last.c)):
        assert_near(actual, expected)
    d = torch.ones_like(wanted), torch.ones_like(h0), torch.ones_like(c0)
    g = reference.backward(x, offsets, cell, state, d[0], reference.State(*d[1:]))
    found = ragged_lstm_backward(*given, *(a.to(device) for a in d), True)
    for actual, expected in zip(
        found, (g.features, g.w_ih, g.w_hh, g.bias, g.h0, g.c0), strict=True
    ):
        assert_near(actual, expected, kind="gradient")


def test_rows_behind_the_last_sequence_belong_to_nobody(device):
    """So that shapes need not depend on the events; see evsurf::group."""
    x, offsets, weights, h0, c0 = inputs([3, 1, 2])
    behind = torch.cat([x, torch.full((4, 2), torch.nan, dtype=torch.float64)])
    made = []
    for rows in (x, behind):
        given = [a.to(device) for a in (rows, offsets, *weights, h0, c0)]
        every_h, h, c = ragged_lstm(*given, True)
        gradients = ragged_lstm_backward(*given, torch.ones_like(every_h), h, c, True)
        made.append([every_h, h, c, *gradients])
    for k, (exact, longer) in enumerate(zip(*made, strict=True)):
        assert torch.equal(longer[: len(exact)], exact)
        assert not longer[len(exact) :].any()
        assert len(longer) - len(exact) == (4 if k in (0, 3) else 0)


@pytest.mark.parametrize(
    ("offsets", "message"),
    [
        ([1, 3, 6], "start at 0"),
        ([0, 3, 7], "within the number of events, 6; they start at 0 and end at 7"),
        ([0, 4, 3, 6], r"must not decrease, .* offsets\[1\] = 4 is followed by 3"),
    ],
)
def test_offsets_that_name_no_events_are_refused_by_the_core(offsets, message):
    x, _, weights, _, _ = inputs([6])
    with pytest.raises(ValueError, match=message):
        ragged_lstm(x, torch.tensor(offsets), *weights, None, None, True)


def test_larger_hidden_sizes_are_computed_by_the_reference_with_one_warning():
    warn_of_reference.cache_clear()
    hidden = _core.largest_hidden + 1
    x, offsets, weights, h0, c0 = inputs([5, 0, 2], 2, hidden, torch.float32)
    state = reference.State(h0, c0)
    wanted, last = reference.forward(x, offsets, Cell(*weights), state)
    with pytest.warns(UserWarning, match=f"hidden sizes up to 64, and this layer has {hidden}"):
        every_h, h, c = ragged_lstm(x, offsets, *weights, h0, c0, True)
    assert torch.equal(every_h, wanted)
    assert torch.equal(h, last.h)
    assert torch.equal(c, last.c)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ragged_lstm(x, offsets, *weights, h0, c0, False)
        ragged_lstm_backward(x, offsets, *weights, h0, c0, None, h, c, True)


# What opcheck itself does to find out whether the operator has gradients.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
def test_the_operators_are_well_made(device):
    x, offsets, weights, h0, c0 = inputs([3, 0, 2, 9])
    leaves = [a.to(device).requires_grad_() for a in (x, *weights, h0, c0)]
    features, w_ih, w_hh, b_ih, b_hh, h, c = leaves
    offsets = offsets.to(device)
    for every in (True, False):
        torch.library.opcheck(ragged_lstm, (features, offsets, w_ih, w_hh, b_ih, b_hh, h, c, every))
    torch.library.opcheck(
        ragged_lstm, (features, offsets, w_ih, w_hh, None, None, None, None, False)
    )
    fixed = [a.detach() for a in (w_ih, w_hh, b_ih, b_hh)]
    d_every = torch.ones(14, 3, dtype=torch.float64, device=device)
    d_h, d_c = (a.detach() for a in (h, c))
    torch.library.opcheck(
        ragged_lstm_backward,
        (features.detach(), offsets, *fixed, h.detach(), c.detach(), d_every, d_h, d_c, True),
    )
    torch.library.opcheck(
        ragged_lstm_backward,
        (features.detach(), offsets, *fixed, None, None, None, d_h, None, False),
    )
