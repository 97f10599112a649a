"""What the tests of formats share."""

from __future__ import annotations

import pytest


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Registers the tests' own formats, after all others."""
    # Not at the top: the package is imported only once its annotations are being checked.
    from tests.data.formats.toy import register

    register(monkeypatch.setitem)
