"""Pictures of events and surfaces."""

from __future__ import annotations

from evsurf.view.colours import channel_colours, event_colours
from evsurf.view.picture import surface_picture
from evsurf.view.sheet import Panel, check_matplotlib, sheet

__all__ = [
    "Panel",
    "channel_colours",
    "check_matplotlib",
    "event_colours",
    "sheet",
    "surface_picture",
]
