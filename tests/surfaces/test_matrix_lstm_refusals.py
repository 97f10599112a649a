"""What MatrixLSTM refuses, by name, before anything is computed or changed."""

import itertools
import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from evsurf.events import EventBatch, Events
from evsurf.surfaces import MatrixLSTM
from tests.random_events import random_batch

A = Events.from_arrays([0, 1, 0], [0, 0, 1], [5, 7, 7], [1, 0, 1], (2, 2))
BATCH = random_batch([40, 0, 25, 1], (4, 5))

# Values that are refused as such, and values of a wrong type.
WRONG: dict[str, tuple[list[Any], list[Any]]] = {
    "channels": ([0, -1, 2**31], [2.0, "3", True, None]),
    "layers": ([0], [1.5, True]),
    "bins": ([0, -3], [2.0, True]),
    "max_events": ([0], [2.5, True]),
    "kernel_size": ([0, (3, 0)], [2.0, (1, 2, 3), "3"]),
    "stride": ([0, (-1, 1)], [None, (1.0, 1)]),
    "keep": (["first"], []),
    "time": (["frames"], []),
    "scope": (["pixel", "absolute"], []),
    "normalize": (["unit"], []),
    "polarity": (["both"], []),
    "cell": (["gru"], []),
    "time_scale": ([0.0, -5.0, math.inf, math.nan], ["1", True]),
    "padding": (["full", (1, 2), (0, 0, 0, -1), (0, 0, 0, 2**16)], []),
}


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        (name, value, error)
        for name, both in WRONG.items()
        for error, values in zip((ValueError, TypeError), both, strict=True)
        for value in values
    ],
)
def test_a_wrong_option_is_named(name, value, error, own_errors):
    with pytest.raises(error, match=name):
        MatrixLSTM(**({"channels": 3} | {name: value}))


@pytest.mark.parametrize("value", [[A], (A, A), torch.zeros(3, 4), None, "events"])
def test_what_is_no_batch_is_refused(value, own_errors):
    with pytest.raises(TypeError, match="batch must be an EventBatch or Events, not"):
        MatrixLSTM(3)(value)


def test_a_field_that_does_not_fit_the_sensor_is_refused():
    with pytest.raises(ValueError, match=r"kernel_size \(5, 5\) does not fit .* \(2, 2\)"):
        MatrixLSTM(3, kernel_size=5, padding="valid")(A)


def test_a_thousand_refused_calls_leave_no_trace(own_errors):
    layer = MatrixLSTM(3)
    before = layer(BATCH)
    x, y, t, p, offsets = (getattr(BATCH, name) for name in EventBatch.FIELDS)
    wrong = [
        {"x": x + 5}, {"x": x - 1}, {"y": y + 4}, {"y": y - 1}, {"t": t.flip(0)}, {"t": t.double()},
        {"t": t + 2**62}, {"p": p.byte()}, {"x": x.int()}, {"x": x[1:]}, {"p": p[:-1]},
        {"offsets": offsets - 1}, {"offsets": offsets[:-1]}, {"offsets": offsets.flip(0)},
        {"offsets": offsets.int()}, {"offsets": offsets.diff()}, {"size": (0, 5)},
        {"size": (4, -5)}, {"size": (4, 5, 1)},
        {"t": torch.full(t.shape, torch.nan)}, {"x": x.tolist()}, {"x": x[:, None]},
    ]  # fmt: skip
    right = {"x": x, "y": y, "t": t, "p": p, "offsets": offsets, "size": BATCH.size}
    for changed in itertools.islice(itertools.cycle(wrong), 1000):
        with pytest.raises((ValueError, TypeError), match=next(iter(changed))):
            layer(EventBatch(**(right | changed)))
    assert torch.equal(layer(BATCH), before)


def test_a_checkpoint_of_another_layer_is_refused_and_nothing_taken():
    layer = MatrixLSTM(3)
    before = {name: p.detach().clone() for name, p in layer.named_parameters()}

    def original(lstm: nn.LSTM) -> dict[str, Tensor]:
        return {f"shared_lstm.{name}": value for name, value in lstm.state_dict().items()}

    with pytest.raises(ValueError, match=r"weight_ih_l0 is \[12, 4\], this layer's \[12, 2\]"):
        layer.load_original(original(nn.LSTM(4, 3)))
    with pytest.raises(ValueError, match=r"weight_ih_l0 is \[16, 2\], this layer's \[12, 2\]"):
        layer.load_original(original(nn.LSTM(2, 4)))
    with pytest.raises(ValueError, match="layers and bias must be those of the checkpoint"):
        layer.load_original(original(nn.LSTM(2, 3, 2)))
    with pytest.raises(ValueError, match=r"state must hold shared_lstm.* and holds \[\]"):
        layer.load_original(nn.LSTM(2, 3).state_dict())
    two = {f"{part}.{name}": v for part in "ab" for name, v in original(nn.LSTM(2, 3)).items()}
    with pytest.raises(ValueError, match=r"state holds several layers, behind \['a.', 'b.'\]"):
        layer.load_original(two)
    for name, parameter in layer.named_parameters():
        assert torch.equal(parameter, before[name])


@pytest.mark.parametrize(
    ("options", "entry"),
    [({"bidirectional": True}, "weight_ih_l0_reverse"), ({"proj_size": 2}, "weight_hr_l0"),
     ({"num_layers": 2}, "weight_ih_l1")],
)  # fmt: skip
def test_an_lstm_of_torch_that_is_another_network_is_refused(options, entry):
    with pytest.raises(RuntimeError, match=entry):
        MatrixLSTM(3).load_state_dict(nn.LSTM(2, 3, **options).state_dict())
