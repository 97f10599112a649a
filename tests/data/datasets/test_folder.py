"""A folder of anybody's recordings."""

from __future__ import annotations

from pathlib import Path

import pytest

from evsurf.data.datasets import MissingDataError, RecordingFolder
from evsurf.data.formats import FormatError
from tests.data.datasets.files import THREE, rows, write_bin, write_dat


def write(root: Path) -> Path:
    write_bin(root / "wave" / "b.bin")
    write_dat(root / "clap" / "a.dat")
    write_bin(root / "wave" / "a.bin")
    (root / "wave" / ".hidden.bin").write_bytes(b"12345")
    (root / "wave" / "notes.md").write_text("none of them")
    (root / "empty").mkdir()
    return root


def test_folders_are_classes_and_formats_may_differ(tmp_path):
    data = RecordingFolder(write(tmp_path), size=(4, 6))
    assert data.classes == ("clap", "wave")
    assert [one.path.name for one in data.recordings] == ["a.dat", "a.bin", "b.bin"]
    assert [rows(events) for events, _ in list(data)] == [list(THREE)] * 3
    assert data.complete
    assert repr(data) == f"RecordingFolder({str(tmp_path)!r}: 3 recordings of 2 classes, 4x6)"


def test_classes_are_the_same_in_every_split(tmp_path):
    write(tmp_path / "train")
    write_bin(tmp_path / "test" / "wave" / "a.bin")
    write_bin(tmp_path / "test" / "nod" / "a.bin")
    train, test = (RecordingFolder(tmp_path, split, size=(4, 6)) for split in ("train", "test"))
    assert train.classes == test.classes == ("clap", "nod", "wave")
    assert test.targets == [1, 2]


def test_classes_can_be_chosen_with_their_order(tmp_path):
    data = RecordingFolder(write(tmp_path), classes=["wave", "clap", "nod"], size=(4, 6))
    assert data.targets == [0, 0, 1]
    assert data.class_to_idx == {"wave": 0, "clap": 1, "nod": 2}


def test_a_list_can_stand_for_a_split(tmp_path):
    write(tmp_path)
    (tmp_path / "train.txt").write_text("wave/b.bin\nclap/a.dat\n")
    data = RecordingFolder(tmp_path, "train", size=(4, 6))
    assert [(one.path.name, one.target) for one in data.recordings] == [("b.bin", 1), ("a.dat", 0)]


def test_a_table_can_stand_for_folders(tmp_path):
    write_bin(tmp_path / "train" / "a.bin")
    write_bin(tmp_path / "train" / "b.bin")
    (tmp_path / "train.csv").write_text("file,label\nb.bin,10\na.bin,9\n")
    (tmp_path / "test.csv").write_text("file,label\nc.bin,2\n")
    data = RecordingFolder(tmp_path, "train", size=(4, 6))
    assert data.classes == ("2", "9", "10")
    assert [(one.path.name, one.target) for one in data.recordings] == [("b.bin", 2), ("a.bin", 1)]
    with pytest.raises(MissingDataError, match="names c.bin"):
        RecordingFolder(tmp_path, "test")
    with pytest.raises(ValueError, match="'10' in train.csv is none of the classes"):
        RecordingFolder(tmp_path, "train", classes=["9"])


def test_a_format_can_be_named(tmp_path):
    write_bin(tmp_path / "wave" / "recording")
    data = RecordingFolder(tmp_path, format="atis_bin", size=(4, 6))
    assert rows(data[0][0]) == list(THREE)


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(MissingDataError, match="there is no folder"):
        RecordingFolder(tmp_path / "none")
    with pytest.raises(MissingDataError, match="no recordings in"):
        RecordingFolder(tmp_path)
    write(tmp_path)
    with pytest.raises(MissingDataError, match="no folder fit, no fit.txt and no fit.csv"):
        RecordingFolder(tmp_path, "fit")


def test_a_damaged_file_is_named_when_it_is_read(tmp_path):
    write_dat(tmp_path / "wave" / "a.dat")
    (tmp_path / "wave" / "b.h5").write_bytes(b"none")
    data = RecordingFolder(tmp_path, size=(4, 6))
    assert len(data[0][0]) == 3
    with pytest.raises(FormatError, match=r"b\.h5"):
        data[1]
