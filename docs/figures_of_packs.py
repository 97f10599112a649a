"""The pictures of tiles and packs, of a simulated stream."""

from __future__ import annotations

import math

import torch

import evsurf as es
from docs.drawing import SEQUENCES, Drawing, Point
from evsurf.data.synthetic import camera_like

SMALL = 12.5
# As many as can be told apart; the library's packs have 32.
LANES = 16
# As in the core, where a tile of this many cells still fits the cache.
TILE_CELLS = 32768


def idle_share(lengths: torch.Tensor, lanes: int) -> float:
    """Share of the lanes' steps in which their sequence has ended, taken in this order."""
    packs = torch.nn.functional.pad(lengths, (0, -len(lengths) % lanes)).view(-1, lanes)
    return 1 - float(lengths.sum() / (packs.amax(1).sum() * lanes))


def packs() -> Drawing:
    """Sequences side by side in packs, in raster order and by falling length."""
    everything = es.ops.group_by_pixel(camera_like("mvsec-100k", samples=1)).lengths
    # A stretch of neighbouring pixels without an extreme one, which would flatten the rest.
    lengths = everything[1800 : 1800 + 6 * LANES]
    drawing = Drawing(
        "packs", 480, 424,
        "Bars for the lengths of 96 sequences, in packs of 16: in raster order most of each pack "
        "is idle, ordered by falling length much less is.",
    )  # fmt: skip
    top = bars(drawing, 36, lengths, "sequences in raster order")
    bars(drawing, top + 50, falling(lengths), "longest first")
    before, after = (idle_share(order, 32) for order in (everything, falling(everything)))
    note = f"{len(everything):,} sequences in packs of 32: {before:.0%} idle, ordered {after:.0%}"
    drawing.text(Point(470, 408), note, anchor="end", size=SMALL, kind="small")
    return drawing


def falling(lengths: torch.Tensor) -> torch.Tensor:
    """The longest first."""
    return lengths.sort(descending=True, stable=True).values


def bars(drawing: Drawing, top: float, lengths: torch.Tensor, title: str) -> float:
    """One bar a sequence and one box a pack, which runs until its longest sequence ends."""
    unit = 130 / int(lengths.max())
    floor = top + 130 + 10
    drawing.text(Point(10, top - 20), title, anchor="start", kind="title")
    idle = f"{idle_share(lengths, LANES):.0%} of the steps idle"
    drawing.text(Point(470, top - 20), idle, anchor="end", size=SMALL, kind="small")
    for first in range(0, len(lengths), LANES):
        left = 10 + first / LANES * 78
        pack = lengths[first : first + LANES].tolist()
        height = max(pack) * unit
        drawing.hatched(Point(left, floor - height), 70, height)
        for lane, length in enumerate(pack):
            corner = Point(left + 1 + lane * 4.25, floor - length * unit)
            drawing.box(corner, 3.75, length * unit, SEQUENCES[2], "bar")
    drawing.line(Point(8, floor), Point(472, floor))
    return floor


STEPS = (
    ("count", "the events of every pixel"),
    ("sort", "events by pixel, in stream order"),
    ("order", "sequences, longest first"),
    ("run", "packs of 32 through the cell"),
    ("place", "last outputs at their pixels"),
)


def tiles() -> Drawing:
    """What becomes of a window: it is cut into tiles, and each goes its way alone."""
    batch = camera_like("mvsec-20k", samples=1)
    drawing = Drawing(
        "tiles", 480, 418,
        "A window's events in three bands of rows, the tiles; what is done to one of them: count, "
        "sort, order by length, run the cell, place the outputs; and its band of the surface.",
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        surface = es.MatrixLSTM(channels=1)(batch)[0, 0].abs()
    seen = (surface > 0).nonzero()
    chosen = torch.stack([batch.y.long(), batch.x.long()], dim=1)
    picture(drawing, Point(10, 34), "a window in tiles", batch.size, chosen)
    picture(drawing, Point(10, 250), "the surface", batch.size, seen)
    for number, (word, what) in enumerate(STEPS):
        at = Point(238, 62 + 60 * number)
        drawing.box(at, 232, 46)
        drawing.text(Point(at.x + 10, at.y + 14), word, anchor="start", kind="title")
        drawing.text(Point(at.x + 10, at.y + 33), what, anchor="start", size=SMALL)
        if number:
            drawing.arrow(Point(at.x + 116, at.y - 14), Point(at.x + 116, at.y - 1))
    drawing.text(Point(238, 50), "one tile, in the cache", anchor="start", kind="title")
    drawing.arrow(Point(202, 105), Point(234, 85))
    drawing.arrow(Point(236, 325), Point(204, 325))
    return drawing


def picture(
    drawing: Drawing, at: Point, title: str, size: tuple[int, int], places: torch.Tensor
) -> None:
    """Dots at these rows and columns, with the middle tile in a colour of its own."""
    height, width = size
    scale, bands = 190 / width, math.ceil(height * width / TILE_CELLS)
    band = math.ceil(height / bands)
    drawing.text(Point(at.x, at.y - 16), title, anchor="start", kind="title")
    drawing.box(at, width * scale, height * scale, kind="ground")
    shown = places[torch.linspace(0, len(places) - 1, 1800).long()]
    for k in range(bands):
        top = k * band
        rows = shown[(shown[:, 0] >= top) & (shown[:, 0] < top + band)]
        dots = [Point(at.x + x * scale, at.y + y * scale) for y, x in rows.tolist()]
        drawing.dots(dots, SEQUENCES[1] if k == 1 else "")
        if k:
            down = at.y + top * scale
            drawing.line(Point(at.x, down), Point(at.x + 190, down))
