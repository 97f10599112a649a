"""Checks of arguments that several ops and surfaces share."""

from __future__ import annotations

from torch import Tensor

LARGEST_COUNT = 2**31 - 1
"""Where the compiled core's counters end."""


def check_count(name: str, value: object) -> None:
    """Refuses what is not a whole number from one to what the compiled core can count to."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, not {value!r}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, not {value}")
    if value > LARGEST_COUNT:
        raise ValueError(f"{name} must be at most {LARGEST_COUNT}, not {value}")


def check_same_device(events: Tensor, weight: Tensor) -> None:
    """Refuses events and weights that are not in the same place."""
    if events.device != weight.device:
        raise ValueError(
            f"the events are on {events.device} and the surface's weights on {weight.device}; "
            f'move one, by batch.to("{weight.device}") or surface.to("{events.device}")'
        )
