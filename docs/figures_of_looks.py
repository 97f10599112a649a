"""Draws what eye movements make of a picture, and two motions that counts cannot tell apart."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from evsurf.data.datasets.motions import Round
from evsurf.data.simulator import look
from evsurf.events import Events
from evsurf.view.colours import event_colours
from evsurf.view.sheet import Panel, sheet

FOLDER = Path(__file__).parent.parent / "build" / "generated"
DOTS_PER_INCH = 110


def four() -> Any:
    """A written 4, dark on a light ground, drawn with three strokes."""
    rows, columns = np.mgrid[:28, :28]
    away = np.full((28, 28), np.inf)
    for (y0, x0), (y1, x1) in (((4, 9), (15, 6)), ((15, 6), (13, 21)), ((5, 19), (24, 16))):
        along = ((rows - y0) * (y1 - y0) + (columns - x0) * (x1 - x0)) / (
            (y1 - y0) ** 2 + (x1 - x0) ** 2
        )
        along = np.clip(along, 0, 1)
        gap = np.hypot(rows - y0 - along * (y1 - y0), columns - x0 - along * (x1 - x0))
        away = np.minimum(away, gap)
    return np.clip(away - 1.0, 0, 1).astype(np.float32)


def pieces(events: Events, edges: tuple[int, ...]) -> list[Panel]:
    """The events between one time and the next."""
    return [
        Panel(f"{a // 1000}-{b // 1000} ms", event_colours(events.between(a, b)))
        for a, b in pairwise(edges)
    ]


def draw(_app: object = None) -> None:
    """Writes both pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    picture = four()
    seen = np.repeat(np.pad(picture, 3, constant_values=1.0)[..., None], 3, axis=-1)
    events = look(picture, (34, 34), surround=1.0)
    rows = [[Panel("picture", seen), *pieces(events, (0, 90_000, 222_000, 310_000))]]
    sheet(rows).savefig(FOLDER / "saccades.png", dpi=DOTS_PER_INCH)

    motions = list(Round.drawn(np.random.default_rng(6)).recordings())
    quarters = (0, 25_000, 50_000, 75_000, 100_001)
    rows = [
        pieces(motions[0], quarters),
        pieces(motions[3], quarters),
    ]
    sheet(rows).savefig(FOLDER / "motions.png", dpi=DOTS_PER_INCH)


def setup(app: Any) -> dict[str, Any]:
    """Draws them before the pages are read."""
    app.connect("builder-inited", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
