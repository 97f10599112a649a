"""Small repairs between the docstrings and the pages."""

from __future__ import annotations

from typing import Any

# Runs before napoleon, which has Sphinx's usual priority of 500, and after it.
_BEFORE, _AFTER = 400, 600

_Lines = list[str]


def hide_colon(_app: Any, what: str, _name: str, _thing: Any, _options: Any, lines: _Lines) -> None:
    """Of an attribute, napoleon takes what stands before a colon for its type; two it ignores."""
    if what in ("attribute", "property") and lines:
        lines[0] = lines[0].replace(": ", ":: ")


def show_colon(_app: Any, what: str, _name: str, _thing: Any, _options: Any, lines: _Lines) -> None:
    """Undoes `hide_colon`."""
    if what in ("attribute", "property") and lines:
        lines[0] = lines[0].replace(":: ", ": ")


def name_class(
    _app: Any,
    what: str,
    name: str,
    _thing: Any,
    _options: Any,
    given: str | None,
    gives: str | None,
) -> tuple[str | None, str | None]:
    """A method that gives what it belongs to gives `Events`, where it is a method of `Events`."""
    return given, name.split(".")[-2] if what == "method" and gives == "Bundle" else gives


def setup(app: Any) -> dict[str, Any]:
    """Puts the repairs in their places."""
    app.connect("autodoc-process-docstring", hide_colon, priority=_BEFORE)
    app.connect("autodoc-process-docstring", show_colon, priority=_AFTER)
    app.connect("autodoc-process-signature", name_class)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
