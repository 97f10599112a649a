"""`evsurf convert ... -o NAME.store`: a folder or many files as one store for training."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from jsonargparse import ArgumentParser, Namespace
from rich.console import Console
from rich.markup import escape

from evsurf.cli.source import bar, note
from evsurf.cli.verb import UsageError, whole

if TYPE_CHECKING:
    from evsurf.data.store import FileSource, Store

_SUFFIX = ".store"
_NOTES = 5


def add_store_options(parser: ArgumentParser) -> None:
    """What only a store has."""
    parser.add_argument(
        "--workers", type=whole(0, 1024), default=0, metavar="N", help="processes for a .store"
    )
    parser.add_argument("--labels", metavar="CSV", help="a .store's file names and classes")
    parser.add_argument("--skip", action="store_true", help="leave bad files out of a .store")


def is_store(output: str) -> bool:
    """Whether this is the name of a store."""
    return output.rstrip("/").endswith(_SUFFIX)


def run_store(options: Namespace, console: Console, complaints: Console) -> int:
    """Writes the store, or goes on with one that was begun."""
    from evsurf.data.store import write_store

    if options.to is not None:
        raise UsageError(f"--to is {options.to!r}, but --output is a store, which has one format")
    target = Path(options.output).expanduser()
    source = _source(options)
    started = time.perf_counter()
    with bar(complaints) as progress:
        task = progress.add_task(target.name, total=len(source), counted="")

        def show(done: int, total: int) -> None:
            counted = f"{done:,} of {total:,} samples"
            progress.update(task, total=total, completed=done, counted=counted)

        store = write_store(
            source,
            target,
            workers=options.workers,
            on_error="skip" if options.skip else "raise",
            overwrite=options.force,
            progress=show,
        )
    _tell(store, complaints)
    console.print(
        f"[bold]{escape(str(target))}[/bold]: {len(store):,} samples, "
        f"{store.num_events:,} events, {time.perf_counter() - started:.1f} s",
        highlight=False,
        soft_wrap=True,
    )
    return 0


def _source(options: Namespace) -> FileSource:
    from dataclasses import replace

    from evsurf.data.store import FileSource

    names = [Path(name).expanduser() for name in options.files]
    folders = [name for name in names if name.is_dir()]
    if folders and len(names) > 1:
        raise UsageError(
            f"a store is made of files or of one folder, not of {str(folders[0])!r} too"
        )
    if options.labels is not None and not folders:
        raise UsageError("--labels names the files of a folder: give the folder instead of files")
    for name in names:
        if not name.exists():
            raise UsageError(f"there is no {str(name)!r}")
    if folders:
        source = FileSource.of_folder(folders[0], labels=options.labels)
    else:
        source = FileSource(names)
    return replace(
        source,
        size=options.size,
        strict=options.strict,
        format=options["from"],
        stream=options.stream,
        columns=options.columns,
    )


def _tell(store: Store, complaints: Console) -> None:
    """The first of what was wrong, and how much more there is."""
    notes = store.notes
    for name, text in list(notes.items())[:_NOTES]:
        note(complaints, f"{name}: {text}")
    if len(notes) > _NOTES:
        note(complaints, f"and {len(notes) - _NOTES:,} more, in {store.path / 'index.json'}")
