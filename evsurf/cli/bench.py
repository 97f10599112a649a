"""`evsurf bench`: times beside those of the alternatives."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from jsonargparse import ArgumentParser, Namespace
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from evsurf.cli.bench_loading import run_loading
from evsurf.cli.verb import UsageError, Verb, whole, writable

if TYPE_CHECKING:
    from evsurf.bench.ops import Report, Row

_FAILED = 1
_MOST_THREADS = 1024


def _add_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "subject", nargs="?", choices=["ops", "loading"], default="ops", help="what is timed"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write the numbers as JSON")
    parser.add_argument(
        "--stream",
        default="ncars",
        metavar="NAME",
        help="ncars, ncars-heavy, mvsec-20k, mvsec-100k or megapixel",
    )
    parser.add_argument(
        "--samples", type=whole(1), default=64, metavar="N", help="samples in the batch"
    )
    parser.add_argument(
        "--hidden", type=whole(1), nargs="+", default=[3, 4, 16], metavar="N",
        help="hidden sizes: channels of the surface",
    )  # fmt: skip
    parser.add_argument(
        "--repeats",
        type=whole(1),
        default=30,
        metavar="N",
        help="passes in each of two rounds, at most",
    )
    parser.add_argument(
        "--threads",
        type=whole(1, _MOST_THREADS),
        metavar="N",
        help="threads on the CPU (default: as many as torch takes)",
    )
    parser.add_argument("--device", default="cpu", metavar="NAME", help="cpu, cuda or cuda:N")
    parser.add_argument(
        "--seed", type=whole(0), default=0, metavar="N", help="chooses the events and weights"
    )
    parser.add_argument("--memory", action="store_true", help="measure peak memory too")
    parser.add_argument(
        "--fast", action="store_true", help="a first look in seconds: 8 samples, one hidden size"
    )


def _run(options: Namespace, console: Console) -> int:
    output = writable("--output", options.output) if options.output is not None else None
    if options.subject == "loading":
        return run_loading(options, output, console)
    import torch

    from evsurf.bench.agreement import DisagreementError
    from evsurf.bench.ops import Plan, run

    threads = torch.get_num_threads()
    plan = Plan(
        stream=_stream(options.stream),
        samples=options.samples,
        channels=tuple(options.hidden),
        repeats=options.repeats,
        device=_device(options.device),
        seed=options.seed,
        memory=options.memory,
    )
    plan = plan.fast() if options.fast else plan
    try:
        if options.threads:
            torch.set_num_threads(options.threads)
        with console.status("starting ...") as status:
            report = run(plan, lambda text: status.update(f"{text} ..."))
    except DisagreementError as wrong:
        console.print(f"[red]refused[/red]: {escape(str(wrong))}", highlight=False)
        return _FAILED
    finally:
        torch.set_num_threads(threads)
    _show(report, console)
    if output:
        _write(report, output, console)
    return 0


def _stream(name: str) -> str:
    from evsurf.data.synthetic import PRESETS

    if name not in PRESETS:
        raise UsageError(f"--stream must be one of {', '.join(PRESETS)}, not {name!r}")
    return name


def _device(name: str) -> str:
    from evsurf.bench.machine import cuda_devices

    found = re.fullmatch(r"cpu|cuda(?::(?P<number>\d+))?", name)
    if not found:
        raise UsageError(f"--device must be cpu, cuda or cuda:N, not {name!r}")
    devices = cuda_devices()
    if name != "cpu" and int(found["number"] or 0) >= len(devices):
        raise UsageError(
            f"--device is {name!r}, but torch finds no such CUDA device; `evsurf doctor` tells more"
        )
    return name


def _show(report: Report, console: Console) -> None:
    facts, given = report.machine, report.input
    console.print(
        f"{given['samples']} samples of {given['stream']}: {given['events']:,} events, "
        f"{given['busiest_pixel']} in the busiest pixel. {report.plan.device}, "
        f"{escape(str(facts['cpu']))}, {facts['isa']}, {facts['threads']} threads.\n"
        "Each row is the complete way from packed events to the dense surface: the median of its "
        "times, the middle half of them, millions of events per second, and how many times slower "
        "per event it is than evsurf.\n",
        highlight=False,
    )
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("", no_wrap=True)
    titles = ["ms", "middle half", "M ev/s", "slower"] + ["peak MB"] * report.plan.memory
    for title in titles:
        table.add_column(title, justify="right", no_wrap=True)
    group = None
    for row in report.rows:
        if (row.channels, row.pass_name) != group:
            group = (row.channels, row.pass_name)
            table.add_row(f"[bold]{row.channels} channels, {row.pass_name}[/bold]")
        table.add_row(*_cells(row, report))
    console.print(table)
    for note in _notes(report):
        console.print(f"\n[yellow]{note}[/yellow]", highlight=False)


def _cells(row: Row, report: Report) -> list[str]:
    if row.timing is None:
        return [f"  {row.variant}", "left out", "too much memory"]
    low, high = row.timing.quartiles
    slower = report.times_slower(row)
    cells = [
        f"  {row.variant}" + ("" if row.samples == report.plan.samples else f" *{row.samples}"),
        _short(1e3 * row.timing.median),
        f"{_short(1e3 * low)} - {_short(1e3 * high)}",
        _short(row.events_per_second / 1e6),
        "" if row.variant == "evsurf" else f"{_short(slower)} x",
    ]
    if report.plan.memory:
        cells.append("" if row.peak_bytes is None else f"{row.peak_bytes / 1e6:,.0f}")
    return cells


def _short(value: float) -> str:
    """Three digits, or all of those before the point."""
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{digits}f}"


def _notes(report: Report) -> list[str]:
    from evsurf.bench.machine import is_busy

    notes = []
    load = report.machine["load"]
    if isinstance(load, float) and is_busy(load):
        notes.append(
            f"The machine was busy at the start (load {load:.1f}): do not quote these times."
        )
    if any(row.timing and row.samples != report.plan.samples for row in report.rows):
        notes.append("*N: on N samples, as more would need too much memory; compared by event.")
    return notes


def _write(report: Report, output: Path, console: Console) -> None:
    text = json.dumps(report.as_json(), indent=2)
    output.write_text(f"{text}\n", encoding="utf-8")
    console.print(f"\nThe numbers are in {escape(str(output))}", highlight=False, soft_wrap=True)


BENCH = Verb(
    name="bench",
    summary="Times the surface against nn.LSTM and ConvLSTM, once they agree.",
    examples=("evsurf bench ops --fast", "evsurf bench ops --hidden 3 16 -o ops.json"),
    add_options=_add_options,
    run=_run,
)
