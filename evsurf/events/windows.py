"""Windows of a recording or a batch: which there are, where they begin and end, and their events.

A rule, `Regular` or `Listed`, says as numbers alone which windows are meant: half-open stretches of
times (microseconds) or of positions (events). What the windows are cut from, a `Source` knows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeAlias, TypeVar, final, overload

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Int64
from torch import Tensor

from evsurf.events.checks import EARLIEST, LATEST, check_integer
from evsurf.events.conversion import whole_numbers

Part = TypeVar("Part")
Unit: TypeAlias = Literal["time", "count"]
Stamps: TypeAlias = Sequence[Any] | Tensor | npt.NDArray[Any]
"""Times in microseconds, or pairs (start, stop) of them."""

BLOCK = 4096
"""Windows whose borders are looked up at once."""


@final
@dataclass(frozen=True)
class Regular:
    """Windows of one length at equal distances."""

    unit: Unit
    length: int
    stride: int
    start: int | None
    """Where window 0 begins; None: at the first event."""
    partial: bool
    """Whether the last windows may reach beyond the end."""

    def number(self, first: int, end: int) -> int:
        """How many windows begin before the end, or end by it where none may be partial."""
        if first == end:
            return 0
        first = first if self.start is None else self.start
        room = end - first - (1 if self.partial else self.length)
        return room // self.stride + 1 if room >= 0 else 0

    def bounds(self, first: int, start: int, stop: int) -> Int64[Tensor, "2 windows"]:
        """Where these windows begin and end."""
        first = first if self.start is None else self.start
        begins = torch.arange(start, stop) * self.stride + first
        # Of a batch, times since the first event may be so late that the end is beyond 64 bits.
        ends = begins + self.length
        return torch.stack([begins, torch.where(ends < begins, torch.iinfo(ends.dtype).max, ends)])

    def complete(self, first: int, reached: int) -> int:
        """How many windows are over once this time or position is reached."""
        return replace(self, partial=False).number(first, reached)

    def needed(self, first: int, index: int) -> int:
        """The earliest time or position in the windows from this one on."""
        return (first if self.start is None else self.start) + index * self.stride

    def __str__(self) -> str:
        unit = "us" if self.unit == "time" else "events"
        apart = "" if self.stride == self.length else f", {self.stride:,} {unit} apart"
        return f"{self.length:,} {unit}{apart}"


@final
class Listed:
    """Windows of time whose borders are given one by one."""

    unit: Unit = "time"
    partial = True
    """Each window is as it was listed, wherever the end is."""

    def __init__(self, borders: Int64[Tensor, "2 windows"]) -> None:
        self.borders = borders

    def number(self, _first: int, _end: int) -> int:
        """As many as were listed, whatever they are cut from."""
        return self.borders.shape[1]

    def bounds(self, _first: int, start: int, stop: int) -> Int64[Tensor, "2 windows"]:
        """Where these windows begin and end."""
        return self.borders[:, start:stop]

    def complete(self, _first: int, reached: int) -> int:
        """How many windows from the front are over once this time is reached."""
        over = self.borders[1].cummax(0).values if self.borders.shape[1] else self.borders[1]
        return int(torch.searchsorted(over, reached, right=True))

    def needed(self, _first: int, index: int) -> int:
        """The earliest time in the windows from this one on."""
        rest = self.borders[0, index:]
        return int(rest.min()) if len(rest) else LATEST + 1

    def __str__(self) -> str:
        return "at given times"


def rule_of(
    *,
    duration: int | None,
    count: int | None,
    at: Stamps | None,
    stride: int | None,
    start: int | None,
    partial: bool | None,
) -> Regular | Listed:
    """The rule that the arguments of `windows` mean; raises where they mean none."""
    if at is not None:
        for name, value in (("count", count), ("stride", stride), ("start", start)):
            if value is not None:
                raise ValueError(f"{name} does not go with at, which says where each window is")
        return _listed(at, duration)
    if (duration is None) == (count is None):
        raise ValueError(
            "windows need one of duration (microseconds), count (events) or at (times), "
            f"got duration = {duration} and count = {count}"
        )
    if count is not None and start is not None:
        raise ValueError("start is a time and goes with duration; windows of events: events[i:]")
    unit: Unit = "time" if count is None else "count"
    name, given = ("duration", duration) if count is None else ("count", count)
    length = _positive(name, given, unit)
    return Regular(
        unit,
        length,
        stride=length if stride is None else _positive("stride", stride, unit),
        start=None if start is None else _time("start", start),
        partial=unit == "time" if partial is None else bool(partial),
    )


def _positive(name: str, value: object, unit: Unit) -> int:
    number = check_integer(name, value, "microseconds" if unit == "time" else "events")
    if not 1 <= number < LATEST:
        raise ValueError(f"{name} = {number} must be at least 1 and below 2**62")
    return number


def _time(name: str, value: object) -> int:
    time = check_integer(name, value, "microseconds")
    if not EARLIEST <= time <= LATEST:
        raise ValueError(f"{name} = {time} must be from -2**62 + 1 to 2**62 microseconds")
    return time


def _listed(at: Stamps, duration: int | None) -> Listed:
    array = at.cpu().numpy() if isinstance(at, Tensor) else np.asarray(at)
    stamps = duration is not None
    if not array.size:
        array = np.zeros(0 if stamps else (0, 2), np.int64)
    if stamps and array.ndim != 1:
        raise ValueError(f"with duration, at must be a list of times, got shape {array.shape}")
    if not stamps and (array.ndim != 2 or array.shape[1] != 2):
        raise ValueError(
            f"at must be a list of (start, stop), got shape {array.shape}. Times at which windows "
            "end go with a duration: windows(at=times, duration=50_000)"
        )
    times = whole_numbers("at", array.ravel()).long()
    wrong = (times < EARLIEST) | (times > LATEST)
    if bool(wrong.any()):
        raise ValueError(f"at holds {int(times[wrong][0])}, which is beyond 2**62 microseconds")
    if duration is not None:
        return Listed(torch.stack([times - _positive("duration", duration, "time"), times]))
    starts, stops = times.view(-1, 2).unbind(1)
    if bool((wrong := starts > stops).any()):
        i = int(wrong.nonzero()[0])
        raise ValueError(f"at[{i}] = ({starts[i]}, {stops[i]}) stops before it starts")
    return Listed(torch.stack([starts, stops]))


class Source(ABC, Generic[Part]):
    """What windows are cut from."""

    @abstractmethod
    def extent(self, unit: Unit) -> tuple[int, int]:
        """First time or position, and the end behind the last one; equal where there is none."""

    @abstractmethod
    def parts(self, unit: Unit, bounds: Int64[Tensor, "2 windows"]) -> Iterator[Part]:
        """What lies within each of these bounds."""


@final
class Windows(Sequence[Part], Generic[Part]):
    """The windows of a recording or batch, cut out as they are asked for.

    `len(windows)`, `windows[k]` and iteration; window k is always the same stretch of time, or of
    events, and has no events where none happened. A `torch.utils.data.DataLoader` can use it as a
    data set.
    """

    def __init__(self, source: Source[Part], rule: Regular | Listed) -> None:
        self._source = source
        self._rule = rule
        self._first, end = source.extent(rule.unit)
        self._number = rule.number(self._first, end)

    def __len__(self) -> int:
        return self._number

    def bounds(self, index: int) -> tuple[int, int]:
        """Start and stop of a window: times, or positions where windows are counted in events."""
        k = check_integer("index", index, "a window's number")
        if not -self._number <= k < self._number:
            raise IndexError(f"windows[{k}] does not exist: there are {self._number:,} windows")
        k %= self._number
        start, stop = self._rule.bounds(self._first, k, k + 1).squeeze(1).tolist()
        return start, stop

    @overload
    def __getitem__(self, index: int) -> Part: ...
    @overload
    def __getitem__(self, index: slice) -> list[Part]: ...
    def __getitem__(self, index: int | slice) -> Part | list[Part]:
        """One window; a list of them for a slice."""
        if isinstance(index, slice):
            return [self[k] for k in range(self._number)[index]]
        start, stop = self.bounds(index)
        return next(iter(self._source.parts(self._rule.unit, torch.tensor([[start], [stop]]))))

    def __iter__(self) -> Iterator[Part]:
        for start in range(0, self._number, BLOCK):
            stop = min(start + BLOCK, self._number)
            bounds = self._rule.bounds(self._first, start, stop)
            yield from self._source.parts(self._rule.unit, bounds)

    def __repr__(self) -> str:
        return f"Windows({self._number:,} of {self._source!r}: {self._rule})"
