"""What lies in the folder of a store, and the refusal of a folder that is not quite one.

Every column is one `.npy` file with the one header that its index entry allows, byte for byte, so
nothing in a file has to be parsed, and nothing in it can surprise.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evsurf.data.formats.damage import FormatError
from evsurf.events.checks import LONGEST_SIDE

FORMAT, VERSION = "evsurf store", 1
INDEX = "index.json"
SUFFIX = ".store"

DTYPES: Mapping[str, str] = {"x": "<i2", "y": "<i2", "t": "<i8", "p": "|b1", "offsets": "<i8"}
"""The columns that every store has: four with an entry per event, and where each sample starts."""

TARGET_DTYPES = ("|b1", "|i1", "|u1", "<i2", "<i4", "<i8", "<f4", "<f8")
LONGEST_NAME = 4096
_LARGEST_INDEX = 64 << 20
_MOST = 2**48


@dataclass(frozen=True)
class Column:
    """One file of a store."""

    dtype: str
    shape: tuple[int, ...]
    sha256: str
    """Of the values, without the header."""


@dataclass(frozen=True)
class Index:
    """What a store says of itself."""

    samples: int
    events: int
    size: tuple[int, int] | None
    """Height and width of every sample; None where each has its own, in the column `sizes`."""
    classes: tuple[str, ...] | None
    columns: Mapping[str, Column]
    notes: Mapping[str, str] = field(default_factory=dict)
    """Samples that were damaged where they came from or left out, and why."""

    def dump(self) -> str:
        """As the file `index.json` holds it; the same index gives the same text."""
        columns = {
            name: {"dtype": one.dtype, "shape": list(one.shape), "sha256": one.sha256}
            for name, one in self.columns.items()
        }
        content = {
            "format": FORMAT,
            "version": VERSION,
            "samples": self.samples,
            "events": self.events,
            "size": None if self.size is None else list(self.size),
            "classes": None if self.classes is None else list(self.classes),
            "columns": columns,
            "notes": dict(self.notes),
        }
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def read_index(folder: Path) -> Index:
    """The index of a store, every entry of it checked."""
    file = folder / INDEX
    if not file.is_file():
        raise FileNotFoundError(
            f"there is no store at {folder}: it has no {INDEX}. Stores are made by write_store, "
            f"which leaves a folder that ends in .partial until it is done"
        )
    try:
        if file.stat().st_size > _LARGEST_INDEX:
            raise ValueError(f"it is larger than {_LARGEST_INDEX:,} bytes")
        content = json.loads(file.read_text(encoding="utf-8"), parse_constant=_no_constant)
        return _index(content)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
        raise FormatError(f"{file} is not the index of a store: {reason}") from error


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _index(content: Any) -> Index:
    _require(isinstance(content, dict), "it is no JSON object")
    _require(content.get("format") == FORMAT, f"its format is not {FORMAT!r}")
    _require(
        content["version"] == VERSION,
        f"its version is {content['version']!r}, and this evsurf reads version {VERSION}",
    )
    samples, events = _count(content, "samples"), _count(content, "events")
    size = None if content["size"] is None else _size(content["size"])
    columns = {name: _column(name, one) for name, one in _entries(content, "columns").items()}
    _agree(columns, samples, events, own_sizes=size is None)
    return Index(
        samples, events, size, _classes(content["classes"]), columns, _notes(content["notes"])
    )


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


def _count(content: dict[str, Any], name: str) -> int:
    value = content[name]
    _require(type(value) is int and 0 <= value <= _MOST, f"{name} = {value!r} is no count")
    return int(value)


def _size(value: Any) -> tuple[int, int]:
    right = isinstance(value, list) and len(value) == 2
    right = right and all(type(side) is int and 1 <= side <= LONGEST_SIDE for side in value)
    _require(right, f"size = {value!r} is not (height, width)")
    return value[0], value[1]


def _entries(content: dict[str, Any], name: str) -> dict[str, Any]:
    _require(isinstance(content[name], dict), f"{name} is no JSON object")
    entries: dict[str, Any] = content[name]
    return entries


def _column(name: str, value: Any) -> Column:
    known = [*DTYPES, "sizes", "names", "targets"]
    _require(name in known, f"{name!r} is none of the columns {', '.join(known)}")
    _require(isinstance(value, dict), f"column {name!r} is no JSON object")
    dtype, shape, sha256 = value["dtype"], value["shape"], value["sha256"]
    _require(isinstance(dtype, str), f"column {name!r} has dtype {dtype!r}")
    plain = isinstance(shape, list) and 1 <= len(shape) <= 8
    plain = plain and all(type(side) is int and 0 <= side <= _MOST for side in shape)
    _require(plain, f"column {name!r} has shape {shape!r}")
    _require(isinstance(sha256, str) and len(sha256) == 64, f"column {name!r} has no checksum")
    return Column(dtype, tuple(shape), sha256)


def _agree(columns: dict[str, Column], samples: int, events: int, *, own_sizes: bool) -> None:
    """Raises unless the columns are those that a store of so many samples and events has."""
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys("xytp", (events,))
    shapes["offsets"] = (samples + 1,)
    if own_sizes:
        shapes["sizes"] = (samples, 2)
    for name, shape in shapes.items():
        _require(name in columns, f"column {name!r} is missing")
        found = columns[name]
        wanted = DTYPES.get(name, "<i2")
        _require(
            (found.dtype, found.shape) == (wanted, shape),
            f"column {name!r} is {found.dtype} of shape {found.shape}, not {wanted} of {shape}",
        )
    _require(own_sizes or "sizes" not in columns, "it has one size and a column of sizes")
    for name in {"targets", "names"} & set(columns):
        found = columns[name]
        _require(
            found.shape[0] == samples,
            f"column {name!r} has {found.shape[0]} entries for {samples} samples",
        )
    if "targets" in columns:
        dtype = columns["targets"].dtype
        _require(dtype in TARGET_DTYPES, f"targets have dtype {dtype!r}")
    if "names" in columns:
        dtype, shape = columns["names"].dtype, columns["names"].shape
        width = dtype.removeprefix("|S")
        right = dtype.startswith("|S") and width.isascii() and width.isdigit() and len(shape) == 1
        _require(right and 1 <= int(width) <= LONGEST_NAME, f"names have dtype {dtype!r}")


def _classes(value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    right = isinstance(value, list) and all(isinstance(one, str) for one in value)
    _require(right, "classes are no list of names")
    return tuple(value)


def _notes(value: Any) -> dict[str, str]:
    right = isinstance(value, dict) and all(isinstance(one, str) for one in value.values())
    _require(right, "notes are no object of texts")
    return dict(value)
