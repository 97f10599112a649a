"""N-Caltech101 as EST's authors split it, and the original with a split of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from evsurf.data.datasets import MissingDataError, NCaltech101
from evsurf.data.datasets.labelled import Labelled
from evsurf.data.datasets.splits import listed
from tests.data.datasets.files import THREE, rows, write_bin, write_npy


def write_prepared(root: Path) -> Path:
    for split, counts in {
        "training": {"ant": 3, "Faces_easy": 2},
        "validation": {"ant": 1, "bass": 1},
        "testing": {"Faces_easy": 1},
    }.items():
        for name, count in counts.items():
            for i in range(count):
                write_npy(root / split / name / f"{name}_{i}.npy")
    return root


def write_original(root: Path, counts: dict[str, int]) -> Path:
    for name, count in counts.items():
        for i in range(count):
            write_bin(root / "Caltech101" / name / f"image_{i + 1:04}.bin")
            write_bin(root / "Caltech101_annotations" / name / f"annotation_{i + 1:04}.bin")
    return root


@pytest.mark.parametrize("outer", [".", "N-Caltech101"])
def test_the_split_of_the_authors_of_est(tmp_path, outer):
    """Every class is one in every split, or the numbers would differ between them."""
    write_prepared(tmp_path / outer)
    train, validation, test = (
        NCaltech101(tmp_path, split) for split in ("train", "validation", "test")
    )
    assert train.classes == validation.classes == test.classes == ("Faces_easy", "ant", "bass")
    assert [data.targets for data in (train, validation, test)] == [[0, 0, 1, 1, 1], [1, 2], [0]]
    events, target = train[0]
    assert (rows(events), events.size, target) == (list(THREE), (180, 240), 0)


def test_the_original_is_dealt_out_by_class(tmp_path):
    write_original(tmp_path, {"ant": 10, "bass": 20})
    splits = {s: NCaltech101(tmp_path, s, seed=1) for s in ("train", "validation", "test")}
    assert {name: data.targets.count(1) for name, data in splits.items()} == {
        "train": 10,
        "validation": 6,
        "test": 4,
    }
    files = [one.path for data in splits.values() for one in data.recordings]
    assert len(files) == len(set(files)) == 30
    assert not any("annotation" in str(path) for path in files)
    assert rows(splits["test"][0][0]) == list(THREE)
    other = NCaltech101(tmp_path, "test", seed=2)
    assert set(other.recordings) != set(splits["test"].recordings)


def test_lists_say_exactly_which_recordings(tmp_path):
    write_original(tmp_path / "data", {"ant": 3, "bass": 3})
    lists = tmp_path / "lists"
    lists.mkdir()
    (lists / "Caltech101_train.txt").write_text("N_Caltech101/bass/image_0002.bin\tx\n")
    (lists / "Caltech101_val.txt").write_text("N_Caltech101/ant/image_0001.bin\tx\n")
    for splits in (
        lists,
        {"train": lists / "Caltech101_train.txt", "val": lists / "Caltech101_val.txt"},
    ):
        train, validation = (
            NCaltech101(tmp_path / "data", s, splits=splits) for s in ("train", "validation")
        )
        assert [one.path.name for one in train.recordings] == ["image_0002.bin"]
        assert (train.targets, validation.targets) == ([1], [0])
        with pytest.raises(ValueError, match="lists? for 'test'"):
            NCaltech101(tmp_path / "data", "test", splits=splits)
    with pytest.raises(MissingDataError, match="must be a folder or a mapping"):
        NCaltech101(tmp_path / "data", splits=tmp_path / "none")


def test_a_split_that_is_there_already_is_not_split_anew(tmp_path):
    write_prepared(tmp_path)
    with pytest.raises(ValueError, match="splits cannot be chosen"):
        NCaltech101(tmp_path, splits=tmp_path)


def test_a_missing_set_says_what_to_do(tmp_path):
    with pytest.raises(MissingDataError, match="the folders training, validation and testing, or"):
        NCaltech101(tmp_path)


def test_real_lists_name_every_recording_once(shared_data):
    lists = shared_data / "ncaltech101_sample" / "eventbind_splits"
    names = [
        line.split("\t")[0].split("/")[1:]
        for path in sorted(lists.iterdir())
        for line in path.read_text().splitlines()
    ]
    classes = sorted({name for name, _ in names})
    assert (len(names), len(classes)) == (8_709, 101)
    recordings = [Labelled(Path(name) / file, classes.index(name)) for name, file in names]
    train, validation = (
        listed(recordings, lists / f"Caltech101_{split}.txt") for split in ("train", "val")
    )
    assert len(train) + len(validation) == 8_709
    assert set(train).isdisjoint(validation)


def test_a_real_recording(shared_data, tmp_path):
    folder = tmp_path / "Caltech101" / "Faces_easy"
    folder.mkdir(parents=True)
    real = (shared_data / "ncaltech101_sample" / "faces_easy_0001.bin").read_bytes()
    (folder / "image_0001.bin").write_bytes(real)
    (tmp_path / "mine.txt").write_text("Faces_easy/image_0001.bin")
    events, target = NCaltech101(tmp_path, splits={"train": tmp_path / "mine.txt"})[0]
    assert (len(events), target) == (67_445, 0)
    assert (int(events.x.max()), int(events.y.max())) == (150, 172)
    assert events.duration == pytest.approx(299_000, abs=1_000)
