"""MATLAB files: levels 5 and 7.3, structures of any depth, coordinates from 1."""

from __future__ import annotations

import contextlib
import struct
import tracemalloc
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evsurf.data import formats
from evsurf.data.formats import FormatError
from tests.data.formats.matlab import Encoder, save
from tests.data.formats.recorded import EXPECTED, SIZE, column, lists, long_recording, same

x, y, t, p = (column(role) for role in "xytp")
ASL_DVS = {"ts": t.astype("i4"), "x": x.astype("u1"), "y": y.astype("u1"), "pol": p.astype("u1")}
ASL_DVS |= {"x": x.astype("u2")}

KNOWN: dict[str, dict[str, Any]] = {
    "ASL-DVS": ASL_DVS,
    "rows": {name: values.reshape(1, -1).astype("f8") for name, values in ASL_DVS.items()},
    "N x 4": {"events": np.stack([x, y, p, t], 1).astype("i4")},
    "4 x N": {"events": np.stack([t / 1e6, x, y, p]).astype("f8")},
    "in a structure": {"TD": {"x": x, "y": y, "ts": t, "p": p}, "note": "of a test"},
    "deep": {"a": {"b": {"size": np.array([[4.0, 5.0]]), "c": ({"d": {"e": ASL_DVS}}, "no")}}},
    "changes and exposures": {"EM": ASL_DVS | {"x": x}, "TD": ASL_DVS},
    "seconds": {"x": x, "y": y, "t": t / 1e6, "p": 2.0 * p - 1},
    "beside others": {"label": "car", "empty": np.zeros((0, 0)), **ASL_DVS, "n": 3.0},
}


@pytest.mark.parametrize("variables", KNOWN.values(), ids=KNOWN.keys())
@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("compressed", [False, True])
def test_the_files_of_data_sets_are_read(tmp_path, variables, order, compressed):
    data = Encoder(order).file(variables, compressed=compressed)
    (tmp_path / "a").write_bytes(data)
    with formats.open_recording(tmp_path / "a", SIZE) as recording:
        assert recording.format == "mat"
        assert recording.random_access is not compressed
        assert lists(recording.read()) == EXPECTED


def test_doubles_may_be_stored_in_a_shorter_type(tmp_path):
    variables = {
        name: values.astype("f8") for name, values in zip("xytp", (x, y, t, p), strict=True)
    }
    (tmp_path / "a.mat").write_bytes(Encoder(shorter="i4").file(variables))
    assert lists(formats.read(tmp_path / "a.mat", SIZE)) == EXPECTED


def test_several_tables_have_the_names_of_their_places(tmp_path):
    save(tmp_path / "a.mat", {"run": [ASL_DVS, ASL_DVS], "b": {"c": np.stack([x, y, p, t], 1)}})
    with pytest.raises(FormatError, match=r"say stream= one of b/c, run\(1\), run\(2\)"):
        formats.read(tmp_path / "a.mat", SIZE)
    for name in ("b/c", "run(1)", "run(2)"):
        assert lists(formats.read(tmp_path / "a.mat", SIZE, stream=name)) == EXPECTED


def from_one(largest: tuple[int, int], smallest: int = 1) -> dict[str, Any]:
    height, width = largest
    return {
        "x": np.array([smallest, width]),
        "y": np.array([smallest, height]),
        "t": np.array([0, 1]),
        "p": np.array([0, 1]),
    }


@pytest.mark.parametrize(
    ("variables", "size", "expected"),
    [
        (from_one((240, 304)), None, ([0, 303], [0, 239], "counted from 1")),
        (from_one((240, 304)), (240, 304), ([0, 303], [0, 239], "counted from 1")),
        (from_one((7, 9)), (8, 9), ([0, 8], [0, 6], "counted from 1")),
        (from_one((7, 9)), (8, 10), ([1, 9], [1, 7], "may count from 1")),
        (from_one((7, 9)), None, ([1, 9], [1, 7], "may count from 1")),
        (from_one((240, 304), 0), None, ([0, 304], [0, 240], "")),
        (
            from_one((7, 9)) | {"width": 9.0, "height": 7.0},
            None,
            ([0, 8], [0, 6], "counted from 1"),
        ),
    ],
)
def test_coordinates_count_from_1_where_they_reach_the_sides(tmp_path, variables, size, expected):
    save(tmp_path / "a.mat", variables)
    with (
        warnings.catch_warnings(action="ignore"),
        formats.open_recording(tmp_path / "a.mat", size) as recording,
    ):
        events = recording.read()
        assert (events.x.tolist(), events.y.tolist()) == expected[:2]
        assert expected[2] in recording.facts.get("coordinates", "")
        assert bool(expected[2]) == ("coordinates" in recording.facts)


