"""Opening, reading and writing files of events, whatever their format."""

from __future__ import annotations

import difflib
import os
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

from evsurf.data.formats.columns import Size
from evsurf.data.formats.damage import Damage
from evsurf.data.formats.isolation import Limits, isolated
from evsurf.data.formats.reader import Format, Options
from evsurf.data.formats.recording import Recording
from evsurf.data.formats.registry import format_named, format_of, format_to_write
from evsurf.data.formats.telling import naming, warn_of_damage
from evsurf.events import Events
from evsurf.events.checks import check_size

# How many names of a folder are looked at for the one that was likely meant.
_NEIGHBOURS = 10_000


def open_recording(
    path: str | os.PathLike[str],
    size: Size | None = None,
    *,
    format: str | None = None,  # noqa: A002
    stream: str | None = None,
    columns: str | None = None,
    strict: bool = False,
    isolate: bool | Limits = False,
) -> Recording:
    """A file of events, opened but not loaded: for files larger than memory and for windows.

    The arguments are those of `read`.
    """
    options = Options(size, stream, columns, damage=Damage(strict))
    return _opened(path, format, options, isolate)


def read(
    path: str | os.PathLike[str],
    size: Size | None = None,
    *,
    format: str | None = None,  # noqa: A002
    stream: str | None = None,
    columns: str | None = None,
    strict: bool = False,
    isolate: bool | Limits = False,
) -> Events:
    """The events of a file, whatever its format; which one it is, its content says.

    `size` is the sensor's (height, width), for files that do not say it: without it, those get the
    smallest that holds their events, and a `GuessedSizeWarning`. `stream` chooses one of several
    streams in a file, such as "left"; `columns` says the order of columns without names, such as
    "txyp"; `format` names the format of a file whose content does not show it.

    A damaged file gives the events that can be read, sorted by time, and a `DamageWarning` that
    says what was wrong. With `strict=True` the first damage raises a `DamageError`.

    `isolate=True` reads in a process of its own, which takes a few seconds to start: for files from
    strangers in formats that other libraries read (HDF5, AEDAT4, bags). If those crash, hang or
    take too much memory, a `CrashedReaderError` says so; `Limits` instead of True says how much.
    """
    options = Options(size, stream, columns, keep_unsorted=True, damage=Damage(strict))
    with _opened(path, format, options, isolate) as recording:
        events = recording.read()
        warn_of_damage(recording.path, recording.damage)
        return events


def _opened(
    path: str | os.PathLike[str], name: str | None, options: Options, isolate: bool | Limits
) -> Recording:
    file = Path(path).expanduser()
    if options.size is not None:
        options = replace(options, size=check_size(options.size))
    file_format = None if name is None else format_named(name)
    if not file.exists():
        raise FileNotFoundError(f"there is no file {file}{_near(file)}")
    if not (file.is_file() or file.is_dir()):
        raise ValueError(f"{file} is a device or a pipe; save what comes out of it to a file first")
    with naming(file):
        if isolate:
            limits = isolate if isinstance(isolate, Limits) else Limits()
            file_format = isolated(file, options, name, limits)
        return Recording(file, file_format or format_of(file), options)


def _near(file: Path) -> str:
    """A hint at the file that was likely meant."""
    if not file.parent.is_dir():
        return f": there is no folder {file.parent}"
    names = [other.name for other in islice(file.parent.iterdir(), _NEIGHBOURS)]
    near = difflib.get_close_matches(file.name, names, n=1, cutoff=0.8)
    return f"; did you mean {near[0]}?" if near else ""


def write(
    events: Events | Recording | Iterable[Events],
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    size: Size | None = None,
) -> None:
    """Writes events to a file, in the format that its suffix or `format` names.

    The pieces of a recording, or a `Recording` itself, are written one after the other; `size` is
    needed only where there are none. The file appears once it is complete: whatever interrupts the
    writing leaves what was there before.
    """
    file = Path(path).expanduser()
    file_format = format_to_write(file) if format is None else format_named(format)
    if file_format.write is None:
        raise ValueError(f"{file_format.name} can be read, but not written")
    if isinstance(events, Recording):
        size, events = size or events.size, events.chunks()
    pieces = iter([events] if isinstance(events, Events) else events)
    first = next(pieces, None)
    if first is None and size is None:
        raise ValueError("size is needed to write no events: write([], path, size=...)")
    if first is not None and not isinstance(first, Events):
        raise TypeError(f"write takes Events, a Recording or pieces of one, got {type(first)}")
    wanted = check_size(size) if first is None or size is not None else first.size
    _write_whole(file, file_format, _checked(first, pieces, wanted), wanted)


def _checked(first: Events | None, rest: Iterable[Events], size: Size) -> Iterable[Events]:
    """The pieces, as long as they follow each other in time and agree in size."""
    if first is None:
        return
    latest = None
    for number, events in enumerate(chain([first], rest)):
        if events.size != size:
            raise ValueError(
                f"piece {number} has size {events.size}, not {size} as is to be written"
            )
        if len(events):
            if latest is not None and int(events.t[0]) < latest:
                raise ValueError(
                    f"piece {number} starts at {int(events.t[0])} us, before the one before ends "
                    f"({latest} us): pieces of one recording follow each other in time"
                )
            latest = int(events.t[-1])
            yield events.cpu()


def _write_whole(file: Path, file_format: Format, pieces: Iterable[Events], size: Size) -> None:
    """Writes beside the file and moves into place what is complete."""
    assert file_format.write is not None
    # What a link leads to is replaced, not the link.
    file = file.resolve()
    if not file.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {file.parent}")
    if file.exists() and not file.is_file():
        raise ValueError(f"{file} is a folder or device, not a file that could be replaced")
    handle, name = tempfile.mkstemp(prefix=f".{file.name}.", suffix=file.suffix, dir=file.parent)
    os.close(handle)
    partial = Path(name)
    try:
        partial.unlink()
        file_format.write(partial, pieces, size)
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)
