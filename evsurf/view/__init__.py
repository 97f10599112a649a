"""Pictures of events and surfaces."""

from __future__ import annotations

from evsurf.view.colours import channel_colours, event_colours
from evsurf.view.sheet import Panel, sheet

__all__ = ["Panel", "channel_colours", "event_colours", "sheet"]
