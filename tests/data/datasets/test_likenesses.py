"""Recordings made of the pictures of MNIST and Caltech101 are like the real ones."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from evsurf.data.datasets import ncaltech_like, nmnist_like
from evsurf.data.datasets.likenesses import fitted
from evsurf.data.formats import read
from tests.data.datasets.calibration import compared


def idx(path, array):
    header = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    path.write_bytes(header + array.astype(np.uint8).tobytes())
    return path


def test_pictures_of_mnist_become_recordings(tmp_path):
    pictures = np.zeros((3, 28, 28), np.uint8)
    pictures[:, 8:20, 10:14] = 255
    data = nmnist_like(
        idx(tmp_path / "images", pictures), idx(tmp_path / "labels", np.array([7, 0, 9]))
    )
    assert (len(data), data.size, data.targets) == (3, (34, 34), [7, 0, 9])
    events, digit = data[0]
    assert (digit, events.size, len(events) > 1000) == (7, (34, 34), True)


def test_files_that_do_not_belong_together_are_refused(tmp_path):
    images = idx(tmp_path / "images", np.zeros((3, 28, 28)))
    with pytest.raises(ValueError, match="a label for each of 3 pictures"):
        nmnist_like(images, idx(tmp_path / "labels", np.zeros(4)))
    with pytest.raises(ValueError, match="must hold pictures"):
        nmnist_like(tmp_path / "labels", tmp_path / "labels")
    with pytest.raises(ValueError, match="must hold pictures"):
        nmnist_like(idx(tmp_path / "dots", np.zeros((3, 1, 1))), tmp_path / "labels")
    with pytest.raises(ValueError, match="holds 10, which is no digit"):
        nmnist_like(images, idx(tmp_path / "labels", np.full(3, 10)))


def test_folders_of_pictures_become_recordings(tmp_path):
    imageio = pytest.importorskip("imageio.v3")
    generator = np.random.default_rng(0)
    for name, shape in (("b", (60, 90)), ("a", (90, 60, 3))):
        (tmp_path / name).mkdir()
        picture = generator.integers(0, 256, shape, dtype=np.uint8)
        imageio.imwrite(tmp_path / name / "1.png", picture)
    data = ncaltech_like(tmp_path)
    assert (data.classes, data.targets, data.size) == (("a", "b"), [0, 1], (180, 240))
    tall, wide = data[0][0], data[1][0]
    # 120 and 240 columns of the pictures, less a border of 3 on each side.
    assert (int(tall.x.max()), int(tall.y.max())) == (113, 173)
    assert (int(wide.x.max()), int(wide.y.max())) == (233, 153)
    (tmp_path / "a" / "1.png").write_bytes(b"no picture")
    with pytest.raises(ValueError, match=r"1\.png cannot be read as a picture"):
        data[0]


def test_folders_without_pictures_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        ncaltech_like(tmp_path / "none")
    with pytest.raises(FileNotFoundError, match="has no folder with pictures"):
        ncaltech_like(tmp_path)


def test_a_picture_becomes_as_large_as_fits():
    picture = np.array([[0, 1, 1, 0], [0.5, 0.5, 0, 0]], np.float32)
    assert fitted(picture, (2, 2)).shape == (2, 2)
    assert np.array_equal(fitted(picture, (4, 8)), picture.repeat(2, 0).repeat(2, 1))
    assert np.array_equal(fitted(picture, (2, 100)), picture)
    large = np.random.default_rng(0).random((90, 120), dtype=np.float32)
    blocks = large.reshape(30, 3, 40, 3).mean((1, 3))
    assert np.allclose(fitted(large, (30, 40)), blocks, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("split", "first", "count"), [("train", 1, 700), ("test", 60_001, 100)])
def test_simulated_digits_are_like_the_real_ones(shared_data, split, first, count):
    """Means over the pairs, which are all that the real recordings have in common."""
    result = compared(shared_data, split)
    assert result["pairs"] == count
    for name, (real, simulated) in result["means"].items():
        assert simulated == pytest.approx(real, rel=0.1), name
    # The same contours, at the same places, brighter and darker in the same moves.
    assert result["correlation_of_polarities"] > 0.75
    for real, simulated in result["events_per_move"]:
        assert simulated == pytest.approx(real, rel=0.1)


@pytest.mark.slow
def test_a_simulated_face_is_like_the_real_one(shared_data):
    pytest.importorskip("imageio")
    data = ncaltech_like(shared_data / "caltech101_gray240")
    assert (len(data), len(data.classes)) == (8_709, 101)
    events, _ = data[data.targets.index(data.classes.index("Faces_easy"))]
    file = shared_data / "ncaltech101_sample" / "faces_easy_0001.bin"
    real = read(file, (180, 240), format="atis_bin")
    assert len(events) == pytest.approx(len(real), rel=0.2)
    assert abs(int(events.x.max()) - int(real.x.max())) <= 2
    assert abs(int(events.y.max()) - int(real.y.max())) <= 2
