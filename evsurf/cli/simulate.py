"""`evsurf simulate`: events of a picture, a film or a world, by a simulated camera."""

from __future__ import annotations

import difflib
import zipfile
from argparse import ArgumentTypeError
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, Namespace
from rich.console import Console
from rich.markup import escape

from evsurf.cli.source import bar, height_width, short
from evsurf.cli.verb import UsageError, Verb, whole, writable

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from evsurf.data.simulator import Camera
    from evsurf.data.simulator.scene import Scene
    from evsurf.events import Events

_WORLDS = ("drive", "fly")
_PRESETS = ("clean", "default", "noisy")
_WORLD_SECONDS = 2.0
_LONGEST = 600.0


def _number(least: float, most: float) -> Any:
    """What reads an option's value: a number above the least, up to the most."""

    def read(text: str | float) -> float:
        try:
            number = float(text)
        except ValueError:
            number = least
        if not least < number <= most:
            raise ArgumentTypeError(f"must be a number above {least:g}, up to {most:g}, not {text}")
        return number

    return read


def _add_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "source", metavar="SOURCE", help="picture, film, folder of pictures, or a world: drive, fly"
    )
    add("-o", "--output", required=True, metavar="FILE", help="where events go, in any format")
    add("--preset", choices=_PRESETS, default="default", help="the camera's noise")
    add("--threshold", type=_number(0.0, 10.0), metavar="C", help="change of log light that fires")
    add("--seed", type=whole(0), metavar="N", default=0, help="chooses the world, pixels and noise")
    add(
        "--rate", type=_number(0.0, 1e5), metavar="HZ", help="pictures a second, if SOURCE hides it"
    )
    add(
        "--seconds", type=_number(0.0, _LONGEST), metavar="S", help="length, of a world (2) or film"
    )
    add("--size", type=height_width, metavar="HxW", help="sensor, of a world or a picture")
    add("--frames", metavar="FILE.npz", help="write grey frames and their times too")
    add("--flow", metavar="FILE.npz", help="write the exact flow between frames too (worlds)")
    add("--force", action="store_true", help="replace files that exist")


def _run(options: Namespace, console: Console) -> int:
    world = _is_world(options)
    _check(options, world)
    with bar(Console(stderr=True)) as progress:
        task = progress.add_task(short(Path(options.source).name), total=None, counted="")
        if world:
            events, count = _of_world(options, progress, task)
        else:
            events, count = _of_pictures(options, progress, task)
    height, width = events.size
    seconds = events.duration / 1e6
    console.print(
        f"[bold]{escape(options.output)}[/bold]: {len(events):,} events of {height}x{width}, "
        f"{seconds:.2f} s, from {count:,} pictures",
        highlight=False,
        soft_wrap=True,
    )
    for name in ("frames", "flow"):
        if options[name]:
            console.print(f"[bold]{escape(options[name])}[/bold]: {name}", highlight=False)
    return 0


def _is_world(options: Namespace) -> bool:
    """Whether the source is a world; a file of that name goes first."""
    source = Path(options.source)
    if source.exists():
        return False
    if options.source in _WORLDS:
        return True
    near = difflib.get_close_matches(options.source.lower(), _WORLDS, n=1)
    hint = f"; did you mean the world {near[0]}?" if near else ""
    raise UsageError(
        f"SOURCE is {options.source!r}, which is no file and no world ({', '.join(_WORLDS)}){hint}"
    )


def _check(options: Namespace, world: bool) -> None:
    from evsurf.data.formats.registry import format_to_write

    format_to_write(Path(options.output))
    for option in ("output", "frames", "flow"):
        path = options[option]
        if not path:
            continue
        if option != "output" and not path.endswith(".npz"):
            raise UsageError(f"--{option} is {path!r}, but must end in .npz")
        if Path(path).is_file() and not options.force:
            raise UsageError(f"{path!r} exists; --force replaces it")
        writable(f"--{option}", path)
    if options.flow and not world:
        raise UsageError("--flow needs a world: of pictures nobody knows how they moved")
    if options.rate and world:
        raise UsageError("--rate is for pictures; a world is seen as often as its motion needs")


def _camera(options: Namespace, size: tuple[int, int]) -> Camera:
    from evsurf.data.simulator import Camera

    camera = Camera.preset(options.preset, size)
    if options.threshold is None:
        return camera
    return replace(camera, on=options.threshold, off=options.threshold)


