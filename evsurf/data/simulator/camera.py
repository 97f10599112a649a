"""`Camera`: what an event camera is like, and `Sensor`, one that sees pictures and gives events.

A pixel compares the logarithm of its light, L = log(I + floor), with a reference. Where L has risen
by the threshold C_on it fires ON and the reference rises by C_on; where L has fallen by C_off it
fires OFF. L is linear in time between two pictures, so each crossing has an exact time. The
equations, and the noise, follow ESIM and v2e; docs/simulator.md has them.

Nothing here depends on the machine, on the number of threads or on its SIMD: a seed gives the same
bits everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias, final

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Float32
from torch import Tensor

from evsurf import _core
from evsurf.data.arguments import check_least
from evsurf.events import Events
from evsurf.events.checks import check_size

Picture: TypeAlias = Tensor | npt.NDArray[Any]
"""Grey intensities [height, width]: floats from 0 (dark) to 1 (white), or uint8."""

Preset: TypeAlias = Literal["clean", "default", "noisy"]

# Beyond it, fractions of a microsecond are lost in float64.
_LATEST_PICTURE = 2.0**50
# Pixels of a picture that one thread is quickest with.
_SMALL = 16_384


@dataclass(frozen=True)
class Camera:
    """An event camera with the thresholds and the noise of one.

    `Camera.preset` gives a clean, a usual and a noisy one. The defaults are those of a clean camera
    whose pixels differ a little.
    """

    size: tuple[int, int]
    """Height and width in pixels."""
    on: float = 0.3
    """Rise of log intensity that fires ON, of the mean pixel."""
    off: float = 0.3
    """Fall of log intensity that fires OFF, of the mean pixel."""
    spread: float = 0.03
    """Standard deviation of the pixels' thresholds, relative to their mean."""
    floor: float = 0.001
    """Added to intensities before the logarithm: what the sensor sees in the dark."""
    refractory: float = 500.0
    """Microseconds after an event in which a pixel gives no other."""
    hold: bool = False
    """What a pixel does in that time. False: its reference follows and events are lost, as in ESIM;
    True: it keeps its reference and fires once the time is over."""
    cutoff: float = 0.0
    """Frequency in Hz of the photoreceptor's low pass, for white; 0 for none."""
    leak: float = 0.0
    """ON events per second of a pixel that sees no change."""
    shot: float = 0.0
    """Random events per second of a pixel in the dark."""
    hot_pixels: int = 0
    """How many pixels fire by themselves."""
    hot_rate: tuple[float, float] = (50.0, 500.0)
    """Events per second of these: least and most."""
    settled: bool = False
    """Whether all pixels start balanced, and so fire together; otherwise anywhere in between."""

    def __post_init__(self) -> None:
        check_size(self.size)
        for name in ("on", "off"):
            _check_number(name, getattr(self, name), above=0.0)
        _check_number("floor", self.floor, above=0.0)
        for name in ("spread", "refractory", "cutoff", "leak", "shot"):
            _check_number(name, getattr(self, name))
        check_least("hot_pixels", self.hot_pixels, 0)
        least, most = self.hot_rate
        _check_number("hot_rate[0]", least, above=0.0)
        if not least <= most < math.inf:
            raise ValueError(f"hot_rate = {self.hot_rate} must be the least and the most in Hz")

    @classmethod
    def preset(cls, name: Preset, size: tuple[int, int], **changes: Any) -> Camera:
        """The camera of a name, with some of its fields changed."""
        if name not in PRESETS:
            raise ValueError(f"preset {name!r} is none of {', '.join(PRESETS)}")
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(changes) - known)
        if unknown:
            raise TypeError(f"a camera has no {unknown[0]!r}; it has {', '.join(sorted(known))}")
        return replace(cls(size, **PRESETS[name]), **changes)

    def sensor(self, seed: int = 0) -> Sensor:
        """One such camera, whose pixels and noise the seed decides."""
        return Sensor(self, seed)

    def record(self, pictures: Iterable[tuple[float | int, Picture]], *, seed: int = 0) -> Events:
        """The events of pictures with their times in microseconds, in order of time.

        Between two pictures light changes evenly; pictures that differ much should stand close.
        """
        parts = list(self.stream(pictures, seed=seed))
        tensors = ([getattr(part, name) for part in parts] for name in Events.FIELDS)
        x, y, t, p = (torch.cat(several) for several in tensors)
        return Events(x, y, t, p, self.size, validate=False)

    def stream(
        self, pictures: Iterable[tuple[float | int, Picture]], *, seed: int = 0
    ) -> Iterator[Events]:
        """As `record`, in pieces: what each picture brings, as soon as it is there."""
        sensor = self.sensor(seed)
        for t, picture in pictures:
            yield sensor.see(picture, t)
        if sensor.time is None:
            raise ValueError("pictures must hold at least one picture with its time, and is empty")


PRESETS: dict[str, dict[str, Any]] = {
    "clean": {"spread": 0.02},
    "default": {"spread": 0.03, "cutoff": 300.0, "leak": 0.01, "shot": 0.001},
    "noisy": {"spread": 0.05, "cutoff": 30.0, "leak": 0.1, "shot": 5.0, "hot_pixels": 10},
}
"""What the named cameras differ in."""


