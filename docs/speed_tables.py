"""Writes the tables of measured times into build/generated, from benchmarks/results."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "build" / "generated" / "speed.md"

OURS = "evsurf"

Facts = dict[str, Any]

TIMES = "\N{MULTIPLICATION SIGN}"

NOTHING = """\
No measurements lie beside these sources. `evsurf bench ops -o benchmarks/results/here.json`
makes them, and the next build of these pages shows them.
"""


def reports(folder: Path) -> list[Facts]:
    """The reports of `evsurf bench ops` in a folder, by file name."""
    read = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    return [report for report in read if isinstance(report, dict) and is_of_ops(report)]


def is_of_ops(report: Facts) -> bool:
    """Whether these are the times of surfaces; the folder may hold others."""
    rows = report.get("results")
    known = {"variant", "channels", "pass"}
    return (
        isinstance(rows, list)
        and bool(rows)
        and all(isinstance(row, dict) and known <= row.keys() for row in rows)
        and {"machine", "input"} <= report.keys()
    )


def page_of(found: list[Facts]) -> str:
    """The tables of all reports, and what they have in common at the end."""
    if not found:
        return NOTHING
    return "\n".join([*(section(report) for report in found), losses(found)])


def section(report: Facts) -> str:
    """Everything about one report."""
    given, rows = report["input"], report["results"]
    lines = [
        f"### {given['samples']} samples of `{given['stream']}`",
        "",
        f"{given['events']:,} events on {given['size'][0]} {TIMES} {given['size'][1]} pixels; "
        f"{given['active_pixels']:,} sequences, the longest of {given['busiest_pixel']:,} events. "
        + where(report["machine"]),
        "",
    ]
    for name in unique(row["pass"] for row in rows):
        lines += [*table(name, [row for row in rows if row["pass"] == name], cell), ""]
    if any("peak_extra_bytes" in row for row in rows):
        for name in unique(row["pass"] for row in rows):
            title = f"{name}: peak memory"
            lines += [*table(title, [row for row in rows if row["pass"] == name], memory), ""]
    if any(row["samples"] not in (0, given["samples"]) for row in rows):
        lines += ["(n): on n samples, as more would need too much memory. Compared by event.", ""]
    return "\n".join(lines)


def where(machine: Facts) -> str:
    """On what a report was made."""
    return (
        f"{machine['cpu']}, {machine['threads']} threads, {machine['isa']}; "
        f"torch {machine['torch']}, evsurf {machine['evsurf']}, {str(machine['date'])[:10]}."
    )


def table(title: str, rows: list[Facts], shown: Any) -> list[str]:
    """Variants down, channels across."""
    channels = unique(row["channels"] for row in rows)
    lines = [
        f"| {title} | {' | '.join(f'{count} channels' for count in channels)} |",
        f"| --- |{' --- |' * len(channels)}",
    ]
    most = max(row["samples"] for row in rows)
    for variant in unique(row["variant"] for row in rows):
        by_channels = {row["channels"]: row for row in rows if row["variant"] == variant}
        cells = [
            shown(row) + (f" ({row['samples']})" if 0 < row["samples"] < most else "")
            for row in (by_channels[count] for count in channels if count in by_channels)
        ]
        lines.append(f"| {variant} | {' | '.join(cells)} |")
    return lines


def cell(row: Facts) -> str:
    """A median time, the spread, events per second, and how it compares."""
    if "left_out" in row:
        return f"left out: {row['left_out']}"
    median, low, high = (figure(1e3 * row[key]) for key in ("median_s", "p25_s", "p75_s"))
    # What counts comes first, and each on a line of its own.
    if row["variant"] == OURS:
        return f"**{median} ms** ({low} to {high})<br>**{millions(row)}**"
    slower = ratio(row["times_slower_than_evsurf"])
    return f"{median} ms ({low} to {high})<br>{millions(row)}; {slower}"


def figure(number: float) -> str:
    """Three digits, or all of those before the point."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def millions(row: Facts) -> str:
    """Events per second."""
    return f"{figure(row['events_per_second'] / 1e6)} M/s"


def ratio(slower: float) -> str:
    """How many times the time of ours."""
    return f"{slower:,.{1 if slower < 10 else 0}f} {TIMES}"


def memory(row: Facts) -> str:
    """Megabytes beyond what was there before the call."""
    peak = row.get("peak_extra_bytes")
    return "" if peak is None else f"{peak / 1e6:,.1f} MB"


def losses(found: list[Facts]) -> str:
    """Every row that took less time per event than ours."""
    lost = [
        f"- `{report['input']['stream']}`, {row['channels']} channels, {row['pass']}: "
        f"{row['variant']} takes {row['times_slower_than_evsurf']:.2f} of our time."
        for report in found
        for row in report["results"]
        if row.get("times_slower_than_evsurf", 1) < 1
    ]
    if not lost:
        return "### Lost comparisons\n\nNone in these tables.\n"
    return "\n".join(["### Lost comparisons", "", *lost, ""])


def unique(values: Iterable[Any]) -> list[Any]:
    """Each value once, in the order of first appearance."""
    return list(dict.fromkeys(values))


def write(_app: object = None) -> None:
    """Writes the page's tables; called before the pages are read."""
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page_of(reports(RESULTS)), encoding="utf-8")


def setup(app: Any) -> dict[str, Any]:
    """Writes before each build."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
