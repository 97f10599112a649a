"""Runs of records in streams of bytes."""

from __future__ import annotations

import gzip
import io

import numpy as np
import pytest

from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.tables.strands import ByteStrand

BYTES = b"??" + np.arange(10, dtype="<i4").tobytes()


def lists(strand: ByteStrand, count: int, start: int = 0) -> list:
    return [block.tolist() for block in strand.blocks(count, start)]


def strand(data: bytes = BYTES, length: int = 10) -> ByteStrand:
    return ByteStrand(lambda: io.BytesIO(data), np.dtype("<i4"), length, start=2, seekable=True)


def test_records_come_in_blocks_from_any_place():
    assert lists(strand(), 4) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert lists(strand(), 4, 7) == [[7, 8, 9]]
    assert lists(strand(length=3), 4) == [[0, 1, 2]]
    assert lists(strand(length=0), 4) == []


def test_what_is_missing_is_left_out():
    assert lists(strand(BYTES[:-3]), 8) == [list(range(8)), [8]]
    assert lists(strand(b""), 8) == []


def test_a_broken_compressed_stream_gives_what_came_before():
    packed = bytearray(gzip.compress(np.arange(100_000, dtype="<i4").tobytes(), mtime=0))
    packed[len(packed) // 2] ^= 255
    opener = lambda: gzip.GzipFile(fileobj=io.BytesIO(packed))  # noqa: E731
    found = ByteStrand(opener, np.dtype("<i4"), 100_000)
    assert sum(len(block) for block in found.blocks(1000)) < 100_000


@pytest.mark.parametrize(
    ("record", "message"), [("O", "Python objects"), ("V0", "0 bytes"), ("V70000", "70,000 bytes")]
)
def test_records_that_are_no_events_are_refused(record, message):
    with pytest.raises(FormatError, match=message):
        ByteStrand(io.BytesIO, np.dtype(record), 1)
