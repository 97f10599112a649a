"""Functions on packed tensors: grouping events, and running a cell over the groups."""

from __future__ import annotations

from evsurf.ops.grouping import Field, Groups, group_by_pixel, group_by_time
from evsurf.ops.recurrence import ragged_lstm

__all__ = ["Field", "Groups", "group_by_pixel", "group_by_time", "ragged_lstm"]
