"""`evsurf convert ... -o NAME.store`."""

from __future__ import annotations

import pytest

from evsurf.data.formats import write
from evsurf.data.store import Store
from evsurf.events import Events

SIZE = (2, 4)
A = Events.from_arrays([3, 0, 1], [1, 1, 0], [10, 25, 25], [1, 0, 1], SIZE)


@pytest.fixture
def folder(tmp_path):
    for name in ("car/1.npz", "bush/2.npz", "bush/3.npz"):
        file = tmp_path / "train" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        write(A, file)
    return tmp_path / "train"


def test_a_folder_becomes_a_store(typed, folder, tmp_path):
    code, out, err = typed("convert", str(folder), "-o", str(tmp_path / "a.store"))
    assert (code, err) == (0, "")
    assert out.startswith(f"{tmp_path / 'a.store'}: 3 samples, 9 events, ")
    store = Store(tmp_path / "a.store")
    assert list(store) == [(A, 0), (A, 0), (A, 1)]
    assert store.classes == ("bush", "car")


def test_files_become_a_store_with_the_size_that_was_said(typed, folder, tmp_path):
    file = str(folder / "car" / "1.npz")
    code, _, _ = typed("convert", file, file, "-o", str(tmp_path / "a.store"), "--size", "9x9")
    assert code == 0
    assert Store(tmp_path / "a.store").size == (9, 9)
    assert len(Store(tmp_path / "a.store")) == 2


def test_labels_come_from_a_table(typed, folder, tmp_path):
    labels = tmp_path / "labels.csv"
    labels.write_text("file,label\ncar/1.npz,3\nbush/2.npz,5\nbush/3.npz,4\n")
    output = str(tmp_path / "a.store")
    code, _, _ = typed("convert", str(folder), "-o", output, "--labels", str(labels))
    assert code == 0
    assert [target for _, target in Store(output)] == [5, 4, 3]


def test_bad_files_stop_it_or_are_left_out_with_a_note(typed, folder, tmp_path):
    (folder / "car" / "4.npz").write_bytes(b"PK\3\4, and nothing of a kind")
    output = str(tmp_path / "a.store")
    code, _, err = typed("convert", str(folder), "-o", output)
    assert code != 0
    assert "car/4.npz" in err
    code, _, err = typed("convert", str(folder), "-o", str(tmp_path / "b.store"), "--skip")
    assert code == 0
    assert "note: car/4.npz: left out: " in err
    assert len(Store(tmp_path / "b.store")) == 3


def test_a_store_that_is_there_is_replaced_only_with_force(typed, folder, tmp_path):
    command = ["convert", str(folder), "-o", str(tmp_path / "a.store")]
    assert typed(*command)[0] == 0
    code, _, err = typed(*command)
    assert code != 0
    assert "is there already" in err
    assert typed(*command, "--force")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{folder}", "{folder}"], "made of files or of one folder"),
        (["{folder}", "--to", "npz"], "--output is a store, which has one format"),
        (["{folder}/car/1.npz", "--labels", "a.csv"], "give the folder instead of files"),
        (["{folder}/no.npz"], "there is no "),
        (["{folder}", "--workers", "-1"], "at least 0"),
    ],
)
def test_wrong_command_lines_are_refused(typed, folder, tmp_path, arguments, message):
    filled = [one.format(folder=folder) for one in arguments]
    code, _, err = typed("convert", *filled, "-o", str(tmp_path / "a.store"))
    assert code == 2
    assert message in " ".join(err.split())
