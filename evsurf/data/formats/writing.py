"""What the writers of binary formats share: limits, and times in parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evsurf.events import Events

_PART = 1 << 18


def check_range(
    name: str, events: Events, *, largest: int, latest: int | None = None, hint: str = ""
) -> None:
    """Raises where a coordinate or a time of these events has no place in the format."""
    if not len(events):
        return
    for axis, column in (("x", events.x), ("y", events.y)):
        most = int(column.max())
        if most > largest:
            raise ValueError(
                f"{axis} = {most} does not fit: {name} holds coordinates up to {largest}. "
                "Crop the events, or write another format."
            )
    first, last = int(events.t[0]), int(events.t[-1])
    if first < 0:
        raise ValueError(f"t = {first} does not fit: {name} holds no time before 0. {hint}".strip())
    if latest is not None and last > latest:
        raise ValueError(
            f"t = {last} does not fit: {name} holds times up to {latest} us. "
            f"{hint or 'Subtract the start from all times.'}"
        )


def parts(pieces: Iterable[Events]) -> Iterator[Events]:
    """The same events, few enough at a time that the arrays of a writer stay small."""
    for events in pieces:
        for start in range(0, len(events), _PART):
            yield events[start : start + _PART]


class TimeHighs(NamedTuple):
    """Words with the upper bits of the time that are due before each of some events."""

    counts: npt.NDArray[np.int64]
    """How many before each."""
    values: npt.NDArray[np.int64]
    """What they say, laps included, one after the other."""

    def slots(self, starts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Where they stand, if those before each event start there."""
        before = np.cumsum(self.counts) - self.counts
        return np.repeat(starts - before, self.counts) + np.arange(len(self.values))


def time_highs(high: npt.NDArray[np.int64], before: int | None, bits: int) -> TimeHighs:
    """Upper parts of times as steps that wrap after so many bits; `before` is the one last written.

    No step is half the range or more, for that would read as a step back.
    """
    longest = 2 ** (bits - 1) - 1
    # The first word of a file is taken at its word, and anything in its range will do.
    steps = np.diff(high, prepend=high[0] - 1 if before is None else before)
    counts = -(-steps // longest)
    if before is None:
        counts[0] = 1 + max(0, -(-(int(high[0]) - 2**bits + 1) // longest))
    last = np.repeat(np.cumsum(counts), counts) - 1
    values = np.repeat(high, counts) - longest * (last - np.arange(len(last)))
    return TimeHighs(counts, values)
