"""What the tests of the command line share."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest


class Outcome(NamedTuple):
    """What a command line came to."""

    code: int
    out: str
    err: str


@pytest.fixture
def typed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Outcome]:
    """Does what the words after `evsurf` say, in a terminal of 80 columns."""
    # Not at the top: the package is imported only once its annotations are being checked.
    from evsurf.cli import main

    monkeypatch.setenv("COLUMNS", "80")
    for colours in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(colours, raising=False)

    def type_(*words: str) -> Outcome:
        capsys.readouterr()
        return Outcome(main(words), *capsys.readouterr())

    return type_


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever takes time fails the test."""

    def work(*_: object, **__: object) -> None:
        pytest.fail("work was started")

    for name in (
        "evsurf.bench.checkup.check_up",
        "evsurf.bench.ops.run",
        "evsurf.cli.foresight.learn",
        "evsurf.data.shapes.moving_shapes",
    ):
        monkeypatch.setattr(name, work)


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Registers the tests' own formats of files, after all others."""
    from tests.data.formats.toy import register

    register(monkeypatch.setitem)
