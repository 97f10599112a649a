"""Which formats there are, and which one a file has: by content first, by suffix second."""

from __future__ import annotations

import difflib
from functools import cache
from importlib import import_module
from pathlib import Path

from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.reader import Format

# Modules of this package with a FORMAT each, or FORMATS; the surest mark is asked first.
_MODULES: tuple[str, ...] = (
    # One line each.
    "hdf5",
    "evt3",
    "evt2",
    "evt21",
    "dat",
    "atis_bin",
    "aedat2",
    "aedat3",
    "aedat4",
    "npy",
    "npz",
    "mat",
    "bag",
    "text",
)

HEAD = 4096
"""How many bytes of a file a format sees to recognise it."""


@cache
def formats() -> dict[str, Format]:
    """Every format by its name, in the order in which they are asked."""
    found: dict[str, Format] = {}
    for name in _MODULES:
        module = import_module(f"evsurf.data.formats.{name}")
        several: tuple[Format, ...] = getattr(module, "FORMATS", None) or (module.FORMAT,)
        found.update({one.name: one for one in several})
    return found


def format_named(name: str) -> Format:
    """The format of this name; of an unknown one, an error that lists all."""
    known = formats()
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"format = {name!r} is none of {', '.join(known)}.{hint}")


def format_of(path: Path) -> Format:
    """The format of an existing file or folder."""
    head = b""
    if not path.is_dir():
        with path.open("rb") as file:
            head = file.read(HEAD)
    for candidate in formats().values():
        if candidate.recognises(head, path):
            return candidate
    if path.is_dir():
        raise IsADirectoryError(
            f"{path} is a folder, and none that a format has; name a file in it"
        )
    # An empty file is a recording without events to formats that have no header.
    by_suffix = _by_suffix(path, writable=False)
    if by_suffix is not None:
        return by_suffix
    reason = "it is empty" if not head else f"it starts with {head[:16]!r}"
    raise FormatError(
        f"{path} has no format known here: {reason}. Known are {', '.join(formats())}; "
        "name one with format="
    )


def format_to_write(path: Path) -> Format:
    """The format that a new file of this name shall have."""
    found = _by_suffix(path, writable=True)
    if found is None:
        known = sorted({s for one in formats().values() if one.write for s in one.suffixes})
        raise ValueError(
            f"{path.name!r} does not say which format to write: end it in one of "
            f"{', '.join(known)}, or name one with format="
        )
    return found


def _by_suffix(path: Path, *, writable: bool) -> Format | None:
    """The format with the longest suffix that ends this name, the earlier one of two."""
    name = path.name.lower()
    choices = [
        (len(suffix), -number, one)
        for number, one in enumerate(formats().values())
        for suffix in one.suffixes
        if name.endswith(suffix) and not (writable and one.write is None)
    ]
    return max(choices, key=lambda choice: choice[:2])[2] if choices else None
