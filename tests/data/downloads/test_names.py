"""Whatever an archive calls its members, what is accepted stays inside and apart."""

from __future__ import annotations

import os
import unicodedata
from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evsurf.data.downloads import ArchiveError
from evsurf.data.downloads.names import Names, parts_of

# Many dots, slashes and what looks like them, so that paths come up.
signs = st.one_of(st.sampled_from("../\\ :aA\u2024\u2025\uff0e\uff0f\u2215\u0301"), st.characters())
names = st.text(signs, max_size=12)


def test_plain_names_are_taken_apart():
    assert parts_of("Train/0/00002.bin") == ("Train", "0", "00002.bin")
    assert parts_of("./a//b/./c/") == ("a", "b", "c")
    assert parts_of("./") == ()
    assert parts_of("Caf\u00e9 1 (neu)/\u65e5\u672c.bin") == (
        "Caf\u00e9 1 (neu)",
        "\u65e5\u672c.bin",
    )


@given(name=names)
def test_what_is_accepted_stays_inside_on_every_system(name):
    try:
        parts = parts_of(name)
    except ArchiveError:
        return
    for spelling in (parts, tuple(unicodedata.normalize("NFKC", part) for part in parts)):
        joined = "/".join(spelling)
        inside = os.path.normpath(f"/root/{joined}")
        assert inside == "/root" or inside.startswith("/root/")
        for kind in (PurePosixPath, PureWindowsPath):
            assert not kind(joined).is_absolute()
            assert ".." not in kind(joined).parts
            assert not kind(joined).drive
            assert kind(joined).parts == spelling


@given(chosen=st.lists(names, max_size=6))
def test_what_is_accepted_together_are_different_files_everywhere(chosen):
    seen, accepted = Names(), []
    for name in chosen:
        try:
            parts = parts_of(name)
            if parts:
                seen.add_file(parts)
                accepted.append(parts)
        except ArchiveError:
            pass
    for change in (str.casefold, lambda text: unicodedata.normalize("NFD", text)):
        assert len({change("/".join(parts)) for parts in accepted}) == len(accepted)


def test_a_folder_may_come_again_and_a_file_not():
    seen = Names()
    seen.add_file(("a", "b"))
    seen.add_folder(("a",))
    seen.add_file(("a", "c"))
    for again in (("a", "b"), ("A", "d"), ("a",), ("a", "b", "c")):
        with pytest.raises(ArchiveError, match="one file on some systems"):
            seen.add_file(again)
