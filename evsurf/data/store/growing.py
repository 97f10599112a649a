"""A column's file while its values come in, and a finished folder's way to its name."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from evsurf.data.store.layout import DTYPES, INDEX, Column
from evsurf.data.store.mapping import header


class GrowingColumn:
    """A column's file while its values come in; the header is put right at the end."""

    def __init__(
        self, folder: Path, name: str, dtype: str | None = None, shape: tuple[int, ...] = ()
    ) -> None:
        self._dtype = DTYPES[name] if dtype is None else dtype
        self._shape = shape
        self._length = 0
        self._digest = hashlib.sha256()
        self._file = (folder / f"{name}.npy").open("wb", buffering=1 << 20)
        self._file.write(header(self._dtype, (0, *shape)))

    def append(self, values: npt.NDArray[Any]) -> None:
        """Adds values at the end."""
        values = np.ascontiguousarray(values, dtype=self._dtype)
        self._length += len(values)
        if values.size:
            raw = values.reshape(-1).view(np.uint8).data
            self._digest.update(raw)
            self._file.write(raw)

    @property
    def state(self) -> tuple[int, int, Any]:
        """What `append` changes: the number of values, the file's length and the checksum."""
        return self._length, self._file.tell(), self._digest.copy()

    @state.setter
    def state(self, state: tuple[int, int, Any]) -> None:
        self._length, end, self._digest = state
        self._file.seek(end)
        self._file.truncate()

    def finish(self) -> Column:
        """Closes the file, which is whole now."""
        self._file.seek(0)
        shape = (self._length, *self._shape)
        self._file.write(header(self._dtype, shape))
        flush(self._file)
        self._file.close()
        return Column(self._dtype, shape, self._digest.hexdigest())

    def close(self) -> None:
        """Closes the file as it is."""
        self._file.close()


def flush(file: IO[Any]) -> None:
    """Waits until the disk has what was written."""
    file.flush()
    os.fsync(file.fileno())


def check_free(path: Path, *, overwrite: bool) -> None:
    """Raises unless a store can be put at this path."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to put {path.name} in")
    if not path.exists():
        return
    if not (path / INDEX).is_file():
        raise FileExistsError(f"{path} is there already, and it is no store: name another place")
    if not overwrite:
        raise FileExistsError(f"{path} is there already: overwrite=True replaces it")


def put_in_place(folder: Path, path: Path, *, aside: Path | None = None) -> None:
    """Gives a finished folder its name; a store of that name goes, by way of the folder `aside`."""
    old = None
    if path.exists():
        old = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=aside or path.parent))
        path.rename(old / path.name)
    folder.rename(path)
    if old is not None:
        shutil.rmtree(old)
