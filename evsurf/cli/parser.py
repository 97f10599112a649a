"""The words of a command line: what they may be, what they mean, and the help."""

from __future__ import annotations

import argparse
import difflib
import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import NoReturn

from jsonargparse import ArgumentParser, Namespace

from evsurf.cli.verb import UsageError, Verb

_WIDTH = 80
_INDENT = 2
_SUMMARY = "Turns streams of an event camera into learned images."
_EXAMPLES = ("evsurf demo", "evsurf doctor")
_DEBUG = "show where in the program an error came from"


class Parser(ArgumentParser):
    """A parser whose help opens with a sentence and examples, and whose errors we print."""

    summary = ""
    examples: tuple[str, ...] = ()
    verbs: tuple[Verb, ...] = ()

    def error(self, message: str, ex: Exception | None = None) -> NoReturn:
        """Raises; the caller prints."""
        raise UsageError(_plainer(message)) from ex

    def format_help(self, formatter: argparse.HelpFormatter | None = None) -> str:
        """A sentence, two examples, then every verb or option in a line or two."""
        del formatter
        lines = [self.summary, "", *(f"{'':{_INDENT}}{example}" for example in self.examples), ""]
        if self.verbs:
            lines += [
                "verbs, each with its own --help:",
                *_columns((verb.name, verb.summary) for verb in self.verbs),
                "",
            ]
        shown = [a for a in self._actions if a.help != argparse.SUPPRESS and not _is_verbs(a)]
        arguments = [a for a in shown if not a.option_strings]
        options = [a for a in shown if a.option_strings]
        if arguments:
            lines += ["arguments:", *_columns(map(_described, arguments)), ""]
        lines += ["options:", *_columns(map(_described, options))]
        return "\n".join(lines) + "\n"


def build_parser(verbs: Sequence[Verb], version: str) -> Parser:
    """The parser of the whole command; what it returns names the verb under `verb`."""
    parser = Parser(prog="evsurf", version=version, allow_abbrev=False)
    parser.summary, parser.examples, parser.verbs = _SUMMARY, _EXAMPLES, tuple(verbs)
    parser.add_argument("--debug", action="store_true", help=_DEBUG)
    below = parser.add_subcommands(dest="verb")
    for verb in verbs:
        inner = Parser(allow_abbrev=False)
        inner.summary, inner.examples = verb.summary, verb.examples
        verb.add_options(inner)
        inner.add_argument("--debug", action="store_true", help=_DEBUG)
        below.add_subcommand(verb.name, inner)
    return parser


def parse(parser: Parser, words: Sequence[str]) -> Namespace:
    """What the words mean; a word that is nearly right is named in the error."""
    _check_words(parser, words)
    return parser.parse_args(list(words))


def _check_words(parser: Parser, words: Sequence[str]) -> None:
    """Finds unknown verbs and options before the parser takes them for something else."""
    inner = {name: p for a in parser._actions if _is_verbs(a) for name, p in a.choices.items()}  # type: ignore[union-attr]
    current: argparse.ArgumentParser = parser
    for word in words:
        if word == "--":
            return
        if word.startswith("--"):
            name = word.split("=")[0]
            if name not in current._option_string_actions:
                known = [o for o in current._option_string_actions if o.startswith("--")]
                raise UsageError(f"there is no option {name}{_nearest(name, known, current)}")
        elif current is parser and not word.startswith("-"):
            if word not in inner:
                raise UsageError(f"there is no verb {word!r}{_nearest(word, inner, parser)}")
            current = inner[word]


def _nearest(word: str, known: Iterable[str], parser: argparse.ArgumentParser) -> str:
    # The dashes, which all options share, would make any two of them alike.
    bare = {name.lstrip("-"): name for name in known}
    found = difflib.get_close_matches(word.lstrip("-").lower(), bare, n=1)
    if found:
        return f"; did you mean {bare[found[0]]}?"
    return f"; `{parser.prog.replace(' [options]', '')} --help` lists them"


def _plainer(message: str) -> str:
    """The parser's message as one line about what was typed."""
    message = re.sub(r"\s+", " ", message).strip()
    if message.startswith('expected "verb"'):
        return "a verb is missing; `evsurf --help` lists them"
    if message.startswith(_MISSING):
        needed = [name.split(".") for name in message.removeprefix(_MISSING).split(", ")]
        names, verb = " and ".join(name[-1] for name in needed), needed[0][0]
        are = "is" if len(needed) == 1 else "are"
        return f"{names} {are} missing; `evsurf {verb} --help` shows how"
    for words, plainer in _PLAINER.items():
        message = re.sub(words, plainer, message)
    return message


_MISSING = "the following arguments are required: "
# What the parser says, and what we do.
_PLAINER = {
    r"^argument (?:-\w/)?([\w-]+): ": r"\1 ",
    r"expected (?:at least )?one argument$": "needs a value",
    r"^unrecognized arguments: ": "not understood: ",
    r"ignored explicit argument (.*)$": r"takes no value, not \1",
    r"invalid choice: (.*?) \(choose from (.*)\)$": r"must be one of \2, not \1",
}


def _is_verbs(action: argparse.Action) -> bool:
    return isinstance(action.choices, dict)


def _described(action: argparse.Action) -> tuple[str, str]:
    """An option as it is typed, and what it does with its default."""
    typed = ", ".join(action.option_strings)
    text = f"{(action.help or '').rstrip('.')}{_default(action)}"
    if action.nargs != 0:
        values = action.metavar or (action.choices and "|".join(map(str, action.choices)))
        typed = f"{typed} {values}{' ...' if action.nargs == '+' else ''}".strip()
    return typed, text[:1].lower() + text[1:]


def _default(action: argparse.Action) -> str:
    default = action.default
    if action.nargs == 0 or default is None or default is argparse.SUPPRESS:
        return ""
    words = " ".join(map(str, default)) if isinstance(default, list | tuple) else default
    return f" (default: {words})"


def _columns(rows: Iterable[tuple[str, str]]) -> list[str]:
    rows = list(rows)
    left = max(len(name) for name, _ in rows) + 2
    lines = []
    for name, text in rows:
        first, *more = textwrap.wrap(text, _WIDTH - _INDENT - left) or [""]
        lines.append(f"{'':{_INDENT}}{name:{left}}{first}".rstrip())
        lines += [f"{'':{_INDENT + left}}{line}" for line in more]
    return lines
