"""`MVSECSequence`: all that MVSEC recorded of one drive or flight, read as it is asked for."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any, Literal, final

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from evsurf.data.datasets.archived_arrays import ArchivedArrays
from evsurf.data.datasets.labelled import checked_index
from evsurf.data.datasets.process import PerProcess
from evsurf.data.datasets.stored_arrays import stored_array
from evsurf.data.downloads import MissingDataError
from evsurf.data.formats import Recording, open_recording
from evsurf.data.formats.hdf5.opening import named_errors
from evsurf.events import Events

SIZE = (260, 346)


@final
class MVSECSequence:
    """One sequence of MVSEC as one of its two cameras saw it: events, frames and ground truth.

    ```python
    flight = MVSECSequence("mvsec/indoor_flying1_data.hdf5", truth="mvsec/indoor_flying1_gt.hdf5")
    events = flight.between_frames(100, 101)
    ```

    All times are microseconds since 1970, rounded from the seconds in the files. Nothing is loaded
    before it is asked for, and every process opens the files for itself.
    """

    def __init__(
        self,
        data: str | os.PathLike[str],
        *,
        truth: str | os.PathLike[str] | None = None,
        flow: str | os.PathLike[str] | None = None,
        camera: Literal["left", "right"] = "left",
    ) -> None:
        """Paths of `*_data.hdf5`, `*_gt.hdf5` and `*_gt_flow_dist.npz`; the last two may lack."""
        self.data, self.camera, self.size = Path(data), camera, SIZE
        self.name = self.data.name.removesuffix(".hdf5").removesuffix("_data")
        self.truth = None if truth is None else Path(truth)
        self.flow_file = None if flow is None else Path(flow)
        for path in (self.data, self.truth, self.flow_file):
            if path is not None and not path.is_file():
                raise MissingDataError(f"there is no file {path}")
        self._events = PerProcess(partial(open_recording, self.data, SIZE, stream=camera))
        self._arrays: dict[str, PerProcess[Any]] = {}
        self._times: dict[str, npt.NDArray[np.int64]] = {}
        self._flows = (
            None if self.flow_file is None else PerProcess(partial(ArchivedArrays, self.flow_file))
        )

    @property
    def events(self) -> Recording:
        """The whole stream, opened but not loaded."""
        return self._events.get()

    @property
    def frame_times(self) -> npt.NDArray[np.int64]:
        """When each grey frame was taken."""
        return self._times_of(self.data, "image_raw_ts")

    @property
    def frame_event_indices(self) -> npt.NDArray[np.int64]:
        """For each frame the place of the event nearest in time; -1 before the first event."""
        return np.asarray(self._array(self.data, "image_raw_event_inds")[:], np.int64)

    def frame(self, i: int) -> UInt8[Tensor, "260 346"]:
        """A grey frame, neither rectified nor undistorted."""
        return torch.from_numpy(self._row(self.data, "image_raw", i))

    def between(self, t0: int, t1: int) -> Events:
        """The events with t0 <= t < t1."""
        return self.events.between(t0, t1)

    def between_frames(
        self, first: int, last: int, *, by: Literal["time", "index"] = "time"
    ) -> Events:
        """The events from one frame to a later one.

        By time, those with t0 <= t < t1, of the frames' times. By index, those from the one that
        the file names for the first frame up to the one before that for the last; they differ by a
        few events at the ends.
        """
        count = len(self.frame_times)
        first, last = checked_index(first, count), checked_index(last, count)
        if first > last:
            raise ValueError(f"first = {first} must not be after last = {last}")
        if by == "time":
            return self.between(int(self.frame_times[first]), int(self.frame_times[last]))
        if by != "index":
            raise ValueError(f"by = {by!r} must be 'time' or 'index'")
        places = np.maximum(self.frame_event_indices, 0)
        return self.events[int(places[first]) : int(places[last])]

    @property
    def depth_times(self) -> npt.NDArray[np.int64]:
        """When each depth image was taken, 20 a second."""
        return self._times_of(self._truth(), "depth_image_raw_ts")

    def depth(self, i: int, *, rectified: bool = False) -> Float[Tensor, "260 346"]:
        """Metres to what each pixel sees; NaN where nobody knows."""
        kind = "depth_image_rect" if rectified else "depth_image_raw"
        return torch.from_numpy(self._row(self._truth(), kind, i)).float()

    @property
    def pose_times(self) -> npt.NDArray[np.int64]:
        """When the camera was in each pose."""
        return self._times_of(self._truth(), "pose_ts")

    def pose(self, i: int) -> Float[Tensor, "4 4"]:
        """The camera's pose in the world, as the file has it."""
        return torch.from_numpy(self._row(self._truth(), "pose", i)).double()

    @property
    def flow_times(self) -> npt.NDArray[np.int64]:
        """From when on each flow holds; it holds until the next."""
        if self._flows is None:
            return self._times_of(self._truth(), "flow_dist_ts")
        return _microseconds(np.asarray(self._flows.get()["timestamps"][:]))

    def flow(self, i: int) -> Float[Tensor, "2 260 346"]:
        """Pixels from `flow_times[i]` to the next, to the right and down; 0 where nobody knows."""
        if self._flows is None:
            return torch.from_numpy(self._row(self._truth(), "flow_dist", i)).float()
        arrays = self._flows.get()
        i = checked_index(i, len(arrays["x_flow_dist"]))
        both = np.stack([arrays[name][i] for name in ("x_flow_dist", "y_flow_dist")])
        return torch.from_numpy(both.astype(np.float32))

    def _truth(self) -> Path:
        if self.truth is None:
            raise MissingDataError(f"{self.name} was opened without its file *_gt.hdf5")
        return self.truth

    def _array(self, path: Path, name: str) -> Any:
        """An array of this camera in one of the files."""
        hint = (
            " The right camera has no frames outdoors, where it failed."
            if self.camera == "right" and name.startswith("image_raw")
            else ""
        )
        place = f"davis/{self.camera}/{name}"
        if place not in self._arrays:
            self._arrays[place] = PerProcess(partial(stored_array, path, place, hint))
        return self._arrays[place].get()

    def _row(self, path: Path, name: str, i: int) -> npt.NDArray[Any]:
        array = self._array(path, name)
        i = checked_index(i, len(array))
        with named_errors(path, f"reading {name}[{i}]"):
            return np.asarray(array[i])

    def _times_of(self, path: Path, name: str) -> npt.NDArray[np.int64]:
        if name not in self._times:
            self._times[name] = _microseconds(np.asarray(self._array(path, name)[:]))
        return self._times[name]

    def __repr__(self) -> str:
        return f"MVSECSequence({self.name!r}, {self.camera})"


def _microseconds(seconds: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """As the reader of events does it, so that equal seconds stay equal."""
    return np.rint(seconds.astype(np.float64) * 1e6).astype(np.int64)
