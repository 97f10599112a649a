"""A source is well formed from the start."""

from __future__ import annotations

import pytest

from evsurf.data.downloads import Source

PAGE = "https://example.org"


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/a", "a\\b", "C:\\a", "../a"])
def test_a_file_is_a_plain_name(name):
    with pytest.raises(ValueError, match="file"):
        Source(name, PAGE)


@pytest.mark.parametrize(
    "digest", ["", "sha256:", "sha256:" + "G" * 64, "md5:" + "0" * 64, "0" * 64]
)
def test_a_digest_names_its_kind_and_has_its_length(digest):
    with pytest.raises(ValueError, match="digest"):
        Source("a.zip", PAGE, digest=digest)


def test_the_contents_go_into_a_folder_of_the_archives_name():
    assert Source("a.tar.gz", PAGE).unpacked == "a"
    assert Source("a.zip", PAGE, folder="b").unpacked == "b"
