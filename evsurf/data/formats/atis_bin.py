"""ATIS `.bin` files of 5-byte records: N-MNIST and the original N-Caltech101."""

from __future__ import annotations

from pathlib import Path

from evsurf.data.formats.binary import BinaryReader
from evsurf.data.formats.reader import Format, Header, Options, Reader


def _recognises(head: bytes, path: Path) -> bool:  # noqa: ARG001
    return False


def _open(path: Path, options: Options) -> Reader:
    return BinaryReader(path, options, "atis", header=Header(), start=0)


FORMAT = Format(
    name="atis_bin",
    summary="ATIS .bin: N-MNIST and N-Caltech101, 5 bytes an event",
    suffixes=(".bin", ".bs2"),
    recognises=_recognises,
    open=_open,
)
