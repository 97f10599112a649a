"""The ragged LSTM in plain torch, in the order of its equations: the definition of correct.

For every sequence x_1, ..., x_T of its own length, with one set of weights:

    z = W_ih x_t + b_ih + W_hh h_{t-1} + b_hh         stacked i, f, g, o
    c_t = sigmoid(z_f) c_{t-1} + sigmoid(z_i) tanh(z_g)
    h_t = sigmoid(z_o) tanh(c_t)

Sequences are taken longest first, so that those still running at a step are the first ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float, Int64
from torch import Tensor


class Cell(NamedTuple):
    """Weights of one layer, as torch.nn.LSTM names and lays them out."""

    w_ih: Float[Tensor, "gates features"]
    w_hh: Float[Tensor, "gates hidden"]
    b_ih: Float[Tensor, "gates"] | None
    b_hh: Float[Tensor, "gates"] | None

    @property
    def hidden(self) -> int:
        """Units of the layer."""
        return self.w_hh.shape[1]

    def to(self, dtype: torch.dtype) -> Cell:
        """The same weights in this dtype."""
        return self._each(lambda weight: weight.to(dtype))

    def contiguous(self) -> Cell:
        """The same weights in contiguous memory."""
        return self._each(lambda weight: weight.contiguous())

    def _each(self, change: Callable[[Tensor], Tensor]) -> Cell:
        b_ih = None if self.b_ih is None else change(self.b_ih)
        b_hh = None if self.b_hh is None else change(self.b_hh)
        return Cell(change(self.w_ih), change(self.w_hh), b_ih, b_hh)


class State(NamedTuple):
    """Output and memory of every sequence."""

    h: Float[Tensor, "sequences hidden"]
    c: Float[Tensor, "sequences hidden"]


@dataclass(frozen=True)
class Schedule:
    """The sequences by falling length, and which rows of the features each step takes."""

    order: Int64[Tensor, "sequences"]
    running: list[int]
    """Sequences that take part in each step."""
    starts: Int64[Tensor, "sequences"]

    @staticmethod
    def of(offsets: Int64[Tensor, "sequences_and_1"]) -> Schedule:
        """Schedule of the sequences between these offsets."""
        lengths = offsets.diff()
        order = torch.argsort(lengths, descending=True, stable=True)
        ended = torch.bincount(lengths, minlength=1).cumsum(0)
        running = (len(lengths) - ended).tolist()[:-1]
        return Schedule(order, running, offsets[:-1][order])

    def rows(self, step: int) -> Int64[Tensor, "running"]:
        """Rows of the packed features that this step reads."""
        return self.starts[: self.running[step]] + step


class Tape(NamedTuple):
    """What the backward pass needs of one step: activations, memory before it, tanh after it."""

    i: Tensor
    f: Tensor
    g: Tensor
    o: Tensor
    h_before: Tensor
    c_before: Tensor
    tanh_c: Tensor


def initial_state(sequences: int, cell: Cell, h0: Tensor | None, c0: Tensor | None) -> State:
    """The given state, or zeros."""
    zeros = cell.w_hh.new_zeros(sequences, cell.hidden)
    return State(zeros if h0 is None else h0, zeros if c0 is None else c0)


def forward(
    features: Float[Tensor, "events features"],
    offsets: Int64[Tensor, "sequences_and_1"],
    cell: Cell,
    state: State,
    tapes: list[Tape] | None = None,
) -> tuple[Float[Tensor, "events hidden"], State]:
    """Output after every event, and the state after each sequence's last one."""
    schedule = Schedule.of(offsets)
    h, c = state.h[schedule.order], state.c[schedule.order]
    every = features.new_zeros(len(features), cell.hidden)
    bias = 0 if cell.b_ih is None or cell.b_hh is None else cell.b_ih + cell.b_hh
    for step, running in enumerate(schedule.running):
        rows = schedule.rows(step)
        h_before, c_before = h[:running].clone(), c[:running].clone()
        z = features[rows] @ cell.w_ih.T + h_before @ cell.w_hh.T + bias
        z_i, z_f, z_g, z_o = z.chunk(4, dim=1)
        i, f, g, o = z_i.sigmoid(), z_f.sigmoid(), z_g.tanh(), z_o.sigmoid()
        c[:running] = f * c_before + i * g
        tanh_c = c[:running].tanh()
        h[:running] = o * tanh_c
        every[rows] = h[:running]
        if tapes is not None:
            tapes.append(Tape(i, f, g, o, h_before, c_before, tanh_c))
    return every, _unsorted(State(h, c), schedule)


class Gradients(NamedTuple):
    """Gradients of what `forward` was given; both biases share one."""

    features: Tensor
    w_ih: Tensor
    w_hh: Tensor
    bias: Tensor
    h0: Tensor
    c0: Tensor


def backward(
    features: Float[Tensor, "events features"],
    offsets: Int64[Tensor, "sequences_and_1"],
    cell: Cell,
    state: State,
    d_every: Float[Tensor, "events hidden"] | None,
    d_state: State,
) -> Gradients:
    """Gradients by the chain rule, step by step from the last to the first."""
    tapes: list[Tape] = []
    forward(features, offsets, cell, state, tapes)
    schedule = Schedule.of(offsets)
    dh, dc = d_state.h[schedule.order], d_state.c[schedule.order]
    d_features = torch.zeros_like(features)
    dw_ih, dw_hh = torch.zeros_like(cell.w_ih), torch.zeros_like(cell.w_hh)
    d_bias = cell.w_ih.new_zeros(len(cell.w_ih))
    for step in reversed(range(len(schedule.running))):
        running, rows, tape = schedule.running[step], schedule.rows(step), tapes[step]
        if d_every is not None:
            dh[:running] += d_every[rows]
        dz, dc[:running] = step_gradients(tape, dh[:running], dc[:running])
        d_features[rows] = dz @ cell.w_ih
        dh[:running] = dz @ cell.w_hh
        dw_ih += dz.T @ features[rows]
        dw_hh += dz.T @ tape.h_before
        d_bias += dz.sum(0)
    d_initial = _unsorted(State(dh, dc), schedule)
    return Gradients(d_features, dw_ih, dw_hh, d_bias, d_initial.h, d_initial.c)


def step_gradients(tape: Tape, dh: Tensor, dc: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients of z and of the memory before a step, from those of the state after it."""
    dc = dc + dh * tape.o * (1 - tape.tanh_c**2)
    dz_i = dc * tape.g * tape.i * (1 - tape.i)
    dz_f = dc * tape.c_before * tape.f * (1 - tape.f)
    dz_g = dc * tape.i * (1 - tape.g**2)
    dz_o = dh * tape.tanh_c * tape.o * (1 - tape.o)
    return torch.cat([dz_i, dz_f, dz_g, dz_o], dim=1), dc * tape.f


def _unsorted(state: State, schedule: Schedule) -> State:
    h, c = torch.empty_like(state.h), torch.empty_like(state.c)
    h[schedule.order], c[schedule.order] = state.h, state.c
    return State(h, c)
