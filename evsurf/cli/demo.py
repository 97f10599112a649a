"""`evsurf demo`: a picture of a stream and of what a surface learns from it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from jsonargparse import ArgumentParser, Namespace
from rich.console import Console
from rich.markup import escape

from evsurf.cli.verb import UsageError, Verb, whole, writable

if TYPE_CHECKING:
    from evsurf.events import Events
    from evsurf.surfaces import MatrixLSTM

_STEPS = 100
# Found by trying ten: the surfaces of all can be read, those of this one at a glance.
_LEARNING_SEED = 6
_DOTS_PER_INCH = 120
_ENDINGS = (".png", ".jpg", ".pdf", ".svg")


def _add_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        type=str,
        metavar="FILE",
        default="demo.png",
        help="where the picture goes",
    )
    parser.add_argument(
        "--seed",
        type=whole(0),
        metavar="N",
        default=18,
        help="chooses the shapes and how they move",
    )


def _run(options: Namespace, console: Console) -> int:
    output = writable("--output", options.output)
    if output.suffix.lower() not in _ENDINGS:
        raise UsageError(f"--output must end in {', '.join(_ENDINGS)}, not {options.output!r}")
    from evsurf.cli.foresight import AHEAD, WINDOW, learn
    from evsurf.data.shapes import moving_shapes
    from evsurf.view import check_matplotlib, surface_picture

    check_matplotlib()
    started = time.perf_counter()
    with console.status("simulating and learning ..."), _one_thread():
        stream = moving_shapes(duration=2 * WINDOW, seed=options.seed)
        window = stream.between(WINDOW, 2 * WINDOW)
        simulated = time.perf_counter()
        lesson = learn(_STEPS, seed=_LEARNING_SEED)
    learned = time.perf_counter()
    surface_picture(lesson.surface, window).savefig(output, dpi=_DOTS_PER_INCH)
    console.print(
        f"Simulated a camera of {window.size[0]} x {window.size[1]} pixels that sees five shapes "
        f"move: {len(window):,} events in {WINDOW // 1000} ms.\n"
        f"Taught a Matrix-LSTM surface to foresee the next {AHEAD // 1000} ms: the loss fell from "
        f"{lesson.first_loss:.2f} to {lesson.last_loss:.2f} in {_STEPS} steps, "
        f"{learned - simulated:.1f} s.\n"
        f"The surface of this stream takes {_speed(lesson.surface, window)}.",
        highlight=False,
    )
    # A path is not broken, so that it can be copied.
    console.print(
        f"[bold]The picture is {escape(str(output))}[/bold] "
        f"({time.perf_counter() - started:.1f} s in all).",
        highlight=False,
        soft_wrap=True,
    )
    console.print(
        "Next: `evsurf demo --seed 9` for other shapes, `evsurf doctor` to see whether all is well "
        "here, `evsurf bench ops --fast` for the speed.",
        highlight=False,
    )
    return 0


@contextmanager
def _one_thread() -> Iterator[None]:
    """While it lasts, torch computes in one thread: for images this small more only wait."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _speed(surface: MatrixLSTM, window: Events) -> str:
    """The median of some passes, as a time and events per second."""
    import torch

    from evsurf.bench.measure import measure

    with torch.inference_mode():
        timings = measure({"surface": lambda: surface(window)}, repeats=25, seconds=0.5)
    median = timings["surface"].median
    return f"{1e3 * median:.2f} ms: {len(window) / median / 1e6:.0f} million events per second"


DEMO = Verb(
    name="demo",
    summary="Draws simulated shapes: their events, and a surface learned from them.",
    examples=("evsurf demo", "evsurf demo --seed 9 -o shapes.png"),
    add_options=_add_options,
    run=_run,
)
