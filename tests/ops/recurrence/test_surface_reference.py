import torch
from hypothesis import given
from hypothesis import strategies as st

from evsurf.ops.recurrence import surface_reference
from evsurf.ops.recurrence.reference import Cell
from evsurf.ops.recurrence.surface_reference import place
from tests import naive
from tests.ops.recurrence.inputs import surface_input
from tests.random_events import event_batches, options, random_weights
from tests.tolerances import assert_near


def test_outputs_are_placed_at_their_cells_and_bins_become_channels():
    # One sample of two bins, two units, 1 x 3 cells.
    h = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    image = place(h, torch.tensor([2, 3]), (1, 4, 1, 3))
    assert image.tolist() == [[[[0, 0, 1]], [[0, 0, 2]], [[3, 0, 0]], [[4, 0, 0]]]]


def test_sequences_in_no_cell_are_left_out():
    h = torch.tensor([[1.0], [5.0], [5.0]])
    assert place(h, torch.tensor([1, 2, 2]), (2, 1, 1, 1)).flatten().tolist() == [0, 1]


def test_no_sequences_leave_zeros():
    image = place(torch.zeros(0, 2), torch.zeros(0, dtype=torch.int64), (2, 2, 1, 3))
    assert image.tolist() == torch.zeros(2, 2, 1, 3).tolist()


@given(event_batches(), options(), st.integers(1, 3), st.booleans())
def test_surfaces_and_gradients_are_those_of_a_loop(batch, arguments, hidden, bias):
    options = naive.Options(**arguments)
    rows, columns = naive.axes(batch.size, options)
    if rows.cells < 1 or columns.cells < 1:
        return
    given = surface_input(batch, options)
    weights = random_weights(given.reading.features, hidden, bias=bias)
    cell = Cell(*weights)
    made = surface_reference.forward(given, cell)
    leaves = [w.clone().requires_grad_() for w in weights if w is not None]
    wanted = naive.surface(batch, [(*leaves, *[None] * (4 - len(leaves)))], options)
    assert_near(made, wanted.detach())

    slope = torch.linspace(-1, 1, made.numel(), dtype=torch.float64).reshape(made.shape)
    w_ih, w_hh, d_bias = surface_reference.backward(given, cell, slope)
    if not wanted.requires_grad:
        assert not any(g.any() for g in (w_ih, w_hh, d_bias))
        return
    gradients = torch.autograd.grad((wanted * slope).sum(), leaves)
    found = [w_ih, w_hh, *([d_bias] * 2 if bias else [])]
    for actual, gradient in zip(found, gradients, strict=True):
        assert_near(actual, gradient, kind="gradient")
