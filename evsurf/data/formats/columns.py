"""Events on their way from a file: four columns, narrowed and cleared of what cannot be one."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from evsurf.data.formats.damage import Damage, Place
from evsurf.events.checks import EARLIEST, LATEST, LONGEST_SIDE

Column: TypeAlias = npt.NDArray[Any]
Size: TypeAlias = tuple[int, int]


class Columns(NamedTuple):
    """Columns, rows, times in microseconds and polarities of some events, in stream order.

    What a reader hands out has the types of `Events`: int16, int16, int64 and bool.
    """

    x: Column
    y: Column
    t: Column
    p: Column

    @property
    def length(self) -> int:
        """Number of events; `len` is the number of columns."""
        return len(self.t)

    @staticmethod
    def none() -> Columns:
        """No events."""
        return Columns.room(0)

    @staticmethod
    def room(count: int) -> Columns:
        """Unwritten memory for so many events, with the types of `Events`."""
        return Columns(
            *(np.empty(count, kind) for kind in (np.int16, np.int16, np.int64, np.bool_))
        )

    def part(self, start: int, stop: int) -> Columns:
        """The events from start up to stop, as views."""
        return Columns(*(column[start:stop] for column in self))

    def where(self, mask: npt.NDArray[np.bool_]) -> Columns:
        """The events where the mask is true."""
        return Columns(*(column[mask] for column in self))

    @staticmethod
    def joined(pieces: list[Columns]) -> Columns:
        """The events of all pieces, one after the other."""
        if len(pieces) == 1:
            return pieces[0]
        if not pieces:
            return Columns.none()
        return Columns(*(np.concatenate(columns) for columns in zip(*pieces, strict=True)))


class Sieve:
    """Keeps what can be events, notes the rest as damage and narrows the types.

    For readers whose columns come from a library or as text. Feed it the pieces of one file in
    order; it remembers the latest time, which starts as `after`. Polarities are bools, 0 and 1, or
    -1 and 1.
    """

    def __init__(
        self,
        size: Size | None,
        damage: Damage,
        *,
        keep_unsorted: bool = False,
        after: int = EARLIEST,
    ) -> None:
        self.height, self.width = size or (LONGEST_SIDE, LONGEST_SIDE)
        self.damage = damage
        self.keep_unsorted = keep_unsorted
        self._seen = 0
        self._latest = after

    def sift(
        self,
        columns: Columns,
        *,
        place: Place = "event",
        start: int | None = None,
        places: npt.NDArray[np.int64] | None = None,
        into: Columns | None = None,
    ) -> Columns:
        """The events among these that can be ones.

        `start` is the place of the first in the file, or `places` those of all; without them,
        events are counted from the first that this sieve ever saw. The result is
        a copy: the first events of `into`, where that is given, with the types of `Events`.
        """
        room = (into or Columns.room(columns.length)).part(0, columns.length)
        first = self._seen if start is None else start
        self._seen += columns.length
        if self._good(columns, room):
            return room
        if places is None:
            places = np.arange(first, first + columns.length)
        whole = self._whole(columns.x) & self._whole(columns.y) & self._whole(columns.t)
        columns, places = self._kept("not_a_number", whole, columns, places, place)
        columns, places = self._kept(
            "invalid_polarity", _is_polarity(columns.p), columns, places, place
        )
        x, y, t = (column.astype(np.int64, copy=False) for column in columns[:3])
        columns = Columns(x, y, t, _on(columns.p))
        within = (x >= 0) & (x < self.width) & (y >= 0) & (y < self.height)
        columns, places = self._kept("out_of_bounds", within, columns, places, place)
        possible = (columns.t >= EARLIEST) & (columns.t <= LATEST)
        columns, places = self._kept("time_out_of_range", possible, columns, places, place)
        columns = self._sorted(columns, places, place)
        for column, place_of_it in zip(columns, room, strict=True):
            place_of_it[: columns.length] = column
        return room.part(0, columns.length)

    def _good(self, columns: Columns, into: Columns) -> bool:
        """Copies all of these if each can be an event; else what was copied means nothing.

        Nearly every piece of every file is good, and is seen so in a fraction of the time that
        it takes to find out what else is wrong with it.
        """
        if not (
            np.all(_is_polarity(columns.p))
            and _copied(columns.x, into.x, self.width)
            and _copied(columns.y, into.y, self.height)
            and _copied_times(columns.t, into.t, max(self._latest, EARLIEST))
        ):
            return False
        into.p[:] = _on(columns.p)
        if columns.length:
            self._latest = int(into.t[-1])
        return True

    @staticmethod
    def _whole(column: Column) -> npt.NDArray[np.bool_] | np.bool_:
        """Where floats hold whole numbers that fit; integers always do, but for huge unsigned."""
        if column.dtype.kind == "f":
            with np.errstate(invalid="ignore"):
                whole: npt.NDArray[np.bool_] = (np.trunc(column) == column) & (
                    np.abs(column) < 2.0**63
                )
            return whole
        if column.dtype == np.uint64:
            fits: npt.NDArray[np.bool_] = column < 2**63
            return fits
        return np.True_

    def _kept(
        self,
        name: str,
        good: npt.NDArray[np.bool_] | np.bool_,
        columns: Columns,
        places: npt.NDArray[np.int64],
        place: Place,
    ) -> tuple[Columns, npt.NDArray[np.int64]]:
        if np.all(good):
            return columns, places
        bad = ~good
        self.damage.note(name, int(np.count_nonzero(bad)), int(places[bad.argmax()]), place=place)
        return columns.where(np.asarray(good)), places[good]

    def _sorted(self, columns: Columns, places: npt.NDArray[np.int64], place: Place) -> Columns:
        """Without the events that are earlier than one before them."""
        if not columns.length:
            return columns
        latest = np.maximum.accumulate(np.maximum(columns.t, self._latest))
        self._latest = int(latest[-1])
        in_order = columns.t >= latest
        if self.keep_unsorted:
            if not in_order.all():
                i = int(in_order.argmin())
                late = int(np.count_nonzero(~in_order))
                self.damage.note("time_backwards", late, int(places[i]), place=place)
            return columns
        return self._kept("time_backwards", in_order, columns, places, place)[0]


def _is_polarity(p: Column) -> npt.NDArray[np.bool_] | np.bool_:
    if p.dtype == np.bool_:
        return np.True_
    if p.dtype.kind == "u":
        unsigned: npt.NDArray[np.bool_] = p <= 1
        return unsigned
    found: npt.NDArray[np.bool_] = (p == 0) | (p == 1) | (p == -1)
    return found


def _on(p: Column) -> Column:
    return p if p.dtype == np.bool_ else p > 0


def _copied(column: Column, into: Column, stop: int) -> bool:
    """Whether all of the column is whole numbers from 0 and below stop, which are then copied."""
    if not len(column):
        return True
    if column.dtype.kind != "f" and column.dtype.itemsize > 2:
        return bool(column.min() >= 0 and column.max() < stop and _cast(column, into))
    # A float that is none of the numbers looked for is not equal to its copy, and an integer of 16
    # bits becomes negative. So the copy, which lies close together, is looked at instead.
    return _cast(column, into) and bool(into.min() >= 0 and into.max() < stop)


def _copied_times(times: Column, into: Column, earliest: int) -> bool:
    """Whether the times are whole numbers that never decrease, none before earliest; copied too."""
    if not len(times):
        return True
    if not (times[0] >= earliest and times[-1] <= LATEST):
        return False
    return _cast(times, into) and bool((into[1:] >= into[:-1]).all())


def _cast(column: Column, into: Column) -> bool:
    """Copies numbers as other types do them; for floats, whether these are the same numbers."""
    with np.errstate(invalid="ignore"):
        into[:] = column
    return column.dtype.kind != "f" or bool((into == column).all())
