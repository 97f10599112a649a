"""Draws each data set: its folders, and its sensor, all sensors to one scale."""

from __future__ import annotations

from typing import Any

import evsurf as es
from docs.drawing import LETTER, SEQUENCES, Drawing, Point
from docs.figures import FOLDER
from evsurf.data.shapes import moving_shapes

# Names under names, by their indentation, as the archives unpack to.
LAYOUTS: dict[str, tuple[tuple[int, int], str]] = {
    "ncars": (
        (100, 120),
        """data/ncars/
 n-cars_train/
  background/
   obj_000001_td.dat
  cars/
 n-cars_test/""",
    ),
    "ncaltech101": (
        (180, 240),
        """data/N-Caltech101/
 training/
  Faces_easy/
   Faces_easy_0.npy
 validation/
 testing/""",
    ),
    "nmnist": (
        (34, 34),
        """data/nmnist/
 Train/
  0/
   00002.bin
  1/
 Test/""",
    ),
    "asl_dvs": (
        (180, 240),
        """data/asl_dvs/
 a/
  a_0001.mat
 b/
 ...
 y/""",
    ),
    "dvs_gesture": (
        (128, 128),
        """data/DvsGesture/
 trials_to_train.txt
 trials_to_test.txt
 user01_led.aedat
 user01_led_labels.csv""",
    ),
    "mvsec": (
        (260, 346),
        """data/mvsec/
 indoor_flying1_data.hdf5
 indoor_flying1_gt.hdf5
 indoor_flying1_gt_flow_dist.npz
 outdoor_day1_data.hdf5""",
    ),
    "dsec_flow": (
        (480, 640),
        """data/dsec/
 train_events/
  thun_00_a/events/left/
   events.h5
   rectify_map.h5
 train_optical_flow/
  thun_00_a/flow/
   forward/000002.png
   forward_timestamps.txt""",
    ),
}

# A pixel of a sensor, in units of the picture.
PIXEL = 0.25
LINE = 22
STEP = 18


def layout(name: str) -> Drawing:
    """One data set: the tree at the left, the sensor at the right."""
    size, tree = LAYOUTS[name]
    lines = tree.split("\n")
    height = max(LINE * len(lines), size[0] * PIXEL + 2 * LINE) + 10
    shows = (
        f"Folders {', '.join(line.strip() for line in lines)}; a sensor of {size[0]} by {size[1]}"
    )
    drawing = Drawing(f"dataset-{name}", 480, height, shows)
    add_tree(drawing, lines)
    add_sensor(drawing, Point(310 + (160 - size[1] * PIXEL) / 2, 10), size)
    return drawing


def add_tree(drawing: Drawing, lines: list[str]) -> None:
    """Names below each other, each joined to the folder that it is in."""
    rows: dict[int, float] = {}
    for number, line in enumerate(lines):
        depth, y = len(line) - len(line.lstrip()), 15.0 + LINE * number
        x = 8.0 + STEP * depth
        if depth:
            corner = Point(x - STEP + 5, y)
            drawing.line(Point(corner.x, rows[depth - 1] + 0.5 * LETTER), corner)
            drawing.line(corner, Point(x - 4, y))
        rows[depth] = y
        drawing.text(Point(x, y), line.strip(), anchor="start", kind="" if depth else "title")


def add_sensor(drawing: Drawing, at: Point, size: tuple[int, int]) -> None:
    """Its outline with simulated events in it, and its size below."""
    height, width = (side * PIXEL for side in size)
    drawing.box(at, width, height, kind="ground")
    if min(size) > 64:
        events = moving_shapes(size, duration=60_000, seed=1)
        for brighter, colour in zip((False, True), SEQUENCES, strict=False):
            drawing.dots(places(events, at, brighter=brighter), colour)
    middle = Point(at.x + width / 2, at.y + height + LINE / 2 + 2)
    drawing.text(middle, f"{size[0]} \N{MULTIPLICATION SIGN} {size[1]}", kind="small")


def places(events: es.Events, at: Point, *, brighter: bool) -> list[Point]:
    """Where a picture of this scale shows the last events of one polarity, each place once."""
    late = events[(events.p == brighter) & (events.t > 40_000)]
    rows, columns = ((c.double() * PIXEL).round() for c in (late.y, late.x))
    seen = sorted(set(zip(rows.tolist(), columns.tolist(), strict=True)))
    return [Point(at.x + x, at.y + y) for y, x in seen]


def draw_all(_app: object = None) -> None:
    """Writes every picture; called before the pages are read."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in LAYOUTS:
        drawing = layout(name)
        (FOLDER / f"{drawing.name}.svg").write_text(drawing.svg(), encoding="utf-8")


def setup(app: Any) -> dict[str, Any]:
    """Draws before each build."""
    app.connect("builder-inited", draw_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
