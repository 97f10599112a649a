from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

import evsurf as es
from tests import naive
from tests.random_events import lengths_with_offsets, random_weights
from tests.tolerances import assert_near

LENGTHS = [3, 0, 1, 5]
OFFSETS = torch.tensor([0, *LENGTHS]).cumsum(0)


def draw(*shape: int, seed: int = 1, dtype: torch.dtype = torch.float64) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)


FEATURES = draw(9, 2)
WEIGHTS = random_weights(2, 3)
INITIAL = draw(4, 3, seed=2), draw(4, 3, seed=3)


def on(device: torch.device, *tensors: Tensor | None) -> list[Any]:
    return [None if a is None else a.to(device) for a in tensors]


def test_one_step_by_hand(device):
    # z_i = ln 3, z_f = 0, z_g = atanh(1/2), z_o = ln 3, from a memory of 2.
    w_ih = torch.tensor([[3.0], [1.0], [3.0**0.5], [3.0]], dtype=torch.float64).log()
    one = torch.ones(1, 1, dtype=torch.float64)
    features, w_ih, w_hh, h, c = on(device, one, w_ih, torch.zeros_like(w_ih), 0 * one, 2 * one)
    offsets = torch.tensor([0, 1], device=device)
    output, (h, c) = es.ops.ragged_lstm(features, offsets, w_ih, w_hh, initial=(h, c))
    memory = 0.5 * 2 + 0.75 * 0.5
    assert_near(c, memory * one)
    assert_near(output, 0.75 * (memory * one).tanh())
    assert torch.equal(output, h)


def test_sequences_are_those_of_an_lstm_of_torch(device):
    lstm = nn.LSTM(2, 3).double()
    features, offsets = on(device, FEATURES, OFFSETS)
    weights = on(device, *(w.detach() for w in lstm.all_weights[0]))
    every, (h, c) = es.ops.ragged_lstm(features, offsets, *weights, outputs="all")
    for n, sequence in enumerate(FEATURES.split(LENGTHS)):
        if len(sequence) == 0:
            assert not h[n].any()
            continue
        wanted, (last_h, last_c) = lstm(sequence)
        assert_near(every[OFFSETS[n] : OFFSETS[n + 1]], wanted.detach())
        assert_near(h[n], last_h[0].detach())
        assert_near(c[n], last_c[0].detach())


def test_the_last_outputs_are_the_last_of_all_outputs(device):
    features, offsets, *weights = on(device, FEATURES, OFFSETS, *WEIGHTS)
    every, (h, c) = es.ops.ragged_lstm(features, offsets, *weights, outputs="all")
    last, (h_again, c_again) = es.ops.ragged_lstm(features, offsets, *weights)
    occupied = torch.tensor(LENGTHS, device=device) > 0
    assert torch.equal(every[offsets[1:][occupied] - 1], last[occupied])
    assert torch.equal(last, h)
    assert torch.equal(h, h_again)
    assert torch.equal(c, c_again)


def test_a_sequence_without_events_gives_its_initial_state(device):
    features, offsets, h0, c0, *weights = on(device, FEATURES, OFFSETS, *INITIAL, *WEIGHTS)
    last, (h, c) = es.ops.ragged_lstm(features, offsets, *weights, initial=(h0, c0))
    assert torch.equal(last[1], h0[1])
    assert torch.equal(h[1], h0[1])
    assert torch.equal(c[1], c0[1])


def test_a_sequence_may_be_fed_in_pieces(device):
    """The state after one piece is the initial state of the next, to the last bit."""
    features, *weights = on(device, FEATURES, *WEIGHTS)
    whole = torch.tensor([0, 9], device=device)
    last, (h, c) = es.ops.ragged_lstm(features, whole, *weights)
    state: Any = None
    for a, b in ((0, 1), (1, 1), (1, 6), (6, 9)):
        offsets = torch.tensor([0, b - a], device=device)
        piece, state = es.ops.ragged_lstm(features[a:b], offsets, *weights, initial=state)
    assert torch.equal(piece, last)
    assert torch.equal(state[0], h)
    assert torch.equal(state[1], c)


