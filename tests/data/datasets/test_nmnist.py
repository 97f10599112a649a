"""N-MNIST in the layouts in which people have it, and straight from an archive."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from evsurf.data.datasets import NMNIST, MissingDataError
from evsurf.data.datasets import nmnist as module
from evsurf.data.downloads import ChecksumError, Source
from evsurf.events import EventBatch
from tests.data.datasets.files import THREE, Event, rows, write_bin


def write(root: Path, split: str = "Train") -> Path:
    write_bin(root / split / "7" / "00002.bin")
    write_bin(root / split / "0" / "00001.bin", [Event(33, 33, 5, 0)])
    write_bin(root / split / "7" / "00001.bin", [])
    return root


def test_folders_of_digits(tmp_path):
    data = NMNIST(write(tmp_path), "train")
    assert len(data) == 3
    assert data.targets == [0, 7, 7]
    assert data.classes == tuple("0123456789")
    assert data.class_to_idx["7"] == 7
    events, target = data[2]
    assert (rows(events), target, events.size) == (list(THREE), 7, (34, 34))
    assert rows(data[0][0]) == [(33, 33, 5, 0)]
    assert len(data[1][0]) == 0


def test_a_wrapped_folder_is_found_and_the_other_split_is_not(tmp_path):
    write(tmp_path / "N-MNIST" / "nmnist_test" / "inner", "Test")
    assert len(NMNIST(tmp_path, "test")) == 3
    with pytest.raises(MissingDataError):
        NMNIST(tmp_path, "train")


def test_a_table_of_labels(tmp_path):
    write_bin(tmp_path / "test" / "60001.bin")
    (tmp_path / "test.csv").write_text("file,label\n60001.bin,7\n")
    data = NMNIST(tmp_path, "testing")
    assert (len(data), data[0][1], data.split) == (1, 7, "test")
    for line, error, message in (
        ("60002.bin,7", MissingDataError, "names 60002.bin, which is not in"),
        ("60001.bin,x", ValueError, "label 'x', which is no digit"),
        ("60001.bin", ValueError, "line 2: .* is no file and label"),
    ):
        (tmp_path / "test.csv").write_text(f"file,label\n{line}\n")
        with pytest.raises(error, match=message):
            NMNIST(tmp_path, "test")
    (tmp_path / "test.csv").write_text("60001.bin,7\n")
    with pytest.raises(ValueError, match="must start with the row file,label"):
        NMNIST(tmp_path, "test")


def test_samples_make_a_batch_and_the_printed_form_says_what_lacks(tmp_path):
    data = NMNIST(write(tmp_path))
    batch = EventBatch.pack([events for events, _ in list(data)])
    assert (len(batch), batch.size) == (3, (34, 34))
    assert not data.complete
    assert repr(data) == (
        f"NMNIST({str(tmp_path)!r}, split='train': 3 of 60,000 recordings of 10 classes, 34x34)"
    )


def test_transforms_are_applied(tmp_path):
    data = NMNIST(write(tmp_path), transform=len, target_transform=lambda digit: digit % 2)
    assert [data[i] for i in range(3)] == [(1, 0), (0, 1), (3, 1)]


@pytest.mark.usefixtures("own_errors")
def test_wrong_arguments_are_named(tmp_path):
    data = NMNIST(write(tmp_path))
    with pytest.raises(ValueError, match="split = 'all' must be one of 'train', 'test'"):
        NMNIST(tmp_path, "all")
    for index in (3, -4):
        with pytest.raises(IndexError, match=f"index {index} is outside the 3 samples"):
            data[index]
    with pytest.raises(TypeError, match="index must be an int"):
        data["0"]  # type: ignore[index]
    assert data[-1][1] == 7


def test_a_missing_set_says_what_to_do(tmp_path):
    with pytest.raises(MissingDataError) as caught:
        NMNIST(tmp_path / "nothing")
    message = str(caught.value)
    assert "needs a folder Train with a folder of .bin files for each digit" in message
    assert "which is no folder" in message
    assert "download=True fetches Train.zip from https://data.mendeley.com" in message


def archive(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("Train/7/00002.bin", bytes([1, 2, 0x80, 3, 0xE8]))


def test_an_archive_put_there_by_hand_is_unpacked(tmp_path, monkeypatch):
    archive(tmp_path / "Train.zip")
    source = Source("Train.zip", "https://example.org", folder="nmnist_train")
    monkeypatch.setitem(module._SOURCES, "train", source)
    with pytest.raises(MissingDataError, match="Train.zip is there: download=True unpacks it"):
        NMNIST(tmp_path)
    assert rows(NMNIST(tmp_path, download=True)[0][0]) == [(1, 2, 1_000, 1)]
    (tmp_path / "Train.zip").unlink()
    assert len(NMNIST(tmp_path, download=True)) == 1


def test_another_archive_of_that_name_is_refused(tmp_path):
    archive(tmp_path / "Train.zip")
    with pytest.raises(ChecksumError, match="was published"):
        NMNIST(tmp_path, download=True)
    assert not (tmp_path / "nmnist_train").exists()


def test_an_archive_with_something_else_is_told(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "Train.zip", "w") as file:
        file.writestr("readme.txt", "moved")
    source = Source("Train.zip", "https://example.org", folder="nmnist_train")
    monkeypatch.setitem(module._SOURCES, "train", source)
    with pytest.raises(MissingDataError, match="unpacked into nmnist_train .* there is no"):
        NMNIST(tmp_path, download=True)


def test_the_real_recordings(shared_data):
    train, test = (NMNIST(shared_data / "nmnist", split) for split in ("train", "test"))
    assert (len(train), len(test)) == (700, 100)
    assert train.targets[:2] == [5, 0]
    assert test.targets[:2] == [7, 2]
    events = [train[i][0] for i in range(20)]
    assert all(250_000 < one.duration < 340_000 for one in events)
    assert sum(len(one) for one in events) / 20 == pytest.approx(4_100, rel=0.15)
