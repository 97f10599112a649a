"""`MVSEC`: pairs of grey frames, with the events between them."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal, final

import numpy as np
from jaxtyping import UInt8
from torch import Tensor, from_numpy
from torch.utils.data import Dataset

from evsurf.data.arguments import check_least
from evsurf.data.datasets.labelled import Transform, checked_index, transformed
from evsurf.data.datasets.listing import folders_within
from evsurf.data.datasets.mvsec_sequence import SIZE, MVSECSequence
from evsurf.data.datasets.provision import Origin, provide

MVSEC_SEQUENCES = (
    *(f"indoor_flying{i}" for i in range(1, 5)),
    "outdoor_day1",
    "outdoor_day2",
    *(f"outdoor_night{i}" for i in range(1, 4)),
)
"""Names of the sequences that come with flow, as papers call them."""


@dataclass(frozen=True)
class FramePair:
    """Which two frames a sample lies between."""

    sequence: str
    first: int
    """Number of the earlier frame in its sequence."""
    last: int
    t0: int
    """Microseconds since 1970, as the events' times."""
    t1: int
    frames: UInt8[Tensor, "2 260 346"]
    """The earlier frame, then the later one."""


@final
class MVSEC(Dataset[tuple[Any, Any]]):
    """MVSEC: stereo DAVIS recordings from drones and cars, 260x346, by pairs of frames.

    ```python
    data = MVSEC("data/mvsec", ["indoor_flying1", "indoor_flying2"], step=4)
    events, pair = data[0]
    flow = data.sequence(pair.sequence).flow_times
    ```

    A sample has the events from a frame to the one `step` frames later, the next sample starts one
    frame later. Looks for `indoor_flying1_data.hdf5` and so on, and beside or elsewhere in the root
    for `..._gt.hdf5` and `..._gt_flow_dist.npz`, which may lack. Ground truth has times of its own,
    20 a second, and is reached through `sequence`. Needs the extra [io].
    """

    size = SIZE

    def __init__(
        self,
        root: str | os.PathLike[str],
        sequences: str | Sequence[str],
        *,
        step: int = 1,
        camera: Literal["left", "right"] = "left",
        by: Literal["time", "index"] = "time",
        transform: Transform | None = None,
        target_transform: Transform | None = None,
    ) -> None:
        """`by` says how events are assigned to frames: see `MVSECSequence.between_frames`."""
        check_least("step", step, 1)
        self.root, self.step, self._by = Path(root), step, by
        names = [sequences] if isinstance(sequences, str) else list(sequences)
        self.sequences = tuple(names)
        """Names, in the order of the samples."""
        self._opened = {name: _sequence(self.root, name, camera) for name in names}
        counts = [max(0, len(self._opened[n].frame_times) - step) for n in names]
        self._ends = list(accumulate(counts))
        self.transform = transform
        self.target_transform = target_transform

    def sequence(self, name: str) -> MVSECSequence:
        """One of the sequences, with all that there is of it."""
        if name not in self._opened:
            raise ValueError(f"name = {name!r} is none of {', '.join(self.sequences)}")
        return self._opened[name]

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        number = checked_index(index, len(self))
        place = bisect_right(self._ends, number)
        first = number - (self._ends[place - 1] if place else 0)
        sequence = self._opened[self.sequences[place]]
        last = first + self.step
        events = sequence.between_frames(first, last, by=self._by)
        t0, t1 = (int(sequence.frame_times[i]) for i in (first, last))
        # Copied by NumPy: two small pictures are not worth waking threads for.
        frames = from_numpy(np.stack([sequence.frame(i).numpy() for i in (first, last)]))
        pair = FramePair(sequence.name, first, last, t0, t1, frames)
        return transformed(events, pair, self.transform, self.target_transform)

    def __repr__(self) -> str:
        return (
            f"MVSEC({str(self.root)!r}: {len(self):,} pairs of frames {self.step} apart, of "
            f"{', '.join(self.sequences)}, 260x346)"
        )


def _sequence(root: Path, name: str, camera: Literal["left", "right"]) -> MVSECSequence:
    data = f"{name}_data.hdf5"
    origin = Origin(
        f"MVSEC ({name})",
        f"the file {data}",
        page="https://daniilidis-group.github.io/mvsec/",
    )
    return MVSECSequence(
        provide(origin, root, lambda: _found(root, data), False),
        truth=_found(root, f"{name}_gt.hdf5"),
        flow=_found(root, f"{name}_gt_flow_dist.npz"),
        camera=camera,
    )


def _found(root: Path, name: str) -> Path | None:
    return next((f / name for f in folders_within(root) if (f / name).is_file()), None)
