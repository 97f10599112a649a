"""`StoreWriter`: a store written sample by sample, which is there once it is whole."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, final

import numpy as np
import numpy.typing as npt
import torch

from evsurf.data.store.growing import GrowingColumn, check_free, flush, put_in_place
from evsurf.data.store.layout import DTYPES, INDEX, LONGEST_NAME, TARGET_DTYPES, Column, Index
from evsurf.data.store.store import Store
from evsurf.events import Events

# Values of a column that are copied at once.
_BLOCK = 1 << 20


@final
class StoreWriter:
    """Writes a store sample by sample, in bounded memory.

    `with StoreWriter("train.store") as writer: writer.add(events, target, name="a.dat")`. The store
    appears under its name when the `with` block ends well; whatever interrupts it leaves what was
    there before, and an end by force also a hidden folder beside it. `classes` names the classes by
    number, and targets may then be such names.
    `overwrite=True` replaces a store that is there already. A store without a sample is a mistake
    unless it `may_be_empty`. A sample that cannot be added leaves the store as it was.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        classes: Sequence[str] | None = None,
        overwrite: bool = False,
        may_be_empty: bool = False,
    ) -> None:
        self.path = Path(path)
        self._may_be_empty = may_be_empty
        check_free(self.path, overwrite=overwrite)
        self._classes = None if classes is None else tuple(classes)
        folder = tempfile.mkdtemp(prefix=f".{self.path.name}.", dir=self.path.parent)
        # What the temporary folder keeps from others, the store does not.
        Path(folder).chmod(0o755)
        self._folder = Path(folder)
        self._columns = {name: GrowingColumn(self._folder, name) for name in "xytp"}
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
        before = [growing.state for growing in self._columns.values()]
        try:
            length, size = self._append(iter([events] if isinstance(events, Events) else events))
        except BaseException:
            for growing, state in zip(self._columns.values(), before, strict=True):
                growing.state = state
            raise
        self._lengths.append(length)
        self._sizes.append(size)
        self._targets.append(number)
        self._names.append(text)

    def _append(self, pieces: Iterator[Events]) -> tuple[int, tuple[int, int]]:
        """Writes the pieces of a recording; how many events they had, and their size."""
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
        return length, first.size

    def extend(self, store: Store) -> None:
        """Adds all samples of another store, and its notes; its classes must be the same."""
        if store.classes != self._classes:
            raise ValueError(
                f"{store.path.name} has classes {store.classes}, and this store {self._classes}"
            )
        arrays = store.arrays
        for name, growing in self._columns.items():
            column = getattr(arrays, name)
            for start in range(0, len(column), _BLOCK):
                growing.append(column[start : start + _BLOCK])
        targets = store.targets
        self._lengths += store.lengths.tolist()
        self._sizes += [store.size_of(i) for i in range(len(store))]
        self._targets += (
            [None] * len(store) if targets is None else [np.asarray(one) for one in targets.numpy()]
        )
        names = store.names
        self._names += [None] * len(store) if names is None else [_text(name) for name in names]
        self._notes.update(store.notes)

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
        if not self._lengths and not self._may_be_empty:
            raise ValueError(f"no sample was added to {self.path}: a store has at least one")
        columns = {name: growing.finish() for name, growing in self._columns.items()}
        offsets = np.concatenate(([0], np.cumsum(self._lengths, dtype=np.int64)))
        columns["offsets"] = self._whole("offsets", offsets.astype(DTYPES["offsets"]))
        size = self._sizes[0] if len(set(self._sizes)) == 1 else None
        if size is None:
            columns["sizes"] = self._whole("sizes", np.array(self._sizes, "<i2").reshape(-1, 2))
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
            flush(file)

    def _whole(self, name: str, values: npt.NDArray[Any]) -> Column:
        growing = GrowingColumn(self._folder, name, values.dtype.str, values.shape[1:])
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
