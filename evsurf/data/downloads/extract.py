"""Unpacking an archive: nothing outside its folder, nothing endless, and all of it or nothing."""

from __future__ import annotations

import zipfile
from pathlib import Path

from evsurf.data.downloads.errors import ArchiveError
from evsurf.data.downloads.staging import Budget, Limits, Staging
from evsurf.data.downloads.tars import unpack_tar
from evsurf.data.downloads.zips import unpack_zip

_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
# Archives inside archives inside an archive; more is a puzzle, not a data set.
_DEEPEST = 3


def extract(archive: Path, folder: Path, *, limits: Limits | None = None) -> None:
    """Unpacks a zip or a tar, packed or not, into a folder that is not there yet.

    Only plain files and folders are unpacked; an archive with anything else, with names that lead
    outside or that some system takes for one file, is refused, as is one that unfolds to more than
    the limits. Archives inside it are unpacked too, each into a folder of its name. The folder
    appears once it is complete; what is interrupted is continued the next time.
    """
    budget = Budget(limits or Limits(), archive.stat().st_size)
    _extract(archive, folder, budget, depth=0)


def _extract(archive: Path, folder: Path, budget: Budget, depth: int) -> None:
    if folder.exists():
        raise FileExistsError(f"{folder} is there already; move it away to unpack {archive.name}")
    unpack = unpack_zip if zipfile.is_zipfile(archive) else unpack_tar
    staging = Staging(folder, archive, budget)
    try:
        for path in unpack(archive, staging):
            if path.name.lower().endswith(_ARCHIVES):
                _extract_inner(path, staging, depth + 1)
    except ArchiveError:
        staging.discard()
        raise
    staging.appear()


def _extract_inner(archive: Path, staging: Staging, depth: int) -> None:
    """Replaces an archive by a folder of its contents."""
    if depth >= _DEEPEST:
        raise ArchiveError(f"{archive.name} is an archive in an archive, {depth} deep")
    folder = staging.reserve(archive)
    if folder is not None:
        _extract(archive, folder, staging.budget, depth)
    archive.unlink()
