"""Sizes are typed as height x width; warnings become notes."""

from __future__ import annotations

import io
import warnings
from argparse import ArgumentTypeError

import pytest
from rich.console import Console

from evsurf.cli.source import bar, height_width, notes, short


@pytest.mark.parametrize("text", ["480x640", "480X640", "480,640", " 480 x 640 "])
def test_a_size_is_height_and_width(text):
    assert height_width(text) == (480, 640)
    assert height_width(height_width(text)) == (480, 640)


@pytest.mark.parametrize("text", ["480", "480x", "axb", "-1x4", "4.5x4", "480x640x3", "9" * 9])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ArgumentTypeError, match=r"height x width, such as 480x640, not '"):
        height_width(text)


def test_warnings_are_printed_as_notes_and_then_are_warnings_again():
    console = Console(file=io.StringIO(), width=40)
    with notes(console):
        for _ in range(2):
            warnings.warn(f"[odd] {'word ' * 20}", UserWarning, stacklevel=1)
    expected = f"note: [odd] {'word ' * 20}\n"
    assert console.file.getvalue() == expected * 2  # type: ignore[attr-defined]
    with pytest.warns(UserWarning, match="again"):
        warnings.warn("again", UserWarning, stacklevel=1)


def test_a_bar_leaves_nothing_behind_and_takes_names_as_they_are():
    console = Console(file=io.StringIO(), width=80, force_terminal=True)
    with bar(console) as progress:
        task = progress.add_task("[/odd]", total=1.0, counted="1 event")
        progress.update(task, completed=0.5)
        progress.refresh()
    sent = console.file.getvalue()  # type: ignore[attr-defined]
    assert "[/odd]" in sent
    assert sent.endswith("\x1b[1A\x1b[2K") or sent.rstrip().endswith("\x1b[2K")


def test_long_names_keep_both_ends():
    assert short("a.raw") == "a.raw"
    name = short("first" + "x" * 90 + "last.raw")
    assert len(name) == 40
    assert name.startswith("first")
    assert name.endswith("last.raw")
