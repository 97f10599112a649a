"""Numbers and files are checked before the work for them starts."""

from __future__ import annotations

import errno
import os
from argparse import ArgumentTypeError

import pytest

from evsurf.cli.verb import UsageError, whole, writable


@pytest.mark.parametrize(("text", "number"), [("1", 1), ("007", 7), (" 9 ", 9), ("+3", 3)])
def test_whole_numbers_are_read(text, number):
    assert whole(1)(text) == number


def test_limits_are_within_them():
    read = whole(2, 4)
    assert [read(text) for text in "234"] == [2, 3, 4]
    with pytest.raises(ArgumentTypeError, match="at least 2, not '1'"):
        read("1")
    with pytest.raises(ArgumentTypeError, match="at most 4, not '5'"):
        read("5")


def test_numbers_that_torch_cannot_hold_are_refused():
    assert whole(0)(str(2**63 - 1)) == 2**63 - 1
    with pytest.raises(ArgumentTypeError, match="at most"):
        whole(0)(str(2**63))
    # Python itself reads no number as long as this.
    with pytest.raises(ArgumentTypeError, match="must be a whole number"):
        whole(0)("9" * 5000)


def test_trying_a_file_leaves_nothing_behind(tmp_path):
    path = tmp_path / "new.png"
    assert writable("--output", str(path)) == path
    assert list(tmp_path.iterdir()) == []


def test_trying_a_file_does_not_change_it(tmp_path):
    path = tmp_path / "old.png"
    path.write_bytes(b"kept")
    assert writable("--output", str(path)) == path
    assert path.read_bytes() == b"kept"


def test_trying_a_link_that_leads_nowhere_keeps_the_link(tmp_path):
    link = tmp_path / "link.png"
    link.symlink_to(tmp_path / "target.png")
    writable("--output", str(link))
    assert link.is_symlink()
    assert not (tmp_path / "target.png").exists()


def test_a_name_alone_lies_in_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    writable("--output", "new.png").write_bytes(b"")
    assert (tmp_path / "new.png").exists()


@pytest.mark.parametrize("path", ["", ".", "folder"])
def test_a_folder_is_no_file(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match=f"--output is '{path}', a folder; name a file in it"):
        writable("--output", path)


@pytest.mark.parametrize("folder", ["absent", "file"])
def test_a_folder_that_is_not_there_is_named(folder, tmp_path):
    (tmp_path / "file").touch()
    path = tmp_path / folder / "new.png"
    with pytest.raises(UsageError) as caught:
        writable("--output", str(path))
    assert str(caught.value) == (
        f"--output is {str(path)!r}, but there is no folder {str(path.parent)!r}"
    )


def test_the_reason_why_a_file_cannot_be_written_is_told(tmp_path):
    with pytest.raises(
        UsageError,
        match=f"--output is .*, which cannot be written: {os.strerror(errno.ENAMETOOLONG)}",
    ):
        writable("--output", str(tmp_path / ("a" * 300)))


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="an administrator may write anywhere"
)
def test_a_file_that_may_not_be_changed_is_refused(tmp_path):
    path = tmp_path / "old.png"
    path.touch(mode=0o400)
    with pytest.raises(UsageError, match="which cannot be written: Permission denied"):
        writable("--output", str(path))
    assert path.exists()
