"""`Texture`: a picture to be seen from any distance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

_LARGEST = 8192


@dataclass(frozen=True, eq=False)
class Texture:
    """A square grey picture whose side is a power of two, and how opaque each of its texels is."""

    picture: npt.NDArray[np.float32]
    """Intensities [side, side] from 0 to 1."""
    mask: npt.NDArray[np.float32] | None = None
    """From 0, where one sees through, to 1; None: opaque everywhere."""
    tiles: bool = True
    """Whether it repeats beyond its border, or the border goes on."""
    levels: npt.NDArray[np.float32] = field(init=False, repr=False)
    """The picture and its halved copies, one after another."""
    mask_levels: npt.NDArray[np.float32] | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        side = self.picture.shape[0]
        if self.picture.shape != (side, side) or side & (side - 1) or not 1 <= side <= _LARGEST:
            raise ValueError(
                f"a texture must be square with a side that is a power of two up to {_LARGEST}, "
                f"got shape {self.picture.shape}"
            )
        object.__setattr__(self, "levels", _halved("picture", self.picture))
        masks = None if self.mask is None else _halved("mask", self.mask, side)
        object.__setattr__(self, "mask_levels", masks)

    @property
    def side(self) -> int:
        """Texels along a side."""
        return len(self.picture)

    @classmethod
    def of_picture(cls, picture: npt.NDArray[Any], *, surround: float | None = None) -> Texture:
        """A picture of any shape in the middle of a larger one.

        Its border goes on around it, or where `surround` is given, that intensity.
        """
        if picture.ndim != 2 or min(picture.shape) < 2:
            raise ValueError(
                f"a picture must be grey and at least 2 x 2 pixels, got shape {picture.shape}"
            )
        scale = 255.0 if picture.dtype == np.uint8 else 1.0
        side = 1 << (max(picture.shape) - 1).bit_length()
        # Room around, so that no coarser copy mixes opposite borders.
        top, left = ((side - extent) // 2 for extent in picture.shape)
        around = ((top, side - top - picture.shape[0]), (left, side - left - picture.shape[1]))
        light = picture.astype(np.float32) / np.float32(scale)
        if surround is None:
            return cls(np.pad(light, around, mode="edge"), tiles=False)
        return cls(np.pad(light, around, constant_values=surround), tiles=False)


def _halved(
    name: str, picture: npt.NDArray[np.float32], side: int | None = None
) -> npt.NDArray[np.float32]:
    if side is not None and picture.shape != (side, side):
        raise ValueError(f"{name} must have the picture's shape, got {picture.shape}")
    low, high = float(picture.min()), float(picture.max())
    if not (low >= 0 and high <= 1):
        raise ValueError(f"{name} must hold numbers from 0 to 1, got {low} to {high}")
    levels = [picture.astype(np.float32)]
    while levels[-1].shape[0] > 1:
        half = levels[-1].shape[0] // 2
        levels.append(levels[-1].reshape(half, 2, half, 2).mean(axis=(1, 3), dtype=np.float32))
    return np.concatenate([level.ravel() for level in levels])
