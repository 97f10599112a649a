"""The ways to a Matrix-LSTM surface that are timed, all with the same weights.

Each is complete: from packed events to the dense surface, grouping and features included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from evsurf.events import EventBatch
from evsurf.ops import Groups, group_by_pixel
from evsurf.ops.recurrence.surface_reference import place
from evsurf.surfaces import ConvLSTM, MatrixLSTM

FEATURES = 2
"""Polarity and the delay since the pixel's previous event, relative to its longest."""

Surface = Float[Tensor, "samples channels height width"]


@dataclass(frozen=True)
class Variant:
    """One way, by name."""

    name: str
    module: nn.Module
    equals_ours: bool
    """Whether it must give the values of Matrix-LSTM; a larger kernel computes something else."""
    training_bytes: Callable[[EventBatch], int]
    """About how much memory forward and backward take, counted from what they keep."""


class PaddedLSTM(nn.Module):
    """torch.nn.LSTM on all sequences padded to the longest one, as the paper describes."""

    def __init__(self, lstm: nn.LSTM) -> None:
        super().__init__()
        self.lstm = lstm

    def forward(self, batch: EventBatch) -> Surface:
        """Groups, pads, runs the LSTM, takes the output after each last event, places it."""
        groups = group_by_pixel(batch)
        padded, lengths = _padded(batch, groups)
        outputs, _ = self.lstm(padded)
        last = outputs[torch.arange(len(lengths), device=lengths.device), lengths - 1]
        return _placed(last[: len(groups)], groups)


class PackedLSTM(nn.Module):
    """torch.nn.LSTM on PyTorch's packed sequences, which skip the padding."""

    def __init__(self, lstm: nn.LSTM) -> None:
        super().__init__()
        self.lstm = lstm

    def forward(self, batch: EventBatch) -> Surface:
        """Groups, pads, packs, runs the LSTM, places its last states."""
        groups = group_by_pixel(batch)
        padded, lengths = _padded(batch, groups)
        packed = nn.utils.rnn.pack_padded_sequence(
            padded, lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        _, (last, _) = self.lstm(packed)
        return _placed(last[0, : len(groups)], groups)


def _padded(
    batch: EventBatch, groups: Groups
) -> tuple[Float[Tensor, "sequences longest features"], Int64[Tensor, "sequences"]]:
    """All sequences and their lengths; without events a single zero, as nn.LSTM takes no fewer."""
    if len(groups):
        return groups.padded(_features(batch, groups))
    device = batch.device
    return torch.zeros(1, 1, FEATURES, device=device), torch.ones(
        1, dtype=torch.int64, device=device
    )


def _features(batch: EventBatch, groups: Groups) -> Float[Tensor, "events features"]:
    """Of every event, in the packed order. Delays go by pixel, so they are found in its order."""
    order, offsets = groups.order, groups.offsets
    t = batch.t[order]
    delay = t.diff(prepend=t[:1])
    delay[offsets[:-1]] = 0
    delay = delay.float()
    longest = torch.segment_reduce(delay, "max", offsets=offsets, unsafe=True)
    rate = torch.where(longest > 0, 1 / longest, 0.0)
    scaled = delay * torch.repeat_interleave(rate, groups.lengths, output_size=len(order))
    features = torch.empty(len(order), FEATURES, device=t.device)
    features[:, 0] = batch.p
    features[order, 1] = scaled
    return features


def _placed(last: Float[Tensor, "sequences channels"], groups: Groups) -> Surface:
    shape = (groups.samples, last.shape[1], *groups.cells)
    return place(last, groups.cell, shape).contiguous()


def variants(channels: int, device: torch.device) -> list[Variant]:
    """All of them, ours first. Their weights are drawn from torch's global random numbers."""
    lstm = nn.LSTM(FEATURES, channels, batch_first=True)
    ours = MatrixLSTM(channels)
    ours.load_state_dict(lstm.state_dict())
    pointwise = ConvLSTM(channels, kernel_size=1, forget_offset=0.0)
    _take_weights(pointwise, lstm)
    made = [
        Variant("evsurf", ours, True, _little),
        Variant("nn.LSTM packed", PackedLSTM(lstm), True, _little),
        Variant("nn.LSTM padded", PaddedLSTM(lstm), True, lambda b: _padded_bytes(b, channels)),
        Variant("ConvLSTM 1x1", pointwise, True, lambda b: _dense_bytes(b, channels)),
        Variant("ConvLSTM 3x3", ConvLSTM(channels), False, lambda b: _dense_bytes(b, channels)),
    ]
    for variant in made:
        variant.module.to(device)
    return made


def _take_weights(conv: ConvLSTM, lstm: nn.LSTM) -> None:
    """A kernel of one pixel is the LSTM, with its gates in another order and one bias."""

    def reordered(weight: Tensor) -> Tensor:
        i, f, g, o = weight.chunk(4)
        return torch.cat([i, f, o, g])

    weights = lstm.state_dict()
    with torch.no_grad():
        conv.weight_ih.copy_(reordered(weights["weight_ih_l0"])[:, :, None, None])
        conv.weight_hh.copy_(reordered(weights["weight_hh_l0"])[:, :, None, None])
        conv.bias_ih.copy_(reordered(weights["bias_ih_l0"] + weights["bias_hh_l0"]))


def _little(_: EventBatch) -> int:
    """Those that keep nothing padded take less than anyone counts."""
    return 0


def _padded_bytes(batch: EventBatch, channels: int) -> int:
    """Gates, states and outputs of every padded step; measured on a CPU, rounded up."""
    groups = group_by_pixel(batch)
    steps = len(groups) * int(groups.lengths.max()) if len(groups) else 0
    return steps * (70 * channels + 200)


def _dense_bytes(batch: EventBatch, channels: int) -> int:
    """The same of every pixel, once for each event of its sample's busiest pixel."""
    groups = group_by_pixel(batch)
    busiest = torch.zeros(groups.samples, dtype=torch.int64, device=groups.cell.device)
    busiest.scatter_reduce_(0, groups.position[0], groups.lengths, "amax")
    rows, columns = groups.cells
    return int(busiest.sum()) * rows * columns * (30 * channels + 20)


@contextmanager
def full_precision() -> Iterator[None]:
    """Without TF32, in which cuDNN would compute nn.LSTM and ConvLSTM to three digits."""
    before = torch.backends.cudnn.allow_tf32
    torch.backends.cudnn.allow_tf32 = False
    try:
        yield
    finally:
        torch.backends.cudnn.allow_tf32 = before


def one_pass(
    variant: Variant, batch: EventBatch, pass_name: str, gradient: Tensor | None = None
) -> Callable[[], None]:
    """What is timed: one pass of one variant."""

    def forward() -> None:
        with torch.inference_mode():
            variant.module(batch)

    def forward_and_backward() -> None:
        for parameter in variant.module.parameters():
            parameter.grad = None
        surface = variant.module(batch)
        surface.backward(gradient if gradient is not None else torch.ones_like(surface))

    return forward if pass_name == "forward" else forward_and_backward
