"""`Source`: one archive of a data set on the web."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath

from evsurf.data.downloads.transport import check_https

_DIGESTS = {"sha256": 64, "md5": 32}


@dataclass(frozen=True)
class Source:
    """One archive: where it is, how the right one is known, and where a person finds it."""

    file: str
    """Name under which it is kept."""
    page: str
    """Where a person reads about it and finds the link."""
    url: str | None = None
    """Direct https address; None where a person has to fetch it, because of a form or a licence."""
    digest: str | None = None
    """Published checksum, as "sha256:..." or "md5:..."; None where nobody published one."""
    size: int | None = None
    """Bytes, where known."""
    folder: str = ""
    """Folder beside the archive into which it is unpacked; by default its name without suffix."""

    def __post_init__(self) -> None:
        for name in ("file", "folder"):
            value = getattr(self, name)
            if value in {".", ".."} or not all(
                kind(value).name == value for kind in (PurePosixPath, PureWindowsPath)
            ):
                raise ValueError(f"{name} = {value!r} must be a plain name without a path")
        if not self.file:
            raise ValueError("file must name the archive")
        if self.url is not None:
            check_https(self.url)
        if self.digest is not None:
            kind, _, hexadecimal = self.digest.partition(":")
            length = _DIGESTS.get(kind)
            if length is None or not re.fullmatch(f"[0-9a-f]{{{length}}}", hexadecimal):
                raise ValueError(
                    f"digest = {self.digest!r} must be sha256: or md5: and lower-case hexadecimals"
                )

    @property
    def unpacked(self) -> str:
        """Name of the folder with its contents."""
        return self.folder or self.file.split(".")[0]

    def by_hand(self, folder: Path) -> str:
        """What a person has to do to get it there."""
        return f"Fetch {self.file} from {self.page} and put it into {folder}"
