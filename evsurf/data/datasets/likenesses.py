"""Data sets like N-MNIST and N-Caltech101, made of the pictures that those were made of."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evsurf.data.datasets.idx import read_idx
from evsurf.data.datasets.looks import PictureRecordings
from evsurf.data.simulator.pictures import PICTURES, grey, read_picture
from evsurf.data.simulator.saccades import atis

_DIGITS = tuple("0123456789")
# What the eye movements would show of the screen around.
_BORDER = 3
_CALTECH = (180, 240)


def nmnist_like(
    images: str | os.PathLike[str], labels: str | os.PathLike[str], *, seed: int = 0
) -> PictureRecordings:
    """Recordings of MNIST's pictures as N-MNIST has them: 34x34, 310 ms, about 4,100 events.

    As there, the digits are dark on a light ground. `images` and `labels` are idx files, packed or
    not, such as `train-images-idx3-ubyte.gz`.
    """
    pictures, targets = read_idx(images), read_idx(labels)
    if pictures.ndim != 3 or min(pictures.shape[1:]) < 2:
        raise ValueError(f"{images} must hold pictures, and has shape {pictures.shape}")
    if targets.ndim != 1 or len(targets) != len(pictures):
        raise ValueError(
            f"{labels} must hold a label for each of {len(pictures):,} pictures, and has shape "
            f"{targets.shape}"
        )
    if len(targets) and targets.max() > 9:
        raise ValueError(f"{labels} holds {targets.max()}, which is no digit")
    height, width = (side + 2 * _BORDER for side in pictures.shape[1:])
    # The real recordings show them dark on a light ground.
    return PictureRecordings(
        255 - pictures, targets.tolist(), _DIGITS, (height, width), surround=1.0, seed=seed
    )


def ncaltech_like(folder: str | os.PathLike[str], *, seed: int = 0) -> PictureRecordings:
    """Recordings of a folder of pictures as N-Caltech101 has them: at most 180x240, 310 ms.

    Each subfolder is a class. Pictures are made as large as fits; the camera sees all of one but
    its border. Reading pictures needs `pip install 'evsurf[view]'`.
    """
    root = Path(folder)
    if not root.is_dir():
        raise FileNotFoundError(f"there is no folder {root}")
    classes = sorted(path.name for path in root.iterdir() if path.is_dir())
    found = [
        (file, number)
        for number, name in enumerate(classes)
        for file in sorted((root / name).iterdir())
        if file.suffix.lower() in PICTURES
    ]
    if not found:
        raise FileNotFoundError(
            f"{root} has no folder with pictures (*{', *'.join(PICTURES)}): each class is a folder"
        )
    files, targets = zip(*found, strict=True)
    pictures = FittedPictures(tuple(files), _CALTECH)
    # These thresholds give as many events as the one real recording that was at hand has.
    camera = atis(_CALTECH, on=0.22, off=0.226, floor=0.073, shot=0.3)
    return PictureRecordings(
        pictures, targets, classes, _CALTECH, camera=camera, border=_BORDER, seed=seed
    )


@dataclass(frozen=True)
class FittedPictures:
    """Pictures in files, grey, each as large as fits into a size."""

    files: tuple[Path, ...]
    size: tuple[int, int]

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> npt.NDArray[np.float32]:
        file = self.files[index]
        try:
            picture = grey(read_picture(file))
        except (ValueError, OSError) as error:
            raise ValueError(f"{file} cannot be read as a picture: {error}") from error
        return fitted(picture, self.size)


def fitted(picture: npt.NDArray[np.float32], size: tuple[int, int]) -> npt.NDArray[np.float32]:
    """The picture as large as fits, each new pixel the mean of what it covers."""
    scale = min(room / have for room, have in zip(size, picture.shape, strict=True))
    for room in (size[0], size[1]):
        side = min(max(2, round(len(picture) * scale)), room)
        picture = _resized(picture, side).T
    return np.ascontiguousarray(picture)


def _resized(picture: npt.NDArray[np.float32], side: int) -> npt.NDArray[np.float32]:
    """The rows made so many, by differences of their running sum."""
    rows = len(picture)
    if side == rows:
        return picture
    total = np.zeros((rows + 1, picture.shape[1]))
    np.cumsum(picture, axis=0, dtype=np.float64, out=total[1:])
    borders = np.arange(side + 1) * rows / side
    below = np.minimum(borders.astype(np.int64), rows - 1)
    share = (borders - below)[:, None]
    sums = total[below] + share * (total[below + 1] - total[below])
    means = np.diff(sums, axis=0) * side / rows
    return np.asarray(np.clip(means, 0, 1), np.float32)
