"""Archives of arrays: those of other libraries, and our own, bit by bit."""

from __future__ import annotations

import contextlib
import warnings
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evsurf.data import formats
from evsurf.data.formats import FormatError
from evsurf.events import Events
from tests.data.formats.recorded import (
    EXPECTED,
    SIZE,
    X,
    column,
    lists,
    long_recording,
    recording,
    same,
)
from tests.events.strategies import recordings

x, y, t, p = (column(role) for role in "xytp")
N_IMAGENET = np.zeros(len(X), [("x", "u2"), ("y", "u2"), ("t", "u8"), ("p", "?")])
N_IMAGENET["x"], N_IMAGENET["y"], N_IMAGENET["t"], N_IMAGENET["p"] = x, y, t, p

KNOWN = {
    "x, y, t, p": {"x": x, "y": y, "t": t, "p": p},
    "E2VID": {"x": x, "y": y, "t": t / 1e6, "p": 2.0 * p - 1},
    "long names": {"xs": x, "ys": y, "timestamp": t.astype("u8"), "pol": p.astype(bool)},
    "plurals": {"xs": x, "ys": y, "ts": t.astype("u4"), "ps": p.astype("i1")},
    "N-ImageNet": {"event_data": N_IMAGENET},
    "N-Caltech101 of EST": {"events": np.stack([x, y, t / 1e6, 2 * p - 1], 1), "label": 3},
    "in a group": {"events/x": x, "events/y": y, "events/t": t, "events/p": p, "frames": t[:2]},
    "columns of one": {"x": x[:, None], "y": y[:, None], "t": t[:, None], "p": p[:, None]},
    "other names": {"a": t, "b": x, "c": y, "d": p},
    "labels": {"x": x, "y": y, "t": t, "p": p, "label": np.array(["car", None], object)},
}


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("arrays", KNOWN.values(), ids=KNOWN.keys())
def test_the_archives_of_other_libraries_are_read(tmp_path, arrays, save):
    save(tmp_path / "a.npz", **arrays)
    assert lists(formats.read(tmp_path / "a.npz", SIZE)) == EXPECTED


def test_content_is_known_whatever_the_name(tmp_path):
    with (tmp_path / "a").open("wb") as file:
        np.savez(file, **KNOWN["E2VID"])
    with formats.open_recording(tmp_path / "a", SIZE) as found:
        assert found.format == "npz"
        assert found.facts["time unit"] == "seconds"


def test_a_size_in_the_archive_is_no_guess(tmp_path):
    np.savez(tmp_path / "a.npz", **KNOWN["E2VID"], height=SIZE[0], width=SIZE[1])
    events = formats.read(tmp_path / "a.npz")
    assert events.size == SIZE


def test_several_recordings_in_one_archive_have_names(tmp_path):
    arrays = {
        f"{eye}/{name}": values
        for eye in ("left", "right")
        for name, values in zip("xytp", (x, y, t, p), strict=True)
    }
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(FormatError, match="say stream= one of left, right"):
        formats.read(tmp_path / "a.npz", SIZE)
    with pytest.raises(
        ValueError, match="'middle' is none of the tables in this file: left, right"
    ):
        formats.read(tmp_path / "a.npz", SIZE, stream="middle")
    assert lists(formats.read(tmp_path / "a.npz", SIZE, stream="right")) == EXPECTED


def test_an_archive_without_events_says_what_it_holds(tmp_path):
    np.savez(tmp_path / "a.npz", frames=np.zeros((2, 3, 4)), t=np.zeros(2))
    with pytest.raises(FormatError, match="which holds frames 2x3x4, t 2"):
        formats.read(tmp_path / "a.npz", SIZE)


def test_unequal_columns_are_no_table(tmp_path):
    np.savez(tmp_path / "a.npz", x=x, y=y, t=t[:-1], p=p)
    with pytest.raises(FormatError, match="of one length"):
        formats.read(tmp_path / "a.npz", SIZE)


@given(recordings())
def test_what_is_written_is_read_again(tmp_path_factory, events):
    path = tmp_path_factory.mktemp("written") / "a.npz"
    formats.write(events, path)
    assert same(formats.read(path), events)


def test_pieces_are_written_one_after_the_other(tmp_path):
    events = long_recording()
    formats.write([events[:70_000], events[70_000:]], tmp_path / "a.npz")
    formats.write(events, tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert same(formats.read(tmp_path / "a.npz"), events)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.npz", "b.npz"]


def test_numpy_reads_what_is_written(tmp_path):
    formats.write(recording(), tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as arrays:
        assert [arrays[name].tolist() for name in "xytp"] == EXPECTED
        assert [arrays[name].dtype for name in "xytp"] == [np.int16, np.int16, np.int64, bool]
        assert arrays["size"].tolist() == list(SIZE)


def test_no_events_keep_their_size(tmp_path):
    formats.write([], tmp_path / "a.npz", size=(3, 4))
    events = formats.read(tmp_path / "a.npz")
    assert len(events) == 0
    assert events.size == (3, 4)


def test_uncompressed_archives_are_read_at_any_place(tmp_path):
    events = long_recording()
    formats.write(events, tmp_path / "a.npz")
    np.savez_compressed(tmp_path / "b.npz", **{name: getattr(events, name) for name in "xytp"})
    with formats.open_recording(tmp_path / "a.npz") as found:
        assert found.random_access
        assert same(found[65_000:140_000], events[65_000:140_000])
        assert same(found.between(10**6, 2 * 10**6), events.between(10**6, 2 * 10**6))
    with formats.open_recording(tmp_path / "b.npz", SIZE) as found:
        assert not found.random_access
        assert same(found[65_000:140_000], events[65_000:140_000])


def test_a_broken_archive_is_refused(tmp_path):
    formats.write(recording(), tmp_path / "a.npz")
    data = (tmp_path / "a.npz").read_bytes()
    (tmp_path / "a.npz").write_bytes(data[:-30])
    with pytest.raises(FormatError, match="damaged archive"):
        formats.read(tmp_path / "a.npz")


def test_a_broken_compressed_array_gives_what_came_before(tmp_path):
    events = long_recording()
    np.savez_compressed(tmp_path / "a.npz", **{name: getattr(events, name) for name in "xytp"})
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        member = archive.getinfo("t.npy")
    data = bytearray((tmp_path / "a.npz").read_bytes())
    middle = member.header_offset + member.compress_size // 2
    data[middle : middle + 64] = bytes(64)
    (tmp_path / "a.npz").write_bytes(data)
    with pytest.warns(formats.DamageWarning, match="truncated"):
        found = formats.read(tmp_path / "a.npz", SIZE)
    assert 10_000 < len(found) < len(events)


@given(data=st.data(), save=st.sampled_from([np.savez, np.savez_compressed]))
def test_changed_bytes_raise_nothing_but_our_errors(tmp_path_factory, data, save):
    path = tmp_path_factory.mktemp("changed") / "a.npz"
    save(path, **KNOWN["N-ImageNet"])
    changed = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(changed)
    with warnings.catch_warnings(action="ignore"), contextlib.suppress(FormatError):
        assert isinstance(formats.read(path, SIZE, format="npz"), Events)
