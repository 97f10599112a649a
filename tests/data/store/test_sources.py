"""Folders and files of any formats as sources of stores."""

from __future__ import annotations

import numpy as np
import pytest

from evsurf.data.formats import write
from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.registry import formats
from evsurf.data.store import FileSource, Store, write_store
from evsurf.data.store.sources import DatasetSource
from evsurf.events import Events
from tests.data.store.lines import FORMAT

SIZE = (2, 4)
A = Events.from_arrays([3, 0, 1], [1, 1, 0], [10, 25, 25], [1, 0, 1], SIZE)
B = Events.from_arrays([2, 1], [0, 1], [5, 7], [0, 0], SIZE)


@pytest.fixture(autouse=True)
def _format_of_lines(monkeypatch):
    monkeypatch.setitem(formats(), "lines", FORMAT)


@pytest.fixture
def folder(tmp_path):
    """Two classes, an empty recording and a hidden file."""
    root = tmp_path / "train"
    (root / "car").mkdir(parents=True)
    (root / "bush").mkdir()
    write(A, root / "car" / "1.lines")
    write(B, root / "car" / "2.lines")
    write([], root / "bush" / "3.lines", size=SIZE)
    (root / "bush" / ".DS_Store").write_bytes(b"?")
    return root


def test_subfolders_are_classes(folder, tmp_path):
    store = write_store(FileSource.of_folder(folder, size=SIZE), tmp_path / "a.store")
    assert store.classes == ("bush", "car")
    assert list(store) == [(Events.empty(SIZE), 0), (A, 1), (B, 1)]
    assert store.names == ["bush/3.lines", "car/1.lines", "car/2.lines"]


def test_a_folder_is_enough(folder, tmp_path):
    store = write_store(folder, tmp_path / "a.store")
    assert [events.t.tolist() for events, _ in store] == [[], [10, 25, 25], [5, 7]]


def test_a_list_of_files_has_their_order_and_no_targets(folder, tmp_path):
    files = [folder / "car" / "2.lines", folder / "car" / "1.lines"]
    store = write_store(FileSource(files, size=SIZE), tmp_path / "a.store")
    assert list(store) == [(B, None), (A, None)]
    assert len(write_store(files, tmp_path / "b.store")) == 2
    assert len(write_store(files[0], tmp_path / "c.store")) == 1


def test_labels_come_from_a_table(folder, tmp_path):
    labels = tmp_path / "labels.csv"
    labels.write_text("file,label\nbush/3.lines,7\ncar/2.lines,5\ncar/1.lines,-1\n")
    store = write_store(FileSource.of_folder(folder, labels=labels, size=SIZE), tmp_path / "a")
    assert [target for _, target in store] == [7, -1, 5]
    assert store.classes is None
    labels.write_text("file,label\nbush/3.lines,b\ncar/2.lines,a\ncar/1.lines,a\n")
    store = write_store(FileSource.of_folder(folder, labels=labels, size=SIZE), tmp_path / "b")
    assert (store.classes, [target for _, target in store]) == (("a", "b"), [1, 0, 0])
    labels.write_text("file,label\nbush/3.lines,b\n")
    with pytest.raises(ValueError, match=r"has no line for 'car/1\.lines' \(2 of 3 files\)"):
        FileSource.of_folder(folder, labels=labels)


def test_late_events_are_put_in_order_as_read_does(tmp_path):
    (tmp_path / "late.lines").write_text("lines -\nat 10 1 0 1\nat 30 2 1 0\nat 20 3 1 1\n")
    store = write_store(FileSource([tmp_path / "late.lines"], size=SIZE), tmp_path / "a.store")
    assert store[0][0].t.tolist() == [10, 20, 30]
    assert "time_backwards" in store.notes[str(tmp_path / "late.lines")]


def test_damage_and_guesses_are_kept_as_notes(tmp_path):
    (tmp_path / "a.lines").write_text("lines -\nat 10 1 0 1\nat 30 2 1 0\n")
    store = write_store(tmp_path / "a.lines", tmp_path / "a.store")
    assert store.size == (2, 3)
    assert store.notes == {"a.lines": "the sensor's size is a guess"}


def test_a_file_that_is_none_is_named_or_left_out(folder, tmp_path):
    (folder / "car" / "0.lines").write_bytes(b"nothing of a kind")
    with pytest.raises(FormatError, match=r"sample car/0\.lines: "):
        write_store(FileSource.of_folder(folder, size=SIZE), tmp_path / "a.store")
    source = FileSource.of_folder(folder, size=SIZE)
    store = write_store(source, tmp_path / "b.store", on_error="skip")
    assert len(store) == 3
    assert store.notes["car/0.lines"].startswith("left out: ")


def test_where_nothing_can_be_read_there_is_no_store(tmp_path):
    (tmp_path / "a.lines").write_bytes(b"what is this")
    with pytest.raises(
        ValueError, match=r"no sample could be read; the first, .*a\.lines, was left"
    ):
        write_store([tmp_path / "a.lines"], tmp_path / "a.store", on_error="skip")
    assert not (tmp_path / "a.store").exists()


def test_parts_hold_so_many_files_or_bytes(folder, monkeypatch):
    from evsurf.data.store import sources

    source = FileSource.of_folder(folder)
    assert [len(part) for part in source.parts()] == [3]
    monkeypatch.setattr(sources, "_PART_FILES", 2)
    assert [part.names() for part in source.parts()] == [
        ["bush/3.lines", "car/1.lines"],
        ["car/2.lines"],
    ]
    monkeypatch.setattr(sources, "_PART_BYTES", 1)
    assert [len(part) for part in source.parts()] == [1, 1, 1]


class Halves(list):
    """A data set of one kind, with a split."""

    def __init__(self, split: str) -> None:
        super().__init__([(A, 0)])
        self.split = split


def test_data_sets_of_one_kind_are_told_apart_by_what_they_were_made_with():
    train, again, test = (DatasetSource(Halves(split)) for split in ("train", "train", "test"))
    assert train.identity() == again.identity()
    assert train.identity() != test.identity()


def test_a_folder_without_files_and_targets_of_another_number_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file in the folder"):
        FileSource.of_folder(tmp_path)
    with pytest.raises(ValueError, match="there are 2 targets for 1 files"):
        FileSource([tmp_path / "a"], [1, 2])


def test_real_recordings_become_a_store(shared_data, tmp_path):
    root = shared_data / "nmnist"
    source = FileSource.of_folder(root / "test", labels=root / "test.csv", size=(34, 34))
    store = write_store(source, tmp_path / "test.store")
    assert (len(store), store.size, store.classes) == (100, (34, 34), None)
    assert store[0][1] == 7
    assert store.name(1) == "60002.bin"
    counts = np.asarray(store.lengths)
    assert 3500 < counts.mean() < 4700
    store.verify()
    assert isinstance(store, Store)