def _of_world(options: Namespace, progress: Progress, task: TaskID) -> tuple[Events, int]:
    from evsurf.data.formats import write
    from evsurf.data.simulator.filming import record
    from evsurf.data.simulator.worlds import FRAMES_A_SECOND, SIZE, WORLDS

    seconds = options.seconds or _WORLD_SECONDS
    rate = FRAMES_A_SECOND[options.source]
    times = [float(round(k * 1e6 / rate)) for k in range(int(seconds * rate) + 1)]
    if len(times) < 2:
        raise UsageError(f"--seconds is {seconds:g}, but a frame of this world takes {1 / rate:g}")
    scene = WORLDS[options.source](options.seed, seconds=seconds, size=options.size or SIZE)
    progress.update(task, total=seconds)
    seen = 0

    def tell(t: float) -> None:
        nonlocal seen
        seen += 1
        progress.update(task, completed=t / 1e6, counted=f"{seen:,} pictures")

    clip = record(scene, _camera(options, scene.lens.size), times, seed=options.seed, tell=tell)
    write(clip.events, options.output)
    if options.frames:
        _save(options.frames, frames=clip.frames.numpy(), times=_array(times))
    if options.flow:
        progress.update(task, total=len(times) - 1, completed=0)
        _save_flow(options.flow, scene, times, progress, task)
    return clip.events, seen


def _of_pictures(options: Namespace, progress: Progress, task: TaskID) -> tuple[Events, int]:
    import torch

    from evsurf.data.formats import write
    from evsurf.events import Events

    pictures = _pictures(options)
    first = next(pictures)
    sensor = _camera(options, tuple(first[1].shape)).sensor(options.seed)
    pieces, frames, times = [], [], []
    for t, picture in chain([first], pictures):
        pieces.append(sensor.see(picture, t))
        times.append(t)
        if options.frames:
            frames.append((picture * 255).round().byte())
        progress.update(task, counted=f"{len(pieces):,} pictures")
    x, y, stamps, p = (
        torch.cat([getattr(piece, name) for piece in pieces]) for name in Events.FIELDS
    )
    events = Events(x, y, stamps, p, pieces[0].size, validate=False)
    write(events, options.output)
    if options.frames:
        _save(options.frames, frames=torch.stack(frames).numpy(), times=_array(times))
    return events, len(pieces)


def _pictures(options: Namespace) -> Iterator[tuple[float, Any]]:
    """What the camera sees of a film or folder; of a single picture, what eye movements show."""
    from evsurf.data.simulator.pictures import PICTURES, film, grey, read_picture

    if Path(options.source).suffix.lower() in PICTURES and Path(options.source).is_file():
        from evsurf.data.simulator.saccades import ORIGINAL
        from evsurf.data.simulator.screen import Screen

        picture = grey(read_picture(options.source))
        yield from Screen(picture, options.size or picture.shape).film(ORIGINAL)
        return
    if options.size:
        raise UsageError("--size is for a world or a picture; a film has its own")
    for t, seen in film(options.source, rate=options.rate):
        if options.seconds and t > options.seconds * 1e6:
            return
        yield t, seen


def _array(times: list[float]) -> Any:
    import numpy as np

    return np.array(times)


def _save(path: str, **arrays: Any) -> None:
    """An .npz file that appears once it is whole."""
    import numpy as np

    partial = Path(f"{path}.partial")
    try:
        with partial.open("wb") as file:
            np.savez_compressed(file, **arrays)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _save_flow(
    path: str, scene: Scene, times: list[float], progress: Progress, task: TaskID
) -> None:
    """Flow and visibility between neighbouring frames, one in memory at a time."""
    import numpy as np

    count, (height, width) = len(times) - 1, scene.lens.size
    members = {
        "flow": (np.dtype("<f4"), (count, 2, height, width)),
        "visible": (np.dtype("|b1"), (count, height, width)),
    }
    partial = Path(f"{path}.partial")
    try:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name, (kind, shape) in members.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    header = {"descr": kind.str, "fortran_order": False, "shape": shape}
                    np.lib.format.write_array_header_1_0(member, header)
                    for k in range(count):
                        found = scene.flow(times[k], times[k + 1])
                        member.write(getattr(found, name).numpy().tobytes())
                        progress.update(task, completed=k + 1, counted=f"{name} {k + 1:,}")
            with archive.open("times.npy", "w") as member:
                np.lib.format.write_array(member, np.array(times))
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


SIMULATE = Verb(
    name="simulate",
    summary="Makes events of a picture, a film or a world, as a camera would.",
    examples=(
        "evsurf simulate drive -o drive.raw --seconds 5",
        "evsurf simulate film.mp4 -o film.h5 --preset noisy",
    ),
    add_options=_add_options,
    run=_run,
)
