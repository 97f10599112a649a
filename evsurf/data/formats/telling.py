"""Telling users of files: errors and warnings that name the file and the line that asked for it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evsurf.data.formats.columns import Size
from evsurf.data.formats.damage import WHERE_SORTED, Damage, DamageWarning, FormatError


class GuessedSizeWarning(UserWarning):
    """A sensor's size was taken from the largest coordinates of the events."""


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Puts the file's name before the message of an error in its format."""
    try:
        yield
    except FormatError as error:
        if error.path is None:
            error.path = path
            message = str(error)
            if path.name not in message:
                error.args = (f"{path.name}: {message}",)
        raise


def warn_of_guess(path: Path, size: Size) -> None:
    """Says that a size comes from the events alone."""
    _warn(
        f"{path.name} does not say its sensor's size; {size[0]}x{size[1]} (height x width) is a "
        "guess from its events. Give size=(height, width).",
        GuessedSizeWarning,
    )


def warn_of_damage(path: Path, damage: Damage) -> None:
    """Says what was wrong with a file that was read whole all the same."""
    if damage:
        _warn(f"{path.name}: {damage.explained(WHERE_SORTED)}", DamageWarning)


def _warn(message: str, category: type[UserWarning]) -> None:
    """Warns of the line, outside of this package, that asked for the file."""
    depth, frame = 2, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] == "evsurf":
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, category, stacklevel=depth)
