import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from evsurf.ops.recurrence import reference
from evsurf.ops.recurrence.reference import Cell, Schedule, State
from tests import naive
from tests.random_events import lengths_with_offsets, random_weights
from tests.tolerances import assert_near

OFFSETS = torch.tensor([0, 2, 2, 6, 7])


def draw(*shape: int, seed: int = 1) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def test_one_step_by_hand():
    # z_i = ln 3, z_f = 0, z_g = atanh(1/2), z_o = ln 3, from a memory of 2.
    z = torch.tensor([[3.0], [1.0], [3.0**0.5], [3.0]], dtype=torch.float64).log()
    cell = Cell(z, torch.zeros(4, 1, dtype=torch.float64), None, None)
    one = torch.ones(1, 1, dtype=torch.float64)
    every, last = reference.forward(one, torch.tensor([0, 1]), cell, State(0 * one, 2 * one))
    memory = 0.5 * 2 + 0.75 * 0.5
    assert_near(last.c, memory * one)
    assert_near(last.h, 0.75 * (memory * one).tanh())
    assert torch.equal(every, last.h)


def test_long_sequences_come_first_and_ties_keep_their_order():
    schedule = Schedule.of(torch.tensor([0, 1, 3, 3, 5, 6]))
    assert schedule.order.tolist() == [1, 3, 0, 4, 2]
    assert schedule.running == [4, 2]
    assert schedule.starts.tolist() == [1, 3, 0, 5, 3]
    assert schedule.rows(1).tolist() == [2, 4]


def test_no_sequences_have_no_steps():
    assert Schedule.of(torch.tensor([0])).running == []
    assert Schedule.of(torch.tensor([0, 0, 0])).running == []


@given(lengths_with_offsets(), st.integers(1, 3), st.integers(1, 4), st.booleans(), st.booleans())
def test_values_and_gradients_are_those_of_a_loop(case, features, hidden, bias, from_zero):
    lengths, offsets = case
    weights = random_weights(features, hidden, bias=bias)
    x = draw(sum(lengths), features).requires_grad_()
    h0, c0 = (draw(len(lengths), hidden, seed=s).requires_grad_() for s in (2, 3))
    leaves = [x, h0, c0, *(w.requires_grad_() for w in weights if w is not None)]
    state = State(h0 * 0, c0 * 0) if from_zero else State(h0, c0)

    outputs, last_h, last_c = [], [], []
    for n, inputs in enumerate(x.split(lengths)):
        every, h, c = naive.lstm(tuple(weights), list(inputs), state.h[n], state.c[n])
        outputs += every
        last_h.append(h)
        last_c.append(c)
    none = x.new_zeros(0, hidden)
    expected = [torch.stack(v) if v else none for v in (outputs, last_h, last_c)]
    slopes = [draw(*v.shape, seed=4) for v in expected]

    cell = Cell(*(None if w is None else w.detach() for w in weights))
    start = State(state.h.detach(), state.c.detach())
    every_h, last = reference.forward(x.detach(), offsets, cell, start)
    for found, wanted in zip((every_h, *last), expected, strict=True):
        assert_near(found, wanted.detach())

    g = reference.backward(x.detach(), offsets, cell, start, slopes[0], State(*slopes[1:]))
    total = sum((v * slope).sum() for v, slope in zip(expected, slopes, strict=True))
    if not lengths:
        return
    gradients = torch.autograd.grad(total, leaves, allow_unused=True, materialize_grads=True)
    initial = (g.h0 * 0, g.c0 * 0) if from_zero else (g.h0, g.c0)
    actual = [g.features, *initial, g.w_ih, g.w_hh, *([g.bias] * 2 if bias else [])]
    for own, gradient in zip(actual, gradients, strict=True):
        assert_near(own, gradient, kind="gradient")


def test_the_state_given_is_not_changed():
    cell = Cell(*random_weights(2, 3))
    state = State(draw(4, 3), draw(4, 3, seed=2))
    before = [a.clone() for a in state]
    d_state = State(draw(4, 3, seed=3), draw(4, 3, seed=4))
    d_before = [a.clone() for a in d_state]
    reference.forward(draw(7, 2), OFFSETS, cell, state)
    reference.backward(draw(7, 2), OFFSETS, cell, state, None, d_state)
    assert all(
        torch.equal(a, b) for a, b in zip([*state, *d_state], before + d_before, strict=True)
    )


def test_an_empty_sequence_keeps_its_state():
    cell = Cell(*random_weights(2, 3))
    state = State(draw(4, 3), draw(4, 3, seed=2))
    _, last = reference.forward(draw(7, 2), OFFSETS, cell, state)
    assert torch.equal(last.h[1], state.h[1])
    assert torch.equal(last.c[1], state.c[1])


def test_without_a_state_it_is_zero():
    cell = Cell(*random_weights(2, 3))
    state = reference.initial_state(4, cell, None, None)
    assert [a.shape for a in state] == [(4, 3), (4, 3)]
    assert not any(a.any() for a in state)
