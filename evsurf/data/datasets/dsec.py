"""`DSECFlow`: streets of Switzerland before a VGA event camera, with optical flow."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, final

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Bool, Float32
from torch import Tensor
from torch.utils.data import Dataset

from evsurf.data.datasets.dsec_files import DrivenFiles, sequences_in
from evsurf.data.datasets.labelled import Transform, checked_index, transformed
from evsurf.data.datasets.listing import canonical_split
from evsurf.data.datasets.png import read_png
from evsurf.data.datasets.process import PerProcess
from evsurf.data.datasets.provision import Origin, provide
from evsurf.data.datasets.stored_arrays import stored_array
from evsurf.data.downloads import MissingDataError
from evsurf.data.formats import open_recording
from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.hdf5.opening import named_errors
from evsurf.events import Events

_SIZE = (480, 640)


@dataclass(frozen=True)
class FlowWindow:
    """The flow from one time to another, on the rectified picture."""

    sequence: str
    number: int
    """Number of the picture of the flow, by which the benchmark knows it."""
    t0: int
    """Microseconds, in the clock of the events."""
    t1: int
    flow: Float32[Tensor, "2 480 640"] | None
    """Pixels to the right and down from t0 to t1; None where the benchmark keeps it."""
    valid: Bool[Tensor, "480 640"] | None
    """Where the flow is known."""


@final
class DSECFlow(Dataset[tuple[Any, Any]]):
    """DSEC-Flow: events of 100 ms with dense flow, 480x640, left camera.

    ```python
    data = DSECFlow("data/dsec", "train", sequences=["thun_00_a"])
    events, window = data[0]
    window.flow, window.valid
    ```

    A sample has the events with t0 <= t < t1. They are where the sensor saw them, and the flow is
    on the rectified picture: `rectify=True` moves them there, to the nearest pixel, without those
    that leave it. Test has no flow, only the times and numbers that the benchmark asks for.

    Looks for `NAME/events/left/events.h5` with `rectify_map.h5`, and `NAME/flow/forward/*.png` with
    `NAME/flow/forward_timestamps.txt`, in one folder NAME or in two, as the archives have it; for
    test, for a folder `test_forward_optical_flow_timestamps` of `NAME.csv`. Needs the extra [io].
    """

    size = _SIZE

    def __init__(
        self,
        root: str | os.PathLike[str],
        split: str = "train",
        *,
        sequences: str | Sequence[str] | None = None,
        rectify: bool = False,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
    ) -> None:
        self.split = canonical_split(split, ("train", "test"))
        self.root, self.rectify = Path(root), rectify
        origin = Origin(
            f"DSEC-Flow ({self.split})",
            "NAME/events/left/events.h5 and NAME/flow/forward_timestamps.txt"
            if self.split == "train"
            else "NAME/events/left/events.h5 and test_forward_optical_flow_timestamps/NAME.csv",
            page="https://dsec.ifi.uzh.ch/dsec-datasets/download/",
        )
        found = provide(
            origin, self.root, lambda: sequences_in(self.root, self.split) or None, False
        )
        drives = _chosen(found, sequences)
        self.sequences = tuple(drive.name for drive in drives)
        """Names, in the order of the samples."""
        self._drives = {drive.name: drive for drive in drives}
        self._samples = [(drive, flow) for drive in drives for flow in drive.flows]
        self._events = {
            drive.name: PerProcess(partial(open_recording, drive.events, _SIZE)) for drive in drives
        }
        self._maps: dict[str, npt.NDArray[np.float32]] = {}
        self.transform = transform
        self.target_transform = target_transform

    def __len__(self) -> int:
        return len(self._samples)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        drive, file = self._samples[checked_index(index, len(self))]
        events = self._events[drive.name].get().between(file.t0, file.t1)
        if self.rectify:
            events = rectified(events, self.rectify_map(drive.name))
        flow, valid = (None, None) if file.path is None else read_flow(file.path)
        window = FlowWindow(drive.name, file.number, file.t0, file.t1, flow, valid)
        return transformed(events, window, self.transform, self.target_transform)

    def rectify_map(self, name: str) -> npt.NDArray[np.float32]:
        """Column and row in the rectified picture of each pixel: [480, 640, 2]."""
        if name not in self._drives:
            raise ValueError(f"name = {name!r} is none of {', '.join(self.sequences)}")
        if name not in self._maps:
            self._maps[name] = _read_map(self._drives[name])
        return self._maps[name]

    def __repr__(self) -> str:
        return (
            f"DSECFlow({str(self.root)!r}, split={self.split!r}: {len(self):,} flows of "
            f"{len(self.sequences)} sequences, 480x640)"
        )


def read_flow(path: Path) -> tuple[Float32[Tensor, "2 480 640"], Bool[Tensor, "480 640"]]:
    """The flow in a PNG of 16 bits, and where it is known.

    Red is the flow to the right and green the flow down, each as 2**15 + 128 * pixels; blue is not
    0 where they are known.
    """
    picture = read_png(path)
    if picture.shape != (*_SIZE, 3) or picture.dtype != np.uint16:
        shape = " x ".join(str(side) for side in picture.shape)
        raise FormatError(
            f"{path} must be 480 x 640 x 3 of 16 bits, and is {shape} {picture.dtype}"
        )
    flow = (picture[..., :2].astype(np.float32) - 2**15) / 128
    valid = torch.from_numpy(picture[..., 2] != 0)
    return torch.from_numpy(np.ascontiguousarray(flow.transpose(2, 0, 1))), valid


def rectified(events: Events, rectify_map: npt.NDArray[np.float32]) -> Events:
    """The events at the pixel nearest to where the map puts theirs, as long as there is one."""
    height, width = events.size
    places = np.rint(rectify_map[events.y.numpy(), events.x.numpy()])
    x, y = places[:, 0], places[:, 1]
    inside = torch.from_numpy((x >= 0) & (x < width) & (y >= 0) & (y < height))
    kept = events[inside]
    x, y = (column[inside.numpy()].astype(np.int16) for column in (x, y))
    return Events(
        torch.from_numpy(x), torch.from_numpy(y), kept.t, kept.p, events.size, validate=False
    )


def _chosen(
    found: dict[str, DrivenFiles], sequences: str | Sequence[str] | None
) -> list[DrivenFiles]:
    names = list(found) if sequences is None else sequences
    names = [names] if isinstance(names, str) else list(names)
    for name in names:
        if name not in found:
            raise ValueError(f"sequences: {name!r} is none of those here, {', '.join(found)}")
    return [found[name] for name in names]


def _read_map(drive: DrivenFiles) -> npt.NDArray[np.float32]:
    path = drive.rectification
    if path is None:
        raise MissingDataError(f"{drive.name} has no rectify_map.h5 beside {drive.events}")
    stored = stored_array(path, "rectify_map")
    if stored.shape != (*_SIZE, 2):
        raise FormatError(f"{path} must hold rectify_map, 480 x 640 x 2, and has {stored.shape}")
    with named_errors(path, "reading the map"):
        return np.asarray(stored[:], np.float32)
