"""Files of MNIST are read to the byte, and those that lie about their size are refused."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest

from evsurf.data.datasets.idx import read_idx
from evsurf.data.formats.damage import FormatError

CUBE = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)


def idx(array: np.ndarray, shape=None) -> bytes:
    shape = array.shape if shape is None else shape
    return bytes([0, 0, 8, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + array.tobytes()


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("array", [CUBE, CUBE[0, 0], CUBE[:0]])
def test_what_is_in_the_file_packed_or_not(tmp_path, pack, array):
    path = tmp_path / "a.idx"
    path.write_bytes(pack(idx(array)))
    assert np.array_equal(read_idx(path), array)
    assert read_idx(path).shape == array.shape


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is no idx file"),
        (b"\x89PNG", "is no idx file"),
        (b"\0\0\x0d\x01" + bytes(8), "type 0x0d"),
        (b"\0\0\x08\x00", "0 dimensions"),
        (b"\0\0\x08\xff", "255 dimensions"),
        (b"\0\0\x08\x03" + bytes(5), "breaks off in its header"),
        (idx(CUBE, (2, 3, 5)), "shape \\(2, 3, 5\\), 30 bytes, and has 24"),
        (idx(CUBE, (2, 3, 3)), "18 bytes, and has more"),
        (idx(CUBE, (2**31, 2, 1)), "and has 24"),
        (idx(CUBE, (2**32 - 1,) * 3), "shape"),
    ],
)
def test_files_that_lie_are_refused(tmp_path, pack, content, message):
    path = tmp_path / "a.idx"
    path.write_bytes(pack(content))
    with pytest.raises(FormatError, match=message):
        read_idx(path)


def test_a_packed_file_that_breaks_off_is_refused(tmp_path):
    path = tmp_path / "a.idx.gz"
    path.write_bytes(gzip.compress(idx(CUBE))[:-12])
    with pytest.raises(FormatError, match="cannot be unpacked"):
        read_idx(path)


def test_a_bomb_does_not_go_off(tmp_path):
    path = tmp_path / "a.idx.gz"
    path.write_bytes(gzip.compress(idx(CUBE) + bytes(1 << 26)))
    with pytest.raises(FormatError, match="24 bytes, and has more"):
        read_idx(path)
