"""The side that asks: a reader whose file is open in a process of its own."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np

from evsurf.data.formats.columns import Columns
from evsurf.data.formats.damage import DamageError, FormatError
from evsurf.data.formats.isolation.limits import CrashedReaderError, Limits, signal_of
from evsurf.data.formats.reader import Format, Header, Options, Reader, SeekableReader
from evsurf.data.formats.recording import bytes_of

# Run first by the process; tests register formats of their own in it.
PRELUDE = ""
_MAIN = """import json, sys
sys.path[:] = json.loads(sys.argv[1])
{}
from evsurf.data.formats.isolation.child import main
main(*map(int, sys.argv[2:]))
"""
# Starting Python and importing torch, on a busy machine.
_SECONDS_TO_START = 120.0
_ERRORS: dict[str, type[Exception]] = {
    "FormatError": FormatError,
    "FileNotFoundError": FileNotFoundError,
    "IsADirectoryError": IsADirectoryError,
    "PermissionError": PermissionError,
    "OSError": OSError,
    "ImportError": ImportError,
    "ValueError": ValueError,
    "TypeError": TypeError,
}


class Child:
    """A process that reads files for this one, one at a time."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        asked, self._requests = os.pipe()
        self._answers, told = os.pipe()
        self._memory = _memory_file()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._left = b""
        passed = (asked, told, self._memory.fileno())
        words = [json.dumps(sys.path), *map(str, passed), str(limits.bytes)]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _MAIN.format(PRELUDE), *words],
            pass_fds=passed,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            # Ctrl-C is for this process, which then ends the other.
            start_new_session=True,
        )
        os.close(asked)
        os.close(told)
        self._wait = _SECONDS_TO_START
        self.closed = False

    def ask(self, do: str, seconds: float, **details: Any) -> dict[str, Any]:
        """The answer to one request; whatever else happens ends the process and raises."""
        if self.closed:
            raise ValueError("the process that read this file has ended: open the file again")
        try:
            answer = self._answered(json.dumps({"do": do, **details}), seconds + self._wait)
        except BaseException:
            self.end()
            raise
        self._wait = 0.0
        if "error" in answer:
            self._raise(answer)
        return answer

    def _answered(self, request: str, seconds: float) -> dict[str, Any]:
        limit = time.monotonic() + seconds
        try:
            os.write(self._requests, request.encode() + b"\n")
        except BrokenPipeError:
            self._crashed()
        while b"\n" not in self._left:
            left = limit - time.monotonic()
            if left <= 0 or not select.select([self._answers], [], [], left)[0]:
                raise CrashedReaderError(
                    f"its reader, in a process of its own, took longer than {seconds:.3g} s"
                )
            block = os.read(self._answers, 1 << 16)
            if not block:
                self._crashed()
            self._left += block
        line, self._left = self._left.split(b"\n", 1)
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _crashed(self) -> NoReturn:
        code = self._process.wait()
        self._errors.seek(0)
        last = self._errors.read()[-4096:].decode(errors="replace").strip().splitlines()[-1:]
        name = signal_of(code)
        how = f"was ended by {name}" if name else f"ended with code {code}"
        raise CrashedReaderError(
            f"its reader, in a process of its own, {how}{': ' if last else ''}{''.join(last)}",
            signal_name=name,
        )

    def _raise(self, answer: dict[str, Any]) -> NoReturn:
        """The error that the other side met; one that says nothing to callers is a crash."""
        kinds, message = answer["kinds"], answer["message"]
        if answer["memory"]:
            raise CrashedReaderError(
                f"its reader, in a process of its own, needs more than the {self.limits.bytes:,} "
                "bytes that it may take: isolate=Limits(memory=...) allows more"
            )
        offset = answer["offset"]
        if "DamageError" in kinds:
            error = DamageError("", violation=answer["violation"])
            error.offset, error.args = offset, (message,)
            raise error
        for kind in kinds:
            if kind in _ERRORS:
                raised = _ERRORS[kind](message)
                if isinstance(raised, FormatError):
                    raised.offset = offset
                raise raised
        raise CrashedReaderError(f"its reader fails with {kinds[0]}: {message}")

    def columns(self, events: int) -> Columns:
        """The columns that the other side has put into the memory."""
        self._memory.seek(0)
        kinds = (np.int16, np.int16, np.int64, np.uint8)
        found = [np.empty(events, kind) for kind in kinds]
        for column in found:
            left = column.data.cast("B")
            while left:
                read = self._memory.readinto(left)  # type: ignore[attr-defined]
                if not read:
                    raise CrashedReaderError("its reader, in a process of its own, sent too little")
                left = left[read:]
        x, y, t, p = found
        return Columns(x, y, t, p != 0)

    def end(self) -> None:
        """Ends the process."""
        if self.closed:
            return
        self.closed = True
        self._process.kill()
        self._process.wait()
        os.close(self._requests)
        os.close(self._answers)
        self._memory.close()
        self._errors.close()


