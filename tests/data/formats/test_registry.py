"""A format is found by content first, by suffix second, and by name."""

from __future__ import annotations

import pytest

from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.registry import format_named, format_of, format_to_write, formats
from tests.data.formats.toy import header, rows

pytestmark = pytest.mark.usefixtures("toys")


def file(folder, name: str, content: bytes):
    path = folder / name
    path.write_bytes(content)
    return path


def test_every_format_has_a_name_a_summary_and_suffixes_in_small_letters():
    for name, one in formats().items():
        assert one.name == name
        assert one.summary
        assert one.suffixes
        assert all(s.startswith(".") and s == s.lower() for s in one.suffixes)


def test_content_decides_before_the_suffix(tmp_path):
    assert format_of(file(tmp_path, "a.bare", header((2, 4)))).name == "toy"
    assert format_of(file(tmp_path, "b", header((2, 4)))).name == "toy"


def test_the_suffix_decides_where_content_says_nothing(tmp_path):
    assert format_of(file(tmp_path, "a.bare", rows((0, 0, 1, 1)))).name == "bare"
    assert format_of(file(tmp_path, "A.BARE", rows((0, 0, 1, 1)))).name == "bare"


def test_an_empty_file_goes_by_its_suffix(tmp_path):
    assert format_of(file(tmp_path, "a.bare", b"")).name == "bare"


def test_a_file_of_no_known_format_is_refused_with_its_first_bytes(tmp_path):
    with pytest.raises(FormatError, match=r"a\.xyz has no format.*starts with b'hello'.*format="):
        format_of(file(tmp_path, "a.xyz", b"hello"))
    with pytest.raises(FormatError, match="it is empty"):
        format_of(file(tmp_path, "b.xyz", b""))


def test_a_folder_may_be_a_recording(tmp_path):
    folder = tmp_path / "one"
    folder.mkdir()
    file(folder, "rows", b"")
    assert format_of(folder).name == "folder"


def test_another_folder_is_refused_whatever_its_suffix(tmp_path):
    folder = tmp_path / "two.bare"
    folder.mkdir()
    with pytest.raises(IsADirectoryError, match=r"two\.bare is a folder.*name a file in it"):
        format_of(folder)


def test_a_name_finds_its_format():
    assert format_named("toy").name == "toy"


def test_a_misspelt_name_is_refused_with_the_nearest():
    with pytest.raises(ValueError, match=r"format = 'tyo' is none of .*toy.*Did you mean 'toy'\?"):
        format_named("tyo")


def test_the_suffix_says_what_to_write(tmp_path):
    assert format_to_write(tmp_path / "new.TOY").name == "toy"
    assert format_to_write(tmp_path / "new.rows.toy").name == "toy"
    assert format_to_write(tmp_path / "new.bare").name == "bare"


@pytest.mark.parametrize("name", ["new", "new.xyz", ".toy.old", "toy"])
def test_a_name_that_says_no_format_is_refused_with_the_suffixes(tmp_path, name):
    with pytest.raises(ValueError, match=r"does not say which format.*\.bare.*\.toy"):
        format_to_write(tmp_path / name)