@pytest.mark.parametrize("sequences", [0, 1, 40])
def test_no_events_at_all(device, sequences):
    offsets = torch.zeros(sequences + 1, dtype=torch.int64, device=device)
    weights = [w.requires_grad_() for w in on(device, *(w.clone() for w in WEIGHTS))]
    features = torch.zeros(0, 2, dtype=torch.float64, device=device, requires_grad=True)
    for outputs, rows in (("last", sequences), ("all", 0)):
        output, (h, c) = es.ops.ragged_lstm(features, offsets, *weights, outputs=outputs)
        assert output.shape == (rows, 3)
        assert not h.any()
        assert not c.any()
        gradients = torch.autograd.grad(output.sum() + c.sum(), [features, *weights])
        assert not any(g.any() for g in gradients)


@given(
    case=lengths_with_offsets(),
    features=st.integers(1, 4),
    hidden=st.integers(1, 32),
    bias=st.booleans(),
    outputs=st.sampled_from(["last", "all"]),
    started=st.booleans(),
)
def test_any_sequences_are_those_of_a_loop(device, case, features, hidden, bias, outputs, started):
    lengths, offsets = case
    weights = random_weights(features, hidden, bias=bias)
    x, h0, c0 = (draw(n, m) for n, m in ((sum(lengths), features), *[(len(lengths), hidden)] * 2))
    given_x, given_offsets, given_h, given_c, *given_weights = on(
        device, x, offsets, h0, c0, *weights
    )
    output, (h, c) = es.ops.ragged_lstm(
        given_x, given_offsets, *given_weights,
        initial=(given_h, given_c) if started else None, outputs=outputs,
    )  # fmt: skip
    rows: list[Tensor] = []
    for n, inputs in enumerate(x.split(lengths)):
        state = (h0[n], c0[n]) if started else (None, None)
        every, last_h, last_c = naive.lstm(tuple(weights), list(inputs), *state)
        rows += every if outputs == "all" else [last_h]
        assert_near(h[n], last_h)
        assert_near(c[n], last_c)
    assert_near(output, torch.stack(rows) if rows else x.new_zeros(0, hidden))


def configurations():
    """Sequences, sizes and options of fifty gradient checks."""
    generator = torch.Generator().manual_seed(0)

    def number(low: int, high: int) -> int:
        return int(torch.randint(low, high + 1, (), generator=generator))

    for k in range(50):
        lengths = [number(0, 4) for _ in range(number(1, 5))] + [1]
        outputs = "all" if k % 2 else "last"
        yield pytest.param(
            lengths, number(1, 4), number(1, 6), k % 3 > 0, k % 4 < 2, outputs, id=str(k)
        )


@pytest.mark.parametrize(
    ("lengths", "features", "hidden", "bias", "started", "outputs"), list(configurations())
)
def test_gradients_are_those_of_differences(
    device, lengths, features, hidden, bias, started, outputs
):
    offsets = torch.tensor([0, *lengths], device=device).cumsum(0)
    shapes = [(sum(lengths), features), *([(len(lengths), hidden)] * 2 if started else [])]
    leaves = [draw(*shape, seed=k) for k, shape in enumerate(shapes)]
    leaves += [w for w in random_weights(features, hidden, bias=bias) if w is not None]
    leaves = [a.to(device).requires_grad_() for a in leaves]

    def run(x: Tensor, *others: Tensor):
        initial = others[:2] if started else None
        weights = others[2:] if started else others
        output, (h, c) = es.ops.ragged_lstm(x, offsets, *weights, initial=initial, outputs=outputs)
        return output, h, c

    assert torch.autograd.gradcheck(run, leaves, atol=1e-6, fast_mode=True)


def test_a_gradient_can_be_asked_for_alone(device):
    features, offsets, h0, c0, *weights = on(device, FEATURES, OFFSETS, *INITIAL, *WEIGHTS)
    leaves = [features, h0, c0, *weights]

    def gradients(of: list[Tensor]) -> tuple[Tensor, ...]:
        fresh = [a.detach().clone().requires_grad_(any(a is b for b in of)) for a in leaves]
        output, _ = es.ops.ragged_lstm(fresh[0], offsets, *fresh[3:], initial=tuple(fresh[1:3]))
        return torch.autograd.grad(output.sum(), [a for a in fresh if a.requires_grad])

    together = gradients(leaves)
    for leaf, wanted in zip(leaves, together, strict=True):
        (alone,) = gradients([leaf])
        assert torch.equal(alone, wanted)


