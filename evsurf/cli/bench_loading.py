"""`evsurf bench loading`: how fast events come from a store."""

from __future__ import annotations

import json
from pathlib import Path

from jsonargparse import Namespace
from rich.console import Console
from rich.markup import escape
from rich.table import Table


def run_loading(options: Namespace, output: Path | None, console: Console) -> int:
    """Measures with a seed, and quickly with --fast; the other options are those of surfaces."""
    from evsurf.bench.loading import Plan, run
    from evsurf.bench.machine import is_busy

    plan = Plan(seed=options.seed)
    plan = plan.fast() if options.fast else plan
    with console.status("starting ...") as status:
        report = run(plan, lambda text: status.update(f"{text} ..."))
    given, facts = report.input, report.machine
    console.print(
        f"{given['samples']:,} samples, {given['events']:,} events, in shuffled batches of "
        f"{given['batch_size']}; windows of {given['window_events']:,} events. "
        f"{escape(str(facts['cpu']))}, {facts['cores']} cores.\n",
        highlight=False,
    )
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("")
    table.add_column("a second", justify="right", no_wrap=True)
    table.add_column("best", justify="right", no_wrap=True)
    table.add_column("a CPU second", justify="right", no_wrap=True)
    for row in report.rows:
        cpu = "" if row.cpu is None else _counted(row.amount / row.cpu)
        best = row.amount / min(row.timing.seconds)
        table.add_row(row.name, f"{_counted(row.rate)} {row.unit}", _counted(best), cpu)
    console.print(table)
    load = facts["load"]
    if isinstance(load, float) and is_busy(load):
        console.print(
            f"\n[yellow]The machine was busy (load {load:.1f}): do not quote these.[/yellow]",
            highlight=False,
        )
    if output:
        text = json.dumps(report.as_json(), indent=2)
        output.write_text(f"{text}\n", encoding="utf-8")
        console.print(f"\nThe numbers are in {escape(str(output))}", soft_wrap=True)
    return 0


def _counted(value: float) -> str:
    return f"{value / 1e6:,.0f} M" if value >= 1e7 else f"{value:,.0f}"
