"""`evsurf info`: what files of events hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from jsonargparse import ArgumentParser, Namespace
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from evsurf.cli.source import add_source_options, bar, short
from evsurf.cli.verb import Verb

if TYPE_CHECKING:
    from evsurf.data.formats.info import Info

_BROKEN = 1
_WRONG = 2


def _add_options(parser: ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="files of events, of any format")
    parser.add_argument("--full", action="store_true", help="read all of it, and estimate nothing")
    parser.add_argument("--json", action="store_true", help="one line of JSON for each file")
    add_source_options(parser)


def _run(options: Namespace, console: Console) -> int:
    complaints = Console(stderr=True)
    found, unread = [], 0
    for name in options.files:
        try:
            one = _look(name, options, complaints)
        except (ValueError, OSError) as error:
            if len(options.files) == 1:
                raise
            complaints.print(f"evsurf: {escape(str(error))}", highlight=False, soft_wrap=True)
            unread += 1
            continue
        found.append(one)
        if options.json:
            console.out(json.dumps(one.as_json()), highlight=False)
    if found and not options.json:
        if len(options.files) == 1:
            _show(found[0], console)
        else:
            console.print(_table(found))
    return _WRONG if unread else _BROKEN if any(one.broken for one in found) else 0


def _look(name: str, options: Namespace, console: Console) -> Info:
    from evsurf.data.formats import info

    with bar(console) as progress:
        task = progress.add_task(short(Path(name).name), total=1.0, counted="")
        return info(
            name,
            options.size,
            format=options["from"],
            stream=options.stream,
            columns=options.columns,
            full=options.full,
            progress=lambda share: progress.update(task, completed=share),
        )


def _show(one: Info, console: Console) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in one.rows():
        bad = name == "damage" and text != "none found"
        table.add_row(escape(name), f"[red]{escape(text)}[/red]" if bad else escape(text))
    console.print(f"[bold]{escape(str(one.path))}[/bold]", highlight=False, soft_wrap=True)
    console.print(table)


def _table(found: list[Info]) -> Table:
    from evsurf.data.formats.info import decimal, seconds

    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("file", overflow="fold")
    table.add_column("format", no_wrap=True)
    for title in ("sensor", "events", "time", "events/s", "ON"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("damage", overflow="fold")
    for one in found:
        about = "" if one.exact else "~"
        damage = ", ".join(one.damage) or "none"
        cells = [
            one.path.name,
            one.format,
            f"{one.size[0]}x{one.size[1]}{'?' if one.size_source == 'guess' else ''}",
            "?" if one.events is None else f"{about}{one.events:,}",
            "" if one.duration is None else f"{about}{seconds(one.duration)}",
            "" if one.rate is None else decimal(one.rate, "").strip(),
            "" if one.on is None else f"{one.on:.0%}",
            f"breaks off; {damage}" if one.broken else damage,
        ]
        table.add_row(*map(escape, cells))
    return table


INFO = Verb(
    name="info",
    summary="Tells what files of events hold, in a moment: sensor, events, time, damage.",
    examples=("evsurf info recording.raw", "evsurf info *.dat --full"),
    add_options=_add_options,
    run=_run,
)
