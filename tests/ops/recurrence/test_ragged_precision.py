"""How near ragged_lstm in single precision comes to torch.nn.LSTM in double, on every machine."""

import functools

import pytest
import torch
from torch import Tensor, nn

import evsurf as es

# What is promised to users, whatever tests/tolerances.py allows elsewhere: sequences of up to 512
# events, and gradients in relation to the largest of their tensor.
VALUE, GRADIENT = 2e-6, 1e-5

LENGTHS = [512, 511, 300, 130, 64, 33] + [1] * 20 + [2] * 9 + [7] * 5
OFFSETS = torch.tensor([0, *LENGTHS]).cumsum(0)
FEATURES = 2


@functools.cache
def exact(hidden: int) -> tuple[list[Tensor], Tensor, list[Tensor], list[Tensor]]:
    """Leaves in single precision, a slope, and values and gradients in double."""
    generator = torch.Generator().manual_seed(hidden)
    x = torch.rand(sum(LENGTHS), FEATURES, generator=generator)
    x[:, 0] = x[:, 0].round()
    slope = torch.randn(len(LENGTHS), hidden, generator=generator)
    lstm = nn.LSTM(FEATURES, hidden)
    leaves = [x, *(w.detach().clone() for w in lstm.all_weights[0])]
    lstm = lstm.double()
    x64 = x.double().requires_grad_()
    packed = nn.utils.rnn.pack_sequence(x64.split(LENGTHS), enforce_sorted=False)
    _, (h, c) = lstm(packed)
    gradients = torch.autograd.grad((h[0] * slope).sum(), [x64, *lstm.all_weights[0]])
    return leaves, slope, [h[0].detach(), c[0].detach()], list(gradients)


def largest(a: Tensor) -> float:
    return float(a.detach().abs().max())


@pytest.mark.parametrize("hidden", [1, 2, 3, 4, 5, 8, 16, 17, 32, 64])
def test_values_and_gradients_are_near_double_precision(isa, hidden):
    leaves, slope, values, gradients = exact(hidden)
    leaves = [a.clone().requires_grad_() for a in leaves]
    last, (_, c) = es.ops.ragged_lstm(leaves[0], OFFSETS, *leaves[1:])
    assert largest(last - values[0]) <= VALUE
    # Unlike the output, the memory may exceed one.
    assert largest(c - values[1]) <= VALUE * max(1, largest(values[1]))
    found = torch.autograd.grad((last * slope).sum(), leaves)
    for actual, wanted in zip(found, gradients, strict=True):
        assert largest(actual - wanted) <= GRADIENT * largest(wanted)


@pytest.mark.gpu
@pytest.mark.parametrize("hidden", [1, 2, 3, 4, 5, 8, 16, 17, 32, 64])
def test_a_gpu_is_as_near(hidden):
    leaves, slope, values, gradients = exact(hidden)
    leaves = [a.cuda().requires_grad_() for a in leaves]
    last, _ = es.ops.ragged_lstm(leaves[0], OFFSETS.cuda(), *leaves[1:])
    assert largest(last.cpu() - values[0]) <= VALUE
    found = torch.autograd.grad((last * slope.cuda()).sum(), leaves)
    for actual, wanted in zip(found, gradients, strict=True):
        assert largest(actual.cpu() - wanted) <= GRADIENT * largest(wanted)


def test_a_hundred_thousand_steps_stay_finite_and_near(isa):
    steps, hidden = 100_000, 4
    lstm = nn.LSTM(FEATURES, hidden)
    x = torch.rand(steps, FEATURES)
    leaves = [a.detach().clone().requires_grad_() for a in (x, *lstm.all_weights[0])]
    every, (h, c) = es.ops.ragged_lstm(
        leaves[0], torch.tensor([0, steps]), *leaves[1:], outputs="all"
    )
    for outcome in ((every.sum() + c.sum()), h.sum()):
        gradients = torch.autograd.grad(outcome, leaves, retain_graph=True)
        assert all(g.isfinite().all() for g in gradients)
    assert every.isfinite().all()
    # What lies long ago is forgotten, so the end can be had from the last steps alone.
    with torch.no_grad():
        wanted, _ = lstm.double()(x[-2000:].double())
    assert largest(every[-1] - wanted[-1]) <= VALUE


def test_the_largest_inputs_saturate_the_gates(isa):
    """Where exp overflows or vanishes, outputs are at the end of their range, and never NaN."""
    x = torch.tensor([-3e38, -1e10, -300.0, -90.0, 0.0, 90.0, 300.0, 1e10, 3e38])[:, None]
    w_ih, zero = torch.tensor([[1.0], [0.0], [1.0], [0.0]]), torch.zeros(4, 1)
    offsets = torch.arange(len(x) + 1)
    h, (_, c) = es.ops.ragged_lstm(x, offsets, w_ih, zero)
    assert c.flatten().tolist() == pytest.approx([0, 0, 0, 0, 0, 1, 1, 1, 1], abs=1e-30)
    assert largest(h - 0.5 * c.double().tanh()) <= VALUE


def test_a_missing_number_is_not_hidden(isa):
    """NaN in a sequence stays in this sequence, and there to the end."""
    x = torch.rand(40, 2)
    x[5, 1] = torch.nan
    offsets = torch.tensor([0, 4, 8, *range(9, 41)])
    lstm = nn.LSTM(2, 3)
    h, (_, c) = es.ops.ragged_lstm(x, offsets, *(w.detach() for w in lstm.all_weights[0]))
    for state in (h, c):
        assert state[1].isnan().all()
        assert state[[0, *range(2, len(h))]].isfinite().all()


def test_activations_are_exact_to_the_last_digits(isa):
    """By one step whose other gates are open: the memory is then tanh(x), or sigmoid(x)."""
    x = torch.cat([torch.linspace(-9, 9, 4001), torch.logspace(-30, 0, 200)])[:, None]
    x = x[x != 0][:, None]
    offsets, zero = torch.arange(len(x) + 1), torch.zeros(4, 1)
    open_ = torch.tensor([40.0, 0.0, 40.0, 40.0])
    for gate, function in ((2, torch.tanh), (0, torch.sigmoid)):
        w_ih, bias = torch.zeros(4, 1), open_.clone()
        w_ih[gate], bias[gate] = 1, 0
        _, (_, c) = es.ops.ragged_lstm(x, offsets, w_ih, zero, bias, 0 * bias)
        exact = function(x.double())
        # Without fused products, large arguments lose a few units in the last place.
        assert largest(c / exact - 1) <= 6 * 2**-23
