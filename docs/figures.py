"""Draws the pictures of grouping into build/generated, from what the library itself computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

import evsurf as es
from docs.drawing import SEQUENCES, Drawing, Point
from docs.figures_of_packs import packs, tiles

FOLDER = Path(__file__).parent.parent / "build" / "generated"

# Column, row, time, polarity.
Listed = list[tuple[int, int, int, int]]
ONE: Listed = [
    (0, 0, 10, 1), (1, 0, 20, 0), (0, 1, 30, 1), (0, 0, 40, 1), (1, 0, 50, 0), (0, 0, 60, 0),
]  # fmt: skip
A: Listed = [(0, 0, 1000, 1), (1, 0, 1010, 0), (0, 0, 1030, 1), (0, 0, 1100, 0), (1, 1, 1100, 1)]
B: Listed = [(1, 0, 500, 0), (1, 0, 700, 1)]

SMALL = 12.5


def batch_of(*samples: Listed) -> es.EventBatch:
    """Samples of a sensor of 2x2 pixels."""
    recordings = []
    for sample in samples:
        x, y, t, p = (list(column) for column in zip(*sample, strict=True))
        recordings.append(es.Events.from_arrays(x, y, t, p, size=(2, 2)))
    return es.EventBatch.pack(recordings)


def surface_of(batch: es.EventBatch) -> torch.Tensor:
    """A surface of one channel, by a layer with random weights."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(5)
        image: torch.Tensor = es.MatrixLSTM(channels=1)(batch)
    return image


def owners(groups: es.ops.Groups) -> list[int]:
    """The sequence of every event, where each has just one."""
    sequence = torch.repeat_interleave(torch.arange(len(groups)), groups.lengths)
    return torch.empty_like(sequence).index_copy(0, groups.order, sequence).tolist()


def number(value: float) -> str:
    """Two decimals, with the sign that printers use."""
    return f"{value:.2f}".replace("-", "\N{MINUS SIGN}")


def product(letters: str, *sizes: object) -> str:
    """A shape in letters and in numbers."""
    times = " \N{MULTIPLICATION SIGN} "
    return f"{times.join(letters)} = {times.join(map(str, sizes))}"


def dense_cell(
    drawing: Drawing, at: Point, side: float, sequence: int | None, value: float
) -> None:
    """One pixel of a surface: whose last output it is, and what that is."""
    if sequence is None:
        drawing.box(at, side, side)
        drawing.text(Point(at.x + side / 2, at.y + side / 2), "0")
        return
    colour = SEQUENCES[sequence]
    drawing.box(at, side, side, colour)
    drawing.text(Point(at.x + side / 2, at.y + side / 2), number(value), on=colour)


def surface(drawing: Drawing, at: Point, side: float, batch: es.EventBatch, sample: int) -> None:
    """The surface of one sample."""
    groups = es.ops.group_by_pixel(batch)
    image = surface_of(batch)[sample, 0]
    rows, columns = image.shape
    of_cell = {cell: s for s, cell in enumerate(groups.cell.tolist())}
    for i in range(rows):
        for j in range(columns):
            sequence = of_cell.get((sample * rows + i) * columns + j)
            corner = Point(at.x + j * side, at.y + i * side)
            dense_cell(drawing, corner, side, sequence, float(image[i, j]))


