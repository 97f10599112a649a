"""A part of an npz is read without the rest."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest

from evsurf.data.datasets.archived_arrays import ArchivedArrays
from evsurf.data.formats import FormatError


def test_arrays_are_those_that_were_saved(tmp_path):
    one = np.random.default_rng(0).normal(size=(5, 3, 4))
    two = np.asfortranarray(one[0])
    np.savez(tmp_path / "a.npz", one=one, two=two, three=np.arange(3, dtype=">i2"))
    arrays = ArchivedArrays(tmp_path / "a.npz")
    assert np.array_equal(arrays["one"], one)
    assert np.array_equal(arrays["two"], two)
    assert arrays["three"].tolist() == [0, 1, 2]
    assert isinstance(arrays["one"], np.memmap)


def test_what_cannot_be_mapped_is_refused(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", one=np.zeros(3))
    with pytest.raises(FormatError, match=r"compressed.*numpy.savez\('new.npz'"):
        ArchivedArrays(tmp_path / "a.npz")["one"]
    np.savez(tmp_path / "a.npz", one=np.array([None]), two=np.zeros(9))
    arrays = ArchivedArrays(tmp_path / "a.npz")
    with pytest.raises(FormatError, match="and not numbers"):
        arrays["one"]
    with pytest.raises(FormatError, match="holds .'one', 'two'., and no 'three'"):
        arrays["three"]


def test_what_is_no_npz_is_refused(tmp_path):
    (tmp_path / "a.npz").write_bytes(b"PK nothing")
    with pytest.raises(FormatError, match="is no npz"):
        ArchivedArrays(tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("one.npy", b"\x93NUMPY\x07\x00")
        archive.writestr("two.npy", b"text")
    for name in ("one", "two"):
        with pytest.raises(FormatError, match=f"{name}.npy"):
            ArchivedArrays(tmp_path / "a.npz")[name]
