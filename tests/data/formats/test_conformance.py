"""The binary formats in every variant that is found, each exactly as its encoder meant it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from evsurf.data.formats import open_recording, read
from tests.data.formats import encoders as enc

HD = (720, 1280)


@cache
def second_and_a_half():
    return enc.random_events(12_000, HD, us=1_500_000, seed=1)


@cache
def forty_seconds():
    """More than two laps of 24 bits."""
    return enc.random_events(8_000, HD, us=40_000_000, seed=2)


@cache
def from_twenty_seconds():
    return enc.random_events(3_000, HD, us=1_000_000, t0=20_000_000, seed=3)


@cache
def small():
    return enc.random_events(4_000, (100, 120), us=100_000, seed=4)


def later(events, us):
    return [(x, y, t + us, p) for x, y, t, p in events]


LITTLE = "endianness=little;"
CASES = {
    "evt2": lambda: (enc.raw_header("EVT2") + enc.evt2(second_and_a_half()), second_and_a_half()),
    "evt2, old header": lambda: (
        enc.old_header("2.0") + enc.evt2(second_and_a_half()[:0] + small()),
        small(),
    ),
    "evt2, triggers": lambda: (
        enc.raw_header("EVT2") + enc.evt2(second_and_a_half(), trigger_every=50),
        second_and_a_half(),
    ),
    "evt2, 40 s": lambda: (enc.raw_header("EVT2") + enc.evt2(forty_seconds()), forty_seconds()),
    "evt2, over the wrap of 34 bits": lambda: (
        enc.raw_header("EVT2") + enc.evt2(later(small(), 2**34 - 50_000)),
        later(small(), 2**34 - 50_000),
    ),
    "evt21": lambda: (
        enc.raw_header("EVT21", extra=LITTLE) + enc.evt21(second_and_a_half()),
        second_and_a_half(),
    ),
    "evt21, old word order": lambda: (
        enc.raw_header("EVT21", extra="endianness=legacy;")
        + enc.evt21(second_and_a_half(), swapped=True),
        second_and_a_half(),
    ),
    "evt21, evt line only": lambda: (
        b"% evt 2.1\n% geometry 1280x720\n% end\n" + enc.evt21(second_and_a_half()),
        second_and_a_half(),
    ),
    "evt21, evt line only, old word order": lambda: (
        b"% evt 2.1\n% geometry 1280x720\n% end\n" + enc.evt21(second_and_a_half(), swapped=True),
        second_and_a_half(),
    ),
    "evt3": lambda: (enc.raw_header("EVT3") + enc.evt3(second_and_a_half()), second_and_a_half()),
    "evt3 without vectors": lambda: (
        enc.raw_header("EVT3") + enc.evt3(second_and_a_half(), vectors=False),
        second_and_a_half(),
    ),
    "evt3, old header": lambda: (enc.old_header("3.0") + enc.evt3(small()), small()),
    "evt3, triggers": lambda: (
        enc.raw_header("EVT3") + enc.evt3(second_and_a_half(), trigger_every=50),
        second_and_a_half(),
    ),
    "evt3, 40 s": lambda: (enc.raw_header("EVT3") + enc.evt3(forty_seconds()), forty_seconds()),
    # The first lap cannot be known, so it counts as the first.
    "evt3 from 20 s": lambda: (
        enc.raw_header("EVT3") + enc.evt3(from_twenty_seconds()),
        later(from_twenty_seconds(), -(1 << 24)),
    ),
    "dat, CD": lambda: (enc.dat_header() + enc.dat(second_and_a_half()), second_and_a_half()),
    "dat, Event2D": lambda: (
        enc.dat_header((100, 120), "Event2D", 0) + enc.dat(small()),
        small(),
    ),
    "dat as of N-Cars": lambda: (enc.dat_header(None, "Event2D", 0) + enc.dat(small()), small()),
    "dat without header": lambda: (enc.dat(small()), small()),
    "dat over the wrap of 32 bits": lambda: (
        enc.dat_header()
        + enc.dat((x, y, t % 2**32, p) for x, y, t, p in later(small(), 2**32 - 50_000)),
        later(small(), 2**32 - 50_000),
    ),
    "bin with overflow": lambda: (enc.atis(small()), small()),
}


def written(tmp_path, case):
    content, events = CASES[case]()
    suffix = {"dat": ".dat", "bin": ".bin"}.get(case[:3], ".raw")
    path = tmp_path / f"recording{suffix}"
    path.write_bytes(content)
    return path, np.array(events, np.int64).T


def columns(events):
    return np.stack([getattr(events, name).numpy().astype(np.int64) for name in "xytp"])


@pytest.mark.filterwarnings("ignore::evsurf.data.formats.GuessedSizeWarning")
@pytest.mark.parametrize("case", CASES)
def test_reads_exactly_what_was_encoded(tmp_path, case):
    path, expected = written(tmp_path, case)
    with open_recording(path, strict=True) as recording:
        assert recording.format == case.split(",")[0].split()[0].replace("bin", "atis_bin")
        assert np.array_equal(columns(recording.read()), expected)
        assert not recording.damage
        assert (recording.facts.get("triggers") is not None) == ("triggers" in case)


@pytest.mark.filterwarnings("ignore::evsurf.data.formats.GuessedSizeWarning")
@pytest.mark.parametrize("case", CASES)
def test_pieces_and_places_agree_with_the_whole(tmp_path, case):
    path, expected = written(tmp_path, case)
    with open_recording(path, strict=True) as recording:
        assert len(recording) == expected.shape[1]
        pieces = [columns(piece) for piece in recording.chunks(777)]
        assert all(piece.shape[1] <= 777 for piece in pieces)
        assert np.array_equal(np.concatenate(pieces, axis=1), expected)
        draw = np.random.default_rng(0)
        for _ in range(10):
            start, stop = sorted(draw.integers(0, expected.shape[1] + 1, 2).tolist())
            assert np.array_equal(columns(recording[start:stop]), expected[:, start:stop])
            t0, t1 = sorted(draw.choice(expected[2], 2).tolist())
            inside = (expected[2] >= t0) & (expected[2] < t1)
            assert np.array_equal(columns(recording.between(t0, t1)), expected[:, inside])


@pytest.mark.usefixtures("isa")
@pytest.mark.filterwarnings("ignore::evsurf.data.formats.GuessedSizeWarning")
@pytest.mark.parametrize("case", ["evt2", "evt21", "evt3", "dat, CD", "bin with overflow"])
def test_every_processor_reads_the_same(tmp_path, case):
    path, expected = written(tmp_path, case)
    assert np.array_equal(columns(read(path, strict=True)), expected)
