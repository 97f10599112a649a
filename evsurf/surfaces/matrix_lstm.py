"""Matrix-LSTM: one LSTM, shared by all pixels, reads each pixel's own events in order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import torch
from jaxtyping import Float
from torch import Tensor, nn

from evsurf.events import EventBatch, Events
from evsurf.ops.arguments import check_count
from evsurf.ops.grouping.by_pixel import check_cap
from evsurf.ops.grouping.field import Field, Pair, as_pair, check_padding
from evsurf.ops.recurrence.reading import Reading, scale_of
from evsurf.ops.recurrence.reference import Cell
from evsurf.ops.recurrence.surface import lstm_surface
from evsurf.surfaces.attention import ChannelAttention
from evsurf.surfaces.surface import Surface, as_batch


class MatrixLSTM(Surface):
    """The learned recurrent surface [samples, channels * bins, rows, columns].

    Every pixel's events, as [polarity, (global time), (column, row), time], run through the same
    LSTM from a zero state; the output after the last one is the pixel's value, and a pixel without
    events is zero. Channel b * channels + c is unit c of time bin b.

    Parameters are named and laid out as torch.nn.LSTM's, so a `state_dict` moves either way.

    Args:
        channels: hidden size of the LSTM.
        bins: windows of equal duration that every sample is cut into.
        time: "delay" (since the pixel's previous event), "ts" (the timestamp) or "log_delay".
        scope: times are normalised within a pixel's events ("relative") or all of the window's
            ("absolute"), or divided by `time_scale` ("fixed", for live use).
        global_time: adds the time within the whole sample.
        polarity: "binary" for 0 and 1, "signed" for -1 and 1.
        kernel_size: receptive field of a cell, an int or (height, width).
        stride: distance between fields, an int or (height, width).
        padding: "same" (as many cells as pixels at any stride), "valid", or (left, right, top,
            bottom) in pixels.
        coordinates: adds the place within the field; by default where fields exceed one pixel.
        layers: LSTM layers; the last one's output counts.
        bias: whether the LSTM has biases.
        max_events: the most events of a field that are read.
        keep: which those are: "uniform" over all, or the "latest".
        attention: weighs the channels by squeeze and excitation.
        cell: the recurrent cell; "lstm".
        normalize: times to [0, 1] by their "range", or divided by their "max" (of timestamps
            counted from a given zero, as for optical flow).
        time_scale: microseconds that make 1, for "log_delay" (by default 1,000) and "fixed"
            (100,000).

    >>> import evsurf as es
    >>> events = es.Events.from_arrays([0, 1, 0], [0, 0, 0], [5, 6, 9], [1, 0, 1], size=(2, 2))
    >>> es.MatrixLSTM(channels=3)(events).shape
    torch.Size([1, 3, 2, 2])
    """

    def __init__(
        self,
        channels: int,
        *,
        bins: int = 1,
        time: str = "delay",
        scope: str = "relative",
        global_time: bool = False,
        polarity: str = "binary",
        kernel_size: int | Pair = 1,
        stride: int | Pair = 1,
        padding: str | tuple[int, int, int, int] = "same",
        coordinates: bool | None = None,
        layers: int = 1,
        bias: bool = True,
        max_events: int | None = None,
        keep: str = "uniform",
        attention: bool = False,
        cell: str = "lstm",
        normalize: str = "range",
        time_scale: float | None = None,
    ) -> None:
        super().__init__()
        check_count("channels", channels)
        check_count("layers", layers)
        check_count("bins", bins)
        check_cap(max_events, keep)
        if cell != "lstm":
            raise ValueError(f'cell must be "lstm", not {cell!r}')
        self.kernel_size = as_pair("kernel_size", kernel_size)
        self.stride = as_pair("stride", stride)
        check_padding(padding)
        self.padding = padding
        if coordinates is None:
            coordinates = self.kernel_size != (1, 1)
        scale = scale_of(time, time_scale)
        self.reading = Reading(time, scope, normalize, global_time, coordinates, polarity, scale)
        self.channels, self.bins, self.layers = channels, bins, layers
        self.max_events, self.keep = max_events, keep
        self.out_channels = channels * bins
        self._register_weights(bias)
        self.attention = ChannelAttention(self.out_channels) if attention else None
        self.reset_parameters()

    def _register_weights(self, bias: bool) -> None:
        gates = 4 * self.channels
        for layer in range(self.layers):
            inputs = self.reading.features if layer == 0 else self.channels
            shapes: dict[str, tuple[int, ...]]
            shapes = {"weight_ih": (gates, inputs), "weight_hh": (gates, self.channels)}
            if bias:
                shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
            for name, shape in shapes.items():
                self.register_parameter(f"{name}_l{layer}", nn.Parameter(torch.empty(shape)))

    def reset_parameters(self) -> None:
        """Draws the LSTM's weights anew, uniform within 1 / sqrt(channels) of zero."""
        bound = 1 / math.sqrt(self.channels)
        for name, parameter in self.named_parameters(recurse=False):
            assert name.startswith(("weight", "bias"))
            nn.init.uniform_(parameter, -bound, bound)

    def cells(self) -> Iterator[Cell]:
        """The weights of every layer, from the first."""
        for layer in range(self.layers):
            yield Cell(
                getattr(self, f"weight_ih_l{layer}"),
                getattr(self, f"weight_hh_l{layer}"),
                getattr(self, f"bias_ih_l{layer}", None),
                getattr(self, f"bias_hh_l{layer}", None),
            )

    @property
    def weight(self) -> Tensor:
        """The first layer's input weights, whose dtype and device are the layer's."""
        return next(self.cells()).w_ih

    def field(self, size: Pair) -> Field:
        """The receptive fields over a sensor of this height and width."""
        return Field.of(size, self.kernel_size, self.stride, self.padding)

    def forward(self, batch: EventBatch | Events) -> Float[Tensor, "samples channels rows columns"]:
        """The surface of every sample."""
        batch = as_batch(batch)
        most, latest = check_cap(self.max_events, self.keep)
        cells = list(self.cells())
        surface = lstm_surface(
            batch,
            cells,
            field=self.field(batch.size),
            reading=self.reading,
            bins=self.bins,
            cap=(most, latest),
        )
        return self.finish(surface)

    def finish(
        self, image: Float[Tensor, "samples channels rows columns"]
    ) -> Float[Tensor, "samples channels rows columns"]:
        """What follows the recurrence: attention, where there is any, and the weights' dtype."""
        weighed = image.to(self.weight.dtype)
        return weighed if self.attention is None else self.attention(weighed)

    def load_original(self, state: Mapping[str, Tensor]) -> None:
        """Takes the layer's weights from a checkpoint of the original implementation.

        Its LSTM is found under `shared_lstm.`, behind any prefix; other entries are left alone.
        """
        found = {
            key.rsplit("shared_lstm.", 1)[1]: value
            for key, value in state.items()
            if "shared_lstm." in key
        }
        prefixes = {key.rsplit("shared_lstm.", 1)[0] for key in state if "shared_lstm." in key}
        if len(prefixes) > 1:
            raise ValueError(
                f"state holds several layers, behind {sorted(prefixes)}; give the entries of one"
            )
        own = dict(self.named_parameters(recurse=False))
        if found.keys() != own.keys():
            raise ValueError(
                f"state must hold shared_lstm.* entries {sorted(own)}, and holds {sorted(found)}; "
                "layers and bias must be those of the checkpoint"
            )
        for name, parameter in own.items():
            if found[name].shape != parameter.shape:
                raise ValueError(
                    f"state's {name} is {list(found[name].shape)}, this layer's "
                    f"{list(parameter.shape)}; channels, bins, global_time and coordinates must be "
                    "those of the checkpoint"
                )
        with torch.no_grad():
            for name, parameter in own.items():
                parameter.copy_(found[name])

    def extra_repr(self) -> str:
        """The options that shape the surface."""
        reading = self.reading
        parts = [f"channels={self.channels}", f"time={reading.time!r}", f"scope={reading.scope!r}"]
        if self.bins > 1:
            parts.append(f"bins={self.bins}")
        if self.kernel_size != (1, 1) or self.stride != (1, 1):
            parts.append(f"kernel_size={self.kernel_size}, stride={self.stride}")
        if self.layers > 1:
            parts.append(f"layers={self.layers}")
        if self.max_events is not None:
            parts.append(f"max_events={self.max_events}, keep={self.keep!r}")
        return ", ".join(parts)