def one_sample() -> Drawing:
    """Six events of a region of 2x2 pixels, their sequences, and the surface."""
    batch = batch_of(ONE)
    groups = es.ops.group_by_pixel(batch)
    drawing = Drawing(
        "pixels", 480, 430,
        "Six events in order of time; the three sequences of the pixels they belong to; one LSTM "
        "that reads all three; and the surface, where its last outputs stand at their pixels.",
    )  # fmt: skip
    owner, times, brighter = owners(groups), batch.t.tolist(), batch.p.tolist()
    drawing.text(Point(10, 16), "the stream", anchor="start", kind="title")
    drawing.text(Point(470, 16), "time in μs →", anchor="end", size=SMALL, kind="small")
    for event, (x, y, t, p) in enumerate(ONE):
        at = Point(10 + 78 * event, 32)
        colour = SEQUENCES[owner[event]]
        drawing.box(at, 70, 50, colour)
        drawing.polarity(Point(at.x + 18, at.y + 15), bool(p), colour)
        drawing.text(Point(at.x + 44, at.y + 15), str(t), on=colour)
        drawing.text(Point(at.x + 35, at.y + 36), f"x {x}, y {y}", on=colour, size=SMALL)

    top, height = 136, 48
    drawing.text(Point(10, top - 22), "sequences", anchor="start", kind="title")
    borders = groups.offsets.tolist()
    sample, row, column = groups.position
    for s in range(len(groups)):
        middle = top + s * (height + 10) + height / 2
        colour = SEQUENCES[s]
        label = f"x {int(column[s])}, y {int(row[s])}"
        drawing.text(Point(10, middle), label, anchor="start", size=SMALL)
        for step, place in enumerate(range(borders[s], borders[s + 1])):
            event = int(groups.order[place])
            at = Point(66 + 54 * step, middle - 17)
            drawing.box(at, 50, 34, colour)
            drawing.polarity(Point(at.x + 13, middle), brighter[event], colour)
            drawing.text(Point(at.x + 33, middle), str(times[event]), on=colour)
        end = 66 + 54 * (borders[s + 1] - borders[s])
        drawing.arrow(Point(end + 2, middle), Point(254, middle))
        drawing.arrow(Point(318, middle), Point(344, middle))
        drawing.box(Point(348, middle - 17), 62, 34, colour)
        last = float(surface_of(batch)[int(sample[s]), 0, int(row[s]), int(column[s])])
        drawing.text(Point(379, middle), number(last), on=colour)
    bottom = top + 3 * height + 20
    drawing.text(Point(379, top - 22), "last output", kind="title")
    drawing.box(Point(258, top), 60, bottom - top)
    drawing.text(Point(288, (top + bottom) / 2 - 9), "one", kind="title")
    drawing.text(Point(288, (top + bottom) / 2 + 9), "LSTM", kind="title")

    drawing.text(Point(318, 356), "the surface", anchor="end", kind="title")
    drawing.text(
        Point(318, 376), "0 where nothing happened", anchor="end", size=SMALL, kind="small"
    )
    drawing.arrow(Point(379, bottom - 5), Point(379, bottom + 17))
    surface(drawing, Point(334, bottom + 20), 45, batch, 0)
    return drawing


def worked_example() -> Drawing:
    """Two samples of 2x2 pixels: packed events, groups, the padded view and the surfaces."""
    batch = batch_of(A, B)
    groups = es.ops.group_by_pixel(batch)
    drawing = Drawing(
        "worked", 480, 486,
        "Seven packed events of the samples A and B; the order that groups them into four "
        "sequences with their offsets and cells; the padded view of 4 sequences by 3 steps; and "
        "the two surfaces of 2 by 2 pixels.",
    )  # fmt: skip
    events_and_order(drawing, batch, groups)
    padded_view(drawing, Point(10, 350), batch, groups)
    drawing.text(Point(252, 306), "the surface", anchor="start", kind="title")
    shape = product("NCHW", *surface_of(batch).shape)
    drawing.text(Point(252, 325), shape, anchor="start", size=SMALL, kind="small")
    for sample, left in enumerate((252, 364)):
        surface(drawing, Point(left, 350), 48, batch, sample)
        drawing.text(Point(left + 48, 461), f"sample {'AB'[sample]}", size=SMALL)
    return drawing