@final
class Sensor:
    """A camera that is looking: it remembers what each pixel saw.

    `see` takes pictures one by one, from a film or live, and gives the events since the last one.
    """

    def __init__(self, camera: Camera, seed: int = 0) -> None:
        check_least("seed", seed, 0)
        self.camera = camera
        self.time: float | None = None
        """When the last picture was seen, in microseconds; None before the first."""
        self._core = _core.Camera(
            *check_size(camera.size),
            (
                camera.on,
                camera.off,
                camera.spread,
                camera.floor,
                camera.refractory,
                camera.cutoff,
                camera.leak,
                camera.shot,
            ),
            camera.hold,
            camera.settled,
            camera.hot_pixels,
            camera.hot_rate,
            seed % 2**64,
        )

    def see(self, picture: Picture, t: float | int) -> Events:
        """The events since the last picture, up to this one at t microseconds; at first none."""
        return self.see_exactly(picture, t)[0]

    def see_exactly(self, picture: Picture, t: float | int) -> tuple[Events, Tensor]:
        """As `see`, and the time of every event in float64 microseconds, before it was rounded."""
        light = intensities(picture, self.camera.size)
        t = self._checked_time(t)
        if self.time is None:
            self._core.start(light.data_ptr(), t)
            count = 0
        else:
            count = self._core.step(light.data_ptr(), t, _threads(light))
        self.time = t
        kinds = (torch.int16, torch.int16, torch.int64, torch.bool, torch.float64)
        *columns, times = (torch.empty(count, dtype=kind) for kind in kinds)
        x, y, stamps, p = columns
        if count:
            self._core.take(*(column.data_ptr() for column in (x, y, stamps, p, times)))
        return Events(x, y, stamps, p, self.camera.size, validate=False), times

    def see_film(
        self, pictures: Float32[Tensor, "pictures height width"], times: Sequence[float | int]
    ) -> Events:
        """As `see` of one picture after another, in less time where pictures are small."""
        if len(pictures) != len(times):
            raise ValueError(f"{len(pictures)} pictures need as many times, got {len(times)}")
        if not len(pictures):
            return Events.empty(self.camera.size)
        light = intensities(pictures, (len(pictures), *self.camera.size))
        threads = _threads(light[0])
        parts: list[tuple[npt.NDArray[Any], ...]] = []
        for k, time in enumerate(times):
            now, address = self._checked_time(time), light.data_ptr() + k * light.stride(0) * 4
            if self.time is None:
                self._core.start(address, now)
                count = 0
            else:
                count = self._core.step(address, now, threads)
            self.time = now
            if count:
                fired = tuple(np.empty(count, kind) for kind in ("i2", "i2", "i8", "?"))
                self._core.take(*_addresses(fired), 0)
                parts.append(fired)
        if not parts:
            return Events.empty(self.camera.size)
        whole = (np.concatenate(column) for column in zip(*parts, strict=True))
        x, y, t, p = (torch.from_numpy(column) for column in whole)
        return Events(x, y, t, p, self.camera.size, validate=False)

    def _checked_time(self, t: float | int) -> float:
        _check_number("t", abs(t))
        if abs(t) > _LATEST_PICTURE:
            raise ValueError(f"t = {t} us is too far from 0 to be exact; the limit is 2**50")
        if self.time is not None and t <= self.time:
            raise ValueError(f"t = {t} us must be after the last picture's time, {self.time} us")
        return float(t)

    def state(self) -> dict[str, Tensor]:
        """Each pixel's `reference`, `light` (log intensity) and thresholds `on`, `off`, float64."""
        kinds = ("reference", "light", "on", "off")
        state = {name: torch.empty(self.camera.size, dtype=torch.float64) for name in kinds}
        self._core.state(*(tensor.data_ptr() for tensor in state.values()))
        return state


def intensities(picture: Picture, size: tuple[int, ...]) -> Tensor:
    """A picture, or several of them, as contiguous float32 intensities of this size."""
    if not isinstance(picture, Tensor | np.ndarray):
        raise TypeError(f"a picture must be an array or a tensor, got {type(picture).__qualname__}")
    light = torch.as_tensor(picture)
    if tuple(light.shape) != tuple(size):
        raise ValueError(
            f"a picture must have the camera's size {tuple(size)}, got shape {tuple(light.shape)}"
        )
    if light.dtype == torch.uint8:
        light = light.float() / 255
    if not light.is_floating_point():
        raise TypeError(f"a picture must hold floats from 0 to 1 or uint8, got {light.dtype}")
    light = light.detach().cpu().float().contiguous()
    # By numpy: to wake torch's threads takes longer than to look at a small picture.
    least, most = (float(bound) for bound in (light.numpy().min(), light.numpy().max()))
    if not (least >= 0 and most <= 2):
        raise ValueError(
            f"intensities must be from 0 (dark) to 1 (white), got {least} to {most}. "
            "Divide pictures of 8 bits by 255."
        )
    return light


def _threads(light: Tensor) -> int:
    """As many as there are, but for pictures so small that they would rather wait than work."""
    return torch.get_num_threads() if light.numel() > _SMALL else 1


def _addresses(columns: Sequence[npt.NDArray[Any]]) -> tuple[int, int, int, int]:
    x, y, t, p = (column.ctypes.data for column in columns)
    return x, y, t, p


def _check_number(name: str, value: object, *, above: float | None = None) -> None:
    good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not good:
        raise ValueError(f"{name} = {value!r} must be a finite number")
    number = float(value)  # type: ignore[arg-type]
    if above is not None and number <= above:
        raise ValueError(f"{name} = {value} must be above {above}")
    if above is None and number < 0:
        raise ValueError(f"{name} = {value} must not be negative")
