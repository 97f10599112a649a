"""Two small formats of the tests' own: one with a header and random access, one with neither."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from evsurf.data.formats.columns import Columns, Sieve, Size
from evsurf.data.formats.damage import Damage, FormatError
from evsurf.data.formats.reader import Format, Header, Options, Reader, SeekableReader
from evsurf.data.formats.registry import formats
from evsurf.events import Events

ROW = np.dtype([("x", "<i2"), ("y", "<i2"), ("t", "<i8"), ("p", "?")])
MAGIC = b"TOY!"
START = 8
# A time at which the reader of rows without a header gives up, as over a broken block.
BROKEN = -77


def rows(*events: tuple[int, int, int, int]) -> bytes:
    """Events as both formats hold them."""
    return np.array(list(events), ROW).tobytes()


def header(size: Size) -> bytes:
    return MAGIC + struct.pack("<HH", *size)


class Bare(Reader):
    """Rows one after the other, and nothing else."""

    start = 0
    header = Header(facts={"colour": "red"})

    def __init__(self, path: Path, options: Options) -> None:
        super().__init__(path, options)
        self.opened = 0
        self._consumed = 0

    def pieces(self, count: int) -> Iterator[Columns]:
        sieve = Sieve(
            self.options.size or self.header.size,
            self.damage,
            keep_unsorted=self.options.keep_unsorted,
        )
        with self.path.open("rb") as file:
            self._consumed = file.seek(self.start)
            while block := file.read(min(count, 1 << 20) * ROW.itemsize):
                whole = len(block) // ROW.itemsize
                table = np.frombuffer(block[: whole * ROW.itemsize], ROW)
                if (table["t"] == BROKEN).any():
                    raise FormatError("a row is broken", offset=self._consumed)
                self._consumed += len(block)
                if whole:
                    yield sieve.sift(Columns(*(table[name] for name in "xytp")))
                left = len(block) - whole * ROW.itemsize
                self.damage.note("truncated", left, self._consumed - left)

    @property
    def consumed(self) -> int:
        return self._consumed

    def close(self) -> None:
        self.opened = -1


class Toy(SeekableReader, Bare):
    """A mark and a size before the rows."""

    start = START

    def __init__(self, path: Path, options: Options) -> None:
        super().__init__(path, options)
        head = path.read_bytes()[:START]
        if len(head) < START:
            raise FormatError("the header breaks off", offset=len(head))
        self.header = Header(size=struct.unpack("<HH", head[4:]), size_source="header")

    def _all(self) -> Columns:
        unnoted = Toy(self.path, replace(self.options, damage=Damage()))
        return Columns.joined(list(unnoted.pieces(2**62)))

    def __len__(self) -> int:
        return self._all().length

    def part(self, start: int, stop: int) -> Columns:
        return Columns.joined(list(self.pieces(2**62))).part(start, stop)

    def position(self, t: int) -> int:
        return int(np.searchsorted(self._all().t, t))


def _write_rows(path: Path, pieces: Iterable[Events], head: bytes) -> None:
    with path.open("xb") as file:
        file.write(head)
        for events in pieces:
            array = events.numpy()
            file.write(np.rec.fromarrays([array[name] for name in "xytp"], dtype=ROW).tobytes())


def write_toy(path: Path, pieces: Iterable[Events], size: Size) -> None:
    _write_rows(path, pieces, header(size))


def write_bare(path: Path, pieces: Iterable[Events], size: Size) -> None:
    del size
    _write_rows(path, pieces, b"")


TOY = Format(
    name="toy",
    summary="rows after a header",
    suffixes=(".toy", ".rows.toy"),
    recognises=lambda head, _: head.startswith(MAGIC),
    open=Toy,
    write=write_toy,
)
BARE = Format(
    name="bare",
    summary="rows alone",
    suffixes=(".bare",),
    recognises=lambda *_: False,
    open=Bare,
    write=write_bare,
)
FOLDER = Format(
    name="folder",
    summary="a folder with a file called rows",
    suffixes=(".bare",),
    recognises=lambda _, path: path.is_dir() and (path / "rows").exists(),
    open=lambda path, options: Bare(path / "rows", options),
)


def register(put: Callable[[dict[str, Format], str, Format], None]) -> None:
    """Adds them after all other formats, with `monkeypatch.setitem` or what forgets nothing."""
    for one in (TOY, BARE, FOLDER):
        put(formats(), one.name, one)
