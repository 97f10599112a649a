"""HDF5 files are not trusted: nothing outside them is read, and every failure is a FormatError."""

from __future__ import annotations

import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from evsurf.data.formats import FormatError, open_recording, read
from tests.data.formats.hdf5.files import SIZE, some_events, write_dsec


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.h5"


def replace_column(path: Path, name: str, **made) -> None:
    with h5py.File(path, "r+") as file:
        del file[f"events/{name}"]
        file.create_dataset(f"events/{name}", **made)


@pytest.mark.parametrize("module", ["h5py", "hdf5plugin"])
def test_a_missing_package_names_the_extra(path, module, monkeypatch):
    write_dsec(path, some_events())
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"pip install 'evsurf\[io\]'"):
        read(path, SIZE)


def test_values_in_another_file_are_not_read(path, tmp_path):
    (tmp_path / "secret").write_bytes(bytes(10_000))
    write_dsec(path, some_events())
    outside = [(str(tmp_path / "secret"), 0, 3000)]
    replace_column(path, "p", shape=(3000,), dtype="u1", external=outside)
    with pytest.raises(FormatError, match="other files"):
        read(path, SIZE)


def test_values_that_are_views_of_other_files_are_not_read(path):
    write_dsec(path, some_events())
    view = h5py.VirtualLayout(shape=(3000,), dtype="u1")
    view[:] = h5py.VirtualSource("other.h5", "p", shape=(3000,))
    with h5py.File(path, "r+") as file:
        del file["events/p"]
        file.create_virtual_dataset("events/p", view)
    with pytest.raises(FormatError, match="other files"):
        read(path, SIZE)


def test_an_unknown_filter_is_refused_before_it_is_looked_for(path):
    write_dsec(path, some_events())
    with h5py.File(path, "r+") as file:
        del file["events/p"]
        made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        made.set_chunk((100,))
        made.set_filter(32_100, h5py.h5z.FLAG_OPTIONAL, ())
        space = h5py.h5s.create_simple((3000,))
        h5py.h5d.create(file["events"].id, b"p", h5py.h5t.STD_U8LE, space, made)
    with pytest.raises(FormatError, match="unknown filter 32100; known are gzip"):
        read(path, SIZE)


def test_chunks_that_are_not_in_the_file_are_not_taken_for_zeros(path):
    write_dsec(path, some_events())
    replace_column(path, "p", shape=(3000,), dtype="u1", chunks=(1000,))
    with pytest.raises(FormatError, match="should have 3 chunks, and 0 are in the file"):
        read(path, SIZE)
    replace_column(path, "p", shape=(3000,), dtype="u1")
    with pytest.raises(FormatError, match="not all in the file"):
        read(path, SIZE)


def test_chunks_that_are_missing_from_a_table_are_missed_too(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("a/events", shape=(3000, 4), dtype="f8", chunks=(1000, 2))
    with pytest.raises(FormatError, match="should have 6 chunks, and 0 are in the file"):
        read(path, SIZE)


def test_chunks_as_large_as_memory_are_refused(path):
    write_dsec(path, some_events())
    replace_column(path, "p", shape=(3000,), maxshape=(None,), dtype="u1", chunks=(2**30,))
    with pytest.raises(FormatError, match="too large"):
        read(path, SIZE)


@pytest.mark.parametrize("seed", range(40))
def test_flipped_bytes_give_events_or_a_format_error(path, seed):
    write_dsec(path, some_events(300))
    raw = np.frombuffer(path.read_bytes(), np.uint8).copy()
    generator = np.random.default_rng(seed)
    raw[generator.integers(0, min(len(raw), 6000), 8)] = generator.integers(0, 256, 8)
    path.write_bytes(raw.tobytes())
    try:
        with open_recording(path, SIZE, format="hdf5") as recording:
            assert len(recording.read()) <= 300
    except FormatError:
        pass
