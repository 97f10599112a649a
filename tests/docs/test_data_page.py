"""The page about files names every violation, and every format."""

from __future__ import annotations

import re
from pathlib import Path

from evsurf.data.formats.damage import VIOLATIONS
from evsurf.data.formats.registry import formats

PAGE = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")


def first_cells(header: str) -> list[str]:
    """The names in the first column of the table that starts so."""
    table = PAGE[PAGE.index(header) :].split("\n\n")[0].splitlines()[2:]
    return [name for row in table for name in re.findall(r"`([^`]+)`", row.split("|")[1])]


def test_every_violation_is_explained_in_their_order():
    assert first_cells("| violation |") == list(VIOLATIONS)


def test_every_format_has_its_row():
    assert sorted(first_cells("| name |")) == sorted(formats())
