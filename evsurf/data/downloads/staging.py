"""A folder in the making: members arrive one by one, within limits, and it appears as a whole."""

from __future__ import annotations

import errno
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path

from evsurf.data.downloads.errors import ArchiveError
from evsurf.data.downloads.names import Names, parts_of

_BLOCK = 1 << 18
# Below this a ratio says nothing: a file of a few bytes may well be one of zeros.
_HARMLESS = 1 << 20


@dataclass(frozen=True)
class Limits:
    """How much an archive may unfold to."""

    ratio: float = 200.0
    """Bytes unpacked for each byte packed; recordings of events reach about 10."""
    total: int = 1 << 40
    """Bytes unpacked."""
    members: int = 2_000_000


class Budget:
    """What is left of the limits, for one archive and those inside it."""

    def __init__(self, limits: Limits, packed: int) -> None:
        self.limits = limits
        self._members = limits.members
        self._bytes = int(min(limits.total, max(_HARMLESS, limits.ratio * packed)))
        self._packed = packed

    def take(self, size: int) -> None:
        """Counts one member of this many bytes, before any is written."""
        self._members -= 1
        if self._members < 0:
            raise ArchiveError(f"the archive has more than {self.limits.members:,} members")
        if size < 0:
            raise ArchiveError(f"the archive has a member of {size} bytes")
        self._bytes -= size
        if self._bytes < 0:
            raise ArchiveError(
                f"the archive of {self._packed:,} bytes unfolds to more than its limits, "
                f"{self.limits.ratio:g} times its size and {self.limits.total:,} bytes: it may be "
                "a bomb. Limits(ratio=..., total=...) allow more"
            )


class Staging:
    """The folder beside the final one in which members are put down.

    A member is either whole or absent, so that what broke off is continued: members that are there
    with the right size stay. The folder of another archive is not continued but removed.
    """

    def __init__(self, folder: Path, archive: Path, budget: Budget) -> None:
        self.folder = folder
        self.budget = budget
        self._path = folder.with_name(f".{folder.name}.unpacking")
        self._draft = folder.with_name(f".{folder.name}.unpacking.draft")
        self._mark = folder.with_name(f".{folder.name}.unpacking.json")
        self._names = Names()
        state = archive.stat()
        mark = json.dumps([archive.name, state.st_size, state.st_mtime_ns])
        if not self._mark.exists() or self._mark.read_text(encoding="utf-8") != mark:
            self.discard()
        self._path.mkdir(parents=True, exist_ok=True)
        self._mark.write_text(mark, encoding="utf-8")

    def add_folder(self, name: str) -> None:
        """A folder of the archive."""
        self.budget.take(0)
        parts = parts_of(name)
        self._names.add_folder(parts)
        self._path.joinpath(*parts).mkdir(parents=True, exist_ok=True)

    def add_file(self, name: str, size: int, content: Callable[[], BufferedIOBase]) -> Path | None:
        """A file of the archive, of which exactly this many bytes are there to be read.

        The path where it is now; None for what the archiver of one system adds for itself.
        """
        self.budget.take(size)
        parts = parts_of(name)
        if not parts:
            raise ArchiveError("the archive has a file without a name")
        if "__MACOSX" in parts or parts[-1] == ".DS_Store":
            return None
        self._names.add_file(parts)
        path = self._path.joinpath(*parts)
        if not (path.exists() and path.stat().st_size == size):
            path.parent.mkdir(parents=True, exist_ok=True)
            with content() as source, self._draft.open("wb") as target:
                _copy_exactly(name, source, target, size)
            self._draft.replace(path)
        return path

    def reserve(self, archive: Path) -> Path | None:
        """Where the contents of an archive in here go; None if they are there already."""
        path = archive.with_name(archive.name.split(".")[0])
        self._names.add_file(path.relative_to(self._path).parts)
        return None if path.exists() else path

    def present(self) -> int:
        """Bytes that were put down, now or earlier."""
        return sum(path.stat().st_size for path in self._path.rglob("*") if path.is_file())

    def appear(self) -> None:
        """Moves the whole folder into its place."""
        self._path.rename(self.folder)
        self._mark.unlink(missing_ok=True)

    def discard(self) -> None:
        """Removes all that was put down."""
        shutil.rmtree(self._path, ignore_errors=True)
        self._draft.unlink(missing_ok=True)
        self._mark.unlink(missing_ok=True)

    def check_space(self, needed: int) -> None:
        """Raises where the disk cannot hold this many bytes more."""
        free = shutil.disk_usage(self._path).free
        if needed > free:
            raise OSError(
                errno.ENOSPC,
                f"{self.folder.parent} has {free:,} bytes left, unpacking takes {needed:,} more",
            )


def _copy_exactly(name: str, source: BufferedIOBase, target: BufferedIOBase, size: int) -> None:
    done = 0
    while block := source.read(_BLOCK):
        done += len(block)
        if done > size:
            break
        target.write(block)
    if done != size:
        raise ArchiveError(f"{name!r} was announced with {size:,} bytes and has another number")
