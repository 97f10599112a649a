"""PNG files are read to the last bit, and broken ones refused."""

from __future__ import annotations

import random
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evsurf.data.datasets.png import read_png
from evsurf.data.formats import FormatError
from tests.data.datasets.pngs import chunk, png


def test_a_small_picture_by_hand(tmp_path):
    """Two rows of two pixels, the second one as the difference to the one above."""
    header = b"\0\0\0\2\0\0\0\2\x08\0\0\0\0"
    lines = b"\0\x05\x07" + b"\2\x01\xff"
    content = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
    content += chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
    (tmp_path / "a.png").write_bytes(content)
    assert read_png(tmp_path / "a.png").tolist() == [[[5], [7]], [[6], [6]]]


@given(
    height=st.integers(1, 6),
    width=st.integers(1, 6),
    channels=st.integers(1, 4),
    depth=st.sampled_from([np.uint8, np.uint16]),
    methods=st.lists(st.integers(0, 4), min_size=1, max_size=6),
    seed=st.integers(0, 2**32 - 1),
)
def test_every_filter_depth_and_colour_comes_back(
    tmp_path_factory, height, width, channels, depth, methods, seed
):
    generator = np.random.default_rng(seed)
    top = np.iinfo(depth).max
    picture = generator.integers(0, top, (height, width, channels), depth, endpoint=True)
    path = tmp_path_factory.getbasetemp() / "picture.png"
    path.write_bytes(png(picture, methods))
    read = read_png(path)
    assert read.dtype == depth
    assert np.array_equal(read, picture)


def test_pictures_of_another_writer_are_read(tmp_path):
    """Of 8 bits, which is what it writes."""
    matplotlib_image = pytest.importorskip("matplotlib.image")
    picture = np.random.default_rng(1).integers(0, 256, (37, 23, 4), np.uint8)
    matplotlib_image.imsave(tmp_path / "a.png", picture)
    assert np.array_equal(read_png(tmp_path / "a.png"), picture)


def test_damaged_pictures_are_refused_or_right(tmp_path):
    picture = np.arange(60, dtype=np.uint16).reshape(4, 5, 3) * 999
    good, path = png(picture, [4, 3, 2, 1]), tmp_path / "a.png"
    generator = random.Random(1)
    for attempt in range(500):
        content = bytearray(good)
        content[generator.randrange(len(content))] ^= 1 << generator.randrange(8)
        path.write_bytes(
            content[: generator.randrange(len(content))] if attempt % 5 == 0 else content
        )
        try:
            assert np.array_equal(read_png(path), picture)
        except FormatError as error:
            assert str(path) in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"\0\0\0\2\0\0\0\2\x04\0\0\0\0", "only 8 or 16 bits"),
        (b"\0\0\0\2\0\0\0\2\x08\3\0\0\0", "colour type 3"),
        (b"\0\0\0\2\0\0\0\2\x08\0\0\0\1", "interlace 1"),
        (b"\0\0\0\0\0\0\0\2\x08\0\0\0\0", "0 times 2 pixels"),
        (b"\xff\xff\xff\xff\xff\xff\xff\xff\x08\0\0\0\0", "4294967295 times"),
        (b"\0\0\0\3\0\0\0\2\x08\0\0\0\0", "should have 8 bytes of picture and has 6"),
        (b"\0\0\0\1\0\0\0\2\x08\0\0\0\0", "should have 4 bytes of picture and has 5"),
    ],
)
def test_pictures_of_other_kinds_are_refused(tmp_path, header, message):
    content = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
    content += chunk(b"IDAT", zlib.compress(bytes(6))) + chunk(b"IEND", b"")
    (tmp_path / "a.png").write_bytes(content)
    with pytest.raises(FormatError, match=message):
        read_png(tmp_path / "a.png")


def test_a_file_that_is_no_picture_or_has_an_unknown_filter_is_refused(tmp_path):
    (tmp_path / "a.png").write_bytes(b"GIF89a")
    with pytest.raises(FormatError, match="is no PNG"):
        read_png(tmp_path / "a.png")
    content = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", b"\0\0\0\1\0\0\0\1\x08\0\0\0\0")
    content += chunk(b"IDAT", zlib.compress(b"\5\0")) + chunk(b"IEND", b"")
    (tmp_path / "a.png").write_bytes(content)
    with pytest.raises(FormatError, match="method 5"):
        read_png(tmp_path / "a.png")