def events_and_order(drawing: Drawing, batch: es.EventBatch, groups: es.ops.Groups) -> None:
    """The packed events above, the grouped order below, and a thread from each to its place."""
    owner, width, pitch = owners(groups), 52, 56
    sample_of = torch.repeat_interleave(torch.arange(len(batch)), batch.lengths).tolist()
    left = [72 + pitch * event + 8 * sample_of[event] for event in range(batch.num_events)]
    for sample, (begin, end) in enumerate(zip(batch.offsets[:-1], batch.offsets[1:], strict=True)):
        at = Point(left[int(begin)] - 4, 8)
        drawing.box(at, pitch * int(end - begin) + 4, 100, kind="ground")
        name = f"sample {'AB'[sample]}"
        drawing.text(Point(at.x + 6, 20), name, anchor="start", size=SMALL, kind="title")
    drawing.text(Point(10, 66), "events", anchor="start", kind="title")
    for event, (x, y, t, p) in enumerate([*A, *B]):
        at, colour = Point(left[event], 33), SEQUENCES[owner[event]]
        drawing.box(at, width, 68, colour)
        drawing.text(Point(at.x + 16, at.y + 14), str(event), on=colour, kind="title")
        drawing.polarity(Point(at.x + 37, at.y + 14), bool(p), colour)
        drawing.text(Point(at.x + width / 2, at.y + 34), f"x {x}, y {y}", on=colour, size=SMALL)
        drawing.text(Point(at.x + width / 2, at.y + 54), f"t {t}", on=colour, size=SMALL)

    top, half = 186, width / 2
    for place, event in enumerate(groups.order.tolist()):
        colour = SEQUENCES[owner[event]]
        drawing.thread(Point(left[event] + half, 102), Point(left[place] + half, top), colour)
    for place, event in enumerate(groups.order.tolist()):
        colour = SEQUENCES[owner[event]]
        drawing.box(Point(left[place], top), width, 32, colour)
        drawing.text(Point(left[place] + half, top + 16), str(event), on=colour, kind="title")
    offsets = groups.offsets.tolist()
    begins, ends = [left[k] for k in offsets[:-1]], [left[k - 1] + width for k in offsets[1:]]
    between = [(end + begin) / 2 for end, begin in zip(ends[:-1], begins[1:], strict=True)]
    edges = [begins[0] - 2, *between, ends[-1] + 2]
    for edge, offset in zip(edges, offsets, strict=True):
        drawing.line(Point(edge, top - 4), Point(edge, top + 40))
        drawing.text(Point(edge, top + 50), str(offset))
    for s, cell in enumerate(groups.cell.tolist()):
        drawing.text(Point((begins[s] + ends[s]) / 2, top + 74), str(cell))
    for down, label in ((16, "order"), (50, "offsets"), (74, "cell")):
        drawing.text(Point(10, top + down), label, anchor="start", kind="title")


def padded_view(drawing: Drawing, at: Point, batch: es.EventBatch, groups: es.ops.Groups) -> None:
    """P x T x F, with every event's number in the place of its features."""
    numbers = torch.arange(batch.num_events, dtype=torch.float32)[:, None]
    view, lengths = groups.padded(numbers)
    sequences, longest = view.shape[:2]
    drawing.text(Point(at.x, at.y - 44), "the padded view", anchor="start", kind="title")
    shape = product("PTF", sequences, longest, "F")
    drawing.text(Point(at.x, at.y - 25), shape, anchor="start", size=SMALL, kind="small")
    for s in range(sequences):
        top = at.y + 29 * s
        for step in range(longest):
            corner = Point(at.x + 62 * step, top)
            if step >= int(lengths[s]):
                drawing.hatched(corner, 58, 25)
                continue
            colour = SEQUENCES[s]
            drawing.box(corner, 58, 25, colour)
            event = f"{view[s, step, 0]:.0f}"
            drawing.text(Point(corner.x + 29, top + 12.5), event, on=colour, kind="title")
    drawing.text(
        Point(at.x, at.y + 126), "hatched: zeros", anchor="start", size=SMALL, kind="small"
    )


def draw_all(_app: object = None) -> None:
    """Writes every picture; called before the pages are read."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for drawing in (one_sample(), worked_example(), tiles(), packs()):
        (FOLDER / f"{drawing.name}.svg").write_text(drawing.svg(), encoding="utf-8")


def setup(app: Any) -> dict[str, Any]:
    """Draws before each build."""
    app.connect("builder-inited", draw_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
