"""What the verbs that read files share: options that say how, and telling what was noticed."""

from __future__ import annotations

import re
import warnings
from argparse import ArgumentTypeError
from collections.abc import Iterator
from contextlib import contextmanager

from jsonargparse import ArgumentParser
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

_NAMES = 40


def add_source_options(parser: ArgumentParser) -> None:
    """The options that a file which does not explain itself needs."""
    parser.add_argument(
        "--size", type=height_width, metavar="HxW", help="height and width of the sensor"
    )
    parser.add_argument("--stream", metavar="NAME", help="which of several streams in a file")
    parser.add_argument(
        "--columns", metavar="ORDER", help="order of columns without names, such as txyp"
    )
    parser.add_argument("--from", metavar="FORMAT", help="format of the files, if they hide it")


def height_width(text: str | tuple[int, int] | list[int]) -> tuple[int, int]:
    """A sensor's size as it is typed, such as 480x640; what is none is refused."""
    if not isinstance(text, str):
        return text[0], text[1]
    found = re.fullmatch(r"(\d{1,5}) ?[xX,] ?(\d{1,5})", text.strip())
    if not found:
        raise ArgumentTypeError(f"must be height x width, such as 480x640, not {text!r}")
    return int(found[1]), int(found[2])


@contextmanager
def notes(console: Console) -> Iterator[None]:
    """Prints what is warned of as notes, without the places in the program."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *_: note(console, str(message))
        yield


def note(console: Console, text: str) -> None:
    """One line that is no result."""
    console.print(f"[yellow]note[/yellow]: {escape(text)}", highlight=False, soft_wrap=True)


def bar(console: Console) -> Progress:
    """A bar per file that leaves nothing behind."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[counted]}", markup=False),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
        # Results go to the standard output, which may be a file.
        redirect_stdout=False,
        redirect_stderr=False,
    )


def short(name: str) -> str:
    """A name that leaves space beside it."""
    return name if len(name) <= _NAMES else f"{name[: _NAMES // 2]}...{name[-_NAMES // 2 + 3 :]}"
