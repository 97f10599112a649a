"""Pictures from elsewhere, for a camera to look at: films, folders of pictures, arrays."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Float32
from torch import Tensor

PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".pgm")
"""Endings of files with one picture."""

FILMS = (".mp4", ".avi", ".mov", ".mkv", ".webm", ".gif")
"""Endings of files with many."""

ARRAYS = (".npy",)
"""Endings of arrays [pictures, height, width]."""

# Shares of red, green and blue in what is seen as brightness.
_LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)

Image = npt.NDArray[np.float32]


def grey(picture: npt.NDArray[Any]) -> Image:
    """Intensities [height, width] from 0 to 1, of grey or colour, with or without transparency."""
    array = np.asarray(picture)
    if array.ndim == 3 and array.shape[2] in (1, 2):
        array = array[..., 0]
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4)):
        raise ValueError(f"a picture must be grey or coloured, got shape {array.shape}")
    if min(array.shape[:2]) < 2:
        raise ValueError(f"a picture must be at least 2 x 2 pixels, got shape {array.shape}")
    if array.dtype == np.bool_ or array.dtype.kind not in "uf":
        raise ValueError(f"a picture must hold unsigned integers or floats, got {array.dtype}")
    scale = np.float32(np.iinfo(array.dtype).max if array.dtype.kind == "u" else 1)
    light = array.astype(np.float32) / scale
    if light.ndim == 3:
        light = light[..., :3] @ _LUMA
    if not (np.isfinite(light).all() and light.min() >= 0 and light.max() <= 1.0001):
        raise ValueError(
            f"intensities must be from 0 to 1, got {light.min()} to {light.max()}; "
            "divide floats by what is white"
        )
    intensities: Image = np.minimum(light, np.float32(1))
    return intensities


def film(
    path: str | os.PathLike[str], *, rate: float | int | None = None
) -> Iterator[tuple[float, Float32[Tensor, "height width"]]]:
    """The pictures of a file or folder, grey, with their times in microseconds from 0.

    `rate` is in pictures a second; without it, a film's own, or in a folder what a file
    `timestamps.txt` says, each line a number and, in seconds, a time. One picture is in memory at a
    time. All must have one size.
    """
    source = Path(path)
    if rate is not None and not 0 < rate < 1e6:
        raise ValueError(f"rate = {rate} must be above 0 and below a million pictures a second")
    size: tuple[int, ...] | None = None
    count = 0
    for t, picture in _timed(source, rate):
        light = grey(picture)
        if size is not None and light.shape != size:
            raise ValueError(
                f"picture {count} of {source.name} has size {light.shape}, the first has {size}"
            )
        size = light.shape
        count += 1
        yield t, torch.from_numpy(light)
    if count < 2:
        raise ValueError(
            f"{source.name} holds {count} pictures: events need at least two, and come from what "
            "changes between them"
        )


def _timed(source: Path, rate: float | int | None) -> Iterator[tuple[float, npt.NDArray[Any]]]:
    if source.is_dir():
        yield from _of_folder(source, rate)
    elif not source.is_file():
        raise FileNotFoundError(f"there is no file or folder {source}")
    elif source.suffix.lower() in ARRAYS:
        pictures = np.load(source, mmap_mode="r", allow_pickle=False)
        if pictures.ndim not in (3, 4):
            raise ValueError(
                f"{source.name} must be an array [pictures, height, width], got {pictures.shape}"
            )
        yield from _steady(iter(pictures), _needed(rate, source))
    elif source.suffix.lower() in FILMS:
        yield from _of_film(source, rate)
    else:
        known = ", ".join((*FILMS, *ARRAYS))
        raise ValueError(f"{source.name} is no film known here; it must end in one of {known}")


def _steady(
    pictures: Iterator[npt.NDArray[Any]], rate: float
) -> Iterator[tuple[float, npt.NDArray[Any]]]:
    for number, picture in enumerate(pictures):
        yield number * 1e6 / rate, picture


def _needed(rate: float | int | None, source: Path) -> float:
    if rate is None:
        raise ValueError(f"{source.name} does not say how fast its pictures follow: give the rate")
    return rate


def _of_folder(folder: Path, rate: float | int | None) -> Iterator[tuple[float, npt.NDArray[Any]]]:
    place = folder / "images" if (folder / "images").is_dir() else folder
    files = sorted(
        (file for file in place.iterdir() if file.suffix.lower() in PICTURES), key=_natural
    )
    if not files:
        raise ValueError(f"{folder} holds no picture ending in one of {', '.join(PICTURES)}")
    pictures = (read_picture(file) for file in files)
    stamps = next((f for f in (folder, place) if (f / "timestamps.txt").is_file()), None)
    if rate is None and stamps is not None:
        yield from zip(_stamps(stamps / "timestamps.txt", files), pictures, strict=True)
    else:
        yield from _steady(pictures, _needed(rate, folder))


def _natural(file: Path) -> list[tuple[int, str]]:
    """Sorts picture 10 after picture 9."""
    parts = re.split(r"(\d+)", file.name)
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def _stamps(file: Path, pictures: Sequence[Path]) -> list[float]:
    """Microseconds from the first, one line a picture: its number or name, then seconds."""
    lines = [line.split() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    try:
        seconds = [float(line[-1]) for line in lines]
    except ValueError as error:
        raise ValueError(f"{file} must end each line in a time in seconds: {error}") from error
    if len(seconds) != len(pictures):
        raise ValueError(f"{file} has {len(seconds)} times for {len(pictures)} pictures")
    return [(time - seconds[0]) * 1e6 for time in seconds]


def read_picture(file: str | os.PathLike[str]) -> npt.NDArray[Any]:
    """A picture of any usual kind as an array, grey or coloured."""
    # Of a damaged file, every reader there is would have its try, and its warnings.
    picture: npt.NDArray[Any] = _imageio().imread(file, plugin="pillow")
    return picture


def _of_film(source: Path, rate: float | int | None) -> Iterator[tuple[float, npt.NDArray[Any]]]:
    plugin = "pillow" if source.suffix.lower() == ".gif" else "pyav"
    with _imageio().imopen(source, "r", plugin=plugin) as opened:
        if rate is None:
            rate = _rate_of(opened, source)
        yield from _steady(opened.iter(), rate)


def _rate_of(opened: Any, source: Path) -> float:
    """Pictures a second, as the film says."""
    says = opened.metadata(index=0) if source.suffix.lower() == ".gif" else opened.metadata()
    if says.get("fps"):
        return float(says["fps"])
    if says.get("duration") and source.suffix.lower() == ".gif":
        return 1000.0 / float(says["duration"])
    return _needed(None, source)


def _imageio() -> Any:
    try:
        import imageio.v3 as imageio
    except ImportError as error:
        raise ImportError(
            "pictures and films are read with imageio: pip install 'evsurf[view]'"
        ) from error
    return imageio
