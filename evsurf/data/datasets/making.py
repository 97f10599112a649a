"""Data sets that are made on this machine, and where they are kept."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_folder() -> Path:
    """Where data sets are kept that nobody gave a place."""
    return Path.home() / ".cache" / "evsurf" / "datasets"


@contextmanager
def made(folder: Path) -> Iterator[Path]:
    """An empty folder to fill, which takes its place when the block ends well.

    Whatever interrupts it leaves nothing. Where another process was faster, its folder stays.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        yield partial
        partial.chmod(0o755)
        try:
            partial.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
