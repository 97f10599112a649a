"""What an HDF5 file holds: its streams of events, by their names and shapes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evsurf.data.formats.columns import Size
from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.hdf5.ecf import ECFSource, is_ecf
from evsurf.data.formats.hdf5.opening import attribute, check_dataset, children, is_dataset
from evsurf.data.formats.hdf5.source import ColumnSource, RecordSource, Source, TableSource
from evsurf.data.formats.reader import Options
from evsurf.events.checks import LONGEST_SIDE

# What the columns are called, in the order of `Columns`.
_NAMES = (
    ("x", "xs"),
    ("y", "ys"),
    ("t", "ts", "timestamp", "timestamps"),
    ("p", "ps", "pol", "polarity", "on"),
)
_OBJECTS = 10_000
_DEPTH = 8


@dataclass(frozen=True)
class Found:
    """One place in a file with events: a group of columns, a table or records."""

    path: str
    kind: str
    thing: Any

    @property
    def source(self) -> str:
        """How messages call it: the path without what all of its kind share."""
        return self.path.strip("/").removesuffix("/events") or self.path.strip("/")


def walked(file: Any) -> Iterator[tuple[str, Any]]:
    """Groups and arrays with their paths, the higher first; so many only, as links make circles."""
    seen = 0
    groups = deque([(file, 0)])
    while groups:
        group, depth = groups.popleft()
        for name, thing in children(group):
            seen += 1
            if seen > _OBJECTS:
                return
            yield f"{group.name.rstrip('/')}/{name}", thing
            if not is_dataset(thing) and depth < _DEPTH:
                groups.append((thing, depth + 1))


def streams_of(file: Any) -> list[Found]:
    """Every stream of events in a file."""
    found = [Found("/", "columns", file)] if _columns_in(file) else []
    for path, thing in walked(file):
        if not is_dataset(thing):
            if _columns_in(thing):
                found.append(Found(path, "columns", thing))
        elif thing.dtype.names is not None:
            if _are_records(thing):
                found.append(Found(path, "records", thing))
        elif _is_table(thing) and path.endswith("/events"):
            found.append(Found(path, "table", thing))
    return found


def _named(names: Any) -> list[str] | None:
    """The four of these names that are events' columns, or None."""
    chosen = [next((name for name in choices if name in names), None) for choices in _NAMES]
    return None if None in chosen else [str(name) for name in chosen]


def _columns_in(group: Any) -> list[Any] | None:
    inside = {name: thing for name, thing in children(group) if is_dataset(thing)}
    names = _named(inside)
    if names is None:
        return None
    columns = [inside[name] for name in names]
    fits = all(len(c.shape) == 1 and c.dtype.kind in "iufb" for c in columns)
    return columns if fits else None


def _are_records(thing: Any) -> bool:
    names = _named(thing.dtype.names)
    return (
        bool(names)
        and len(thing.shape) == 1
        and all(thing.dtype[name].kind in "iufb" for name in names or ())
    )


def _is_table(thing: Any) -> bool:
    return len(thing.shape) == 2 and thing.shape[1] == 4 and thing.dtype.kind in "iuf"


def chosen_stream(file: Any, path: Path, options: Options) -> Found:
    """The stream that the caller named, or the only one."""
    found = streams_of(file)
    if options.stream is None:
        if len(found) == 1:
            return found[0]
        if found:
            raise FormatError(
                f"{path.name} holds several streams of events: choose one with stream=, of "
                f"{', '.join(repr(short_name(one, found)) for one in found)}"
            )
        raise FormatError(
            f"{path.name} is HDF5 without events in a layout known here. It holds {contents(file)}."
            " For a table of N rows and four columns, name it with stream= and their order with "
            'columns=, such as "txyp".'
        )
    wanted = options.stream.strip("/")
    for one in found:
        if wanted in (short_name(one, found), one.source, one.path.strip("/")):
            return one
    for place, thing in walked(file):
        if place.strip("/") == wanted and is_dataset(thing) and _is_table(thing):
            return Found(place, "table", thing)
    known = ", ".join(repr(short_name(one, found)) for one in found) or contents(file)
    raise FormatError(f"stream = {options.stream!r} is not in {path.name}, which holds {known}")


