"""Panels side by side on one sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evsurf.view.colours import NOTHING, TEXT, Colours

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Inches. The letters stay readable when the sheet is shown 400 pixels wide.
_WIDTH = 10.0
_GAP = 0.12
_MARGIN = 0.18
_LINE = 0.46
_LETTERS = 19
# Width over height. What is narrower still, a sensor of few columns, leaves room beside it.
_NARROWEST = 0.5


@dataclass(frozen=True)
class Panel:
    """An image and the few words above it."""

    title: str
    image: Colours


def sheet(rows: Sequence[Sequence[Panel]]) -> Figure:
    """A figure with rows of panels, each row as wide as the sheet; `savefig` writes it.

    The panels of a row share their height, and each has at least half of it as its width. Needs
    matplotlib, the extra `view`.
    """
    if not rows or not all(rows):
        raise ValueError(f"rows must hold at least one panel each, got {[len(r) for r in rows]}")
    check_matplotlib()
    from matplotlib.figure import Figure

    heights = [_height(row) for row in rows]
    total = sum(heights) + len(rows) * _LINE + (len(rows) - 1) * _GAP + _MARGIN
    figure = Figure(figsize=(_WIDTH, total), facecolor=NOTHING)
    top = total
    for row, height in zip(rows, heights, strict=True):
        top -= _LINE
        left = _MARGIN
        for panel in row:
            width = height * _aspect(panel)
            place = (left / _WIDTH, (top - height) / total, width / _WIDTH, height / total)
            axes = figure.add_axes(place)
            axes.imshow(panel.image, interpolation="nearest", aspect="equal")
            axes.set_anchor("NW")
            axes.set_xticks([])
            axes.set_yticks([])
            for spine in axes.spines.values():
                spine.set_color((*TEXT, 0.25))
            axes.set_title(panel.title, color=TEXT, fontsize=_LETTERS, loc="left", pad=6)
            left += width + _GAP
        top -= height + _GAP
    return figure


def _height(row: Sequence[Panel]) -> float:
    """The height at which the panels of a row fill the width."""
    free = _WIDTH - 2 * _MARGIN - (len(row) - 1) * _GAP
    return free / sum(_aspect(panel) for panel in row)


def _aspect(panel: Panel) -> float:
    height, width = panel.image.shape[:2]
    return max(_NARROWEST, float(width / height))


def check_matplotlib() -> None:
    """Raises an ImportError that says what to install where matplotlib is missing."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "pictures need matplotlib, which is not installed: pip install 'evsurf[view]'"
        ) from error
