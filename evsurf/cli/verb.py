"""What a verb of the command line is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from jsonargparse import ArgumentParser, Namespace
from rich.console import Console


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


def writable(path: str) -> Path:
    """The path of a file that can be written, known before the work for it starts."""
    file = Path(path)
    if file.is_dir():
        raise ValueError(f"{path} is a folder; name a file in it")
    if not file.parent.is_dir():
        raise FileNotFoundError(f"the folder {file.parent} for {file.name} does not exist")
    return file
