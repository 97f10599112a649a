"""A surface on an endless stream."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from evsurf.events import EventBatch, Events
from evsurf.events.checks import check_size
from evsurf.ops.grouping.field import Pair
from evsurf.surfaces.matrix_lstm import MatrixLSTM
from evsurf.surfaces.stream import StreamState, check_causal, image_of, new_state, push


class Live:
    """Keeps a Matrix-LSTM surface up to date while events arrive.

    Takes pieces of any size and gives the surface at any moment. Where the stream is cut makes no
    difference: on a CPU, not even to the last bit. A push costs what its events cost, however large
    the sensor. Nothing is differentiated; training on streams goes through `stream.step`.

    The surface must be causal: `time="log_delay"`, or `scope="fixed"`.

    >>> import evsurf as es
    >>> events = es.Events.from_arrays([0, 1, 0], [0, 0, 0], [5, 6, 9], [1, 0, 1], size=(2, 2))
    >>> surface = es.MatrixLSTM(channels=3, time="log_delay")
    >>> live = es.Live(surface, size=(2, 2))
    >>> live.push(events[:1])
    >>> live.push(events[1:])
    >>> torch.equal(live.surface(), surface(events))
    True
    """

    def __init__(self, surface: MatrixLSTM, size: Pair) -> None:
        if not isinstance(surface, MatrixLSTM):
            raise TypeError(
                f"surface must be a MatrixLSTM, not {type(surface).__name__}: others keep no state"
            )
        check_causal(surface)
        self._module = surface
        self._size = check_size(size)
        self._state = new_state(surface, self._size)

    @property
    def size(self) -> Pair:
        """Height and width of the sensor."""
        return self._size

    @property
    def state(self) -> StreamState:
        """What is remembered; its tensors change with the next push."""
        return self._state

    @torch.no_grad()
    def push(self, events: Events) -> None:
        """Reads the next events of the stream. They must not be older than those before."""
        if not isinstance(events, Events):
            raise TypeError(f"events must be Events, not {type(events).__name__}")
        if events.size != self._size:
            raise ValueError(
                f"events are of a sensor of size {events.size}, this stream of {self._size}"
            )
        if len(events) == 0:
            return
        self._state = push(self._module, EventBatch.pack([events]), self._state)

    @torch.no_grad()
    def surface(self) -> Float[Tensor, "1 channels rows columns"]:
        """The surface at this moment, in memory of its own."""
        return image_of(self._module, self._state)

    def reset(self, where: Bool[Tensor, "rows columns"] | None = None) -> None:
        """Forgets everything, or what the chosen cells of the surface remember."""
        if where is None:
            self._state = new_state(self._module, self._size)
            return
        rows, columns = self._module.field(self._size).cells
        if not isinstance(where, Tensor):
            raise TypeError(f"where must be a tensor of bools, not {type(where).__name__}")
        if where.shape != (rows, columns) or where.dtype != torch.bool:
            raise ValueError(
                f"where must be a bool tensor of [{rows}, {columns}], "
                f"not {where.dtype} of {list(where.shape)}"
            )
        self._state = self._state.reset(where[None].to(self._state.clock.now.device))

    def __repr__(self) -> str:
        seen = int((self._state.memory.seen > 0).sum())
        height, width = self._size
        return f"Live({self._module!r}, {height}x{width}, {seen:,} cells with events)"