def short_name(one: Found, found: list[Found]) -> str:
    """The shortest end of its path that no other stream's path shares: "left" for MVSEC's."""
    parts = one.source.split("/")
    others = [other.source.split("/") for other in found if other is not one]
    for count in range(1, len(parts) + 1):
        if all(other[-count:] != parts[-count:] for other in others):
            return "/".join(parts[-count:])
    return one.source


def contents(file: Any) -> str:
    """The first few arrays of a file, with their shapes."""
    shown = []
    for path, thing in walked(file):
        if is_dataset(thing):
            shown.append(f"{path} {described(thing)}")
        if len(shown) == 20:
            return ", ".join(shown) + ", and more"
    return ", ".join(shown) or "nothing"


def described(dataset: Any) -> str:
    """The shape and type of an array, such as "59 x 260 x 346 uint8"."""
    shape = " x ".join(f"{side:,}" for side in dataset.shape) or "scalar"
    return f"{shape} {dataset.dtype}" if dataset.dtype.names is None else f"{shape} records"


def source_of(found: Found, file: Any, path: Path, options: Options) -> Source:
    """The rows of a stream."""
    if options.columns is not None and found.kind != "table":
        raise ValueError(
            f"columns = {options.columns!r} is for tables without names; {found.path} in "
            f"{path.name} names its columns"
        )
    if found.kind == "table":
        check_dataset(path, found.thing)
        return TableSource(found.thing, _order(options.columns or "xytp"))
    if found.kind == "records":
        check_dataset(path, found.thing)
        names = _named(found.thing.dtype.names)
        assert names is not None
        if is_ecf(found.thing):
            return ECFSource(path, found.thing)
        return RecordSource(found.thing, *names)
    columns = _columns_in(found.thing)
    assert columns is not None
    for column in columns:
        check_dataset(path, column)
    source = ColumnSource(*columns)
    _add_index(source, found.thing, file, path)
    return source


def _order(columns: str) -> str:
    if sorted(columns) != sorted("xytp"):
        raise ValueError(f'columns = {columns!r} must name x, y, t and p once each, as in "txyp"')
    return columns


def _add_index(source: ColumnSource, group: Any, file: Any, path: Path) -> None:
    """DSEC keeps its offset and its index beside the group of the columns."""
    for place in (group, group.parent, file):
        beside: Mapping[str, Any] = {name: d for name, d in children(place) if is_dataset(d)}
        offset, index = beside.get("t_offset"), beside.get("ms_to_idx")
        if offset is not None and offset.size == 1 and offset.dtype.kind in "iu":
            source.offset = int(offset[()].reshape(-1)[0] if offset.shape else offset[()])
        if index is not None and len(index.shape) == 1 and index.dtype.kind in "iu":
            check_dataset(path, index)
            source.use_index(index)
        if offset is not None or index is not None:
            return


def size_of(found: Found, file: Any) -> Size | None:
    """The sensor's height and width, wherever a file may say them."""
    for place in (found.thing if found.kind == "columns" else found.thing.parent, file):
        arrays = {name: thing for name, thing in children(place) if is_dataset(thing)}
        sides = [_number(name, place, arrays) for name in ("height", "width")]
        if None not in sides:
            return _checked(*sides)
        resolution, geometry = (attribute(place, n) for n in ("sensor_resolution", "geometry"))
        if resolution is not None:
            return _checked(*np.ravel(resolution)[:2])
        if geometry is not None:
            width, _, height = str(geometry).partition("x")
            return _checked(height, width)
        pictures = arrays.get("image_raw")
        if pictures is not None and len(pictures.shape) == 3:
            return _checked(*pictures.shape[1:])
    return None


def _number(name: str, place: Any, arrays: Mapping[str, Any]) -> Any:
    """A number that an array or an attribute of this name holds alone."""
    thing = arrays.get(name)
    value = thing[()] if thing is not None and thing.nbytes <= 8 else attribute(place, name)
    return None if value is None or np.size(value) != 1 else np.ravel(value)[0]


def _checked(height: Any = None, width: Any = None) -> Size | None:
    """A size that can be one; a file that says another says none."""
    try:
        size = int(height), int(width)
    except (TypeError, ValueError, OverflowError):
        return None
    return size if all(1 <= side <= LONGEST_SIDE for side in size) else None
