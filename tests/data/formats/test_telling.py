"""Errors and warnings name the file, once."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from evsurf.data.formats.damage import Damage, DamageError, FormatError
from evsurf.data.formats.telling import (
    GuessedSizeWarning,
    naming,
    warn_of_damage,
    warn_of_guess,
)

FILE = Path("folder/a.raw")


def test_an_error_of_the_format_gets_the_name_of_the_file():
    with pytest.raises(FormatError) as caught, naming(Path("other")), naming(FILE):
        raise FormatError("no header", offset=1024)
    assert str(caught.value) == "a.raw: no header (at byte 1,024)"
    assert (caught.value.path, caught.value.offset) == (FILE, 1024)


def test_a_name_that_is_there_is_not_put_twice():
    with pytest.raises(FormatError, match=r"^folder/a\.raw is empty$"), naming(FILE):
        raise FormatError("folder/a.raw is empty")


def test_the_kind_of_error_stays():
    with pytest.raises(DamageError, match=r"^a\.raw: truncated") as caught, naming(FILE):
        Damage(strict=True).note("truncated", 1, 7)
    assert caught.value.violation == "truncated"


def test_other_errors_pass_as_they_are():
    with pytest.raises(ZeroDivisionError, match="^division by zero$"), naming(FILE):
        _ = 1 / 0


def test_no_damage_is_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_damage(FILE, Damage())


def test_a_guess_says_what_to_give():
    with pytest.warns(GuessedSizeWarning, match=r"^a\.raw .* 2x4 .*Give size=\(height, width\)"):
        warn_of_guess(FILE, (2, 4))
