"""Filters: what is noise, by rule, is left out; nothing else changes and nothing is random."""

from evsurf.data.filters.filter import Filter, Filtering
from evsurf.data.filters.memory import (
    BackgroundActivity,
    Refractory,
    background_activity,
    refractory,
)
from evsurf.data.filters.pixels import (
    DropPixels,
    HotPixels,
    KeepPixels,
    KeepPolarity,
    area,
    drop_pixels,
    event_counts,
    hot_pixels,
    keep_pixels,
    keep_polarity,
)

__all__ = [
    "Filter",
    "Filtering",
    "BackgroundActivity",
    "Refractory",
    "DropPixels",
    "KeepPixels",
    "KeepPolarity",
    "HotPixels",
    "background_activity",
    "refractory",
    "hot_pixels",
    "event_counts",
    "drop_pixels",
    "keep_pixels",
    "keep_polarity",
    "area",
]
