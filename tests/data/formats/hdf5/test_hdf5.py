"""HDF5 is known by its content."""

from __future__ import annotations

from pathlib import Path

import h5py
import pytest

from evsurf.data.formats import FormatError
from evsurf.data.formats.registry import format_of


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.anything"


@pytest.mark.parametrize("block", [0, 512, 1024])
def test_hdf5_is_known_by_its_content(path, block):
    h5py.File(path, "w", userblock_size=block).close()
    assert format_of(path).name == "hdf5"


def test_a_file_of_matlab_is_not_this_format(path):
    h5py.File(path, "w", userblock_size=512).close()
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file")
    with pytest.raises(FormatError):
        format_of(path.rename(path.with_suffix(".data")))
