"""The op evsurf::lstm_surface: packed events to a dense surface in one call, and its backward."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from evsurf import _core
from evsurf.ops.grouping.field import Field
from evsurf.ops.packed import address
from evsurf.ops.recurrence import surface_reference
from evsurf.ops.recurrence.op import runs_compiled, warn_where_slow, weight_addresses
from evsurf.ops.recurrence.reading import Reading
from evsurf.ops.recurrence.reference import Cell
from evsurf.ops.recurrence.surface_reference import Input

Maybe = Tensor | None
Three = tuple[Tensor, Tensor, Tensor]

_EVENTS = "Tensor x, Tensor y, Tensor t, Tensor p, Tensor offsets"
_OPTIONS = "int[] field, int bins, int most, bool latest, int[] reading, float time_scale"
_INPUTS = f"{_EVENTS}, {_OPTIONS}, Tensor w_ih, Tensor w_hh, Tensor? b_ih, Tensor? b_hh"


def _forward_reference(
    x: Tensor, y: Tensor, t: Tensor, p: Tensor, offsets: Tensor,
    field: list[int], bins: int, most: int, latest: bool, reading: list[int], time_scale: float,
    w_ih: Tensor, w_hh: Tensor, b_ih: Maybe, b_hh: Maybe,
) -> Tensor:  # fmt: skip
    given = Input(
        x, y, t, p, offsets, Field.from_numbers(field), bins, most, latest,
        Reading.from_numbers(reading, time_scale),
    )  # fmt: skip
    warn_where_slow(x.device)
    return surface_reference.forward(given, Cell(w_ih, w_hh, b_ih, b_hh))


lstm_surface = torch.library.custom_op(
    "evsurf::lstm_surface", _forward_reference, mutates_args=(), schema=f"({_INPUTS}) -> Tensor"
)


def _room(offsets: Tensor, field: list[int], bins: int, w_hh: Tensor) -> Tensor:
    rows, columns = Field.from_numbers(field).cells
    return w_hh.new_empty((offsets.shape[0] - 1, bins * w_hh.shape[1], rows, columns))


# Above this the C library takes fresh pages from the system at every allocation.
_LARGE_BYTES = 32 << 20


def _reused_room(offsets: Tensor, field: list[int], bins: int, w_hh: Tensor) -> Tensor:
    """Room for a surface; a large one is in memory that earlier surfaces have left."""
    rows, columns = Field.from_numbers(field).cells
    shape = (len(offsets) - 1, bins * w_hh.shape[1], rows, columns)
    size = math.prod(shape) * w_hh.element_size()
    if size < _LARGE_BYTES:
        return _room(offsets, field, bins, w_hh)
    return _core.large_memory(size).view(w_hh.dtype).view(shape)


@lstm_surface.register_fake
def _(
    x: Tensor, y: Tensor, t: Tensor, p: Tensor, offsets: Tensor,
    field: list[int], bins: int, most: int, latest: bool, reading: list[int], time_scale: float,
    w_ih: Tensor, w_hh: Tensor, b_ih: Maybe, b_hh: Maybe,
) -> Tensor:  # fmt: skip
    return _room(offsets, field, bins, w_hh)


@lstm_surface.register_kernel("cpu")
def _(
    x: Tensor, y: Tensor, t: Tensor, p: Tensor, offsets: Tensor,
    field: list[int], bins: int, most: int, latest: bool, reading: list[int], time_scale: float,
    w_ih: Tensor, w_hh: Tensor, b_ih: Maybe, b_hh: Maybe,
) -> Tensor:  # fmt: skip
    cell = Cell(w_ih, w_hh, b_ih, b_hh).contiguous()
    if not runs_compiled(cell.hidden):
        return _forward_reference(
            x, y, t, p, offsets, field, bins, most, latest, reading, time_scale,
            w_ih, w_hh, b_ih, b_hh,
        )  # fmt: skip
    surface = _reused_room(offsets, field, bins, w_hh)
    events = [a.contiguous() for a in (x, y, t, p, offsets)]
    double = w_ih.dtype == torch.float64
    run = _core.surface_forward_double if double else _core.surface_forward_float
    run(
        _addresses(events), len(offsets) - 1, len(x), field, bins, most, latest, reading,
        time_scale, weight_addresses(cell), cell.hidden, torch.get_num_threads(), address(surface),
    )  # fmt: skip
    return surface


def _addresses(events: list[Tensor]) -> tuple[int, int, int, int, int]:
    x, y, t, p, offsets = (address(a) for a in events)
    return x, y, t, p, offsets


def _backward_reference(
    d_surface: Tensor, x: Tensor, y: Tensor, t: Tensor, p: Tensor, offsets: Tensor,
    field: list[int], bins: int, most: int, latest: bool, reading: list[int], time_scale: float,
    w_ih: Tensor, w_hh: Tensor, b_ih: Maybe, b_hh: Maybe,
) -> Three:  # fmt: skip
    given = Input(
        x, y, t, p, offsets, Field.from_numbers(field), bins, most, latest,
        Reading.from_numbers(reading, time_scale),
    )  # fmt: skip
    return surface_reference.backward(given, Cell(w_ih, w_hh, b_ih, b_hh), d_surface)


lstm_surface_backward = torch.library.custom_op(
    "evsurf::lstm_surface_backward",
    _backward_reference,
    mutates_args=(),
    schema=f"(Tensor d_surface, {_INPUTS}) -> (Tensor w_ih, Tensor w_hh, Tensor bias)",
)


def _gradient_room(w_ih: Tensor, w_hh: Tensor) -> Three:
    return (
        w_ih.new_empty(w_ih.shape),
        w_hh.new_empty(w_hh.shape),
        w_ih.new_empty((w_ih.shape[0],)),
    )


@lstm_surface_backward.register_fake
def _(
    d_surface: Tensor, x: Tensor, y: Tensor, t: Tensor, p: Tensor, offsets: Tensor,
    field: list[int], bins: int, most: int, latest: bool, reading: list[int], time_scale: float,
    w_ih: Tensor, w_hh: Tensor, b_ih: Maybe, b_hh: Maybe,
) -> Three:  # fmt: skip
    return _gradient_room(w_ih, w_hh)


@lstm_surface_backward.register_kernel("cpu")
def _(
    d_surface: Tensor, x: Tensor, y: Tensor, t: Tensor, p: Tensor, offsets: Tensor,
    field: list[int], bins: int, most: int, latest: bool, reading: list[int], time_scale: float,
    w_ih: Tensor, w_hh: Tensor, b_ih: Maybe, b_hh: Maybe,
) -> Three:  # fmt: skip
    cell = Cell(w_ih, w_hh, b_ih, b_hh).contiguous()
    if not runs_compiled(cell.hidden):
        return _backward_reference(
            d_surface, x, y, t, p, offsets, field, bins, most, latest, reading, time_scale,
            w_ih, w_hh, b_ih, b_hh,
        )  # fmt: skip
    room = _gradient_room(w_ih, w_hh)
    events = [a.contiguous() for a in (x, y, t, p, offsets)]
    d_surface = d_surface.contiguous()
    double = w_ih.dtype == torch.float64
    run = _core.surface_backward_double if double else _core.surface_backward_float
    run(
        _addresses(events), len(offsets) - 1, len(x), field, bins, most, latest, reading,
        time_scale, weight_addresses(cell), cell.hidden, torch.get_num_threads(),
        address(d_surface), (address(room[0]), address(room[1]), address(room[2])),
    )  # fmt: skip
    return room


def _setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs[:5], *inputs[11:])
    ctx.options = inputs[5:11]


def _backward(ctx: Any, d_surface: Tensor) -> tuple[Maybe, ...]:
    events, weights = ctx.saved_tensors[:5], ctx.saved_tensors[5:]
    dw_ih, dw_hh, d_bias = lstm_surface_backward(d_surface, *events, *ctx.options, *weights)
    has_bias = weights[2] is not None
    none = (None,) * 11
    return (*none, dw_ih, dw_hh, d_bias if has_bias else None, d_bias.clone() if has_bias else None)


lstm_surface.register_autograd(_backward, setup_context=_setup_context)
