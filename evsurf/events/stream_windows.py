"""Windows of a recording that comes piece by piece, in memory for the windows that are open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch

from evsurf.events.recording import Events, Stretches
from evsurf.events.windows import BLOCK, Listed, Regular


def windows_of_pieces(
    pieces: Iterable[Events], rule: Regular | Listed, size: tuple[int, int]
) -> Iterator[Events]:
    """The windows of the recording whose pieces follow each other, each as soon as it is over.

    They are those of the whole recording, wherever the cuts are.
    """
    held = _Held(rule, Events.empty(size))
    for piece in pieces:
        if len(piece):
            held.add(piece)
            yield from held.up_to(rule.complete(held.first, held.reached))
    end = held.reached + 1 if rule.unit == "time" and held.seen else held.reached
    yield from held.up_to(rule.number(held.first, end))


class _Held:
    """The pieces that reach into a window which is not over yet."""

    def __init__(self, rule: Regular | Listed, nothing: Events) -> None:
        self._rule = rule
        self._nothing = nothing
        self._pieces = [nothing]
        self._next = 0
        self.first = 0
        self.reached = 0
        """The latest time, or the number of events, so far."""
        self.seen = 0

    def add(self, piece: Events) -> None:
        if self._rule.unit == "time":
            first, self.reached = piece.t[[0, -1]].tolist()
            self.first = self.first if self.seen else first
        else:
            self.reached += len(piece)
        self.seen += len(piece)
        self._pieces.append(piece)

    def up_to(self, number: int) -> Iterator[Events]:
        """The windows before this number that were not given yet."""
        if self._next < number:
            events = _joined(self._pieces)
            # Positions count from the start of the stream, of which this is the end.
            before = self.seen - len(events) if self._rule.unit == "count" else 0
            for start in range(self._next, number, BLOCK):
                bounds = self._rule.bounds(self.first, start, min(start + BLOCK, number)) - before
                yield from Stretches(events).parts(self._rule.unit, bounds)
            self._next = number
            self._pieces = [events]
        self._forget(self._rule.needed(self.first, self._next))

    def _forget(self, start: int) -> None:
        """Drops what lies before this time or position."""
        left = self.seen - sum(len(piece) for piece in self._pieces)
        kept = []
        for piece in self._pieces:
            if self._rule.unit == "time":
                place = int(torch.searchsorted(piece.t, start)) if len(piece) else 0
            else:
                place = min(max(start - left, 0), len(piece))
            left += len(piece)
            if place < len(piece):
                kept.append(piece[place:])
        self._pieces = kept or [self._nothing]


def _joined(pieces: list[Events]) -> Events:
    if len(pieces) == 1:
        return pieces[0]
    x, y, t, p = (torch.cat([getattr(piece, name) for piece in pieces]) for name in Events.FIELDS)
    return Events(x, y, t, p, pieces[0].size, validate=False)
