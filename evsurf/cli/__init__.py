"""The command line: one verb per thing a person wants."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.metadata import version

from rich.console import Console

from evsurf.cli.bench import BENCH
from evsurf.cli.convert import CONVERT
from evsurf.cli.demo import DEMO
from evsurf.cli.doctor import DOCTOR
from evsurf.cli.info import INFO
from evsurf.cli.parser import build_parser, parse
from evsurf.cli.simulate import SIMULATE
from evsurf.cli.verb import UsageError

__all__ = ["main"]

VERBS = (DEMO, INFO, CONVERT, SIMULATE, DOCTOR, BENCH)

# What a shell reports of a program that Ctrl-C ended: 128 and the number of the signal.
_STOPPED = 130
_WRONG = 2
# What the library raises on wrong input, and torch where a device or its memory does not suffice.
_ERRORS = (ValueError, TypeError, OSError, ImportError, RuntimeError, MemoryError)


def main(words: Sequence[str] | None = None) -> int:
    """Does what the words say, those of the command line by default; returns the exit code."""
    words = sys.argv[1:] if words is None else words
    parser = build_parser(VERBS, version("evsurf"))
    verbs = {verb.name: verb for verb in VERBS}
    try:
        if not words:
            parser.print_help()
            return 0
        options = parse(parser, words)
        return verbs[options.verb].run(options[options.verb], Console())
    except SystemExit as done:
        # The parser ends so where it has printed the help or the version.
        return int(done.code or 0)
    except KeyboardInterrupt:
        sys.stderr.write("evsurf: stopped\n")
        return _STOPPED
    except _ERRORS as error:
        if "--debug" in words:
            raise
        sys.stderr.write(f"evsurf: error: {error}\n")
        if not isinstance(error, UsageError):
            sys.stderr.write("(--debug shows where it came from)\n")
        return _WRONG