def test_a_long_compressed_file_comes_in_pieces(tmp_path):
    events = long_recording()
    arrays = events.numpy()
    variables = {"s": {name: arrays[name].astype("i8") for name in "xytp"}}
    save(tmp_path / "a.mat", variables, compressed=True)
    with formats.open_recording(tmp_path / "a.mat", SIZE) as recording:
        assert max(len(chunk) for chunk in recording.chunks(40_000)) <= 40_000
        assert same(recording.read(), events)
        assert same(recording[70_000:70_010], events[70_000:70_010])


def test_level_7_3_is_read(tmp_path):
    h5py = pytest.importorskip("h5py")
    for name, arrays in {
        "vectors": {"a/ts": t[None], "a/x": x[None], "a/y": y[None], "a/pol": p[None]},
        "N x 4": {"e": np.stack([x, y, p, t])},
        "4 x N": {"e": np.stack([t / 1e6, x, y, p], 1)},
    }.items():
        path = tmp_path / f"{name}.mat"
        with h5py.File(path, "w", userblock_size=512) as file:
            for place, values in arrays.items():
                file.create_dataset(place, data=values)
            file["note"] = np.array([[99], [97], [114], [115]], "u2")
            file["note"].attrs["MATLAB_class"] = np.bytes_("char")
        head = b"MATLAB 7.3 MAT-file, of a test".ljust(124) + b"\x00\x02IM"
        with path.open("r+b") as raw:
            raw.write(head)
        with formats.open_recording(path, SIZE) as recording:
            assert (recording.format, recording.random_access) == ("mat", True)
            assert lists(recording.read()) == EXPECTED
            assert recording[2:4].t.tolist() == t[2:4].tolist()


