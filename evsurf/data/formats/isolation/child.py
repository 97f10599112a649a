"""The side that reads: answers one request after the other, until nobody asks any more.

Requests and answers are lines of JSON, columns go through a file in memory. Nothing is pickled, so
that what a broken reader sends can be wrong, but cannot run.
"""

from __future__ import annotations

import errno
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from evsurf.data.formats.columns import Columns
from evsurf.data.formats.damage import Damage, DamageError, FormatError
from evsurf.data.formats.reader import Options, Reader, SeekableReader
from evsurf.data.formats.registry import format_named, format_of


class Served:
    """What one request after the other works on."""

    def __init__(self, memory: Any) -> None:
        self.memory = memory
        self.reader: Reader | None = None
        self.pieces: Iterator[Columns] = iter(())

    def open(self, path: str, name: str | None, strict: bool, **options: Any) -> dict[str, Any]:
        """Opens a file, and closes the one before."""
        self.close()
        file = Path(path)
        found = format_of(file) if name is None else format_named(name)
        if options["size"] is not None:
            options["size"] = tuple(options["size"])
        self.reader = reader = found.open(file, Options(**options, damage=Damage(strict)))
        header = reader.header
        return {
            "format": found.name,
            "size": None if header.size is None else [int(side) for side in header.size],
            "size_source": header.size_source,
            "facts": {str(key): str(value) for key, value in header.facts.items()},
            "seekable": isinstance(reader, SeekableReader),
            "indexed": isinstance(reader, SeekableReader) and reader.indexed,
        }

    def start(self, count: int) -> dict[str, Any]:
        """Begins a pass from the front."""
        self.pieces = self._open().pieces(count)
        return {}

    def next(self) -> dict[str, Any]:
        """The next piece of the pass."""
        columns = next(self.pieces, None)
        return self._sent(columns) if columns is not None else self._told({"end": True})

    def part(self, start: int, stop: int) -> dict[str, Any]:
        """Events by position."""
        return self._sent(self._seekable().part(start, stop))

    def length(self) -> dict[str, Any]:
        """The number of events."""
        return {"value": len(self._seekable())}

    def position(self, t: int) -> dict[str, Any]:
        """The number of events before a time."""
        return {"value": int(self._seekable().position(t))}

    def close(self) -> dict[str, Any]:
        """Lets go of the file."""
        if self.reader is not None:
            self.reader.close()
        self.reader, self.pieces = None, iter(())
        return {}

    def _open(self) -> Reader:
        assert self.reader is not None
        return self.reader

    def _seekable(self) -> SeekableReader:
        assert isinstance(self.reader, SeekableReader)
        return self.reader

    def _sent(self, columns: Columns) -> dict[str, Any]:
        """Puts columns into the memory that the other side reads."""
        self.memory.seek(0)
        self.memory.truncate()
        kinds = zip(columns, ("<i2", "<i2", "<i8", "u1"), strict=True)
        for column in (column.astype(kind) for column, kind in kinds):
            left = column.data.cast("B")
            while left:
                left = left[self.memory.write(left) :]
        return self._told({"events": columns.length})

    def _told(self, answer: dict[str, Any]) -> dict[str, Any]:
        """The answer with the damage that came to light since the one before."""
        reader = self._open()
        found = [(name, vars(one)) for name, one in reader.damage.violations.items()]
        answer |= {"damage": json.loads(json.dumps(found)), "consumed": reader.consumed}
        reader.damage.clear()
        return answer


def serve(requests: TextIO, answers: TextIO, memory: Any) -> None:
    """Answers until the other side is gone."""
    warnings.simplefilter("ignore")
    served = Served(memory)
    for line in requests:
        request = json.loads(line)
        try:
            answer = getattr(served, request.pop("do"))(**request)
        except (KeyboardInterrupt, SystemExit):
            raise
        # What a library of another language panics with is no Exception. The other side raises it.
        except BaseException as error:  # noqa: BLE001
            answer = {"error": type(error).__name__, "message": str(error), **_place(error)}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _place(error: BaseException) -> dict[str, Any]:
    return {
        "kinds": [kind.__name__ for kind in type(error).__mro__],
        "memory": isinstance(error, MemoryError) or getattr(error, "errno", 0) == errno.ENOMEM,
        "offset": error.offset if isinstance(error, FormatError) else None,
        "violation": error.violation if isinstance(error, DamageError) else None,
    }


def limit_memory(most: int) -> None:
    """Lets allocations fail that go beyond, where the system counts them; no core is dumped."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pages = Path("/proc/self/statm")
    if pages.exists():
        taken = int(pages.read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        wanted = min(taken + most, sys.maxsize)
        resource.setrlimit(resource.RLIMIT_AS, (wanted if hard < 0 else min(wanted, hard), hard))


def main(requests: int, answers: int, memory: int, most: int) -> None:
    """Serves over file descriptors."""
    limit_memory(most)
    with (
        open(requests, encoding="utf-8") as asked,
        open(answers, "w", encoding="utf-8") as told,
        open(memory, "r+b", buffering=0) as columns,
    ):
        serve(asked, told, columns)
