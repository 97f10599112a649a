"""`Events`: one recording of an event camera."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, final

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Bool, Int16, Int64
from torch import Tensor

from evsurf.events.bundle import TensorBundle
from evsurf.events.checks import (
    EARLIEST,
    LATEST,
    check_agreement,
    check_fields,
    check_integer,
    check_size,
    check_values,
)
from evsurf.events.conversion import DTYPE, ArrayLike, fields_of, polarities, whole_numbers
from evsurf.events.windows import Source, Stamps, Unit, Windows, rule_of


@final
class Events(TensorBundle):
    """One recording: the column, row, time and polarity of every event, sorted by time.

    Events at the same time keep the order of the stream. The constructor takes tensors of exactly
    these types and shares their memory; `from_arrays` and `from_numpy` convert from others.
    With `validate=False` only types and shapes are checked: for values that are known to be right.
    Validating events on a GPU waits for it once.

    Instances do not change: whatever returns events returns new ones, as views where it can.
    They compare by value, and are unequal on different devices.

    ```python
    events = Events.from_arrays(x=[3, 0], y=[1, 1], t=[10, 25], p=[1, 0], size=(2, 4))
    len(events), events.duration      # (2, 15)
    events.between(0, 20)             # Events(1 event, 2x4, 0 us, 100% ON, cpu)
    ```
    """

    FIELDS: ClassVar[tuple[str, ...]] = ("x", "y", "t", "p")

    x: Int16[Tensor, "events"]
    """Columns, from 0 at the left."""
    y: Int16[Tensor, "events"]
    """Rows, from 0 at the top."""
    t: Int64[Tensor, "events"]
    """Times in microseconds, from any origin; -2**62 < t <= 2**62."""
    p: Bool[Tensor, "events"]
    """Polarities: True where the pixel became brighter."""

    def __init__(
        self,
        x: Int16[Tensor, "events"],
        y: Int16[Tensor, "events"],
        t: Int64[Tensor, "events"],
        p: Bool[Tensor, "events"],
        size: tuple[int, int],
        *,
        validate: bool = True,
    ) -> None:
        size = check_size(size)
        check_fields({"x": x, "y": y, "t": t, "p": p})
        if validate:
            check_values(x, y, t, size)
        self._set(x, y, t, p, size=size)

    @classmethod
    def from_arrays(
        cls,
        x: ArrayLike,
        y: ArrayLike,
        t: ArrayLike,
        p: ArrayLike,
        size: tuple[int, int],
        *,
        sort: bool = False,
    ) -> Events:
        """Events from lists, arrays or tensors of any integer width, with the values checked.

        Floats are accepted while they hold whole numbers. Polarities are bools, 0 and 1, or -1 and
        1. `sort=True` sorts by time and keeps the order of events at the same time. Memory is
        shared with arrays that have the right type already.
        """
        size = check_size(size)
        x, y, t = whole_numbers("x", x), whole_numbers("y", y), whole_numbers("t", t)
        p = polarities(p)
        check_agreement({"x": x, "y": y, "t": t, "p": p})
        check_values(x, y, t, size, ordered=not sort)
        if sort:
            order = torch.argsort(t, stable=True)
            x, y, t, p = (values.index_select(0, order) for values in (x, y, t, p))
        return cls(x.short(), y.short(), t.long(), p, size, validate=False)

    @classmethod
    def from_numpy(
        cls, structured_array: npt.NDArray[Any], size: tuple[int, int], *, sort: bool = False
    ) -> Events:
        """Events from a structured array with fields x, y, t and p, in any order and width.

        The time may also be called ts, timestamp or timestamps, the polarity pol or polarity.
        Otherwise as `from_arrays`.
        """
        return cls.from_arrays(**fields_of(structured_array), size=size, sort=sort)

    @classmethod
    def empty(cls, size: tuple[int, int]) -> Events:
        """A recording in which nothing happened."""
        nothing = torch.zeros(0, dtype=torch.int64)
        return cls(nothing.short(), nothing.short(), nothing, nothing.bool(), size, validate=False)

    def numpy(self) -> npt.NDArray[Any]:
        """A structured array with fields x, y (int16), t (int64) and p (bool), always a copy."""
        array = np.empty(len(self), DTYPE)
        for name in self.FIELDS:
            array[name] = getattr(self, name).cpu().numpy()
        return array

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, index: slice | Bool[Tensor, "mask"]) -> Events:
        """The events of a slice with a positive step, or those where a mask is True."""
        if isinstance(index, slice):
            if index.step is not None and index.step < 1:
                raise ValueError(f"step = {index.step} must be positive: events are sorted by time")
            return self._rebuilt(*(tensor[index] for tensor in self._tensors()))
        kept = self._positions(index)
        return self._rebuilt(*(tensor.index_select(0, kept) for tensor in self._tensors()))

    def _positions(self, mask: object) -> Int64[Tensor, "kept"]:
        """Where the mask is True, found once for all of the tensors."""
        if isinstance(mask, int | np.integer):
            raise TypeError(
                f"events[{mask}] is one event, not events: use events[{mask}:{mask + 1}]"
            )
        if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
            kind = mask.dtype if isinstance(mask, Tensor) else type(mask).__qualname__
            raise TypeError(f"events are indexed by a slice or by a tensor of bools, got {kind}")
        if mask.shape != self.t.shape:
            raise ValueError(
                f"a mask must have one bool per event, shape {tuple(self.t.shape)}, "
                f"got shape {tuple(mask.shape)}"
            )
        return mask.to(self.device).nonzero().squeeze(1)

    def _rebuilt(self, *tensors: Tensor) -> Events:
        x, y, t, p = tensors
        return Events(x, y, t, p, self.size, validate=False)

    @property
    def duration(self) -> int:
        """Microseconds from the first event to the last, 0 when empty; waits for a GPU."""
        return int(self.t[-1]) - int(self.t[0]) if len(self) else 0

    def between(self, t0: int, t1: int) -> Events:
        """The events with t0 <= t < t1 in microseconds, as a view of this recording."""
        t0, t1 = (check_integer(n, t, "microseconds") for n, t in (("t0", t0), ("t1", t1)))
        if t0 > t1:
            raise ValueError(f"t0 = {t0} is after t1 = {t1}: between takes t0 <= t < t1")
        # No event lies beyond these, and a tensor could not hold every Python int.
        window = [min(max(edge, EARLIEST), LATEST + 1) for edge in (t0, t1)]
        start, stop = torch.searchsorted(self.t, self.t.new_tensor(window)).tolist()
        return self[start:stop]

    def windows(
        self,
        *,
        duration: int | None = None,
        count: int | None = None,
        at: Stamps | None = None,
        stride: int | None = None,
        start: int | None = None,
        partial: bool | None = None,
    ) -> Windows[Events]:
        """Windows of this recording, as views that are cut when asked for.

        `duration`: half-open windows of so many microseconds, one every `stride` (without gaps and
        overlaps unless it says so), from the first event or from `start` on, up to the last event.
        `count`: windows of so many events. `at`: windows from each start up to its stop in a list
        of pairs; or, with a duration, those that end before each time of a list. Windows in which
        nothing happened are empty recordings.

        `partial` says whether to keep windows at the end that reach beyond the last event: yes by
        default for durations, no for counts, so that all of those have the same number of events.

        ```python
        events = Events.from_arrays([0, 1, 2], [0, 0, 0], t=[5, 9, 31], p=[1, 0, 1], size=(1, 3))
        [len(window) for window in events.windows(duration=10)]                # [2, 0, 1]
        [len(window) for window in events.windows(count=2, stride=1)]          # [2, 2]
        [len(window) for window in events.windows(at=[10, 32], duration=30)]   # [2, 2]
        ```
        """
        rule = rule_of(
            duration=duration, count=count, at=at, stride=stride, start=start, partial=partial
        )
        return Windows(Stretches(self), rule)

    def crop(self, top: int, left: int, height: int, width: int) -> Events:
        """The events inside a rectangle of pixels, whose top left corner becomes (0, 0)."""
        sides = {"top": top, "left": left, "height": height, "width": width}
        top, left, height, width = (check_integer(n, v, "pixels") for n, v in sides.items())
        for start, extent, side in ((top, height, self.size[0]), (left, width, self.size[1])):
            if start < 0 or extent < 1 or start + extent > side:
                raise ValueError(
                    f"the crop top = {top}, left = {left}, height = {height}, width = {width} must "
                    f"lie inside the sensor of height {self.size[0]} and width {self.size[1]}"
                )
        columns = (self.x >= left) & (self.x < left + width)
        rows = (self.y >= top) & (self.y < top + height)
        kept = self[columns & rows]
        return Events(kept.x - left, kept.y - top, kept.t, kept.p, (height, width), validate=False)

    def __repr__(self) -> str:
        parts = [f"{len(self):,} event{'' if len(self) == 1 else 's'}", "{}x{}".format(*self.size)]
        if len(self):
            share = int(self.p.count_nonzero()) / len(self)
            parts += [_readable(self.duration), f"{share:.0%} ON"]
        return f"Events({', '.join(parts)}, {self.device})"


class Stretches(Source[Events]):
    """A recording as the source of windows."""

    def __init__(self, events: Events) -> None:
        self._events = events

    def extent(self, unit: Unit) -> tuple[int, int]:
        """From the first event to just behind the last."""
        t = self._events.t
        if unit == "count" or not len(t):
            return 0, len(t)
        first, last = t[[0, -1]].tolist()
        return first, last + 1

    def parts(self, unit: Unit, bounds: Int64[Tensor, "2 windows"]) -> Iterator[Events]:
        """The events within each of these bounds, as views."""
        events, size = self._events, self._events.size
        if unit == "time":
            bounds = torch.searchsorted(events.t, bounds.to(events.device))
        x, y, t, p = events._tensors()
        for start, stop in zip(*bounds.tolist(), strict=True):
            # What was checked when the recording was made is not checked again for each window.
            part = object.__new__(Events)
            part.__dict__.update(
                x=x[start:stop], y=y[start:stop], t=t[start:stop], p=p[start:stop], size=size
            )
            yield part

    def __repr__(self) -> str:
        return repr(self._events)


def _readable(microseconds: int) -> str:
    if microseconds < 1_000:
        return f"{microseconds} us"
    if microseconds < 1_000_000:
        return f"{microseconds / 1_000:.2f} ms"
    return f"{microseconds / 1_000_000:,.2f} s"
