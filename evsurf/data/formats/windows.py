"""Windows of a file, without loading it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, final, overload

from jaxtyping import Int64
from torch import Tensor

from evsurf.events import Events
from evsurf.events.stream_windows import windows_of_pieces
from evsurf.events.windows import Listed, Regular, Source, Unit, Windows

if TYPE_CHECKING:
    from evsurf.data.formats.recording import Recording

# With gaps longer than this many windows, going to each place beats reading everything.
_SPARSE = 4


@final
class RecordingWindows:
    """The windows of a file: `for window in windows` reads it once, with memory for one window.

    With random access there are also `len(windows)` and `windows[k]`, so that a
    `torch.utils.data.DataLoader` can use it as a data set; each worker opens the file for itself.
    """

    def __init__(self, recording: Recording, rule: Regular | Listed) -> None:
        self._recording = recording
        self._rule = rule
        self._process = os.getpid()
        self._known: Windows[Events] | None = None

    @property
    def _here(self) -> Recording:
        """The file as this process opened it: two that share one would move each other's place."""
        if self._process != os.getpid():
            self._recording, self._known = self._recording.reopened(), None
            self._process = os.getpid()
        return self._recording

    @property
    def _windows(self) -> Windows[Events]:
        recording = self._here
        if not recording.random_access:
            raise TypeError(
                f"the windows of {recording.path.name} come one after the other: its format, "
                f"{recording.format}, has no random access. Loop over them, or convert the file"
            )
        if self._known is None:
            self._known = Windows(_Places(recording), self._rule)
        return self._known

    def __len__(self) -> int:
        return len(self._windows)

    @overload
    def __getitem__(self, index: int) -> Events: ...
    @overload
    def __getitem__(self, index: slice) -> list[Events]: ...
    def __getitem__(self, index: int | slice) -> Events | list[Events]:
        """One window; a list of them for a slice."""
        return self._windows[index]

    def __iter__(self) -> Iterator[Events]:
        if self._here.random_access and self._is_sparse():
            return iter(self._windows)
        recording = self._here
        return windows_of_pieces(recording.chunks(), self._rule, recording.size)

    def _is_sparse(self) -> bool:
        rule = self._rule
        if isinstance(rule, Regular):
            return rule.stride > _SPARSE * rule.length
        starts, stops = rule.borders.double()
        span = stops.max() - starts.min() if len(stops) else 0.0
        return bool((stops - starts).sum() * _SPARSE < span)

    def __getstate__(self) -> dict[str, object]:
        # What was worked out belongs to the file as it was opened here.
        return {**self.__dict__, "_known": None}

    def __repr__(self) -> str:
        return f"RecordingWindows({self._recording!r}: {self._rule})"


class _Places(Source[Events]):
    """A file with random access as the source of windows."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def extent(self, unit: Unit) -> tuple[int, int]:
        count = len(self._recording)
        if unit == "count" or not count:
            return 0, count
        first, last = self._recording[:1], self._recording[count - 1 : count]
        return int(first.t[0]), int(last.t[0]) + 1

    def parts(self, unit: Unit, bounds: Int64[Tensor, "2 windows"]) -> Iterator[Events]:
        for start, stop in zip(*bounds.tolist(), strict=True):
            if unit == "time":
                yield self._recording.between(start, stop)
            else:
                yield self._recording[start:stop]

    def __repr__(self) -> str:
        return repr(self._recording)
