"""One array in a `.npy` file: fields under any name, matrices of either orientation."""

from __future__ import annotations

import contextlib
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evsurf.data import formats
from evsurf.data.formats import FormatError
from tests.data.formats.recorded import EXPECTED, SIZE, X, column, lists, long_recording, same

DTYPES = {
    "tonic": [("x", "<i2"), ("y", "<i2"), ("t", "<i8"), ("p", "?")],
    "tonic of old": [("t", int), ("x", int), ("y", int), ("p", int)],
    "OpenEB": {
        "names": ["x", "y", "p", "t"],
        "formats": ["<u2", "<u2", "<i2", "<i8"],
        "offsets": [0, 2, 4, 8],
        "itemsize": 16,
    },
    "faery": [("t", "<u8"), ("x", "<u2"), ("y", "<u2"), ("on", "?")],
    "expelliarmus": [("t", "<i8"), ("y", "<i2"), ("x", "<i2"), ("p", "u1")],
    "dv": {
        "names": ["timestamp", "x", "y", "polarity"],
        "formats": ["<i8", "<i2", "<i2", "i1"],
        "itemsize": 16,
    },
    "big endian": [("x", ">u2"), ("y", ">u2"), ("t", ">f8"), ("p", ">i4")],
    "more fields": [("id", "i4"), ("p", "i1"), ("t", "i8"), ("x", "f4"), ("y", "f4")],
}


def structured(dtype) -> np.ndarray:
    array = np.zeros(len(X), dtype)
    for name in array.dtype.names or ():
        role = {"timestamp": "t", "on": "p", "polarity": "p"}.get(name, name)
        if role in "xytp":
            array[name] = column(role)
    return array


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES.keys())
def test_the_dtypes_of_other_libraries_are_read(tmp_path, dtype):
    np.save(tmp_path / "a.npy", structured(dtype))
    events = formats.read(tmp_path / "a.npy", SIZE)
    assert lists(events) == EXPECTED
    assert events.size == SIZE


@pytest.mark.parametrize("order", ["xytp", "txyp", "xypt"])
@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.uint64])
@pytest.mark.parametrize("layout", ["N x 4", "4 x N", "N x 4 by columns", "4 x N by columns"])
def test_matrices_are_read_by_value(tmp_path, order, dtype, layout):
    matrix = np.stack([column(role) for role in order], axis=1).astype(dtype)
    if layout.startswith("4"):
        matrix = matrix.T
    np.save(tmp_path / "a.npy", np.require(matrix, requirements="F" if "col" in layout else "C"))
    assert lists(formats.read(tmp_path / "a.npy", SIZE)) == EXPECTED


def test_est_style_has_seconds_and_signed_polarities(tmp_path):
    matrix = np.stack([X, column("y"), column("t") / 1e6, 2 * column("p") - 1], axis=1)
    np.save(tmp_path / "a.npy", matrix.astype(np.float32))
    with formats.open_recording(tmp_path / "a.npy", SIZE) as recording:
        assert lists(recording.read()) == EXPECTED
        assert recording.facts == {"columns": "xytp (by value)", "time unit": "seconds"}


def test_columns_say_the_order(tmp_path):
    matrix = np.stack([column(role) for role in "ptyx"], axis=1)
    np.save(tmp_path / "a.npy", matrix)
    assert lists(formats.read(tmp_path / "a.npy", SIZE, columns="ptyx")) == EXPECTED


def test_a_batch_of_samples_is_refused(tmp_path):
    matrix = np.stack([*(column(role) for role in "xytp"), np.zeros(len(X))], axis=1)
    np.save(tmp_path / "a.npy", matrix)
    with pytest.raises(FormatError, match='columns="xytp-".*Likely several samples'):
        formats.read(tmp_path / "a.npy", SIZE)
    assert lists(formats.read(tmp_path / "a.npy", SIZE, columns="xytp-")) == EXPECTED


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((3, 7)), "no table of events.*one array of shape \\(3, 7\\)"),
        (np.zeros((2, 3, 4)), "no table of events"),
        (np.zeros(5), "no table of events"),
        (np.zeros(3, "U4"), "no table of events"),
        (np.array([[1, "a"]], object), "Python objects"),
        (np.zeros(3, [("x", "i2"), ("y", "i2"), ("t", "i8"), ("label", "i4"), ("z", "i4")]), "no"),
        (np.array([[1, 2, 3, 4]] * 2), "does not say what its columns are"),
    ],
)
def test_other_arrays_are_refused(tmp_path, array, message):
    np.save(tmp_path / "a.npy", array, allow_pickle=True)
    with pytest.raises(FormatError, match=message):
        formats.read(tmp_path / "a.npy", SIZE)