def _memory_file() -> BinaryIO:
    """A file in memory without a name, which nobody can leave behind."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("evsurf"), "r+b", buffering=0)
    return tempfile.TemporaryFile(buffering=0)


class IsolatedReader(Reader):
    """A reader in a process of its own, which ends with it."""

    def __init__(self, path: Path, options: Options, child: Child, opened: dict[str, Any]) -> None:
        super().__init__(path, options)
        self.child = child
        self.seconds = child.limits.seconds_for(bytes_of(path))
        self.is_indexed = bool(opened["indexed"])
        size = opened["size"]
        self.header = Header(
            None if size is None else (size[0], size[1]), opened["size_source"], opened["facts"]
        )
        self._consumed: int | None = None
        self._passes = 0

    def pieces(self, count: int) -> Iterator[Columns]:
        """As the reader there."""
        self._passes += 1
        mine = self._passes
        self.child.ask("start", self.seconds, count=count)
        while True:
            if self._passes != mine:
                raise ValueError("an isolated file is read by one pass at a time")
            answer = self._noted(self.child.ask("next", self.seconds))
            if "end" in answer:
                return
            yield self.child.columns(answer["events"])

    def _noted(self, answer: dict[str, Any]) -> dict[str, Any]:
        self._consumed = answer["consumed"]
        for name, found in answer["damage"]:
            self.damage.note(name, found["count"], found["first"], place=found["place"])
        return answer

    @property
    def consumed(self) -> int | None:
        """As of the reader there."""
        return self._consumed

    def close(self) -> None:
        """Ends the process."""
        self.child.end()


class IsolatedSeekableReader(SeekableReader, IsolatedReader):
    """The same, of a reader with random access."""

    @property
    def indexed(self) -> bool:
        """As of the reader there."""
        return self.is_indexed

    def __len__(self) -> int:
        return int(self.child.ask("length", self.seconds)["value"])

    def part(self, start: int, stop: int) -> Columns:
        """As of the reader there."""
        answer = self._noted(self.child.ask("part", self.seconds, start=start, stop=stop))
        return self.child.columns(answer["events"])

    def position(self, t: int) -> int:
        """As of the reader there."""
        return int(self.child.ask("position", self.seconds, t=t)["value"])


def opened_in(
    child: Child, path: Path, options: Options, name: str | None
) -> tuple[str, IsolatedReader]:
    """The name of a file's format, and its reader in a process, which closes the file before."""
    answer = child.ask(
        "open",
        child.limits.seconds_for(bytes_of(path)),
        path=str(path.absolute()),
        name=name,
        strict=options.damage.strict,
        size=options.size,
        stream=options.stream,
        columns=options.columns,
        keep_unsorted=options.keep_unsorted,
    )
    kind = IsolatedSeekableReader if answer["seekable"] else IsolatedReader
    return answer["format"], kind(path, options, child, answer)


def isolated(path: Path, options: Options, name: str | None, limits: Limits) -> Format:
    """The format of a file, or the one of this name, whose reader is a process of its own."""
    child = Child(limits)
    try:
        found, reader = opened_in(child, path, options, name)
    except BaseException:
        child.end()
        raise
    return Format(found, "in a process of its own", (), lambda *_: True, lambda *_: reader)
