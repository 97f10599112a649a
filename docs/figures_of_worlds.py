"""Draws what the simulated worlds look like, what their events are and how they move."""

from __future__ import annotations

import colorsys
from pathlib import Path
from typing import Any

import numpy as np

from evsurf.data.simulator import Camera, worlds
from evsurf.data.simulator.scene import Flow, Scene
from evsurf.view.colours import NOTHING, Colours, event_colours
from evsurf.view.sheet import Panel, sheet

FOLDER = Path(__file__).parent.parent / "build" / "generated"
DOTS_PER_INCH = 110
SIZE = (195, 260)

# One turn of hues, in steps fine enough to look smooth.
_HUES = np.array([colorsys.hsv_to_rgb(k / 360, 0.75, 1.0) for k in range(360)])


def flow_colours(flow: Flow) -> Colours:
    """An image [height, width, 3]: hue says where to, brightness how far; what is lost is dark."""
    x, y = flow.flow.double().numpy()
    degrees = np.degrees(np.arctan2(y, x)).astype(int) % 360
    far = np.hypot(x, y)
    share = np.clip(far / max(float(np.quantile(far, 0.98)), 1e-6), 0, 1)[..., None]
    image: Colours = np.array(NOTHING) + share * (_HUES[degrees] - np.array(NOTHING))
    image[~flow.visible.numpy()] = NOTHING
    return image


def row(name: str, scene: Scene, t: float, apart: float) -> list[Panel]:
    """What is seen at a time, the events until a little later, and where every point goes."""
    picture = scene.picture(t).double().numpy()
    film = scene.film(t - 20_000, t + apart, displacement=0.5)
    events = Camera.preset("default", SIZE).record(film, seed=1).between(int(t), int(t + apart))
    grey = np.repeat(picture[..., None], 3, axis=-1)
    return [
        Panel(f"{name}: picture", grey),
        Panel(f"events of {apart / 1000:.0f} ms", event_colours(events)),
        Panel("exact flow", flow_colours(scene.flow(t, t + apart))),
    ]


def draw(_app: object = None) -> None:
    """Writes the picture of both worlds."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    rows = [
        row("drive", worlds.drive(0, seconds=1.0, size=SIZE), 500_000.0, 15_000.0),
        row("fly", worlds.fly(1, seconds=1.0, size=SIZE), 500_000.0, 30_000.0),
    ]
    sheet(rows).savefig(FOLDER / "worlds.png", dpi=DOTS_PER_INCH)


def setup(app: Any) -> dict[str, Any]:
    """Draws it before the pages are read."""
    app.connect("builder-inited", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
