"""The op evsurf::ragged_lstm and its backward: reference anywhere, compiled core on the CPU."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import torch
from torch import Tensor

from evsurf import _core
from evsurf.ops.packed import address
from evsurf.ops.recurrence import reference
from evsurf.ops.recurrence.reference import Cell

Maybe = Tensor | None
Three = tuple[Tensor, Tensor, Tensor]
Six = tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]

_WEIGHTS = "Tensor w_ih, Tensor w_hh, Tensor? b_ih, Tensor? b_hh"
_INPUTS = f"Tensor features, Tensor offsets, {_WEIGHTS}, Tensor? h0, Tensor? c0"
_FORWARD = f"({_INPUTS}, bool every) -> (Tensor every_h, Tensor h, Tensor c)"
_BACKWARD = (
    f"({_INPUTS}, Tensor? d_every, Tensor? d_h, Tensor? d_c, bool input_gradients) -> "
    "(Tensor features, Tensor w_ih, Tensor w_hh, Tensor bias, Tensor h0, Tensor c0)"
)


@functools.cache
def warn_of_reference(reason: str) -> None:
    """Says once why the slow reference is computing."""
    warnings.warn(f"evsurf computes with its slow reference: {reason}", stacklevel=2)


def warn_where_slow(device: torch.device) -> None:
    """Says once that a GPU runs the reference, which nobody should take for its speed."""
    if device.type != "cpu":
        warn_of_reference(f"there are no kernels for {device.type} in this version")


def runs_compiled(hidden: int) -> bool:
    """Whether the compiled CPU kernels take this hidden size; warns when they do not."""
    if hidden <= _core.largest_hidden:
        return True
    warn_of_reference(
        f"its kernels take hidden sizes up to {_core.largest_hidden}, and this layer has {hidden}"
    )
    return False


def weight_addresses(cell: Cell) -> tuple[int, int, int, int]:
    """The weights as the compiled core takes them; they must be contiguous."""
    return address(cell.w_ih), address(cell.w_hh), address(cell.b_ih), address(cell.b_hh)


def _unless_none(a: Maybe) -> Maybe:
    return None if a is None else a.contiguous()


def _forward_reference(
    features: Tensor, offsets: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Maybe, b_hh: Maybe,
    h0: Maybe, c0: Maybe, every: bool,
) -> Three:  # fmt: skip
    """Output after every event (none unless `every`), and the last state of every sequence."""
    warn_where_slow(features.device)
    cell = Cell(w_ih, w_hh, b_ih, b_hh)
    state = reference.initial_state(len(offsets) - 1, cell, h0, c0)
    every_h, last = reference.forward(features, offsets, cell, state)
    return every_h if every else features.new_zeros(0, cell.hidden), last.h, last.c


ragged_lstm = torch.library.custom_op(
    "evsurf::ragged_lstm", _forward_reference, mutates_args=(), schema=_FORWARD
)


def _forward_room(features: Tensor, offsets: Tensor, w_hh: Tensor, every: bool) -> Three:
    hidden, sequences = w_hh.shape[1], offsets.shape[0] - 1
    return (
        features.new_empty((features.shape[0] if every else 0, hidden)),
        features.new_empty((sequences, hidden)),
        features.new_empty((sequences, hidden)),
    )


@ragged_lstm.register_fake
def _(
    features: Tensor, offsets: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Maybe, b_hh: Maybe,
    h0: Maybe, c0: Maybe, every: bool,
) -> Three:  # fmt: skip
    return _forward_room(features, offsets, w_hh, every)


@ragged_lstm.register_kernel("cpu")
def _(
    features: Tensor, offsets: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Maybe, b_hh: Maybe,
    h0: Maybe, c0: Maybe, every: bool,
) -> Three:  # fmt: skip
    cell = Cell(w_ih, w_hh, b_ih, b_hh).contiguous()
    if not runs_compiled(cell.hidden):
        return _forward_reference(features, offsets, w_ih, w_hh, b_ih, b_hh, h0, c0, every)
    features, offsets = features.contiguous(), offsets.contiguous()
    h0, c0 = _unless_none(h0), _unless_none(c0)
    every_h, h, c = _forward_room(features, offsets, w_hh, every)
    double = features.dtype == torch.float64
    run = _core.ragged_forward_double if double else _core.ragged_forward_float
    run(
        (address(features), address(offsets), address(h0), address(c0)),
        len(offsets) - 1,
        len(features),
        weight_addresses(cell),
        cell.hidden,
        features.shape[1],
        torch.get_num_threads(),
        address(every_h) if every else 0,
        address(h),
        address(c),
    )
    return every_h, h, c


def _backward_reference(
    features: Tensor, offsets: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Maybe, b_hh: Maybe,
    h0: Maybe, c0: Maybe, d_every: Maybe, d_h: Maybe, d_c: Maybe, input_gradients: bool,
) -> Six:  # fmt: skip
    """Gradients of the features, weights, bias and initial state."""
    cell = Cell(w_ih, w_hh, b_ih, b_hh)
    sequences = len(offsets) - 1
    state = reference.initial_state(sequences, cell, h0, c0)
    d_state = reference.initial_state(sequences, cell, d_h, d_c)
    g = reference.backward(features, offsets, cell, state, d_every, d_state)
    none = features.new_zeros(0)
    return (
        g.features if input_gradients else none.reshape(0, features.shape[1]),
        g.w_ih,
        g.w_hh,
        g.bias,
        none.reshape(0, cell.hidden) if h0 is None else g.h0,
        none.reshape(0, cell.hidden) if c0 is None else g.c0,
    )


ragged_lstm_backward = torch.library.custom_op(
    "evsurf::ragged_lstm_backward", _backward_reference, mutates_args=(), schema=_BACKWARD
)


def _backward_room(
    features: Tensor, w_ih: Tensor, w_hh: Tensor, h0: Maybe, c0: Maybe, input_gradients: bool
) -> Six:
    hidden = w_hh.shape[1]
    return (
        features.new_empty((features.shape[0] if input_gradients else 0, features.shape[1])),
        w_ih.new_empty(w_ih.shape),
        w_hh.new_empty(w_hh.shape),
        w_ih.new_empty((w_ih.shape[0],)),
        features.new_empty((0 if h0 is None else h0.shape[0], hidden)),
        features.new_empty((0 if c0 is None else c0.shape[0], hidden)),
    )


@ragged_lstm_backward.register_fake
def _(
    features: Tensor, offsets: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Maybe, b_hh: Maybe,
    h0: Maybe, c0: Maybe, d_every: Maybe, d_h: Maybe, d_c: Maybe, input_gradients: bool,
) -> Six:  # fmt: skip
    return _backward_room(features, w_ih, w_hh, h0, c0, input_gradients)


@ragged_lstm_backward.register_kernel("cpu")
def _(
    features: Tensor, offsets: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Maybe, b_hh: Maybe,
    h0: Maybe, c0: Maybe, d_every: Maybe, d_h: Maybe, d_c: Maybe, input_gradients: bool,
) -> Six:  # fmt: skip
    cell = Cell(w_ih, w_hh, b_ih, b_hh).contiguous()
    if not runs_compiled(cell.hidden):
        return _backward_reference(
            features, offsets, w_ih, w_hh, b_ih, b_hh, h0, c0, d_every, d_h, d_c, input_gradients
        )
    features, offsets = features.contiguous(), offsets.contiguous()
    h0, c0, d_every, d_h, d_c = (_unless_none(a) for a in (h0, c0, d_every, d_h, d_c))
    room = _backward_room(features, w_ih, w_hh, h0, c0, input_gradients)
    d_features, dw_ih, dw_hh, d_bias, d_h0, d_c0 = room
    double = features.dtype == torch.float64
    run = _core.ragged_backward_double if double else _core.ragged_backward_float
    run(
        (address(features), address(offsets), address(h0), address(c0)),
        len(offsets) - 1,
        len(features),
        weight_addresses(cell),
        cell.hidden,
        features.shape[1],
        torch.get_num_threads(),
        (
            address(d_every),
            address(d_h),
            address(d_c),
            address(d_features) if input_gradients else 0,
            0 if h0 is None else address(d_h0),
            0 if c0 is None else address(d_c0),
            address(dw_ih),
            address(dw_hh),
            address(d_bias),
        ),
    )
    return room


def _setup_context(ctx: Any, inputs: tuple[Any, ...], output: Three) -> None:
    ctx.save_for_backward(*inputs[:-1])
    ctx.every = inputs[-1]
    ctx.set_materialize_grads(False)


def _backward(ctx: Any, d_every: Maybe, d_h: Maybe, d_c: Maybe) -> tuple[Maybe, ...]:
    features, offsets, w_ih, w_hh, b_ih, b_hh, h0, c0 = ctx.saved_tensors
    d_features, dw_ih, dw_hh, d_bias, d_h0, d_c0 = ragged_lstm_backward(
        features, offsets, w_ih, w_hh, b_ih, b_hh, h0, c0,
        d_every if ctx.every else None, d_h, d_c, ctx.needs_input_grad[0],
    )  # fmt: skip
    return (
        d_features if ctx.needs_input_grad[0] else None,
        None,
        dw_ih,
        dw_hh,
        None if b_ih is None else d_bias,
        None if b_hh is None else d_bias.clone(),
        None if h0 is None else d_h0,
        None if c0 is None else d_c0,
        None,
    )


ragged_lstm.register_autograd(_backward, setup_context=_setup_context)
