"""HDF5: the layouts of DSEC, RVT, MVSEC, E2VID and Prophesee, and any that resembles them."""

from __future__ import annotations

from pathlib import Path

from evsurf.data.formats.hdf5.reader import HDF5Reader
from evsurf.data.formats.hdf5.writer import write
from evsurf.data.formats.reader import Format

_MAGIC = b"\x89HDF\r\n\x1a\n"


def _recognises(head: bytes, path: Path) -> bool:
    """Whether HDF5's mark is at one of the places where it may be, and MATLAB's is not."""
    del path
    places = (0, 512, 1024, 2048)
    return any(head[i : i + 8] == _MAGIC for i in places) and not head.startswith(b"MATLAB")


FORMAT = Format(
    name="hdf5",
    summary="HDF5 in the layouts of DSEC, RVT, MVSEC, E2VID and Prophesee",
    suffixes=(".h5", ".hdf5"),
    recognises=_recognises,
    open=HDF5Reader,
    write=write,
)
