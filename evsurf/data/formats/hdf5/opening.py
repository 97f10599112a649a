"""Opening HDF5 files that nobody vouches for: nothing outside the file is touched."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from evsurf.data.formats.damage import FormatError

ECF = 0x8ECF
"""Prophesee's filter, which is decoded here."""

# The filters that are part of HDF5, then those of hdf5plugin. Any other one would make HDF5 look
# for a library to load on the user's disk.
_BUILT_IN = {1: "gzip", 2: "shuffle", 3: "fletcher32", 5: "n-bit", 6: "scale-offset", 32000: "lzf"}
_PLUGINS = {
    307: "bzip2",
    32001: "Blosc",
    32004: "LZ4",
    32008: "Bitshuffle",
    32015: "Zstandard",
    32026: "Blosc2",
}

# Room for a chunk or two of each array; in a larger cache every chunk goes through fresh memory.
_CACHE_BYTES = 2 * 2**20
_LARGEST_CHUNK = 2**28
_LONGEST_ATTRIBUTE = 2**10


@contextmanager
def named_errors(path: Path, doing: str) -> Iterator[None]:
    """Turns whatever HDF5 raises into a `FormatError` that says which file and what was done."""
    try:
        yield
    except FormatError:
        raise
    except (OSError, RuntimeError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"{path.name}: HDF5 failed while {doing}: {error}") from error


def required(module: str) -> ModuleType:
    """A module of the extra [io]."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"HDF5 files need {module}, which is not installed: pip install 'evsurf[io]'"
        ) from error


def opened(path: Path) -> Any:
    """The file, for reading."""
    h5py = required("h5py")
    with named_errors(path, "opening it"):
        # A lock is of no use to a reader, and folders that nobody may write to refuse it.
        return h5py.File(path, "r", locking="best-effort", rdcc_nbytes=_CACHE_BYTES)


def children(group: Any) -> Iterator[tuple[str, Any]]:
    """The groups and arrays that a group itself holds, by name.

    Links to other places or files are not followed, nor is what has no shape or an unknown type.
    """
    h5py = required("h5py")
    for name in group:
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            continue
        thing = group[name]
        if isinstance(thing, h5py.Group) or (is_dataset(thing) and _is_array(thing)):
            yield name, thing


def attribute(thing: Any, name: str) -> Any:
    """A short attribute of this name, or None; a long one is none of those that are looked for."""
    if name not in thing.attrs or thing.attrs.get_id(name).get_storage_size() > _LONGEST_ATTRIBUTE:
        return None
    return thing.attrs[name]


def is_dataset(thing: Any) -> bool:
    """Whether this is an array, not a group."""
    return isinstance(thing, required("h5py").Dataset)


def _is_array(dataset: Any) -> bool:
    try:
        return dataset.dtype is not None and dataset.shape is not None
    except TypeError:
        return False


def check_dataset(path: Path, dataset: Any) -> None:
    """Refuses an array whose contents are not all inside the file, or not to be decoded here."""
    name = f"{path.name}: {dataset.name}"
    if dataset.external or dataset.is_virtual:
        raise FormatError(f"{name} keeps its values in other files, which are not opened")
    pipeline = dataset.id.get_create_plist()
    for number in range(pipeline.get_nfilters()):
        _check_filter(name, pipeline.get_filter(number)[0])
    if dataset.chunks is None:
        if dataset.id.get_storage_size() < dataset.nbytes:
            raise FormatError(f"{name} is not all in the file")
        return
    rows = dataset.chunks[0]
    if dataset.dtype.itemsize * dataset.size // max(len(dataset), 1) * rows > _LARGEST_CHUNK:
        raise FormatError(f"{name} has chunks of {rows:,} rows, too large to be meant")
    sides = zip(dataset.shape, dataset.chunks, strict=True)
    wanted = math.prod(-(-side // chunk) for side, chunk in sides)
    found = dataset.id.get_num_chunks()
    if found < wanted:
        raise FormatError(f"{name} should have {wanted:,} chunks, and {found:,} are in the file")


def _check_filter(name: str, code: int) -> None:
    if code in _PLUGINS:
        required("hdf5plugin")
    elif code not in _BUILT_IN and code != ECF:
        known = [*_BUILT_IN.values(), *_PLUGINS.values(), "ECF"]
        raise FormatError(f"{name} has the unknown filter {code}; known are {', '.join(known)}")
