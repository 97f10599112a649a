"""What the tests of formats share."""

from __future__ import annotations

import pytest


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Registers the tests' own formats, after all others."""
    # Not at the top: the package is imported only once its annotations are being checked.
    from evsurf.data.formats.registry import formats
    from tests.data.formats.toy import BARE, FOLDER, TOY

    for one in (TOY, BARE, FOLDER):
        monkeypatch.setitem(formats(), one.name, one)
