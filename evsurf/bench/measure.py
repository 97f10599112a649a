"""Timing several things fairly: in turns, after warm-up, with their spread."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain

# A call this short also pays for the caches that the one before it has filled; it runs once
# unmeasured first, as it would in a loop of its own.
_SHORT = 0.05


@dataclass(frozen=True)
class Timing:
    """Seconds of every repeat, by round."""

    rounds: tuple[tuple[float, ...], ...]

    @property
    def seconds(self) -> list[float]:
        """All repeats, the shortest first."""
        return sorted(chain(*self.rounds))

    @property
    def median(self) -> float:
        """Seconds that half of the repeats took at most."""
        return statistics.median(self.seconds)

    @property
    def quartiles(self) -> tuple[float, float]:
        """The middle half of the repeats took from the first to the second of these."""
        return _quantile(self.seconds, 0.25), _quantile(self.seconds, 0.75)

    def summary(self) -> dict[str, object]:
        """Median and spread in seconds, and the median of each round."""
        seconds = self.seconds
        low, high = self.quartiles
        return {
            "median_s": self.median,
            "min_s": seconds[0],
            "p25_s": low,
            "p75_s": high,
            "max_s": seconds[-1],
            "repeats": len(seconds),
            "round_medians_s": [statistics.median(r) for r in self.rounds],
        }


def _quantile(ordered: list[float], share: float) -> float:
    """Between the two nearest values, in proportion."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def measure(
    calls: Mapping[str, Callable[[], object]],
    *,
    repeats: int,
    seconds: float,
    rounds: int = 2,
    synchronize: Callable[[], None] = lambda: None,
) -> dict[str, Timing]:
    """Times the calls in turns, so that whatever else the machine does meets all of them alike.

    In every round each call is repeated up to `repeats` times, but for no longer than about
    `seconds` after its first one. `synchronize` waits for a device that computes on its own.
    """
    if repeats < 1 or rounds < 1:
        raise ValueError(f"repeats = {repeats!r} and rounds = {rounds!r} must be at least 1")

    def once(call: Callable[[], object]) -> float:
        synchronize()
        start = time.perf_counter()
        call()
        synchronize()
        return time.perf_counter() - start

    latest = {name: once(call) for name, call in calls.items()}
    done: dict[str, list[list[float]]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name in calls:
            done[name].append([])
        for _ in range(repeats):
            for name, call in calls.items():
                finished = done[name][-1]
                if finished and sum(finished) + latest[name] > seconds:
                    continue
                if latest[name] < _SHORT:
                    once(call)
                latest[name] = once(call)
                finished.append(latest[name])
    return {name: Timing(tuple(map(tuple, each))) for name, each in done.items()}
