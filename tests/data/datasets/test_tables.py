"""Tables of floats in seconds become events in microseconds."""

from __future__ import annotations

import numpy as np
import pytest

from evsurf.data.datasets.tables import read_table
from evsurf.data.formats import DamageWarning, FormatError
from evsurf.events import Events
from tests.data.datasets.files import THREE, rows, write_npy


def test_seconds_become_microseconds(tmp_path):
    path = write_npy(tmp_path / "a.npy")
    assert rows(read_table(path, (4, 6))) == list(THREE)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64])
def test_times_that_are_microseconds_already_stay(tmp_path, kind):
    np.save(tmp_path / "a.npy", np.array([[1, 2, 5_000, 1], [3, 0, 99_000, 0]], kind))
    assert rows(read_table(tmp_path / "a.npy", (4, 6))) == [(1, 2, 5_000, 1), (3, 0, 99_000, 0)]


def test_every_microsecond_of_a_recording_survives(tmp_path):
    t = np.arange(300_000)
    table = np.stack([t % 6, t % 4, t / 1e6, t % 2 * 2 - 1], 1)
    np.save(tmp_path / "a.npy", table)
    assert np.array_equal(read_table(tmp_path / "a.npy", (4, 6)).t.numpy(), t)


def test_an_empty_table_has_no_events(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((0, 4)))
    assert read_table(tmp_path / "a.npy", (4, 6)) == Events.empty((4, 6))


def test_events_out_of_order_or_bounds_are_told(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[1, 1, 0.2, 1], [2, 1, 0.1, -1], [9, 1, 0.3, 1]]))
    with pytest.warns(DamageWarning, match="out_of_bounds: 1.*time_backwards: 1"):
        events = read_table(tmp_path / "a.npy", (4, 6))
    assert rows(events) == [(2, 1, 100_000, 0), (1, 1, 200_000, 1)]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.zeros((3, 5)), "N x 4 numbers, and has the shape"),
        (np.zeros(4), "N x 4"),
        (np.zeros((2, 4), "U3"), "must hold numbers, and holds <U3"),
        (np.array([[{}] * 4]), "no table of numbers: Object arrays cannot be loaded"),
    ],
)
def test_other_arrays_are_refused(tmp_path, table, message):
    np.save(tmp_path / "a.npy", table, allow_pickle=True)
    with pytest.raises(FormatError, match=message):
        read_table(tmp_path / "a.npy", (4, 6))


@pytest.mark.parametrize("content", [b"", b"hello", b"\x93NUMPY"])
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(FormatError, match="no table of numbers"):
        read_table(tmp_path / "a.npy", (4, 6))
