"""`FlowWorlds`: optical flow in simulated worlds, with the exact answer and nothing to download."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, final

import numpy as np
import torch
from jaxtyping import Bool, Float32, UInt8
from torch import Tensor
from torch.utils.data import Dataset

from evsurf.data.datasets.making import cache_folder, made
from evsurf.data.simulator.camera import Camera
from evsurf.data.simulator.filming import record
from evsurf.data.simulator.scene import Scene
from evsurf.data.simulator.worlds import FRAMES_A_SECOND, SIZE, WORLDS
from evsurf.events import Events
from evsurf.events.checks import check_integer

Split: TypeAlias = Literal["train", "val", "test"]
Volume: TypeAlias = Literal["small", "full"]

# Raised whenever the same seed would give something else.
_VERSION = 1


@dataclass(frozen=True)
class ClipPlan:
    """One clip to be made: everything about it follows from these."""

    world: str
    seed: int
    seconds: float
    size: tuple[int, int] = SIZE

    @property
    def name(self) -> str:
        """As its files are called."""
        return f"{self.world}-{self.seed:03d}"

    @property
    def times(self) -> list[float]:
        """When frames are taken, in microseconds."""
        count = int(self.seconds * FRAMES_A_SECOND[self.world]) + 1
        return [float(round(k * 1e6 / FRAMES_A_SECOND[self.world])) for k in range(count)]

    def scene(self) -> Scene:
        """The world that it shows."""
        return WORLDS[self.world](self.seed, seconds=self.seconds, size=self.size)

    def camera(self) -> Camera:
        """The camera that sees it: no two have the same thresholds."""
        generator = np.random.default_rng([self.seed, len(self.world)])
        on = float(generator.uniform(0.2, 0.8))
        off = on * float(np.clip(1 + 0.1 * generator.standard_normal(), 0.7, 1.3))
        return Camera(self.size, on=on, off=off, spread=0.1)


_PLANS: dict[Volume, dict[Split, list[ClipPlan]]] = {
    "small": {
        "train": [ClipPlan("drive", seed, 5.0) for seed in range(4)],
        "val": [ClipPlan("drive", 100, 2.0)],
        "test": [ClipPlan("fly", seed, 2.5) for seed in range(2)],
    },
    "full": {
        "train": [ClipPlan("drive", seed, 10.0) for seed in range(20)],
        "val": [ClipPlan("drive", seed, 10.0) for seed in range(100, 103)],
        "test": [ClipPlan("fly", seed, 30.0) for seed in range(3)],
    },
}


class FlowSample(NamedTuple):
    """The time between two frames."""

    events: Events
    """From the first frame to the second."""
    frames: UInt8[Tensor, "2 height width"]
    flow: Float32[Tensor, "2 height width"] | None
    """Exact motion from the first to the second, pixels right and down; None unless asked for."""
    visible: Bool[Tensor, "height width"] | None
    """Where the point is seen in both."""
    times: tuple[float, float]
    """Of the frames, in microseconds."""


@final
class FlowWorlds(Dataset[FlowSample]):
    """Pairs of frames `dt` apart in simulated worlds, with the events between and the exact flow.

    Training clips drive through streets, test clips fly about a room: other textures, other motion.
    They are made when first asked for, with as many processes as there are cores, and kept in
    `root`, the user's cache by default. `size="small"` has 20 s of street and 5 s of room, `"full"`
    200 and 90.

    The flow is computed when a sample is read (about 20 ms); `flow=False` leaves it out.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        split: Split = "train",
        *,
        size: Volume = "small",
        dt: int = 1,
        flow: bool = True,
        workers: int | None = None,
    ) -> None:
        if size not in _PLANS:
            raise ValueError(f"size must be one of {', '.join(_PLANS)}, got {size!r}")
        if split not in _PLANS[size]:
            raise ValueError(f"split must be one of {', '.join(_PLANS[size])}, got {split!r}")
        if check_integer("dt", dt, "frames") < 1:
            raise ValueError(f"dt = {dt} must be at least 1 frame")
        self.root = cache_folder() / "flow-worlds" if root is None else Path(root)
        self.split, self.dt, self.flow = split, dt, flow
        self.plans = tuple(_PLANS[size][split])
        """What each clip shows."""
        self._folders = made_clips(self.root / f"{size}-{_VERSION}", self.plans, workers)
        self._scenes: dict[int, Scene] = {}

    @cached_property
    def _pairs(self) -> list[tuple[int, int]]:
        """Clip and first frame of every sample."""
        return [
            (number, first)
            for number, plan in enumerate(self.plans)
            for first in range(len(plan.times) - self.dt)
        ]

    def __len__(self) -> int:
        return len(self._pairs)

    def __getitem__(self, index: int) -> FlowSample:
        number, first = self._pairs[check_integer("index", index, "a sample's number")]
        plan = self.plans[number]
        start, stop = plan.times[first], plan.times[first + self.dt]
        frames = np.load(self._folders[number] / "frames.npy", mmap_mode="r")
        pair = torch.from_numpy(np.stack([frames[first], frames[first + self.dt]]))
        events = clip_events(self._folders[number], plan.size, start, stop)
        if not self.flow:
            return FlowSample(events, pair, None, None, (start, stop))
        flow, visible = self.scene(number).flow(start, stop)
        return FlowSample(events, pair, flow, visible, (start, stop))

    def scene(self, number: int) -> Scene:
        """The world of a clip, for flow between any two times, depth and pictures."""
        if number not in self._scenes:
            self._scenes[number] = self.plans[number].scene()
        return self._scenes[number]

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_scenes": {}}

    def __repr__(self) -> str:
        seconds = sum(plan.seconds for plan in self.plans)
        return (
            f"FlowWorlds({self.split!r}: {len(self):,} pairs {self.dt} apart in {len(self.plans)} "
            f"clips of {self.plans[0].world}, {seconds:g} s)"
        )


def clip_events(folder: Path, size: tuple[int, int], start: float, stop: float) -> Events:
    """The events of a clip with start <= t < stop, read from where they are."""
    t = np.load(folder / "t.npy", mmap_mode="r")
    first, last = np.searchsorted(t, [start, stop])
    x, y, stamps, p = (
        torch.from_numpy(np.array(np.load(folder / f"{name}.npy", mmap_mode="r")[first:last]))
        for name in Events.FIELDS
    )
    return Events(x, y, stamps, p, size, validate=False)


def made_clips(root: Path, plans: Sequence[ClipPlan], workers: int | None) -> list[Path]:
    """Folders of all clips, those that were missing just made."""
    folders = [root / plan.name for plan in plans]
    missing = [
        (plan, folder) for plan, folder in zip(plans, folders, strict=True) if not folder.is_dir()
    ]
    count = min(len(missing), workers or os.cpu_count() or 1)
    if count <= 1:
        for plan, folder in missing:
            make_clip(plan, folder)
        return folders
    # A fresh process each: torch's threads do not survive a fork.
    context = get_context("spawn")
    with ProcessPoolExecutor(count, context, initializer=partial(torch.set_num_threads, 1)) as pool:
        jobs = [pool.submit(make_clip, plan, folder) for plan, folder in missing]
        try:
            for job in jobs:
                job.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return folders


def make_clip(plan: ClipPlan, folder: Path) -> None:
    """Films a clip into a folder, which appears once it is whole."""
    with made(folder) as partial_folder:
        clip = record(plan.scene(), plan.camera(), plan.times, seed=plan.seed)
        for name in Events.FIELDS:
            np.save(partial_folder / f"{name}.npy", getattr(clip.events, name).numpy())
        np.save(partial_folder / "frames.npy", clip.frames.numpy())
