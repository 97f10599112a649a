"""Arrays in HDF5 files by their place, of which rows are read without the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.hdf5.opening import (
    check_dataset,
    children,
    is_dataset,
    named_errors,
    opened,
)


def stored_array(path: Path, place: str, hint: str = "") -> Any:
    """The array at a place such as "davis/left/events", in a file that stays open as long as it.

    Links to other files are not followed; what is not there raises `FormatError` with the hint.
    """
    thing = opened(path)
    with named_errors(path, f"looking for {place}"):
        for part in place.split("/"):
            inside = {} if is_dataset(thing) else dict(children(thing))
            if part not in inside:
                raise FormatError(f"{path} has no {place}.{hint}")
            thing = inside[part]
        if not is_dataset(thing):
            raise FormatError(f"{place} in {path} is a group, not an array")
        check_dataset(path, thing)
    return thing
