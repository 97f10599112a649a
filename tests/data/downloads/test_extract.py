"""An archive is unpacked whole and inside its folder, or refused without a trace."""

from __future__ import annotations

import gzip
import io
import os
import random
import shutil
import stat
import struct
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from evsurf.data.downloads import ArchiveError, Limits, extract, staging

FILES = {"a/one.bin": b"1" * 10, "a/two.bin": b"", "b/c/three.bin": b"3" * 5_000}

OUTSIDE = [
    "../out.bin",
    "a/../../out.bin",
    "a/b/../../../out.bin",
    "..",
    "../",
    "a/..",
    "/out.bin",
    "//out.bin",
    "/etc/out.bin",
    "..\\out.bin",
    "a\\..\\..\\out.bin",
    "\\out.bin",
    "C:\\out.bin",
    "C:/out.bin",
    "c:out.bin",
    "\\\\server\\share\\out.bin",
    "./../out.bin",
    "a/./../../out.bin",
    # Signs that a file system may turn into dots and slashes.
    "\u2025/out.bin",
    "\u2024\u2024/out.bin",
    "\uff0e\uff0e/out.bin",
    "..\uff0fout.bin",
    "a\uff0f..\uff0f..\uff0fout.bin",
    "\uff0fout.bin",
    "\uff0e\uff0e\uff0fout.bin",
    "\ufe52\ufe52/out.bin",
    "..\u2215out.bin\u202e",
]
STRANGE = [
    "a\x01b.bin",
    "a\nb.bin",
    "a\x7f.bin",
    "a\u202ebin.exe",
    "a\u200b.bin",
    "a\ufeff.bin",
    "a\ue000.bin",
    "a:stream.bin",
    "a*.bin",
    "a?.bin",
    "a|b.bin",
    'a"b.bin',
    "<a>.bin",
    "a./b.bin",
    "a /b.bin",
    "a.bin.",
    "a.bin ",
    "CON",
    "con.bin",
    "a/NUL.bin",
    "LPT1",
    "com7.txt/a.bin",
    "x" * 256,
    "\u00fc" * 128,
    "/".join(["deep" * 10] * 30),
]
CLASHES = [
    ("a.bin", "a.bin"),
    ("a.bin", "A.bin"),
    ("A/one.bin", "a/two.bin"),
    ("a/one.bin", "a"),
    ("a", "a/one.bin"),
    ("stra\u00dfe.bin", "STRASSE.bin"),
    ("\u00e9.bin", "e\u0301.bin"),
    ("\ufb01.bin", "fi.bin"),
    ("\u212a.bin", "k.bin"),
    ("a.bin", "./a.bin"),
    ("a//b.bin", "a/b.bin"),
]


def make_zip(path: Path, members: list[tuple[str, bytes]], **attributes: int) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            member = zipfile.ZipInfo("placeholder")
            # Afterwards, for the constructor tidies some names up.
            member.filename = member.orig_filename = name
            for attribute, value in attributes.items():
                setattr(member, attribute, value)
            with pytest.warns() if name in archive.NameToInfo else _quiet():
                archive.writestr(member, content, zipfile.ZIP_DEFLATED)


class _quiet:  # noqa: N801
    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...


def make_tar(path: Path, members: list[tuple[str, bytes]], form: int = tarfile.PAX_FORMAT) -> None:
    with tarfile.open(path, "w:gz", format=form) as archive:
        for name, content in members:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def make_gnu_tar(path: Path, members: list[tuple[str, bytes]]) -> None:
    make_tar(path, members, tarfile.GNU_FORMAT)


MAKERS: list[Callable[[Path, list[tuple[str, bytes]]], None]] = [make_zip, make_tar, make_gnu_tar]
each_kind = pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)


