"""Which recordings belong to which split, where the data set's authors did not say.

The order in which recordings are dealt out comes from the SHA-256 of the seed and their names. It
is therefore the same on every machine, with every version of every library, for ever.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath

from evsurf.data.arguments import check_least
from evsurf.data.datasets.labelled import Labelled
from evsurf.data.formats.damage import FormatError


def shuffled(recordings: Sequence[Labelled], seed: int) -> list[Labelled]:
    """The recordings in an order that depends on the seed, their folders' and their own names."""
    check_least("seed", seed, 0)

    def place(recording: Labelled) -> bytes:
        name = f"{seed}/{recording.path.parent.name}/{recording.path.stem}"
        return hashlib.sha256(name.encode("utf-8", "surrogateescape")).digest()

    return sorted(recordings, key=place)


def dealt(
    recordings: Sequence[Labelled], fractions: Mapping[str, float], seed: int
) -> dict[str, tuple[Labelled, ...]]:
    """Random splits of these shares; each in the order in which the recordings were given.

    Every split but the last has its share rounded down, the last one the rest.
    """
    check_fractions(fractions)
    order = shuffled(recordings, seed)
    splits, start = {}, 0
    for number, (name, share) in enumerate(fractions.items()):
        # A share of a whole number that is a whole number may come out a little less in floats.
        count = math.floor(share * len(order) + 1e-9)
        stop = len(order) if number == len(fractions) - 1 else start + count
        chosen = set(order[start:stop])
        splits[name] = tuple(one for one in recordings if one in chosen)
        start = stop
    return splits


def dealt_by_class(
    recordings: Sequence[Labelled], fractions: Mapping[str, float], seed: int
) -> dict[str, tuple[Labelled, ...]]:
    """As `dealt`, but each class by itself, so that every split has its share of all classes."""
    check_fractions(fractions)
    splits: dict[str, tuple[Labelled, ...]] = dict.fromkeys(fractions, ())
    for target in sorted({one.target for one in recordings}):
        members = [one for one in recordings if one.target == target]
        for name, part in dealt(members, fractions, seed).items():
            splits[name] += part
    return splits


def check_fractions(fractions: Mapping[str, float]) -> None:
    """Raises unless these are shares that make up the whole."""
    values = list(fractions.values())
    if not all(0 <= value <= 1 for value in values) or abs(sum(values) - 1) > 1e-9:
        raise ValueError(f"fractions = {dict(fractions)} must be shares that sum to 1")


def listed(recordings: Sequence[Labelled], path: Path) -> tuple[Labelled, ...]:
    """The recordings that a text file names, one a line, in the file's order.

    Of each line the first word counts, up to a tab, a comma or the end, and of it the last two
    parts, class and file, whatever the suffix.
    """
    known = {(one.path.parent.name, one.path.stem): one for one in recordings}
    chosen: dict[tuple[str, str], Labelled] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        entry = line.split("\t")[0].split(",")[0].strip()
        if not entry or entry.startswith("#"):
            continue
        parts = PureWindowsPath(entry).parts if "\\" in entry else PurePosixPath(entry).parts
        if len(parts) < 2:
            raise FormatError(f"{path}, line {number}: {entry!r} is no path of a class and a file")
        key = parts[-2], PurePosixPath(parts[-1]).stem
        if key not in known:
            raise FormatError(
                f"{path}, line {number}: there is no recording {'/'.join(key)} among the "
                f"{len(known):,} that are here"
            )
        if key in chosen:
            raise FormatError(f"{path}, line {number}: {entry!r} is named a second time")
        chosen[key] = known[key]
    return tuple(chosen.values())
