"""Writing `.npz` from pieces, in memory for one piece."""

from __future__ import annotations

import io
import shutil
import tempfile
import zipfile
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from evsurf.data.formats.columns import Size
from evsurf.events import Events

_DTYPES = {"x": "<i2", "y": "<i2", "t": "<i8", "p": "|b1"}


def write(path: Path, pieces: Iterable[Events], size: Size) -> None:
    """Arrays x, y, t and p as `Events` has them, and `size` as height and width; uncompressed.

    The length of an array stands before it, and an archive takes one array after the other: so the
    columns wait in files of their own beside `path` until the last piece has come.
    """
    with ExitStack() as stack:
        waiting = {
            name: stack.enter_context(tempfile.TemporaryFile(dir=path.parent)) for name in _DTYPES
        }
        length = 0
        for events in pieces:
            length += len(events)
            for name, file in waiting.items():
                column = getattr(events, name).numpy().astype(_DTYPES[name], copy=False)
                file.write(np.ascontiguousarray(column).data)
        with zipfile.ZipFile(path, "w") as archive:
            _add_small(archive, "size", np.array(size, "<i8"))
            # Said, as times far from 0 would be taken for nanoseconds.
            _add_small(archive, "time_unit", np.array("microseconds"))
            for name, file in waiting.items():
                _add(archive, name, np.dtype(_DTYPES[name]), length, file)


def _add(
    archive: zipfile.ZipFile, name: str, dtype: np.dtype[Any], length: int, data: IO[bytes]
) -> None:
    header = _header(dtype, (length,))
    info = _info(name)
    # Known ahead, so that arrays beyond 2 GB get the wide fields that they need.
    info.file_size = len(header) + length * dtype.itemsize
    data.seek(0)
    with archive.open(info, "w") as member:
        member.write(header)
        shutil.copyfileobj(data, member, 2**20)


def _add_small(archive: zipfile.ZipFile, name: str, array: npt.NDArray[Any]) -> None:
    archive.writestr(_info(name), _header(array.dtype, array.shape) + array.tobytes())


def _info(name: str) -> zipfile.ZipInfo:
    """An entry without the time of writing: equal events give equal files."""
    return zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))


def _header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    buffer = io.BytesIO()
    described = {
        "descr": np.lib.format.dtype_to_descr(dtype),
        "fortran_order": False,
        "shape": shape,
    }
    np.lib.format.write_array_header_1_0(buffer, described)
    return buffer.getvalue()
