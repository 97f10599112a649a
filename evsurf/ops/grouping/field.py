"""Receptive fields: which output cells see a sensor position."""

from __future__ import annotations

from dataclasses import dataclass

Pair = tuple[int, int]

LARGEST_EXTENT = 2**16 - 1
"""Largest kernel, stride and padding: places within a field of them still fit 32 bits."""


@dataclass(frozen=True)
class Field:
    """Output cell (i, j) sees events with i*stride <= y + top < i*stride + kernel, and so for x."""

    size: Pair
    """Sensor height and width."""
    kernel: Pair
    stride: Pair
    before: Pair
    """Padding above the first row and left of the first column."""
    cells: Pair
    """Output rows and columns."""

    @staticmethod
    def of(
        size: Pair,
        kernel_size: int | Pair = 1,
        stride: int | Pair = 1,
        padding: str | tuple[int, int, int, int] = "same",
    ) -> Field:
        """Fields over a sensor.

        Padding is "same" (as many cells as pixels, at any stride), "valid" (none) or pixels
        (left, right, top, bottom).
        """
        kernel = as_pair("kernel_size", kernel_size)
        steps = as_pair("stride", stride)
        check_padding(padding)
        left, right, top, bottom = _pads(size, kernel, steps, padding)
        rows = (size[0] + top + bottom - kernel[0]) // steps[0] + 1
        columns = (size[1] + left + right - kernel[1]) // steps[1] + 1
        if rows < 1 or columns < 1:
            raise ValueError(
                f"kernel_size {kernel} does not fit a sensor of height and width {size} with "
                f"{padding=}: no output cell is left. Use a smaller kernel or more padding."
            )
        return Field(size, kernel, steps, (top, left), (rows, columns))

    @property
    def overlap(self) -> int:
        """The most cells that can see one event."""
        (height, width), (down, across) = self.kernel, self.stride
        rows, columns = self.cells
        return min(-(-height // down), rows) * min(-(-width // across), columns)

    def numbers(self) -> list[int]:
        """The field as the compiled core takes it."""
        return [*self.size, *self.kernel, *self.stride, *self.before, *self.cells]

    @staticmethod
    def from_numbers(numbers: list[int]) -> Field:
        """The field that `numbers()` came from."""
        h, w, kh, kw, sh, sw, top, left, rows, columns = numbers
        return Field((h, w), (kh, kw), (sh, sw), (top, left), (rows, columns))


def as_pair(name: str, value: int | Pair) -> Pair:
    """A positive int or pair of them as (height, width)."""
    pair = (value, value) if isinstance(value, int) else value
    is_pair = isinstance(pair, (tuple, list)) and len(pair) == 2
    if isinstance(value, bool) or not is_pair or not all(type(v) is int for v in pair):
        raise TypeError(f"{name} must be an int or a pair (height, width) of ints, not {value!r}")
    if min(pair) < 1:
        raise ValueError(f"{name} must be at least 1, not {value!r}")
    if max(pair) > LARGEST_EXTENT:
        raise ValueError(f"{name} must be at most {LARGEST_EXTENT}, not {value!r}")
    return (pair[0], pair[1])


def _pads(
    size: Pair, kernel: Pair, stride: Pair, padding: str | tuple[int, int, int, int]
) -> tuple[int, int, int, int]:
    if padding == "valid":
        return (0, 0, 0, 0)
    if padding == "same":
        # The odd remainder goes left and top, so a 2x2 field looks back at its event.
        extra = [(n - 1) * s + k - n for n, s, k in zip(size, stride, kernel, strict=True)]
        down, across = extra
        return (across - across // 2, across // 2, down - down // 2, down // 2)
    assert not isinstance(padding, str)
    left, right, top, bottom = padding
    return (left, right, top, bottom)


def check_padding(padding: str | tuple[int, int, int, int]) -> None:
    """Refuses what is neither a name of a padding nor four numbers of pixels."""
    if isinstance(padding, str) and padding in ("same", "valid"):
        return
    sides = list(padding) if isinstance(padding, tuple | list) else []
    if len(sides) != 4 or not all(type(side) is int for side in sides):
        raise ValueError(
            f'padding must be "same", "valid" or (left, right, top, bottom), not {padding!r}'
        )
    if min(sides) < 0:
        raise ValueError(f"padding must not be negative, not {padding!r}")
    if max(sides) > LARGEST_EXTENT:
        raise ValueError(f"padding must be at most {LARGEST_EXTENT}, not {padding!r}")
