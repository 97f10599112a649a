"""Which column of a table is x, y, t and p, by its name or as the caller says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from evsurf.data.formats.damage import FormatError

ROLES = "xytp"

_NAMES: Mapping[str, tuple[str, ...]] = {
    "x": ("x", "xs", "col", "cols", "column", "xpos", "xaddr", "xcoordinate"),
    "y": ("y", "ys", "row", "rows", "ypos", "yaddr", "ycoordinate"),
    "t": ("t", "ts", "time", "times", "timestamp", "timestamps", "timelist"),
    "p": ("p", "ps", "pol", "pols", "polarity", "polarities", "on", "sign"),
}

_UNITS: Mapping[str, str] = {
    "s": "seconds",
    "sec": "seconds",
    "secs": "seconds",
    "seconds": "seconds",
    "ms": "milliseconds",
    "milliseconds": "milliseconds",
    "us": "microseconds",
    "usec": "microseconds",
    "usecs": "microseconds",
    "microseconds": "microseconds",
    "µs": "microseconds",
    "μs": "microseconds",
    "ns": "nanoseconds",
    "nsec": "nanoseconds",
    "nanoseconds": "nanoseconds",
}


def role_of(name: str) -> str | None:
    """The letter of x, y, t and p that a column of this name holds; None for other names."""
    bare, _ = _split(name)
    for role, names in _NAMES.items():
        if bare in names:
            return role
    return None


def unit_of(name: str | None) -> str | None:
    """The unit of time that a column's name says, as in `t[us]`, `t_ns` or `time (s)`."""
    return None if name is None else _split(name)[1]


def _split(name: str) -> tuple[str, str | None]:
    """A name in small letters without its unit, and the unit."""
    words = [word for word in re.split(r"[\s_\-.\[\]()/:]+", name.strip().lower()) if word]
    unit = _UNITS.get(words[-1]) if len(words) > 1 else None
    bare = "".join(words[:-1] if unit else words)
    return bare, unit


def order_by_name(names: Sequence[str | None]) -> str | None:
    """The roles of columns by their names, "-" for other columns; None unless all four are there.

    Where two names mean the same, the first counts.
    """
    order = ""
    for name in names:
        role = None if name is None else role_of(name)
        order += role if role is not None and role not in order else "-"
    return order if set(ROLES) <= set(order) else None


def missing_roles(names: Sequence[str | None]) -> str:
    """Those of x, y, t and p that no column has the name of."""
    known = {role_of(name) for name in names if name is not None}
    return "".join(role for role in ROLES if role not in known)


def check_order(columns: str, count: int) -> str:
    """The caller's order of columns, such as "txyp"; "-" stands for a column to ignore."""
    order = columns.lower()
    letters = sorted(order.replace("-", ""))
    if letters != sorted(ROLES):
        raise ValueError(
            f"columns = {columns!r} must hold x, y, t and p once each, and '-' for every column to "
            'ignore, such as "txyp"'
        )
    if len(order) != count:
        raise FormatError(
            f"columns = {columns!r} says {len(order)} columns, and the file has {count}; "
            "'-' stands for a column to ignore"
        )
    return order
