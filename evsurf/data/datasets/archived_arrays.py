"""Large arrays in an npz, of which a part is read without the rest."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path
from typing import Any, final

import numpy as np
import numpy.typing as npt

from evsurf.data.formats.damage import FormatError

_LOCAL_HEADER = struct.Struct("<4s22xHH")


@final
class ArchivedArrays:
    """The arrays of an npz by name, as parts of the file that are read when they are looked at.

    That is possible where the npz is not compressed, as `numpy.savez` writes it; a compressed one
    is refused with the remedy, for a part of it cannot be read without all that is before.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with zipfile.ZipFile(path) as archive:
                members = archive.infolist()
        except (zipfile.BadZipFile, ValueError, struct.error) as error:
            raise FormatError(f"{path} is no npz: {error}") from error
        self._members = {member.filename.removesuffix(".npy"): member for member in members}
        self._arrays: dict[str, npt.NDArray[Any]] = {}

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """The array of this name, not yet read."""
        if name not in self._arrays:
            if name not in self._members:
                raise FormatError(f"{self.path} holds {sorted(self._members)}, and no {name!r}")
            self._arrays[name] = self._mapped(self._members[name])
        return self._arrays[name]

    def _mapped(self, member: zipfile.ZipInfo) -> npt.NDArray[Any]:
        if member.compress_type != zipfile.ZIP_STORED:
            raise FormatError(
                f"{self.path} is compressed, so that its parts cannot be read alone. Write it anew "
                "once: numpy.savez('new.npz', **numpy.load('old.npz'))"
            )
        with self.path.open("rb") as file:
            file.seek(member.header_offset)
            head = file.read(_LOCAL_HEADER.size)
            if len(head) < _LOCAL_HEADER.size or head[:4] != b"PK\x03\x04":
                raise FormatError(f"{self.path} is damaged", offset=member.header_offset)
            _, name, extra = _LOCAL_HEADER.unpack(head)
            file.seek(name + extra, 1)
            try:
                version = np.lib.format.read_magic(file)
                reader = {
                    (1, 0): np.lib.format.read_array_header_1_0,
                    (2, 0): np.lib.format.read_array_header_2_0,
                }[version]
                shape, by_columns, kind = reader(file)
            except (ValueError, KeyError) as error:
                raise FormatError(f"{self.path}: {member.filename}: {error}") from error
            place = file.tell()
        order: Any = "F" if by_columns else "C"
        if kind.hasobject or kind.kind not in "iuf":
            raise FormatError(f"{self.path}: {member.filename} holds {kind}, and not numbers")
        try:
            return np.memmap(self.path, kind, "r", place, shape, order)
        except ValueError as error:
            raise FormatError(f"{self.path}: {member.filename} breaks off: {error}") from error