def everything(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Several folders deep, so that what escapes lands where it is seen."""
    folder = tmp_path / "one" / "two" / "three"
    folder.mkdir(parents=True)
    return folder


def assert_refused(archive: Path, place: Path, match: str | None = None, **limits: float) -> None:
    root = place.parents[2]
    before = everything(root)
    with pytest.raises(ArchiveError, match=match):
        extract(archive, place / "out", limits=Limits(**limits))
    assert everything(root) == before
    assert not (place / "out").exists()


@each_kind
def test_files_come_out_as_they_went_in(make, place):
    make(place / "archive", list(FILES.items()))
    extract(place / "archive", place / "out")
    assert everything(place / "out") == FILES
    assert {path.name for path in place.iterdir()} == {"archive", "out"}


def test_modes_and_owners_of_the_archive_are_left_behind(place):
    make_zip(place / "archive", [("a.bin", b"1")], external_attr=(stat.S_IFREG | 0o6777) << 16)
    extract(place / "archive", place / "out")
    assert (place / "out" / "a.bin").stat().st_mode & 0o7111 == 0


@each_kind
@pytest.mark.parametrize("name", OUTSIDE, ids=ascii)
def test_nothing_lands_outside(make, name, place):
    make(place / "archive", [("good.bin", b"1"), (name, b"out")])
    assert_refused(place / "archive", place)


@each_kind
@pytest.mark.parametrize("name", STRANGE, ids=lambda name: ascii(name[:12]))
def test_names_that_some_system_misreads_are_refused(make, name, place):
    make(place / "archive", [(name, b"1")])
    assert_refused(place / "archive", place, "archive has a member with")


@each_kind
@pytest.mark.parametrize("names", CLASHES, ids=ascii)
def test_two_members_for_one_file_are_refused(make, names, place):
    make(place / "archive", [(name, b"1") for name in names])
    assert_refused(place / "archive", place, "two members of the archive are one file")


def test_the_same_folder_may_come_twice(place):
    make_zip(place / "archive", [("a/", b""), ("a/", b""), ("a/b.bin", b"1")])
    extract(place / "archive", place / "out")
    assert everything(place / "out") == {"a/b.bin": b"1"}


LINKS = {
    "symlink": tarfile.SYMTYPE,
    "hardlink": tarfile.LNKTYPE,
    "character": tarfile.CHRTYPE,
    "block": tarfile.BLKTYPE,
    "pipe": tarfile.FIFOTYPE,
    "sparse": tarfile.GNUTYPE_SPARSE,
    "unknown": b"Z",
}


@pytest.mark.parametrize("kind", LINKS)
@pytest.mark.parametrize("target", ["../../out.bin", "/etc/passwd", "good.bin"])
def test_a_tar_has_only_files_and_folders(kind, target, place):
    with tarfile.open(place / "archive", "w") as archive:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = LINKS[kind], target
        archive.addfile(link)
        inside = tarfile.TarInfo("link/out.bin")
        inside.size = 3
        archive.addfile(inside, io.BytesIO(b"out"))
    assert_refused(place / "archive", place)


@pytest.mark.parametrize(
    "kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK]
)
@pytest.mark.parametrize("system", [0, 3])
def test_a_zip_has_only_files_and_folders(kind, system, place):
    attributes = {"external_attr": (kind | 0o777) << 16, "create_system": system}
    make_zip(place / "archive", [("link", b"/etc/passwd")], **attributes)
    assert_refused(place / "archive", place, "neither a file nor a folder")


@each_kind
def test_a_bomb_is_refused_before_it_goes_off(make, place):
    """Ten million zeros are a thousandth of that, packed."""
    make(place / "archive", [(f"{i}.bin", bytes(10_000_000)) for i in range(2)])
    assert (place / "archive").stat().st_size < 40_000
    assert_refused(place / "archive", place, "may be a bomb")
    extract(place / "archive", place / "out", limits=Limits(ratio=2_000.0))
    assert (place / "out" / "1.bin").stat().st_size == 10_000_000


@each_kind
def test_totals_and_numbers_of_members_are_limited(make, place):
    make(place / "archive", list(FILES.items()))
    assert_refused(place / "archive", place, "more than its limits", total=5_000)
    assert_refused(place / "archive", place, "more than 2 members", members=2)
    extract(place / "archive", place / "out", limits=Limits(total=5_010, members=3))


def test_a_bomb_in_an_archive_in_an_archive_counts_too(place):
    make_zip(place / "inner.zip", [("zeros.bin", bytes(30_000_000))])
    make_zip(place / "archive", [("inner.zip", (place / "inner.zip").read_bytes())])
    assert_refused(place / "archive", place, "may be a bomb")


def test_archives_inside_are_unpacked_into_folders_of_their_names(place):
    make_zip(place / "inner.zip", [("train/cars/a.dat", b"1")])
    make_tar(place / "inner.tgz", [("test/cars/b.dat", b"2")])
    make_zip(
        place / "archive",
        [(f"n-cars/{name}", (place / name).read_bytes()) for name in ("inner.zip",)]
        + [("n-cars/other.tar.gz", (place / "inner.tgz").read_bytes()), ("readme.txt", b"hi")],
    )
    extract(place / "archive", place / "out")
    assert everything(place / "out") == {
        "n-cars/inner/train/cars/a.dat": b"1",
        "n-cars/other/test/cars/b.dat": b"2",
        "readme.txt": b"hi",
    }


def test_archives_are_not_followed_down_for_ever(place):
    content = b"1"
    for depth in range(4):
        make_zip(place / "inner.zip", [("inner.zip" if depth else "a.bin", content)])
        content = (place / "inner.zip").read_bytes()
    assert_refused(place / "inner.zip", place, "archive in an archive")


def test_an_evil_archive_inside_a_good_one_is_refused(place):
    make_zip(place / "inner.zip", [("../../../out.bin", b"out")])
    make_zip(place / "archive", [("inner.zip", (place / "inner.zip").read_bytes())])
    assert_refused(place / "archive", place, "outside")


def test_members_that_share_bytes_are_refused(place):
    make_zip(place / "archive", [("a.bin", b"1" * 100), ("b.bin", b"2" * 100)])
    content = bytearray((place / "archive").read_bytes())
    second = content.rindex(b"PK\x01\x02")
    struct.pack_into("<L", content, second + 42, 0)
    (place / "archive").write_bytes(content)
    assert_refused(place / "archive", place, "overlap")


def test_a_member_that_is_longer_or_shorter_than_announced_is_refused(place):
    for announced in (50, 200):
        make_zip(place / "archive", [("a.bin", b"1" * 100)])
        content = bytearray((place / "archive").read_bytes())
        struct.pack_into("<L", content, content.rindex(b"PK\x01\x02") + 24, announced)
        (place / "archive").write_bytes(content)
        assert_refused(place / "archive", place)


def test_an_encrypted_member_is_refused(place):
    make_zip(place / "archive", [("a.bin", b"1")])
    content = bytearray((place / "archive").read_bytes())
    content[content.rindex(b"PK\x01\x02") + 8] |= 1
    (place / "archive").write_bytes(content)
    assert_refused(place / "archive", place, "encrypted")


def test_a_name_with_a_zero_is_refused(place):
    make_zip(place / "archive", [("a.binX/out", b"1")])
    (place / "archive").write_bytes((place / "archive").read_bytes().replace(b"binX", b"bin\0"))
    assert_refused(place / "archive", place, "zero in its name")


def test_a_header_that_claims_to_be_huge_is_not_believed(place):
    """A name of a gigabyte, which would be read whole, packed into a megabyte of zeros."""
    header = tarfile.TarInfo("././@LongLink")
    header.type, header.size = tarfile.GNUTYPE_LONGNAME, 1 << 30
    with gzip.open(place / "archive", "wb") as file:
        file.write(header.tobuf(tarfile.GNU_FORMAT))
        file.write(bytes(1 << 22))
    assert_refused(place / "archive", place, "a header of")


def test_a_tar_of_a_negative_size_is_refused(place):
    header = tarfile.TarInfo("a.bin")
    header.size = -5_000
    with gzip.open(place / "archive", "wb") as file:
        file.write(header.tobuf(tarfile.GNU_FORMAT) + bytes(10_240))
    assert_refused(place / "archive", place)


@pytest.mark.parametrize("make", [make_zip, make_tar], ids=["zip", "tar"])
def test_damaged_archives_are_refused_or_right(make, place):
    """Never a file outside, never another error, never half a folder."""
    make(place / "good", list(FILES.items()))
    good = (place / "good").read_bytes()
    generator = random.Random(3)
    for _ in range(150):
        content = bytearray(good)
        for _ in range(generator.choice([1, 1, 3])):
            content[generator.randrange(len(content))] = generator.randrange(256)
        if generator.random() < 0.2:
            del content[generator.randrange(len(content)) :]
        (place / "archive").write_bytes(content)
        try:
            extract(place / "archive", place / "out")
        except ArchiveError:
            assert not (place / "out").exists()
        else:
            shutil.rmtree(place / "out")
        assert {path.name for path in place.iterdir()} == {"archive", "good"}
    assert {path.name for path in place.parents[2].iterdir()} == {"one"}


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04", b"\x1f\x8b", b"BZh", bytes(99)])
def test_what_is_no_archive_is_refused(content, place):
    (place / "archive").write_bytes(content)
    assert_refused(place / "archive", place, "is no (zip|tar) that can be unpacked")


def test_a_folder_that_is_there_is_left_alone(place):
    make_zip(place / "archive", [("a.bin", b"1")])
    (place / "out").mkdir()
    with pytest.raises(FileExistsError, match="is there already"):
        extract(place / "archive", place / "out")
    assert not everything(place / "out")


class Interrupted(BaseException):
    """As a key or a signal may raise it."""


@each_kind
def test_an_interrupted_unpacking_is_continued(make, place, monkeypatch):
    make(place / "archive", list(FILES.items()))
    copied: list[str] = []
    copy = staging._copy_exactly

    def counting(name, *rest):
        if len(copied) == 2:
            raise Interrupted
        copy(name, *rest)
        copied.append(name)

    monkeypatch.setattr(staging, "_copy_exactly", counting)
    with pytest.raises(Interrupted):
        extract(place / "archive", place / "out")
    assert not (place / "out").exists()
    monkeypatch.setattr(staging, "_copy_exactly", copy)
    first = place / ".out.unpacking" / "a" / "one.bin"
    os.utime(first, ns=(1, 1))
    extract(place / "archive", place / "out")
    assert everything(place / "out") == FILES
    assert (place / "out" / "a" / "one.bin").stat().st_mtime_ns == 1
    assert {path.name for path in place.iterdir()} == {"archive", "out"}


KILLED = """
import sys
from pathlib import Path
from evsurf.data.downloads import extract
print("started", flush=True)
extract(Path(sys.argv[1]), Path(sys.argv[2]))
"""


@pytest.mark.slow
def test_a_process_killed_at_any_moment_leaves_all_or_nothing(place):
    """Killed a little later each time; the folder is whole once it is there."""
    members = [(f"{i % 7}/{i:04}.bin", random.Random(i).randbytes(3_000)) for i in range(2_000)]
    make_zip(place / "archive", members)
    command = [sys.executable, "-c", KILLED, str(place / "archive"), str(place / "out")]
    killed = 0
    for attempt in range(20):
        child = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(0.1 * attempt)
        child.kill()
        child.communicate()
        killed += child.returncode != 0
        if (place / "out").exists():
            break
    assert killed > 0
    assert everything(place / "out") == dict(members)


def test_what_another_archive_left_is_not_continued(place, monkeypatch):
    make_zip(place / "archive", [("a.bin", b"old"), ("b.bin", b"old")])
    (place / ".out.unpacking").mkdir()
    (place / ".out.unpacking" / "a.bin").write_bytes(b"bad")
    (place / ".out.unpacking.json").write_text("[]")
    extract(place / "archive", place / "out")
    assert everything(place / "out") == {"a.bin": b"old", "b.bin": b"old"}


def test_a_disk_too_small_is_said_before_it_is_full(place, monkeypatch):
    class Disk(NamedTuple):
        total: int = 10_000
        used: int = 9_000
        free: int = 1_000

    make_zip(place / "archive", list(FILES.items()))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Disk())
    with pytest.raises(OSError, match="has 1,000 bytes left, unpacking takes 5,010 more"):
        extract(place / "archive", place / "out")
    assert not (place / "out").exists()


def test_clutter_of_one_system_is_left_out(place):
    make_zip(place / "archive", [("a.bin", b"1"), ("__MACOSX/._a.bin", b"2"), (".DS_Store", b"3")])
    extract(place / "archive", place / "out")
    assert everything(place / "out") == {"a.bin": b"1"}
