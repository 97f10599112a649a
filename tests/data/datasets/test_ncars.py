"""N-Cars in its true layout, zip in zip included."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from evsurf.data.datasets import MissingDataError, NCars
from evsurf.data.datasets import ncars as module
from evsurf.data.downloads import Source
from evsurf.data.formats import DamageWarning
from tests.data.datasets.files import THREE, Event, rows, write_dat, write_npy


def write(root: Path, split: str = "n-cars_train", each: int = 2) -> Path:
    for name in ("cars", "background"):
        for i in range(each):
            write_dat(root / split / name / f"obj_{i:06}_td.dat")
    return root


@pytest.mark.parametrize(
    "folder",
    ["n-cars_train", "train", "n-cars_train/train", "Prophesee_Dataset_n_cars/n-cars_train"],
)
def test_its_folders_are_found_wherever_the_archive_puts_them(tmp_path, folder):
    data = NCars(write(tmp_path, folder))
    assert (len(data), data.classes, data.targets) == (4, ("background", "cars"), [0, 0, 1, 1])
    events, target = data[3]
    assert (rows(events), events.size, target) == (list(THREE), (100, 120), 1)


def test_train_and_test_are_kept_apart(tmp_path):
    write(tmp_path, "train", 3)
    write(tmp_path, "test", 1)
    assert (len(NCars(tmp_path)), len(NCars(tmp_path, "test"))) == (6, 2)


def test_a_share_of_train_is_for_validation(tmp_path):
    write(tmp_path, each=10)
    train, validation = (
        NCars(tmp_path, split, validation=0.2, seed=3) for split in ("train", "validation")
    )
    assert (len(train), len(validation)) == (16, 4)
    assert set(train.recordings).isdisjoint(validation.recordings)
    other = NCars(tmp_path, "validation", validation=0.2, seed=4)
    assert set(other.recordings) != set(validation.recordings)
    with pytest.raises(ValueError, match="validation must say which share"):
        NCars(tmp_path, "validation")
    with pytest.raises(ValueError, match="sum to 1"):
        NCars(tmp_path, validation=1.5)


def test_events_beyond_the_size_are_told(tmp_path):
    write_dat(tmp_path / "train" / "cars" / "a_td.dat", [Event(119, 99, 1, 1), Event(120, 9, 2, 1)])
    with pytest.warns(DamageWarning, match="out_of_bounds: 1"):
        events, _ = NCars(tmp_path)[0]
    assert rows(events) == [(119, 99, 1, 1)]
    assert len(NCars(tmp_path, size=(100, 121))[0][0]) == 2


def test_tables_of_the_authors_of_est_are_read(tmp_path):
    write_npy(tmp_path / "training" / "cars" / "a.npy")
    assert rows(NCars(tmp_path)[0][0]) == list(THREE)


def test_archives_in_the_archive_are_unpacked(tmp_path, monkeypatch):
    write(tmp_path / "made", "train")
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as file:
        for path in sorted((tmp_path / "made").rglob("*.dat")):
            file.write(path, path.relative_to(tmp_path / "made"))
    root = tmp_path / "root"
    root.mkdir()
    with zipfile.ZipFile(root / "Prophesee_Dataset_n_cars.zip", "w") as file:
        file.writestr("Prophesee_Dataset_n_cars/n-cars_train.zip", inner.getvalue())
    source = Source("Prophesee_Dataset_n_cars.zip", "https://example.org")
    monkeypatch.setattr(module, "_SOURCE", source)
    assert len(NCars(root, download=True)) == 4


def test_a_missing_set_is_to_be_fetched_by_hand(tmp_path):
    for download in (False, True):
        with pytest.raises(
            MissingDataError, match="Fetch Prophesee_Dataset_n_cars.zip from https:"
        ):
            NCars(tmp_path, download=download)


def test_a_real_recording(shared_data, tmp_path):
    real = shared_data / "tonic_samples" / "sample_ncars.dat"
    (tmp_path / "test" / "cars").mkdir(parents=True)
    (tmp_path / "test" / "cars" / real.name).write_bytes(real.read_bytes())
    events, target = NCars(tmp_path, "test")[0]
    assert (len(events), target) == (2_009, 1)
    assert (int(events.x.max()), int(events.y.max())) == (77, 41)
    assert events.duration == pytest.approx(99_950, abs=10)
