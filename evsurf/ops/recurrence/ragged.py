"""The public ragged LSTM: checks what it is given and calls the op."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.autograd.forward_ad import unpack_dual

from evsurf.ops.recurrence.op import ragged_lstm as op
from evsurf.ops.recurrence.reference import Cell


def ragged_lstm(
    features: Float[Tensor, "events features"],
    offsets: Int64[Tensor, "sequences_and_1"],
    w_ih: Float[Tensor, "gates features"],
    w_hh: Float[Tensor, "gates hidden"],
    b_ih: Float[Tensor, "gates"] | None = None,
    b_hh: Float[Tensor, "gates"] | None = None,
    *,
    initial: tuple[Float[Tensor, "sequences hidden"], Float[Tensor, "sequences hidden"]]
    | None = None,
    outputs: str = "last",
) -> tuple[
    Float[Tensor, "rows hidden"],
    tuple[Float[Tensor, "sequences hidden"], Float[Tensor, "sequences hidden"]],
]:
    """Runs one LSTM layer over packed sequences of any lengths: (output, (h, c)).

    Sequence s is features[offsets[s]:offsets[s + 1]]. Weights are laid out as torch.nn.LSTM's, gate
    order i, f, g, o. The output is the state h after the last event of every sequence, or, with
    `outputs="all"`, after every event. A sequence without events gives its initial state.

    Differentiable in features, weights and initial state. What a sequence gives does not depend, to
    the last bit, on the others; weight gradients are summed in a fixed order. Half-precision input
    is computed in float32.

    >>> import torch, evsurf as es
    >>> lstm = torch.nn.LSTM(2, 3)
    >>> features, offsets = torch.randn(5, 2), torch.tensor([0, 2, 2, 5])
    >>> last, (h, c) = es.ops.ragged_lstm(features, offsets, *lstm.all_weights[0])
    >>> last.shape, torch.allclose(last[2], lstm(features[2:])[0][-1], atol=1e-6)
    (torch.Size([3, 3]), True)
    """
    if outputs not in ("last", "all"):
        raise ValueError(f'outputs must be "last" or "all", not {outputs!r}')
    check_weights(w_ih, w_hh, b_ih, b_hh)
    _check_sequences(features, offsets, w_ih)
    _check_ends(offsets, len(features))
    dtype = computing_dtype(w_ih)
    h0, c0 = (None, None) if initial is None else _check_initial(initial, features, offsets, w_hh)
    refuse_forward_mode(features, w_ih, w_hh, b_ih, b_hh, h0, c0)
    inputs = [None if a is None else a.to(dtype) for a in (w_ih, w_hh, b_ih, b_hh, h0, c0)]
    every, h, c = op(features.to(dtype), offsets, *inputs, outputs == "all")
    return every if outputs == "all" else h, (h, c)


def computing_dtype(weight: Tensor) -> torch.dtype:
    """float64 for float64 weights, float32 for all others."""
    return torch.float64 if weight.dtype == torch.float64 else torch.float32


def check_weights(w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None) -> None:
    """Refuses weights that do not belong to one LSTM layer."""
    for name, weight in (("w_ih", w_ih), ("w_hh", w_hh), ("b_ih", b_ih), ("b_hh", b_hh)):
        if weight is None and name.startswith("b"):
            continue
        _check_floating(name, weight)
        if weight is not None and weight.device != w_ih.device:
            raise ValueError(f"{name} is on {weight.device}, w_ih on {w_ih.device}; move one")
    if w_hh.ndim != 2 or w_hh.shape[0] != 4 * w_hh.shape[1] or w_hh.shape[1] < 1:
        raise ValueError(f"w_hh must be [4 * hidden, hidden], not {list(w_hh.shape)}")
    gates = w_hh.shape[0]
    if w_ih.ndim != 2 or w_ih.shape[0] != gates or w_ih.shape[1] < 1:
        raise ValueError(
            f"w_ih must be [{gates}, features] to go with w_hh, not {list(w_ih.shape)}"
        )
    if (b_ih is None) != (b_hh is None):
        raise ValueError("b_ih and b_hh must both be given, or neither")
    for name, bias in (("b_ih", b_ih), ("b_hh", b_hh)):
        if bias is not None and tuple(bias.shape) != (gates,):
            raise ValueError(f"{name} must be [{gates}] to go with w_hh, not {list(bias.shape)}")


def check_layers(layers: Sequence[Cell], features: int) -> None:
    """Refuses weights that are not those of layers on top of one another, over these features."""
    for number, cell in enumerate(layers):
        check_weights(*cell)
        if cell.w_ih.shape[1] != features:
            raise ValueError(
                f"w_ih of layer {number} must be [{len(cell.w_ih)}, {features}], as {features} "
                f"features enter this layer, not {list(cell.w_ih.shape)}"
            )
        features = cell.hidden
        refuse_forward_mode(*cell)


def refuse_forward_mode(*inputs: Tensor | None) -> None:
    """Refuses tangents, which a custom op of torch would lose without a word."""
    if torch.compiler.is_compiling():
        return
    tangents = (unpack_dual(a).tangent for a in inputs if a is not None)  # type: ignore[no-untyped-call]
    if any(tangent is not None for tangent in tangents):
        raise RuntimeError(
            "the ragged LSTM has no forward-mode derivative (jvp); use backward-mode gradients"
        )


def _check_floating(name: str, tensor: object) -> None:
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name} must be a torch.Tensor, not {type(tensor).__name__}")
    if not tensor.is_floating_point():
        raise TypeError(f"{name} must be a floating-point tensor, not {tensor.dtype}")


def _check_sequences(features: Tensor, offsets: Tensor, w_ih: Tensor) -> None:
    _check_floating("features", features)
    if features.ndim != 2 or features.shape[1] != w_ih.shape[1]:
        raise ValueError(
            f"features must be [events, {w_ih.shape[1]}] to go with w_ih, "
            f"not {list(features.shape)}"
        )
    if not isinstance(offsets, Tensor) or offsets.dtype != torch.int64:
        found = offsets.dtype if isinstance(offsets, Tensor) else type(offsets).__name__
        raise TypeError(f"offsets must be an int64 tensor, not {found}")
    if offsets.ndim != 1 or len(offsets) < 1:
        raise ValueError(
            f"offsets must be [sequences + 1], starting with 0, not {list(offsets.shape)}"
        )
    for name, tensor in (("offsets", offsets), ("w_ih", w_ih)):
        if tensor.device != features.device:
            raise ValueError(
                f"{name} is on {tensor.device}, features on {features.device}; move one"
            )


def _check_ends(offsets: Tensor, events: int) -> None:
    # On a GPU, looking at values would wait for it; in a compiled graph there is none to look at.
    if torch.compiler.is_compiling() or offsets.device.type != "cpu":
        return
    first, last = int(offsets[0]), int(offsets[-1])
    if first != 0 or last != events:
        raise ValueError(
            f"offsets must start at 0 and end at the number of events, {events}; "
            f"they start at {first} and end at {last}"
        )


def _check_initial(
    initial: tuple[Tensor, Tensor], features: Tensor, offsets: Tensor, w_hh: Tensor
) -> tuple[Tensor, Tensor]:
    if not isinstance(initial, tuple) or len(initial) != 2:
        raise TypeError(f"initial must be a pair (h, c) of tensors, not {type(initial).__name__}")
    shape = (len(offsets) - 1, w_hh.shape[1])
    for name, tensor in zip("hc", initial, strict=True):
        _check_floating(f"initial {name}", tensor)
        if tuple(tensor.shape) != shape:
            raise ValueError(
                f"initial {name} must be [sequences, hidden], {list(shape)}, "
                f"not {list(tensor.shape)}"
            )
        if tensor.device != features.device:
            raise ValueError(
                f"initial {name} is on {tensor.device}, features on {features.device}; move one"
            )
    return initial
