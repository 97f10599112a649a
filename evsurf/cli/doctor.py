"""`evsurf doctor`: what this machine can do, and whether all is well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonargparse import ArgumentParser, Namespace
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from evsurf.cli.verb import Verb

if TYPE_CHECKING:
    from evsurf.bench.checkup import Finding

_ILL = 1
_NAME = 18
# Words as well as colours, for eyes and logs that see none.
_MARKS = {True: ("good", "green"), False: ("BAD", "bold red"), None: ("", "")}


def _add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--report", action="store_true", help="plain text to paste into an issue")


def _run(options: Namespace, console: Console) -> int:
    from evsurf.bench.checkup import check_up

    findings = []
    for finding in check_up():
        findings.append(finding)
        if not options.report:
            _show(finding, console)
    bad = [finding.name for finding in findings if finding.good is False]
    verdict = f"not well: {'; '.join(bad)}" if bad else "all is well"
    if options.report:
        lines = [f"{_MARKS[f.good][0]:5}{f.name:{_NAME}}{f.text}".rstrip() for f in findings]
        console.out("\n".join(["evsurf doctor", *lines, verdict]), highlight=False)
    else:
        console.print(f"\n[{_MARKS[not bad][1]}]{verdict}[/]", highlight=False)
    if bad and not options.report:
        console.print("Please open an issue with what `evsurf doctor --report` prints.")
    return _ILL if bad else 0


def _show(finding: Finding, console: Console) -> None:
    """One line, or more below each other where the terminal is narrow."""
    word, style = _MARKS[finding.good]
    row = Table.grid(padding=(0, 1))
    row.add_column(width=4, style=style)
    row.add_column(width=_NAME)
    row.add_column(style="red" if finding.good is False else "")
    row.add_row(word, finding.name, escape(finding.text))
    console.print(Padding(row, 0))


DOCTOR = Verb(
    name="doctor",
    summary="Tells what this machine can do, and whether results are right on it.",
    examples=("evsurf doctor", "evsurf doctor --report"),
    add_options=_add_options,
    run=_run,
)
