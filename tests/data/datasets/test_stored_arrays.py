"""Arrays are found by their place, inside their file."""

from __future__ import annotations

import numpy as np
import pytest

from evsurf.data.datasets.stored_arrays import stored_array
from evsurf.data.formats import FormatError

h5py = pytest.importorskip("h5py")


def test_an_array_outlives_the_name_of_its_file(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["davis/left/image"] = np.arange(6).reshape(3, 2)
    array = stored_array(tmp_path / "a.h5", "davis/left/image")
    assert array.shape == (3, 2)
    assert array[1].tolist() == [2, 3]


def test_links_out_of_the_file_are_not_followed(tmp_path):
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["x"] = np.arange(3)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = h5py.ExternalLink("secret.h5", "/x")
        file.create_group("group/inner")
    for place in ("x", "y", "group/inner/z", "x/y"):
        with pytest.raises(FormatError, match=f"has no {place}. Really."):
            stored_array(tmp_path / "a.h5", place, " Really.")
    with pytest.raises(FormatError, match="is a group, not an array"):
        stored_array(tmp_path / "a.h5", "group/inner")


def test_what_is_no_hdf5_is_refused(tmp_path):
    (tmp_path / "a.h5").write_bytes(b"none of it")
    with pytest.raises(FormatError, match="HDF5 failed while opening it"):
        stored_array(tmp_path / "a.h5", "x")
