"""Writing DSEC's layout: four compressed columns, an offset, an index by the millisecond."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, final

import numpy as np
import numpy.typing as npt

from evsurf.data.formats.columns import Size
from evsurf.data.formats.hdf5.opening import required
from evsurf.events import Events

_CHUNK = 2**16
_KINDS = {"p": np.uint8, "t": np.uint32, "x": np.uint16, "y": np.uint16}
_LONGEST_INDEX = 10**8


def write(path: Path, pieces: Iterable[Events], size: Size) -> None:
    """Writes pieces of one recording; besides what DSEC has, the sensor's height and width."""
    h5py = required("h5py")
    with h5py.File(path, "w") as file:
        columns = _Columns(file)
        index = _Index(columns.made(file, "ms_to_idx", np.uint64))
        offset = 0
        for events in pieces:
            if not columns.length and len(events):
                offset = int(events.t[0])
            times = events.t.numpy() - offset
            index.append(times, columns.length)
            columns.append(events, times)
        index.close(columns.length)
        file["t_offset"] = np.int64(offset)
        if index.too_long:
            del file["ms_to_idx"]
        file["events/height"], file["events/width"] = size


@final
class _Columns:
    """Datasets that grow with every piece."""

    def __init__(self, file: Any) -> None:
        blosc = required("hdf5plugin").Blosc
        self._filter = blosc(cname="zstd", clevel=1, shuffle=blosc.SHUFFLE)
        self._group = file.create_group("events")
        self.length = 0
        for name, kind in _KINDS.items():
            self.made(self._group, name, kind)

    def made(self, group: Any, name: str, kind: Any) -> Any:
        """An empty dataset, compressed as DSEC's are."""
        return group.create_dataset(
            name,
            (0,),
            kind,
            maxshape=(None,),
            chunks=(_CHUNK,),
            compression=self._filter,
        )

    def append(self, events: Events, times: npt.NDArray[np.int64]) -> None:
        """The events, whose times count from the offset."""
        if len(times) and times[-1] > np.iinfo(self._group["t"].dtype).max:
            self._widen()
        columns = {name: getattr(events, name).numpy() for name in "pxy"} | {"t": times}
        for name, column in columns.items():
            extend(self._group[name], column)
        self.length += len(times)

    def _widen(self) -> None:
        """DSEC's 32 bits hold 71 minutes; what is longer gets 64."""
        narrow = self._group["t"]
        self._group.move("t", "t_narrow")
        wide = self.made(self._group, "t", np.int64)
        for start in range(0, len(narrow), _CHUNK):
            extend(wide, narrow[start : start + _CHUNK])
        del self._group["t_narrow"]


@final
class _Index:
    """For each millisecond the number of events before it."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self._next = 0
        self.too_long = False
        """Times that no camera gives would make the index larger than the events."""

    def append(self, times: npt.NDArray[np.int64], before: int) -> None:
        """The milliseconds up to the last of these times; `before` are the events before them."""
        last = int(times[-1]) // 1000 if len(times) else -1
        self.too_long = self.too_long or last >= _LONGEST_INDEX
        for start in range(self._next, 0 if self.too_long else last + 1, _CHUNK):
            milliseconds = np.arange(start, min(start + _CHUNK, last + 1))
            extend(self._dataset, before + np.searchsorted(times, milliseconds * 1000))
            self._next = start + len(milliseconds)

    def close(self, count: int) -> None:
        """The end of the last millisecond, after all the events."""
        extend(self._dataset, np.array([count]))


def extend(dataset: Any, values: npt.NDArray[Any]) -> None:
    """Writes these values behind those that a dataset has."""
    length = len(dataset)
    if len(values):
        dataset.resize((length + len(values),))
        dataset[length:] = values
