"""Refusing to write what a format cannot hold."""

from __future__ import annotations

from evsurf.events import Events


def check_range(
    name: str, events: Events, *, largest: int, latest: int | None = None, hint: str = ""
) -> None:
    """Raises where a coordinate or a time of these events has no place in the format."""
    if not len(events):
        return
    for axis, column in (("x", events.x), ("y", events.y)):
        most = int(column.max())
        if most > largest:
            raise ValueError(
                f"{axis} = {most} does not fit: {name} holds coordinates up to {largest}. "
                "Crop the events, or write another format."
            )
    first, last = int(events.t[0]), int(events.t[-1])
    if first < 0:
        raise ValueError(f"t = {first} does not fit: {name} holds no time before 0. {hint}".strip())
    if latest is not None and last > latest:
        raise ValueError(
            f"t = {last} does not fit: {name} holds times up to {latest} us. "
            f"{hint or 'Subtract the start from all times.'}"
        )
