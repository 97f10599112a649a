"""Damage is counted by name, with its first place; strict damage raises."""

from __future__ import annotations

import pytest

from evsurf.data.formats.damage import Damage, DamageError, FormatError


def test_nothing_found_is_false_and_says_so():
    damage = Damage()
    damage.note("truncated", 0, 7)
    assert not damage
    assert str(damage) == "no damage"


def test_violations_add_up_and_keep_their_first_place():
    damage = Damage()
    damage.note("unknown_word", 2, 16)
    damage.note("unknown_word", 3, 90)
    damage.note("bad_line", 1, 1_000, place="line")
    assert damage
    assert str(damage) == ("unknown_word: 5, first at byte 16; bad_line: 1, first at line 1,000")
    damage.clear()
    assert not damage


def test_a_name_that_nobody_explained_is_refused():
    with pytest.raises(KeyError):
        Damage().note("gremlins", 1, 0)


def test_strict_damage_raises_with_its_name_and_byte():
    with pytest.raises(DamageError, match=r"truncated: .* \(at byte 1,024\)") as caught:
        Damage(strict=True).note("truncated", 1, 1024)
    assert (caught.value.violation, caught.value.offset) == ("truncated", 1024)


def test_strict_damage_in_a_line_has_no_byte():
    with pytest.raises(DamageError, match=r"bad_line: .* \(at line 3\)") as caught:
        Damage(strict=True).note("bad_line", 1, 3, place="line")
    assert caught.value.offset is None


def test_an_error_without_a_place_names_none():
    assert str(FormatError("no header")) == "no header"


def test_the_explanation_says_what_became_of_each():
    damage = Damage()
    damage.note("truncated", 3, 12)
    assert damage.explained() == (
        "truncated: 3, first at byte 12 (bytes after the last whole record, ignored)"
    )
