"""Wrong arguments of ragged_lstm: each refused by name, before anything is computed."""

import itertools
from typing import Any

import pytest
import torch
from torch import Tensor

import evsurf as es
from tests.random_events import random_weights

pytestmark = pytest.mark.usefixtures("own_errors")

FEATURES = torch.linspace(-1, 1, 12).reshape(6, 2)
OFFSETS = torch.tensor([0, 4, 4, 6])
W_IH, W_HH, B_IH, B_HH = random_weights(2, 3, dtype=torch.float32)
H = torch.zeros(3, 3)
RIGHT: dict[str, Any] = {
    "features": FEATURES, "offsets": OFFSETS, "w_ih": W_IH, "w_hh": W_HH, "b_ih": B_IH,
    "b_hh": B_HH, "initial": (H, H), "outputs": "last",
}  # fmt: skip

# What is wrong, the error, and what its message says.
WRONG: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "features without a second axis": (
        {"features": FEATURES[:, 0]}, ValueError, r"features must be \[events, 2\] .*not \[6\]",
    ),
    "too many features": (
        {"features": torch.zeros(6, 3)}, ValueError, r"features must be \[events, 2\] .*\[6, 3\]",
    ),
    "features of integers": (
        {"features": FEATURES.long()}, TypeError, "features must be a floating-point .*int64",
    ),
    "features of a list": (
        {"features": [[0.0, 1.0]]}, TypeError, "features must be a torch.Tensor, not list",
    ),
    "offsets of int32": (
        {"offsets": OFFSETS.int()}, TypeError, "offsets must be an int64 tensor, not torch.int32",
    ),
    "offsets of a list": (
        {"offsets": [0, 4, 4, 6]}, TypeError, "offsets must be an int64 tensor, not list",
    ),
    "offsets of two axes": (
        {"offsets": OFFSETS[None]}, ValueError, r"offsets must be \[sequences \+ 1\].*\[1, 4\]",
    ),
    "no offsets": (
        {"offsets": OFFSETS[:0]}, ValueError, r"offsets must be \[sequences \+ 1\].*\[0\]",
    ),
    "offsets that end early": (
        {"offsets": torch.tensor([0, 4, 4, 5])}, ValueError,
        "offsets must .* end at the number of events, 6; they start at 0 and end at 5",
    ),
    "offsets that end late": (
        {"offsets": torch.tensor([0, 4, 4, 7])}, ValueError,
        "offsets must .* end at the number of events, 6; they start at 0 and end at 7",
    ),
    "offsets that start late": (
        {"offsets": torch.tensor([1, 4, 4, 6])}, ValueError, "offsets must start at 0",
    ),
    "offsets that decrease": (
        {"offsets": torch.tensor([0, 5, 4, 6])}, ValueError,
        r"offsets must not decrease.*offsets\[1\] = 5 is followed by 4",
    ),
    "offsets below zero": (
        {"offsets": torch.tensor([0, -4, 4, 6])}, ValueError, "offsets must not decrease",
    ),
    "offsets of the largest integer": (
        {"offsets": torch.tensor([0, 2**63 - 1, 4, 6])}, ValueError, "offsets must not decrease",
    ),
    "w_hh that is not square by gates": (
        {"w_hh": torch.zeros(11, 3)}, ValueError,
        r"w_hh must be \[4 \* hidden, hidden\], not \[11, 3\]",
    ),
    "w_hh of no units": (
        {"w_hh": torch.zeros(0, 0)}, ValueError,
        r"w_hh must be \[4 \* hidden, hidden\], not \[0, 0\]",
    ),
    "w_ih of another layer": (
        {"w_ih": torch.zeros(16, 2)}, ValueError, r"w_ih must be \[12, features\] .*not \[16, 2\]",
    ),
    "w_ih of no features": (
        {"w_ih": torch.zeros(12, 0)}, ValueError, r"w_ih must be \[12, features\] .*not \[12, 0\]",
    ),
    "w_ih of integers": (
        {"w_ih": torch.zeros(12, 2, dtype=torch.int64)}, TypeError, "w_ih must be a floating-point",
    ),
    "one bias": ({"b_hh": None}, ValueError, "b_ih and b_hh must both be given, or neither"),
    "a bias of another layer": (
        {"b_ih": torch.zeros(16)}, ValueError, r"b_ih must be \[12\] to go with w_hh, not \[16\]",
    ),
    "a bias of numbers": ({"b_hh": [0.0] * 12}, TypeError, "b_hh must be a torch.Tensor, not list"),
    "a state of one tensor": (
        {"initial": H}, TypeError, r"initial must be a pair \(h, c\) of tensors, not Tensor",
    ),
    "a state of three": ({"initial": (H, H, H)}, TypeError, r"initial must be a pair \(h, c\)"),
    "a state of other sequences": (
        {"initial": (H[:2], H)}, ValueError,
        r"initial h must be \[sequences, hidden\], \[3, 3\], not \[2, 3\]",
    ),
    "a state of another layer": (
        {"initial": (H, H[:, :2])}, ValueError,
        r"initial c must be \[sequences, hidden\], \[3, 3\], not \[3, 2\]",
    ),
    "a state of integers": (
        {"initial": (H, H.long())}, TypeError, "initial c must be a floating-point tensor",
    ),
    "outputs by another name": (
        {"outputs": "every"}, ValueError, 'outputs must be "last" or "all", not \'every\'',
    ),
    "weights elsewhere": ({"w_hh": W_HH.to("meta")}, ValueError, "w_hh is on meta, w_ih on cpu"),
    "offsets elsewhere": (
        {"offsets": OFFSETS.to("meta")}, ValueError, "offsets is on meta, features on cpu",
    ),
    "a state elsewhere": (
        {"initial": (H.to("meta"), H)}, ValueError, "initial h is on meta, features on cpu",
    ),
    "features elsewhere": (
        {"features": FEATURES.to("meta")}, ValueError, "features",
    ),
}  # fmt: skip


def call(**changed: Any) -> Tensor:
    arguments = RIGHT | changed
    keywords = {name: arguments.pop(name) for name in ("initial", "outputs")}
    output, _ = es.ops.ragged_lstm(*arguments.values(), **keywords)
    return output


@pytest.mark.parametrize(("changed", "error", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_argument_is_named(changed, error, message):
    with pytest.raises(error, match=message):
        call(**changed)


def test_a_thousand_refused_calls_leave_no_trace():
    before = call()
    for changed, error, _ in itertools.islice(itertools.cycle(WRONG.values()), 1000):
        with pytest.raises(error):
            call(**changed)
    assert torch.equal(call(), before)


@pytest.mark.filterwarnings("ignore:.*torch.jit.script.* is deprecated")
@pytest.mark.parametrize("name", ["features", "w_ih", "b_hh"])
def test_forward_mode_is_refused_and_not_wrong(name):
    tensor = RIGHT[name]
    with pytest.raises(RuntimeError, match="no forward-mode derivative"):
        torch.func.jvp(lambda a: call(**{name: a}), (tensor,), (torch.ones_like(tensor),))
