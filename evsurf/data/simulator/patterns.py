"""Textures made up from a seed, in two families that have nothing in common.

What is trained in a world of one family and tested in one of the other cannot have learned the
pictures. Family A has rough noise and piles of discs; family B has piles of boxes, smooth noise,
stripes, checks and blots.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evsurf.data.simulator.texture import Texture

Family: TypeAlias = Literal["A", "B"]
Image: TypeAlias = npt.NDArray[np.float64]

_DARKEST, _BRIGHTEST = 0.1, 1.0
_BLUR = 0.7


def texture(family: Family, generator: np.random.Generator, *, side: int = 512) -> Texture:
    """A texture of this family that tiles."""
    if family not in _PATTERNS:
        raise ValueError(f"family must be 'A' or 'B', got {family!r}")
    patterns = _PATTERNS[family]
    picture = patterns[int(generator.integers(len(patterns)))](generator, side)
    return Texture(np.clip(_blurred(picture), 0, 1).astype(np.float32))


def _spectrum(side: int) -> Image:
    """Cycles a picture, of every coefficient of a Fourier transform."""
    along = np.fft.fftfreq(side, 1 / side)
    frequencies: Image = np.hypot(along[:, None], along[None, :])
    return frequencies


def _blurred(picture: Image) -> Image:
    """The picture under a small Gaussian, over its borders."""
    fall = np.exp(-2 * (np.pi * _BLUR * _spectrum(len(picture)) / len(picture)) ** 2)
    blurred: Image = np.fft.ifft2(np.fft.fft2(picture) * fall).real
    return blurred


def _intensities(generator: np.random.Generator, count: int) -> Image:
    """Evenly spread in their logarithm."""
    return np.exp(generator.uniform(np.log(_DARKEST), np.log(_BRIGHTEST), count))


def _noise(slope: float) -> Callable[[np.random.Generator, int], Image]:
    """Noise of power 1 / frequency^slope; all intensities are as frequent, in their logarithm."""

    def draw(generator: np.random.Generator, side: int) -> Image:
        waves = np.fft.fft2(generator.standard_normal((side, side)))
        frequencies = _spectrum(side)
        frequencies[0, 0] = np.inf
        noise = np.fft.ifft2(waves / frequencies ** (slope / 2)).real
        ranks = np.empty(side * side)
        ranks[np.argsort(noise, axis=None)] = np.linspace(0, 1, side * side)
        return _DARKEST * (_BRIGHTEST / _DARKEST) ** ranks.reshape(side, side)

    return draw


def _offsets(side: int, row: float, column: float) -> tuple[Image, Image]:
    """How far every texel is from a point, the shorter way around."""
    along = np.arange(side, dtype=np.float64)
    down: Image = (along - row + side / 2) % side - side / 2
    across: Image = (along - column + side / 2) % side - side / 2
    return down[:, None], across[None, :]


def _discs(generator: np.random.Generator, side: int) -> Image:
    count = int(generator.integers(200, 501))
    picture = np.full((side, side), 0.4)
    radii = np.exp(generator.uniform(np.log(6), np.log(70), count)) * side / 512
    places = generator.uniform(0, side, (count, 2))
    for radius, (row, column), light in zip(
        radii, places, _intensities(generator, count), strict=True
    ):
        down, across = _offsets(side, row, column)
        picture[down**2 + across**2 < radius**2] = light
    return picture


def _boxes(generator: np.random.Generator, side: int) -> Image:
    count = int(generator.integers(60, 301))
    picture = np.full((side, side), 0.4)
    halves = generator.uniform(5, 100, (count, 2)) * side / 512
    places = generator.uniform(0, side, (count, 2))
    for (high, wide), (row, column), light in zip(
        halves, places, _intensities(generator, count), strict=True
    ):
        down, across = _offsets(side, row, column)
        picture[(np.abs(down) < high) & (np.abs(across) < wide)] = light
    return picture


def _stripes(generator: np.random.Generator, side: int) -> Image:
    """Stripes, or checks, of widths that vary from one to the next."""

    def band() -> npt.NDArray[np.int64]:
        edges = np.cumsum(generator.integers(side // 40, side // 12, 60))
        return np.searchsorted(edges[edges < side], np.arange(side), side="right") % 2

    rows, columns = band()[:, None], band()[None, :]
    which = int(generator.integers(3))
    pattern = (rows ^ columns, rows | 0 * columns, 0 * rows | columns)[which]
    dark, bright = np.sort(_intensities(generator, 2))
    picture: Image = np.where(pattern > 0, bright, min(dark, bright / 2))
    return picture


def _blots(generator: np.random.Generator, side: int) -> Image:
    """Dark signs in lines on a bright ground, somewhat as a page of print."""
    picture = np.full((side, side), 0.9)
    line = side // 16
    for top in range(line // 4, side - line, line):
        left = int(generator.integers(line))
        while left < side - line:
            width = int(generator.integers(line // 3, line))
            sign = generator.random((4, 3)) < 0.55
            if generator.random() < 0.85:
                high = line // 2 // 4 * 4
                wide = max(width // 2 // 3 * 3, 3)
                drawn = np.kron(sign, np.ones((high // 4, wide // 3)))
                part = picture[top : top + high, left : left + wide]
                part[drawn[: part.shape[0], : part.shape[1]] > 0] = 0.12
            left += width
    return picture


_PATTERNS: dict[str, tuple[Callable[[np.random.Generator, int], Image], ...]] = {
    "A": (_noise(2.0), _noise(2.4), _noise(2.8), _discs),
    "B": (_boxes, _noise(3.2), _stripes, _blots),
}
