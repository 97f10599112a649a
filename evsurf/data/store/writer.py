"""`StoreWriter`: a store written sample by sample, which is there once it is whole."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import IO, Any, final

import numpy as np
import numpy.typing as npt
import torch

from evsurf.data.store.layout import DTYPES, INDEX, LONGEST_NAME, TARGET_DTYPES, Column, Index
from evsurf.data.store.mapping import header
from evsurf.events import Events


@final
class StoreWriter:
    """Writes a store sample by sample, in bounded memory.

    `with StoreWriter("train.store") as writer: writer.add(events, target, name="a.dat")`. The store
    appears under its name when the `with` block ends well; whatever interrupts it leaves what was
    there before. `classes` names the classes by number, and targets may then be such names.
    `overwrite=True` replaces a store that is there already.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        classes: Sequence[str] | None = None,
        overwrite: bool = False,
    ) -> None:
        self.path = Path(path)
        check_free(self.path, overwrite=overwrite)
        self._classes = None if classes is None else tuple(classes)
        folder = tempfile.mkdtemp(prefix=f".{self.path.name}.", dir=self.path.parent)
        # What the temporary folder keeps from others, the store does not.
        Path(folder).chmod(0o755)
        self._folder = Path(folder)
        self._columns = {name: _Growing(self._folder, name) for name in "xytp"}
        self._lengths: list[int] = []
        self._sizes: list[tuple[int, int]] = []
        self._targets: list[npt.NDArray[Any] | None] = []
        self._names: list[bytes | None] = []
        self._notes: dict[str, str] = {}

    def add(
        self, events: Events | Iterable[Events], target: Any = None, *, name: str | None = None
    ) -> None:
        """Adds one sample: a recording, or its pieces one after the other.

        The target is a number, an array of numbers, or a name among the classes.
        """
        number = self._number(target)
        text = None if name is None else _text(name)
        pieces = iter([events] if isinstance(events, Events) else events)
        first = next(pieces, None)
        if first is None:
            raise ValueError("events has no piece, so no sensor size: add Events.empty(size)")
        length, latest = 0, None
        for piece in chain([first], pieces):
            if piece.size != first.size:
                raise ValueError(f"a piece has size {piece.size}, and the first has {first.size}")
            if not len(piece):
                continue
            if latest is not None and int(piece.t[0]) < latest:
                raise ValueError(
                    f"a piece starts at {int(piece.t[0])} us, before the one before ends "
                    f"({latest} us): pieces of one recording follow each other in time"
                )
            latest = int(piece.t[-1])
            length += len(piece)
            for column, growing in self._columns.items():
                growing.append(getattr(piece, column).cpu().numpy())
        self._lengths.append(length)
        self._sizes.append(first.size)
        self._targets.append(number)
        self._names.append(text)

    def _number(self, target: Any) -> npt.NDArray[Any] | None:
        """The target as an array that a store can hold."""
        if target is None:
            return None
        if isinstance(target, str):
            known = self._classes or ()
            if target not in known:
                raise ValueError(
                    f"target = {target!r} is none of the classes {', '.join(known) or '(none)'}: "
                    "StoreWriter(path, classes=[...]) names them"
                )
            return np.array(known.index(target), np.int64)
        values = target.detach().cpu().numpy() if isinstance(target, torch.Tensor) else target
        number = np.asarray(values)
        if number.dtype.str not in TARGET_DTYPES:
            raise TypeError(
                f"target = {target!r} must be a number, an array of numbers or a class's name"
            )
        return number

    def note(self, name: str, text: str) -> None:
        """Keeps with the store what was wrong with a source."""
        self._notes[name] = text

    def __len__(self) -> int:
        """Number of samples so far."""
        return len(self._lengths)

    def finish(self) -> None:
        """Makes the store appear; nothing can be added any more."""
        try:
            self._write_index()
        except BaseException:
            self.discard()
            raise
        put_in_place(self._folder, self.path)

    def _write_index(self) -> None:
        if not self._lengths:
            raise ValueError(f"no sample was added to {self.path}: a store has at least one")
        columns = {name: growing.finish() for name, growing in self._columns.items()}
        offsets = np.concatenate(([0], np.cumsum(self._lengths, dtype=np.int64)))
        columns["offsets"] = self._whole("offsets", offsets.astype(DTYPES["offsets"]))
        size = self._sizes[0] if len(set(self._sizes)) == 1 else None
        if size is None:
            columns["sizes"] = self._whole("sizes", np.array(self._sizes, "<i2"))
        targets = stacked(self._targets)
        if targets is not None:
            columns["targets"] = self._whole("targets", targets)
        if any(name is not None for name in self._names):
            names = [
                str(i).encode() if name is None else name for i, name in enumerate(self._names)
            ]
            columns["names"] = self._whole("names", np.array(names))
        index = Index(
            len(self._lengths), int(offsets[-1]), size, self._classes, columns, self._notes
        )
        with (self._folder / INDEX).open("w", encoding="utf-8", newline="\n") as file:
            file.write(index.dump())
            _flush(file)

    def _whole(self, name: str, values: npt.NDArray[Any]) -> Column:
        growing = _Growing(self._folder, name, values.dtype.str, values.shape[1:])
        growing.append(values)
        return growing.finish()

    def discard(self) -> None:
        """Gives up what was written; after `finish`, it does nothing."""
        for growing in self._columns.values():
            growing.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> StoreWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.finish()
        else:
            self.discard()


class _Growing:
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
        values = np.ascontiguousarray(values, dtype=self._dtype)
        self._length += len(values)
        if values.size:
            raw = values.reshape(-1).view(np.uint8).data
            self._digest.update(raw)
            self._file.write(raw)

    def finish(self) -> Column:
        self._file.seek(0)
        shape = (self._length, *self._shape)
        self._file.write(header(self._dtype, shape))
        _flush(self._file)
        self._file.close()
        return Column(self._dtype, shape, self._digest.hexdigest())

    def close(self) -> None:
        self._file.close()


def _flush(file: IO[Any]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _text(name: str) -> bytes:
    text = name.encode("utf-8", "surrogateescape")
    if not text or b"\0" in text or len(text) > LONGEST_NAME:
        raise ValueError(f"name = {name[:80]!r} must have 1 to {LONGEST_NAME} bytes and no NUL")
    return text


def stacked(targets: Sequence[npt.NDArray[Any] | None]) -> npt.NDArray[Any] | None:
    """The targets of all samples as one array; None where there are none."""
    some = [target for target in targets if target is not None]
    if not some:
        return None
    if len(some) != len(targets):
        missing = next(i for i, target in enumerate(targets) if target is None)
        raise ValueError(f"sample {missing} has no target, but others have: give all of them one")
    shapes = {target.shape for target in some}
    if len(shapes) != 1:
        raise ValueError(f"targets of one store share a shape, got {sorted(shapes)}")
    return np.stack(some)


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


def put_in_place(folder: Path, path: Path) -> None:
    """Gives a finished folder its name; a store of that name goes."""
    old = None
    if path.exists():
        old = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
        path.rename(old / path.name)
    folder.rename(path)
    if old is not None:
        shutil.rmtree(old)
