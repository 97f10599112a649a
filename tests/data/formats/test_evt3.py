"""EVT 3.0 is written with vectors where they pay, and read back to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evsurf.data.formats import read, write
from evsurf.events import Events
from tests.data.formats import encoders as enc
from tests.events.strategies import recordings

LATEST = {".evt3": 2**43, ".evt2": 2**53, ".bin": 2**33, ".dat": 2**32 - 1}
LARGEST = {".evt3": 2047, ".evt2": 2047, ".bin": 255, ".dat": 16383}


def made(events, size=(720, 1280)):
    x, y, t, p = zip(*events, strict=True)
    return Events.from_arrays(x, y, t, p, size=size)


def payload(path):
    return path.read_bytes().partition(b"% end\n")[2]


def test_a_written_file_has_the_words_of_the_description(tmp_path):
    events = [(5, 7, 4101, 1), (9, 7, 4101, 1), (9, 8, 4101, 0), (9, 8, 4102, 0)]
    write(made(events), tmp_path / "a.raw")
    content = (tmp_path / "a.raw").read_bytes()
    assert content.startswith(b"% evt 3.0\n% format EVT3;height=720;width=1280\n")
    words = (0x8001, 0x6005, 7, 0x2805, 0x2809, 8, 0x2009, 0x6006, 8, 0x2009)
    assert payload(tmp_path / "a.raw") == enc.words16(*words)


def test_five_neighbours_are_a_vector_and_four_are_not(tmp_path):
    row = [(32 + k, 7, 5, 1) for k in (0, 1, 12, 24, 31)]
    write(made(row), tmp_path / "a.raw")
    words = (0x8000, 0x6005, 7, 0x3820, 0x4003, 0x4001, 0x5081)
    assert payload(tmp_path / "a.raw") == enc.words16(*words)
    write(made(row[:4]), tmp_path / "a.raw")
    assert len(payload(tmp_path / "a.raw")) == 2 * (3 + 4)


def test_neighbours_that_do_not_ascend_or_reach_over_the_edge_are_written_singly(tmp_path):
    for events, size in [
        ([(8 - k, 0, 5, 1) for k in range(8)], (720, 1280)),
        ([(32 + k, 0, 5, 1) for k in range(8)], (9, 40)),
    ]:
        write(made(events, size), tmp_path / "a.raw")
        assert len(payload(tmp_path / "a.raw")) == 2 * (3 + 8)
        assert read(tmp_path / "a.raw", strict=True) == made(events, size)


@pytest.mark.parametrize("suffix", LATEST)
def test_large_recordings_in_pieces_come_back_to_the_bit(tmp_path, suffix):
    size = (200, 250)
    events = made(enc.random_events(30_000, size, us=30_000_000, seed=7), size)
    path = tmp_path / f"a{suffix}"
    write([events[:1], events[1:7_000], events[7_000:]], path)
    assert read(path, size, strict=True) == events


@pytest.mark.parametrize("suffix", LATEST)
@pytest.mark.parametrize("gap", [2**12, 2**23 - 1, 2**23, 2**24, 5 * 2**24 + 3, 2**32 - 2**8])
def test_long_silence_is_kept(tmp_path, suffix, gap):
    times = [1, 2, 3 + gap, 3 + gap, 4 + gap]
    events = Events.from_arrays([0] * 5, [0] * 5, times, [1] * 5, size=(9, 9))
    path = tmp_path / f"a{suffix}"
    write(events, path)
    assert read(path, (9, 9), strict=True) == events


@pytest.mark.parametrize("suffix", LATEST)
def test_the_latest_time_and_the_largest_column_fit_and_no_more(tmp_path, suffix):
    latest, largest = LATEST[suffix], LARGEST[suffix]
    path = tmp_path / f"a{suffix}"
    # Later laps would only make the file long.
    start = min(latest, 2**36)
    size = (4, largest + 2)
    events = Events.from_arrays([largest], [3], [start], [1], size=size)
    write(events, path)
    assert read(path, size, strict=True) == events
    for x, t in ((largest + 1, 0), (0, latest + 1), (0, -1)):
        with pytest.raises(ValueError, match="does not fit"):
            write(Events.from_arrays([x], [0], [t], [1], size=size), tmp_path / f"b{suffix}")
    assert not (tmp_path / f"b{suffix}").exists()


@pytest.mark.parametrize("suffix", LATEST)
def test_no_events_make_an_empty_recording(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    write([], path, size=(5, 9))
    assert read(path, (5, 9), strict=True) == Events.empty((5, 9))


@given(recordings(), st.sampled_from(sorted(LATEST)), st.data())
def test_whatever_fits_comes_back_to_the_bit(tmp_path_factory, events, suffix, data):
    if len(events):
        start = data.draw(st.integers(0, 2**25))
        t = (events.t - events.t[0]) % 2**26
        order = np.argsort(t.numpy(), kind="stable")
        events = Events(
            *(getattr(events, name)[order] for name in "xy"),
            t[order] + start,
            events.p[order],
            events.size,
        )
    path = tmp_path_factory.mktemp("written") / f"a{suffix}"
    cut = data.draw(st.integers(0, len(events)))
    write([events[:cut], events[cut:]], path, size=events.size)
    assert read(path, events.size, strict=True) == events
