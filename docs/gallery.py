"""Draws what each transform and filter does to one simulated recording, into build/generated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

import evsurf as es
from evsurf.data import filters as F
from evsurf.data import transforms as T
from evsurf.data.shapes import moving_shapes
from evsurf.view.colours import event_colours
from evsurf.view.sheet import Panel, sheet

FOLDER = Path(__file__).parent.parent / "build" / "generated"

SIZE = (180, 240)
DURATION = 60_000
DOTS_PER_INCH = 130


def seen(title: str, events: es.Events) -> Panel:
    """Where the events are: each pixel's latest."""
    return Panel(title, event_colours(events))


def over_time(title: str, events: es.Events) -> Panel:
    """When they are: time runs down, the events of all rows in their columns."""
    line = (events.t * SIZE[0] // DURATION).clamp(0, SIZE[0] - 1).short()
    seen = es.Events(events.x, line, events.t, events.p, SIZE)
    return Panel(title, event_colours(seen))


def transforms(events: es.Events) -> list[list[Panel]]:
    """Rows of panels: of space, of amount, of time."""
    band = F.keep_pixels(events, F.area(SIZE, top=116, left=0, height=24, width=SIZE[1]))
    return [
        [
            seen("as recorded", events),
            seen("hflip", T.hflip(events)),
            seen("vflip", T.vflip(events)),
            seen("rotate by 20\N{DEGREE SIGN}", T.rotate(events, 20)),
        ],
        [
            seen("shear x by 0.4", T.shear(events, x=0.4)),
            seen("downscale by 4", T.downscale(events, 4)),
            seen("SpatialJitter(3)", T.SpatialJitter(3)(events, seed=1)),
            seen("centre_crop", T.centre_crop(events, height=90, width=120)),
        ],
        [
            seen("DropEvents(0.8)", T.DropEvents(0.8)(events, seed=1)),
            seen("DropArea(0.5)", T.DropArea(0.5)(events, seed=4)),
            seen("Noise(2 per s)", T.BackgroundNoise(2)(events, seed=1)),
            seen("flip_polarity", T.flip_polarity(events)),
        ],
        [
            over_time("x over time", band),
            over_time("time_window", T.time_window(band, 15_000, 35_000)),
            over_time("reverse_time", T.reverse_time(band)),
            over_time("DropTime(0.4)", T.DropTime(0.4)(band, seed=1)),
        ],
        [
            over_time("RandomTime...", T.RandomTimeWindow(20_000, 40_000)(band, seed=3)),
            over_time("TimeJitter(2 ms)", T.TimeJitter(2_000)(band, seed=1)),
            over_time("MaxEvents(900)", T.MaxEvents(900)(band)),
            over_time("latest 900", T.MaxEvents(900, keep="latest")(band)),
        ],
    ]


SMALL = (90, 120)


def noisy(events: es.Events) -> es.Events:
    """As a poor camera gives it: noise everywhere, and eight pixels that never rest."""
    events = T.BackgroundNoise(3)(events, seed=1)
    generator = torch.Generator().manual_seed(2)
    y, x = (torch.randint(side, (8,), generator=generator) for side in SMALL)
    t = torch.arange(0, DURATION, 200).repeat_interleave(len(x))
    n = len(t) // len(x)
    more = {"x": x.repeat(n), "y": y.repeat(n), "t": t, "p": t % 400 == 0}
    both = {name: torch.cat([getattr(events, name), field]) for name, field in more.items()}
    return es.Events.from_arrays(**both, size=SMALL, sort=True)


def filtered(events: es.Events) -> list[list[Panel]]:
    """Rows of panels, each filter by itself and three together."""
    hot = F.hot_pixels(events, rate=2_000)
    cool = F.drop_pixels(events, hot.mask)
    together = F.background_activity(F.refractory(cool, 1_000), 4_000)
    return [
        [
            seen(f"noisy: {len(events):,}", events),
            seen(f"no hot pixels: {len(cool):,}", cool),
            seen(f"refractory: {len(F.refractory(events, 5_000)):,}", F.refractory(events, 5_000)),
        ],
        [
            seen("background activity", F.background_activity(events, 4_000)),
            seen("keep_polarity", F.keep_polarity(events, on=True)),
            seen(f"three of them: {len(together):,}", together),
        ],
    ]


def draw(_app: object = None) -> None:
    """Writes both pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    events = moving_shapes(SIZE, duration=DURATION, shapes=6, seed=3)
    # Fewer pixels, so that a single one is seen.
    poor = noisy(moving_shapes(SMALL, duration=DURATION, shapes=4, seed=2))
    for name, rows in (("transforms", transforms(events)), ("filters", filtered(poor))):
        sheet(rows).savefig(FOLDER / f"{name}.png", dpi=DOTS_PER_INCH)


def setup(app: Any) -> dict[str, Any]:
    """Draws them before the pages are read."""
    app.connect("builder-inited", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