def test_a_column_with_several_values_an_event_is_none(tmp_path):
    array = np.zeros(3, [("x", "<i2", 2), ("y", "<i2"), ("t", "<i8"), ("p", "?")])
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(FormatError):
        formats.read(tmp_path / "a.npy", SIZE)
    array = np.zeros(3, [("x", "<i2"), ("y", "<i2"), ("t", "<i8"), ("p", "?"), ("more", "f4", 2)])
    np.save(tmp_path / "a.npy", array)
    assert len(formats.read(tmp_path / "a.npy", SIZE)) == 3


def test_polarities_of_another_kind_are_refused(tmp_path):
    array = structured(DTYPES["OpenEB"])
    array["p"] = 1 + array["p"]
    array["p"][:4] = 2
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(FormatError, match="the polarities start with"):
        formats.read(tmp_path / "a.npy", SIZE)


def test_no_events_are_read(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((0, 4)))
    assert len(formats.read(tmp_path / "a.npy", SIZE)) == 0


def test_any_place_is_reached(tmp_path):
    events = long_recording()
    np.save(tmp_path / "a.npy", events.numpy())
    with formats.open_recording(tmp_path / "a.npy", SIZE) as recording:
        assert recording.random_access
        assert len(recording) == len(events)
        for start, stop in [(0, 5), (65_530, 65_540), (60_000, 140_000), (149_999, 150_000)]:
            assert same(recording[start:stop], events[start:stop])
        for t0, t1 in [(0, 1), (4_000_000, 4_020_000), (9_999_000, 2**40), (2**40, 2**41)]:
            assert same(recording.between(t0, t1), events.between(t0, t1))
        chunks = list(recording.chunks(50_000))
        assert sum(len(chunk) for chunk in chunks) == len(events)
        assert max(len(chunk) for chunk in chunks) <= 50_000


def test_any_place_among_damage_is_reached(tmp_path):
    array = long_recording().numpy()
    bad = np.arange(100, len(array), 40_000)
    array["x"][bad] = -1
    array["t"][140_000:] -= 5_000_000
    np.save(tmp_path / "a.npy", array)
    with formats.open_recording(tmp_path / "a.npy", SIZE) as recording:
        good = [*recording.chunks()]
        assert str(recording.damage).startswith("out_of_bounds: 4, first at event 100")
        kept = sum(len(chunk) for chunk in good)
        assert kept == len(recording) == 140_000 - 4
        whole = recording[0:kept]
        assert same(recording[70_000:139_000], whole[70_000:139_000])
        assert same(recording.between(10**6, 5 * 10**6), whole.between(10**6, 5 * 10**6))


def test_a_file_that_breaks_off_gives_what_it_has(tmp_path):
    np.save(tmp_path / "a.npy", long_recording().numpy())
    data = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "a.npy").write_bytes(data[: -13 * 70_000 - 5])
    with pytest.warns(formats.DamageWarning, match="truncated: 70,001, first at event 79,999"):
        assert len(formats.read(tmp_path / "a.npy", SIZE)) == 79_999
    with formats.open_recording(tmp_path / "a.npy", SIZE) as recording:
        assert len(recording) == 79_999


HEADER = b"\x93NUMPY\x01\x00"


@pytest.mark.parametrize(
    "data",
    [
        HEADER,
        HEADER[:6] + b"\x09\x00" + b"\x00" * 20,
        HEADER + b"\xff\xff{",
        HEADER + b"\x02\x00{}",
        HEADER + b"\x09\x00" + b"[" * 9,
        HEADER + (40000).to_bytes(2, "little") + b"-" * 40000,
        HEADER
        + (64).to_bytes(2, "little")
        + b"{'descr':'<f8','fortran_order':False,'shape':(-4,4)}".ljust(64),
        HEADER
        + (64).to_bytes(2, "little")
        + b"{'descr':'O','fortran_order':False,'shape':(4,4)}".ljust(64),
    ],
)
def test_headers_that_make_no_sense_are_refused(tmp_path, data):
    (tmp_path / "a.npy").write_bytes(data)
    with pytest.raises(FormatError):
        formats.read(tmp_path / "a.npy", SIZE)


def test_a_header_that_promises_too_much_costs_nothing(tmp_path):
    text = b"{'descr':'<f8','fortran_order':False,'shape':(%d,4)}" % 2**50
    rows = np.array([[9, 9, 0.5, 1], [9, 9, 1.5, 0]])
    data = HEADER + (80).to_bytes(2, "little") + text.ljust(80) + rows.tobytes()
    (tmp_path / "a.npy").write_bytes(data)
    with pytest.warns(formats.DamageWarning, match="truncated"):
        assert len(formats.read(tmp_path / "a.npy", SIZE)) == 2


@given(data=st.data())
def test_changed_bytes_raise_nothing_but_our_errors(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("changed") / "a.npy"
    np.save(path, structured(DTYPES["dv"]))
    changed = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(changed)
    with warnings.catch_warnings(action="ignore"), contextlib.suppress(FormatError):
        formats.read(path, SIZE, format="npy")