def test_a_file_that_breaks_off_gives_what_it_has(tmp_path):
    events = long_recording()
    arrays = events.numpy()
    matrix = np.stack([arrays[name].astype("i8") for name in "xypt"])
    for compressed in (False, True):
        save(tmp_path / "a.mat", {"e": matrix}, compressed=compressed)
        data = (tmp_path / "a.mat").read_bytes()
        (tmp_path / "a.mat").write_bytes(data[: len(data) // 2])
        with pytest.warns(formats.DamageWarning, match="truncated"):
            assert 50_000 < len(formats.read(tmp_path / "a.mat", SIZE)) < 100_000


def test_a_file_without_events_says_what_it_holds(tmp_path):
    save(tmp_path / "a.mat", {"image": np.zeros((6, 7)), "n": 1.0})
    with pytest.raises(FormatError, match="which holds image 6x7, n 1x1"):
        formats.read(tmp_path / "a.mat")


def deep(levels: int) -> Any:
    value: Any = ASL_DVS
    for _ in range(levels):
        value = {"a": value}
    return value


def test_only_so_deep_structures_are_entered(tmp_path):
    save(tmp_path / "a.mat", {"a": deep(20)})
    assert lists(formats.read(tmp_path / "a.mat", SIZE)) == EXPECTED
    save(tmp_path / "a.mat", {"a": deep(60)})
    with pytest.raises(FormatError, match="more than 32 deep"):
        formats.read(tmp_path / "a.mat", SIZE)


def element(kind: int, size: int, data: bytes = b"") -> bytes:
    return struct.pack("<II", kind, size) + data


HEAD = Encoder().file({})
FLAGS = element(6, 8, struct.pack("<II", 6, 0))


@pytest.mark.parametrize(
    "data",
    [
        element(14, 100),
        element(14, 100, FLAGS),
        element(14, 2**32 - 1, FLAGS + element(5, 2**31, b"12345678")),
        element(14, 56, FLAGS + element(5, 8, struct.pack("<ii", -1, 4)) + element(1, 0)),
        element(14, 64, FLAGS + element(5, 8, struct.pack("<ii", 2**30, 4)) + element(1, 0) * 2),
        element(14, 24, element(6, 0) + FLAGS),
        element(15, 20, b"no compressed data.."),
        element(14, 32, element(6, 8, struct.pack("<II", 2, 0)) + b"\xff" * 16),
    ],
)
def test_files_that_make_no_sense_are_refused(tmp_path, data):
    (tmp_path / "a.mat").write_bytes(HEAD + data)
    with pytest.raises(FormatError):
        formats.read(tmp_path / "a.mat", SIZE)


def bomb(path: Path, megabytes: int) -> None:
    """A small file whose one array takes many megabytes once it is decompressed."""
    count = megabytes * 2**20 // 32
    head = Encoder().matrix("e", np.zeros((1, 4)))
    size = len(head) - 32 - 8 + 32 * count
    body = head.replace(struct.pack("<ii", 1, 4), struct.pack("<ii", count, 4))
    front = struct.pack("<II", 14, size) + body[8:-40] + struct.pack("<II", 9, 32 * count)
    packer = zlib.compressobj(9)
    packed = packer.compress(front)
    for _ in range(megabytes):
        packed += packer.compress(bytes(2**20))
    packed += packer.flush()
    path.write_bytes(HEAD + struct.pack("<II", 15, len(packed)) + packed)


def test_a_bomb_is_opened_in_little_memory(tmp_path):
    bomb(tmp_path / "a.mat", 64)
    assert (tmp_path / "a.mat").stat().st_size < 2**19
    tracemalloc.start()
    with formats.open_recording(tmp_path / "a.mat", SIZE, columns="xytp") as recording:
        first = next(iter(recording.chunks(1000)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(first) == 1000
    assert peak < 16 * 2**20


@given(data=st.data(), compressed=st.booleans())
def test_changed_bytes_raise_nothing_but_our_errors(tmp_path_factory, data, compressed):
    changed = bytearray(Encoder().file(KNOWN["deep"], compressed=compressed))
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(128, len(changed) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("changed") / "a.mat"
    path.write_bytes(changed)
    with warnings.catch_warnings(action="ignore"), contextlib.suppress(FormatError):
        formats.read(path, SIZE, format="mat")


def test_the_orchard_s_camera_counts_from_1(shared_data):
    path = shared_data / "atis_orchard_example" / "example_data.mat"
    events = formats.read(path, (240, 304))
    assert len(events) == 242_040
    assert events.t[[0, -1]].tolist() == [0, 2_999_577]
    assert [int(events.x.max()), int(events.y.max())] == [303, 239]
    assert int(events.x.min()) == int(events.y.min()) == 0
    assert len(formats.read(path, (240, 304), stream="EM")) == 442_382


@pytest.mark.parametrize(
    ("name", "count"), [("trans_boxes_real", 162_771), ("rot_bars_real", 464_666)]
)
def test_the_real_scenes_of_flow_are_read_by_name(shared_data, name, count):
    path = shared_data / "flow_synth_real_processaedat" / "dataset.mat"
    with formats.open_recording(path, (180, 240), stream=name) as recording:
        assert recording.facts["columns"] == "xypt (by value)"
        assert len(recording.read()) == count
        assert not recording.damage


def trains(*events: tuple[int, float, int]) -> dict[str, Any]:
    matrix = np.zeros((101, len(events)))
    for i, (sensor, seconds, sign) in enumerate(events):
        matrix[sensor, i], matrix[100, i] = sign, seconds
    return {"spiketrain": matrix}


@pytest.mark.parametrize("compressed", [False, True])
def test_spike_trains_of_touch_are_read(tmp_path, compressed):
    variables = trains((0, 0.5, 1), (12, 0.5, -1), (99, 1.000001, 1))
    save(tmp_path / "a.mat", variables, compressed=compressed)
    events = formats.read(tmp_path / "a.mat")
    assert lists(events) == [[0, 2, 9], [0, 1, 9], [500_000, 500_000, 1_000_001], [1, 0, 1]]
    assert events.size == (10, 10)


def test_a_spike_train_with_two_events_at_once_is_refused(tmp_path):
    variables = trains((0, 0.5, 1), (12, 0.5, -1))
    variables["spiketrain"][50, 1] = 1
    save(tmp_path / "a.mat", variables)
    with pytest.raises(FormatError, match="one event"):
        formats.read(tmp_path / "a.mat")


def test_the_real_touches_are_read(shared_data):
    events = formats.read(shared_data / "tonic_samples" / "sample_stmnist.mat")
    assert (len(events), int(events.p.sum()), events.size) == (2346, 1601, (10, 10))
    assert events.t[[0, -1]].tolist() == [196_626, 895_745]
