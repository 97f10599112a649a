"""Names of an archive's members: which of them may become files here."""

from __future__ import annotations

import re
import unicodedata

from evsurf.data.downloads.errors import ArchiveError

_LONGEST_NAME = 255
_LONGEST_PATH = 1024
# What some system reads as more than a name: streams of files, wildcards, redirections.
_SPECIAL = set('<>:"|?*\\')
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def parts_of(name: str) -> tuple[str, ...]:
    """The folders and the file of a member's name; one that no system should see is refused.

    None are left of the archive's own root, "./".
    """
    for spelling in (name, unicodedata.normalize("NFKC", name)):
        # A sign that normalises to a dot or a slash is none yet, but may become one on some disk.
        if spelling.startswith("/") or ".." in re.split(r"[/\\]", spelling):
            raise ArchiveError(f"the archive has a member outside of it: {name!r}")
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    for part in parts:
        _check_part(part, name)
    if len(name.encode("utf-8", "surrogatepass")) > _LONGEST_PATH:
        raise ArchiveError(f"the archive has a member with too long a name: {name[:80]!r}...")
    return parts


def _check_part(part: str, name: str) -> None:
    reasons = {
        "a sign that is no part of a name": any(_is_special(sign) for sign in part),
        "a name that normalises to another path": "/" in unicodedata.normalize("NFKC", part),
        "a dot or a space at its end": part[-1] in ". ",
        "the name of a device": _DEVICES.fullmatch(part),
        "too long a name": len(part.encode("utf-8", "surrogatepass")) > _LONGEST_NAME,
    }
    for reason, holds in reasons.items():
        if holds:
            raise ArchiveError(f"the archive has a member with {reason}: {name[:80]!r}")


def _is_special(sign: str) -> bool:
    # Control signs, those that turn the direction of reading, halves of pairs, private ones.
    return sign in _SPECIAL or unicodedata.category(sign) in {"Cc", "Cf", "Cs", "Co", "Cn"}


class Names:
    """The names that an archive has used, compared as the least careful file system would."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, ...], tuple[tuple[str, ...], bool]] = {}

    def add_folder(self, parts: tuple[str, ...]) -> None:
        """A folder, which may come several times, always spelled the same."""
        for depth in range(1, len(parts) + 1):
            self._add(parts[:depth], is_file=False)

    def add_file(self, parts: tuple[str, ...]) -> None:
        """A file, which comes once."""
        self.add_folder(parts[:-1])
        self._add(parts, is_file=True)

    def _add(self, parts: tuple[str, ...], *, is_file: bool) -> None:
        key = tuple(unicodedata.normalize("NFKC", part).casefold() for part in parts)
        known = self._seen.get(key)
        if known is None:
            self._seen[key] = parts, is_file
            return
        spelling, was_file = known
        if is_file or was_file or spelling != parts:
            raise ArchiveError(
                f"two members of the archive are one file on some systems: {'/'.join(spelling)!r} "
                f"and {'/'.join(parts)!r}"
            )
