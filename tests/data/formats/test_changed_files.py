"""Thousands of damaged files of arrays and text give events or an error of ours, nothing else."""

from __future__ import annotations

import contextlib
import gzip
import io
import random
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from evsurf.data import formats
from evsurf.data.formats import FormatError
from tests.data.formats import test_mat, test_npy, test_npz, test_text
from tests.data.formats.matlab import Encoder
from tests.data.formats.recorded import SIZE

FILES = 20_000
SECONDS = 5.0
"""For a file of a few hundred bytes; generous, as other work may share the machine."""

NUMBERS = [b"\xff\xff\xff\xff", bytes(4), b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80", b"\x0e\0\0\0"]


def seeds(name: str) -> Iterator[bytes]:
    if name == "mat":
        for order in "<>":
            for compressed in (False, True):
                for variables in test_mat.KNOWN.values():
                    yield Encoder(order).file(variables, compressed=compressed)
    elif name == "npz":
        for save in (np.savez, np.savez_compressed):
            for arrays in test_npz.KNOWN.values():
                buffer = io.BytesIO()
                save(buffer, **arrays)
                yield buffer.getvalue()
    elif name == "npy":
        for dtype in test_npy.DTYPES.values():
            buffer = io.BytesIO()
            np.save(buffer, test_npy.structured(dtype))
            yield buffer.getvalue()
    else:
        for text in test_text.KNOWN.values():
            yield text.encode()
            yield gzip.compress(text.encode(), mtime=0)


def changed(data: bytes, choose: random.Random) -> bytes:
    found = bytearray(data)
    for _ in range(choose.choice([1, 1, 2, 4, 16])):
        i, kind = choose.randrange(len(found) or 1), choose.random()
        if kind < 0.5:
            found[i : i + 1] = bytes([choose.randrange(256)])
        elif kind < 0.7:
            found[i : i + 4] = choose.choice(NUMBERS)
        elif kind < 0.8:
            del found[i : i + choose.randrange(1, 50)]
        elif kind < 0.9:
            found[i:i] = found[choose.randrange(len(found) or 1) :][: choose.randrange(60)]
        else:
            del found[i:]
    return bytes(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mat", "npz", "npy", "csv"])
def test_changed_files_give_events_or_our_errors(tmp_path: Path, name):
    choose = random.Random(0)
    originals = list(seeds(name))
    path = tmp_path / "a"
    for _ in range(FILES):
        path.write_bytes(changed(choose.choice(originals), choose))
        start = time.monotonic()
        with warnings.catch_warnings(action="ignore"), contextlib.suppress(FormatError):
            events = formats.read(path, SIZE, format=name)
            assert bool((events.t[1:] >= events.t[:-1]).all())
        assert time.monotonic() - start < SECONDS
