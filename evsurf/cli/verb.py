"""What a verb of the command line is."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from jsonargparse import ArgumentParser, Namespace
from rich.console import Console

# What torch can hold.
_MOST = 2**63 - 1


class UsageError(ValueError):
    """A command line that cannot be understood, or that asks for what cannot be done."""


@dataclass(frozen=True)
class Verb:
    """One thing that a person wants, as `evsurf NAME`.

    The modules of verbs load nothing heavy until `run`, so that help comes at once.
    """

    name: str
    summary: str
    """One sentence, which opens the help."""
    examples: tuple[str, str]
    """Real ones; the first is the shortest that makes sense."""
    add_options: Callable[[ArgumentParser], None]
    run: Callable[[Namespace, Console], int]
    """Does it, and returns the exit code."""


def whole(least: int, most: int = _MOST) -> Callable[[str | int], int]:
    """What reads an option's value: a whole number within these limits."""

    # The parser hands over what was typed, and defaults as they are.
    def read(text: str | int) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            raise ArgumentTypeError(f"must be a whole number, at least {least}, not {text!r}")
        if number > most:
            raise ArgumentTypeError(f"must be a whole number, at most {most}, not {text!r}")
        return number

    return read


def writable(option: str, path: str) -> Path:
    """The path of a file that can be written, tried before the work for it starts."""
    file = Path(path)
    try:
        if file.is_dir():
            raise UsageError(f"{option} is {path!r}, a folder; name a file in it")
        if not file.parent.is_dir():
            raise UsageError(f"{option} is {path!r}, but there is no folder {str(file.parent)!r}")
        is_there = file.exists()
        file.open("ab").close()
        if not is_there:
            # Through a link that led nowhere, the file it names was made.
            file.resolve().unlink()
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"{option} is {path!r}, which cannot be written: {reason}") from error
    return file
