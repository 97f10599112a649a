"""Making sure that a data set is there: found, or fetched and unpacked, or a helpful error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from evsurf.data.downloads import MissingDataError, Source, Transport, extract, fetch

Found = TypeVar("Found")


@dataclass(frozen=True)
class Origin:
    """Where a data set comes from and what it looks like."""

    name: str
    layout: str
    """The folders and files that are looked for."""
    sources: tuple[Source, ...] = ()
    page: str = ""
    """Where to look for it if there are no single archives."""
    note: str = ""
    """What else a person should know before fetching it."""


def provide(
    origin: Origin,
    root: Path,
    find: Callable[[], Found | None],
    download: bool | Transport,
) -> Found:
    """What `find` gives, if need be after fetching and unpacking the archives into the root."""
    found = find()
    if found is not None:
        return found
    if not download:
        raise MissingDataError(_advice(origin, root))
    if not origin.sources:
        raise MissingDataError(_advice(origin, root))
    for source in origin.sources:
        folder = root / source.unpacked
        if not folder.exists():
            if source.url is None and not (root / source.file).exists():
                raise MissingDataError(_advice(origin, root))
            transport = download if isinstance(download, Transport) else None
            extract(fetch(source, root, transport=transport), folder)
    found = find()
    if found is None:
        unpacked = ", ".join(source.unpacked for source in origin.sources)
        raise MissingDataError(
            f"{origin.name} was unpacked into {unpacked} of {root}, but there is no "
            f"{origin.layout} in there"
        )
    return found


def _advice(origin: Origin, root: Path) -> str:
    state = "which is no folder" if not root.is_dir() else "which has none of them"
    lines = [f"{origin.name} needs {origin.layout} in {root}, {state}."]
    for source in origin.sources:
        if (root / source.file).exists():
            lines.append(f"{source.file} is there: download=True unpacks it.")
        elif source.url is not None:
            lines.append(f"download=True fetches {source.file} from {source.page}.")
        else:
            lines.append(f"{source.by_hand(root)}; then download=True unpacks it.")
    if not origin.sources:
        lines.append(f"Fetch it from {origin.page}.")
    return " ".join([*lines, origin.note]).strip()