def test_neither_inputs_nor_incoming_gradients_are_changed():
    given = [a.clone().requires_grad_() for a in (FEATURES, *INITIAL, *WEIGHTS)]
    output, _ = es.ops.ragged_lstm(given[0], OFFSETS, *given[3:], initial=tuple(given[1:3]))
    slope = draw(4, 3, seed=9)
    kept = slope.clone()
    output.backward(slope)
    assert torch.equal(slope, kept)
    for leaf, original in zip(given, (FEATURES, *INITIAL, *WEIGHTS), strict=True):
        assert torch.equal(leaf, original)


def test_strided_inputs_are_read_as_they_are(device):
    def strided(a: Tensor) -> Tensor:
        return torch.stack([a, torch.full_like(a, torch.nan)], dim=-1)[..., 0]

    given = on(device, FEATURES, *INITIAL, *WEIGHTS)
    offsets = OFFSETS.to(device)
    made = []
    for tensors in (given, [strided(a) for a in given]):
        leaves = [a.detach().requires_grad_() for a in tensors]
        output, _ = es.ops.ragged_lstm(
            leaves[0], offsets.repeat_interleave(2)[::2], *leaves[3:], initial=tuple(leaves[1:3])
        )
        # A slope that is expanded from one number has no strides at all.
        made.append([output, *torch.autograd.grad(output.sum(), leaves)])
    assert all(torch.equal(a, b) for a, b in zip(*made, strict=True))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_single(device, dtype):
    rounded = [a.to(dtype) for a in on(device, FEATURES, *INITIAL, *WEIGHTS)]
    offsets = OFFSETS.to(device)
    made = []
    for tensors in (rounded, [a.float() for a in rounded]):
        leaves = [a.detach().requires_grad_() for a in tensors]
        output, (h, c) = es.ops.ragged_lstm(
            leaves[0], offsets, *leaves[3:], initial=tuple(leaves[1:3])
        )
        assert {output.dtype, h.dtype, c.dtype} == {torch.float32}
        made.append([output, c, *torch.autograd.grad((output + c).sum(), leaves)])
    for half, single in zip(*made, strict=True):
        assert torch.equal(half, single.to(half.dtype))


def test_autocast_leaves_it_in_single_precision(device):
    given = on(device, *(a.float() for a in (FEATURES, *WEIGHTS)))
    offsets = OFFSETS.to(device)
    plain, _ = es.ops.ragged_lstm(given[0], offsets, *given[1:])
    with torch.autocast(device.type, torch.bfloat16):
        cast, _ = es.ops.ragged_lstm(given[0], offsets, *given[1:])
    assert cast.dtype == torch.float32
    assert torch.equal(cast, plain)


def test_half_features_meet_double_weights_in_double(device):
    features, offsets, *weights = on(device, FEATURES.half(), OFFSETS, *WEIGHTS)
    output, _ = es.ops.ragged_lstm(features, offsets, *weights)
    wanted, _ = es.ops.ragged_lstm(features.double(), offsets, *weights)
    assert torch.equal(output, wanted)


@given(
    st.lists(st.integers(-2, 8) | st.sampled_from([-(2**63), 2**31, 2**62, 2**63 - 1]), max_size=6)
)
def test_offsets_are_legal_or_refused_by_name(device, numbers):
    """Whatever stands in them, nothing outside of the features is read."""
    offsets = torch.tensor(numbers, dtype=torch.int64)
    legal = bool(numbers) and numbers == sorted(numbers) and (numbers[0], numbers[-1]) == (0, 6)
    features, offsets, *weights = on(device, draw(6, 2), offsets, *WEIGHTS)
    if legal:
        last, _ = es.ops.ragged_lstm(features, offsets, *weights)
        assert len(last) == len(numbers) - 1
    elif device.type == "cpu":
        with pytest.raises(ValueError, match="offsets must"):
            es.ops.ragged_lstm(features, offsets, *weights)
