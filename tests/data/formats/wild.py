"""Formats whose readers fail in every way there is: for the tests of isolation."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from evsurf.data.formats.columns import Columns
from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.reader import Format
from evsurf.data.formats.registry import formats
from tests.data.formats import toy


def _crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def _hang() -> None:
    time.sleep(600)


def _exit() -> None:
    os.write(2, b"out of cheese\n")
    os._exit(3)


def _devour() -> None:
    bytearray(2**36)


def _fail() -> None:
    raise KeyError("a mistake of ours")


def _refuse() -> None:
    raise FormatError("no such thing", offset=7)


def _shout() -> None:
    """What libraries print must not get among the answers."""
    os.write(1, b'{"events": 3}\n')


WAYS = {f.__name__[1:]: f for f in (_crash, _hang, _exit, _devour, _fail, _refuse, _shout)}


class Wild(toy.Bare):
    """Hands out one piece, and then does what the file says."""

    def pieces(self, count: int) -> Iterator[Columns]:
        del count
        self.damage.note("bad_packet", 1, 5)
        yield Columns.none()
        WAYS[self.path.read_text()]()


def register() -> None:
    toy.register(lambda known, name, one: known.update({name: one}))
    formats()["wild"] = Format("wild", "", (".wild",), lambda *_: False, Wild)


def file(folder: Path, way: str) -> Path:
    path = folder / f"{way}.wild"
    path.write_text(way)
    return path
