"""`evsurf convert`: files of events in another format."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from jsonargparse import ArgumentParser, Namespace
from rich.console import Console
from rich.markup import escape

from evsurf.cli.convert_store import add_store_options, is_store, run_store
from evsurf.cli.source import add_source_options, bar, note, notes, short
from evsurf.cli.verb import UsageError, Verb, writable

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from evsurf.data.formats import Recording
    from evsurf.events import Events

# What a shell reports of a program that was asked to end: 128 and the number of the signal.
_ENDED = 143


def _add_options(parser: ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="files of events, or a folder")
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="PATH",
        help="file or .store to write, as its ending says; or a folder, with --to",
    )
    parser.add_argument("--to", metavar="FORMAT", help="format to write, if PATH does not say it")
    add_source_options(parser)
    parser.add_argument("--strict", action="store_true", help="stop at the first damage")
    parser.add_argument("--force", action="store_true", help="replace files that exist")
    add_store_options(parser)


def _run(options: Namespace, console: Console) -> int:
    complaints = Console(stderr=True)
    if is_store(options.output):
        with _ended_by_signal():
            return run_store(options, console, complaints)
    plan = _plan(options)
    with _ended_by_signal(), notes(complaints):
        for source, target in plan:
            started = time.perf_counter()
            with bar(complaints) as progress:
                events = _convert(source, target, options, progress)
            console.print(
                f"[bold]{escape(str(target))}[/bold]: {events:,} events, "
                f"{_bytes(target)}, {time.perf_counter() - started:.1f} s",
                highlight=False,
                soft_wrap=True,
            )
    return 0


def _plan(options: Namespace) -> list[tuple[str, Path]]:
    """Which file becomes which, checked before the first is read."""
    output = Path(options.output).expanduser()
    into_folder = output.is_dir() or options.output.endswith("/")
    if len(options.files) > 1 and not into_folder:
        raise UsageError(
            f"--output is {options.output!r}, but several files need a folder: end it in /"
        )
    plan = [(name, output) for name in options.files]
    if into_folder:
        ending = _ending(options.to)
        output.mkdir(exist_ok=True)
        plan = [(name, output / f"{_stem(name)}{ending}") for name in options.files]
    targets = [target for _, target in plan]
    for name, target in plan:
        _check_format(target, options.to)
        writable("--output", str(target))
        if targets.count(target) > 1:
            raise UsageError(f"several files would become {str(target)!r}")
        if target.exists() and Path(name).exists() and target.samefile(name):
            raise UsageError(f"--output is {str(target)!r}, which is the file to be read")
        if target.exists() and not options.force:
            raise UsageError(f"{str(target)!r} exists; --force replaces it")
    return plan


def _check_format(target: Path, name: str | None) -> None:
    from evsurf.data.formats.registry import format_named, format_to_write, formats

    if name is None:
        format_to_write(target)
    elif format_named(name).write is None:
        known = ", ".join(one.name for one in formats().values() if one.write)
        raise UsageError(f"--to is {name!r}, which can be read but not written; try {known}")


def _stem(name: str) -> str:
    """The name without the endings that a format has, so `a.npz` and `a.tar.gz` are both `a`."""
    from evsurf.data.formats.registry import formats

    plain = Path(name).name
    ends = sorted((s for one in formats().values() for s in one.suffixes), key=len, reverse=True)
    for end in ends:
        if plain.lower().endswith(end) and len(plain) > len(end):
            return plain[: -len(end)]
    return Path(name).stem


def _ending(name: str | None) -> str:
    from evsurf.data.formats.registry import format_named

    if name is None:
        raise UsageError("--to is needed to write into a folder: it says the format")
    return format_named(name).suffixes[0]


def _bytes(path: Path) -> str:
    from evsurf.data.formats.info import decimal

    return decimal(path.stat().st_size, "B")


def _convert(source: str, target: Path, options: Namespace, progress: Progress) -> int:
    """Writes one file, and returns how many events it has."""
    from evsurf.data.formats import open_recording, write

    task = progress.add_task(short(Path(source).name), total=None, counted="")
    with open_recording(
        source,
        options.size,
        format=options["from"],
        stream=options.stream,
        columns=options.columns,
        strict=options.strict,
    ) as recording:
        # Asked for before the writing, so that what is guessed is the size of all the chunks.
        size = recording.size
        counted = _Counted(recording, lambda text, share: _show(progress, task, text, share))
        write(counted.chunks(), target, format=options.to, size=size)
        if recording.damage:
            note(progress.console, f"{recording.path.name}: {recording.damage.explained()}")
    return counted.events


def _show(progress: Progress, task: TaskID, text: str, share: float | None) -> None:
    progress.update(task, total=None if share is None else 1.0, completed=share, counted=text)


class _Counted:
    """The chunks of a recording, counted and told of as they pass."""

    def __init__(self, recording: Recording, tell: Callable[[str, float | None], None]) -> None:
        self.recording = recording
        self.tell = tell
        self.events = 0

    def chunks(self) -> Iterator[Events]:
        for events in self.recording.chunks():
            yield events
            self.events += len(events)
            self.tell(f"{self.events:,} events", self.recording.progress)


@contextmanager
def _ended_by_signal() -> Iterator[None]:
    """Makes a polite request to end the program an exception, after which nothing is left behind.

    Ctrl-C is one by itself.
    """

    def end(*_: object) -> NoReturn:
        raise SystemExit(_ENDED)

    # Only the main thread may say what signals do.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


CONVERT = Verb(
    name="convert",
    summary="Writes files of events in another format, piece by piece.",
    examples=(
        "evsurf convert recording.raw -o recording.h5",
        "evsurf convert N-Cars/train -o train.store --workers 4",
    ),
    add_options=_add_options,
    run=_run,
)
