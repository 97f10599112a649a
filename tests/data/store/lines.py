"""A format of the tests' own: a line "at t x y p" for each event, below one with the size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from evsurf.data.formats.columns import Columns, Sieve, Size
from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.reader import Format, Header, Options, Reader
from evsurf.events import Events


class Lines(Reader):
    def __init__(self, path: Path, options: Options) -> None:
        super().__init__(path, options)
        first, *self.lines = path.read_text().splitlines()
        words = first.split()
        if words[0] != "lines":
            raise FormatError("these are no lines")
        size = None if words[1] == "-" else (int(words[1]), int(words[2]))
        self.header = Header(options.size or size)

    def pieces(self, count: int) -> Iterator[Columns]:
        sieve = Sieve(self.header.size, self.damage, keep_unsorted=self.options.keep_unsorted)
        for start in range(0, len(self.lines), count):
            rows = [line.split()[1:] for line in self.lines[start : start + count]]
            t, x, y, p = np.array(rows, np.int64).T
            yield sieve.sift(Columns(x, y, t, p))

    def close(self) -> None:
        pass


def write_lines(path: Path, pieces: Iterable[Events], size: Size) -> None:
    rows = [
        f"at {t} {x} {y} {p:d}\n"
        for events in pieces
        for x, y, t, p in zip(
            events.x.tolist(), events.y.tolist(), events.t.tolist(), events.p.tolist(), strict=True
        )
    ]
    path.write_text(f"lines {size[0]} {size[1]}\n" + "".join(rows))


FORMAT = Format("lines", "Lines.", (".lines",), lambda *_: False, Lines, write_lines)
