"""Checks of arguments that the sources of events share."""

from __future__ import annotations

from evsurf.events.checks import check_integer


def check_least(name: str, value: object, least: int) -> None:
    """Refuses what is not a whole number of at least this one."""
    if check_integer(name, value, f"at least {least}") < least:
        raise ValueError(f"{name} = {value} must be at least {least}")
