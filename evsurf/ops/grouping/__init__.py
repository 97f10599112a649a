"""Grouping events by pixel, by receptive field and by time."""

from __future__ import annotations

from evsurf.ops.grouping.by_pixel import Groups, group_by_pixel
from evsurf.ops.grouping.by_time import group_by_time
from evsurf.ops.grouping.field import Field

__all__ = ["Field", "Groups", "group_by_pixel", "group_by_time"]
