"""ConvLSTM: a convolutional LSTM reads the first events of all pixels, then the second ones, ..."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn
from torch.nn import functional as F

from evsurf.events import EventBatch, Events
from evsurf.ops.arguments import check_count, check_same_device
from evsurf.ops.grouping.bins import window_offsets
from evsurf.ops.grouping.by_pixel import check_cap
from evsurf.ops.grouping.field import Field, Pair, as_pair
from evsurf.ops.grouping.op import group
from evsurf.ops.recurrence.features import Sequences, event_features
from evsurf.ops.recurrence.ragged import computing_dtype
from evsurf.ops.recurrence.reading import Reading, scale_of
from evsurf.ops.recurrence.surface_reference import place
from evsurf.surfaces.attention import ChannelAttention
from evsurf.surfaces.surface import Surface, as_batch


class ConvLSTM(Surface):
    """Matrix-LSTM's rival: the convolutional recurrent surface [samples, channels * bins, ...].

    Slice D_k is the image of the features, [polarity, (global time), time], of every pixel's k-th
    event, zero where there is none. From H_0 = C_0 = 0, with * a convolution of odd kernel whose
    output is as large as its input,

        Z = W_ih * D_k + b_ih + W_hh * H_{k-1}        stacked i, f, o, g
        C_k = sigmoid(Z_f + forget_offset) C_{k-1} + sigmoid(Z_i) tanh(Z_g)
        H_k = sigmoid(Z_o) tanh(C_k)

    and a pixel's value is its H after its own last event; a pixel without events is zero, whatever
    its H. With a kernel of one pixel this is Matrix-LSTM; larger ones mix the k-th events of
    neighbours, which may lie far apart in time.

    The parameters are `weight_ih` [4 * channels, features, height, width], `weight_hh`
    [4 * channels, channels, height, width] and `bias_ih` [4 * channels], gates in the order i, f,
    o, g: that of torch.nn.LSTM is i, f, g, o. Half-precision weights are computed in float32, also
    under autocast; on a GPU, torch.backends.cudnn decides about TF32.

    One slice is built at a time, and a sample takes part up to its last one: time grows with the
    events of its busiest pixel, times all pixels. So does memory in training, where the gates of
    every step are kept for the backward pass; without gradients it is that of one step.
    `max_events` bounds both.

    Args:
        channels: channels of the hidden state.
        kernel_size: of both convolutions, an odd int or a pair of them, (height, width).
        bins: windows of equal duration that every sample is cut into; channel b * channels + c is
            channel c of bin b.
        time: "delay" (since the pixel's previous event), "ts" (the timestamp) or "log_delay".
        scope: times are normalised within a pixel's events ("relative") or all of the window's
            ("absolute"), or divided by `time_scale` ("fixed").
        global_time: adds the time within the whole sample.
        polarity: "binary" for 0 and 1, "signed" for -1 and 1.
        max_events: the most events of a pixel that are read.
        keep: which those are: "uniform" over all, or the "latest".
        forget_offset: constant that is added to the forget gate.
        mask_finished: a pixel's H and C stay as they are after its last event, and zero if it has
            none; otherwise they follow their neighbours as long as any pixel of the window has
            events, on an input of zeros.
        attention: weighs the channels by squeeze and excitation.
        normalize: times to [0, 1] by their "range", or divided by their "max".
        time_scale: microseconds that make 1, for "log_delay" (by default 1,000) and "fixed"
            (100,000).

    >>> import evsurf as es
    >>> events = es.Events.from_arrays([0, 1, 0], [0, 0, 0], [5, 6, 9], [1, 0, 1], size=(2, 2))
    >>> ConvLSTM(channels=3, kernel_size=5)(events).shape
    torch.Size([1, 3, 2, 2])
    """

    def __init__(
        self,
        channels: int,
        *,
        kernel_size: int | Pair = 3,
        bins: int = 1,
        time: str = "delay",
        scope: str = "relative",
        global_time: bool = False,
        polarity: str = "binary",
        max_events: int | None = None,
        keep: str = "uniform",
        forget_offset: float = 1.0,
        mask_finished: bool = False,
        attention: bool = False,
        normalize: str = "range",
        time_scale: float | None = None,
    ) -> None:
        super().__init__()
        check_count("channels", channels)
        check_count("bins", bins)
        check_cap(max_events, keep)
        self.kernel_size = _odd_pair(kernel_size)
        scale = scale_of(time, time_scale)
        self.reading = Reading(time, scope, normalize, global_time, False, polarity, scale)
        self.channels, self.bins = channels, bins
        self.max_events, self.keep = max_events, keep
        self.forget_offset = _finite("forget_offset", forget_offset)
        self.mask_finished = mask_finished
        self.out_channels = channels * bins
        gates, features = 4 * channels, self.reading.features
        self.weight_ih = nn.Parameter(torch.empty(gates, features, *self.kernel_size))
        self.weight_hh = nn.Parameter(torch.empty(gates, channels, *self.kernel_size))
        self.bias_ih = nn.Parameter(torch.empty(gates))
        self.attention = ChannelAttention(self.out_channels) if attention else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws the kernels anew: Xavier-uniform for the input, orthogonal for each hidden gate."""
        nn.init.xavier_uniform_(self.weight_ih)
        for gate in self.weight_hh.detach().chunk(4):
            nn.init.orthogonal_(gate)
        nn.init.zeros_(self.bias_ih)

    def forward(self, batch: EventBatch | Events) -> Float[Tensor, "samples channels rows columns"]:
        """The surface of every sample."""
        batch = as_batch(batch)
        check_same_device(batch.x, self.weight_ih)
        dtype = computing_dtype(self.weight_ih)
        slices = self._slices(batch, dtype)
        # Rounding to half precision would add up over the steps.
        with torch.autocast(batch.x.device.type, enabled=False):
            last = self._last_outputs(slices, dtype)
        shape = (len(batch.offsets) - 1, self.out_channels, *batch.size)
        image = place(last, slices.ended_cells, shape).to(self.weight_ih.dtype).contiguous()
        return image if self.attention is None else self.attention(image)

    def _slices(self, batch: EventBatch, dtype: torch.dtype) -> Slices:
        most, latest = check_cap(self.max_events, self.keep)
        windows = window_offsets(batch.t, batch.offsets, self.bins)
        pixels = Field.of(batch.size)
        order, offsets, cell, counts = group(
            batch.x, batch.y, windows, pixels.numbers(), most, latest
        )
        sequences, kept = counts.tolist()
        found = Sequences(
            order[:kept], offsets[: sequences + 1], cell[:sequences], windows, batch.offsets
        )
        features = event_features(batch.x, batch.y, batch.t, batch.p, found, pixels, self.reading)
        return Slices.of(features.to(dtype), found, batch.size)

    def _last_outputs(
        self, slices: Slices, dtype: torch.dtype
    ) -> Float[Tensor, "sequences channels"]:
        """H of every active pixel after its last event, in the order of `slices.ended_cells`."""
        weights = [weight.to(dtype) for weight in (self.weight_ih, self.bias_ih, self.weight_hh)]
        h = c = weights[0].new_zeros(slices.running[0], self.channels, *slices.size)
        last = []
        for step, running in enumerate(slices.running):
            before = h[:running], c[:running]
            h, c = self._advance(slices.image(step), *before, *weights)
            if self.mask_finished:
                active = slices.active(step)
                h, c = (torch.where(active, *pair) for pair in zip((h, c), before, strict=True))
            window, pixel = slices.ended(step)
            last.append(h.flatten(2)[window, :, pixel])
        return torch.cat(last)

    def _advance(
        self, image: Tensor, h: Tensor, c: Tensor, w_ih: Tensor, b_ih: Tensor, w_hh: Tensor
    ) -> tuple[Tensor, Tensor]:
        height, width = self.kernel_size
        padding = (height // 2, width // 2)
        z = F.conv2d(image, w_ih, b_ih, padding=padding) + F.conv2d(h, w_hh, padding=padding)
        i, f, o, g = z.chunk(4, dim=1)
        c = (f + self.forget_offset).sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c

    def extra_repr(self) -> str:
        """The options that shape the surface."""
        reading = self.reading
        parts = [f"channels={self.channels}", f"kernel_size={self.kernel_size}"]
        parts += [f"time={reading.time!r}", f"scope={reading.scope!r}"]
        if self.bins > 1:
            parts.append(f"bins={self.bins}")
        if self.max_events is not None:
            parts.append(f"max_events={self.max_events}, keep={self.keep!r}")
        if self.forget_offset != 1:
            parts.append(f"forget_offset={self.forget_offset}")
        if self.mask_finished:
            parts.append("mask_finished=True")
        return ", ".join(parts)


@dataclass(frozen=True)
class Slices:
    """The events by their number within their pixel: slice k holds the k-th of every pixel.

    Windows stand by falling number of slices, so that those which take part in a step are the
    first ones. Within a slice, the events that are the last of their pixel come last.
    """

    features: Float[Tensor, "grouped features"]
    window: Int64[Tensor, "grouped"]
    pixel: Int64[Tensor, "grouped"]
    """Of every event, in [rows, columns]."""
    borders: list[int]
    """Where slice k starts, at 2 * k, and where the last events of its pixels do, at 2 * k + 1."""
    running: list[int]
    """Windows that take part in each step."""
    ended_cells: Int64[Tensor, "sequences"]
    """Cells of the sequences, in the order in which they end."""
    size: Pair

    @staticmethod
    def of(features: Float[Tensor, "grouped features"], sequences: Sequences, size: Pair) -> Slices:
        """The slices of grouped events. There is always one, if only of no windows."""
        lengths, pixels = sequences.offsets.diff(), size[0] * size[1]
        window, pixel = sequences.cell // pixels, sequences.cell % pixels
        depth = lengths.new_zeros(len(sequences.windows) - 1)
        depth = depth.scatter_reduce(0, window, lengths, "amax")
        rank = torch.argsort(torch.argsort(depth, descending=True, stable=True))
        start, length, window, pixel = torch.repeat_interleave(
            torch.stack([sequences.offsets[:-1], lengths, rank[window], pixel]),
            lengths,
            dim=1,
            output_size=len(features),
        )
        number = torch.arange(len(features), device=start.device) - start
        # By slice, and within it by whether the pixel ends; both sorts leave raster order.
        key = 2 * number + (number == length - 1)
        by_slice = torch.argsort(key, stable=True)
        ended = torch.argsort(lengths, stable=True)
        finished = torch.bincount(depth, minlength=2).cumsum(0)
        return Slices(
            features[by_slice],
            window[by_slice],
            pixel[by_slice],
            [0, *torch.bincount(key, minlength=2).cumsum(0).tolist()],
            (len(depth) - finished[:-1]).tolist(),
            sequences.cell[ended],
            size,
        )

    def image(self, step: int) -> Float[Tensor, "windows features rows columns"]:
        """D_k: the features of the events of this step, zero where there is none."""
        here = slice(self.borders[2 * step], self.borders[2 * step + 2])
        return self._painted(step, self.features[here])

    def active(self, step: int) -> Bool[Tensor, "windows 1 rows columns"]:
        """Where this step has an event."""
        events = self.borders[2 * step + 2] - self.borders[2 * step]
        return self._painted(step, self.window.new_ones(events, 1, dtype=torch.bool))

    def ended(self, step: int) -> tuple[Int64[Tensor, "ended"], Int64[Tensor, "ended"]]:
        """Windows and pixels whose last event this step has."""
        here = slice(self.borders[2 * step + 1], self.borders[2 * step + 2])
        return self.window[here], self.pixel[here]

    def _painted(self, step: int, values: Tensor) -> Tensor:
        here = slice(self.borders[2 * step], self.borders[2 * step + 2])
        rows, columns = self.size
        windows, channels = self.running[step], values.shape[1]
        image = values.new_zeros(windows, channels, rows * columns)
        image[self.window[here], :, self.pixel[here]] = values
        return image.view(windows, channels, rows, columns)


def _odd_pair(kernel_size: int | Pair) -> Pair:
    height, width = as_pair("kernel_size", kernel_size)
    if height % 2 == 0 or width % 2 == 0:
        raise ValueError(
            f"kernel_size must be odd, or a pair (height, width) of odd ints, not {kernel_size!r}; "
            "an even kernel has no middle pixel"
        )
    return height, width


def _finite(name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be a number, not {value!r}")
    if not math.isfinite(value):
        raise ValueError(f"{name} must be finite, not {value!r}")
    return float(value)
