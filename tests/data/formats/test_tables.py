"""Tables in files of arrays: found, chosen, and read column by column."""

from __future__ import annotations

import io

import numpy as np
import pytest

from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.tables.finding import StoredArray, tables_in
from evsurf.data.formats.tables.table import chosen, roles_of


def stored(name: str, array: np.ndarray, *, column_major: bool = False) -> StoredArray:
    data = array.tobytes("F" if column_major else "C")
    opener = lambda: io.BytesIO(data)  # noqa: E731
    return StoredArray(
        tuple(name.split("/")), array.shape, array.dtype, opener, 0, column_major, True
    )


MATRIX = np.arange(12).reshape(3, 4)


@pytest.mark.parametrize("column_major", [False, True])
@pytest.mark.parametrize("turned", [False, True])
def test_a_matrix_is_read_along_its_columns(turned, column_major):
    array = stored("a", MATRIX.T if turned else MATRIX, column_major=column_major)
    (table,) = tables_in([array])
    assert table.length == 3
    blocks = [[c.tolist() for c in block] for block in table.blocks(2, only=[3, 0])]
    assert blocks == [[[3, 7], [0, 4]], [[11], [8]]]
    assert [c.tolist() for c in table.head()] == MATRIX.T.tolist()


def test_columns_of_unequal_files_end_together():
    arrays = [stored(f"a/{name}", np.arange(4)) for name in "xytp"]
    (table,) = tables_in(arrays)
    assert [[len(c) for c in block] for block in table.blocks(3)] == [[3] * 4, [1] * 4]


def test_a_bool_may_be_any_byte_in_a_file():
    raw = np.array([0, 1, 2, 255], "u1")
    arrays = [stored(name, np.arange(4)) for name in "xyt"] + [stored("p", raw.view("?"))]
    (table,) = tables_in(arrays)
    assert table.head()[3].view("u1").tolist() == [0, 1, 1, 1]


def test_vectors_belong_together_where_they_lie_together():
    names = [f"{place}/{name}" for place in ("a/b", "c") for name in "xytp"]
    tables = tables_in([stored(name, np.arange(4)) for name in [*names, "d/x", "d/y"]])
    assert [table.name for table in tables] == ["a/b", "c"]
    assert chosen(tables, "c", "").name == "c"


def test_changes_come_before_exposures():
    names = [f"{place}/{name}" for place in ("EM", "TD") for name in ("x", "y", "ts", "p")]
    tables = tables_in([stored(name, np.arange(4)) for name in names])
    assert chosen(tables, None, "").name == "TD"
    assert chosen(tables, "EM", "").name == "EM"


def test_names_come_before_values():
    array = np.zeros(1, [("t", "i8"), ("y", "i2"), ("x", "i2"), ("p", "i1")])
    (table,) = tables_in([stored("a", array)])
    assert roles_of(table, table.head(), None, None) == ("tyxp", "by name")
    assert roles_of(table, table.head(), "xytp", None) == ("xytp", "as given")


def test_columns_that_are_too_many_need_to_be_named():
    array = np.zeros(1, [(name, "i4") for name in "abcde"])
    (table,) = tables_in([stored("a", array)])
    with pytest.raises(FormatError, match=r"'a' has 5 columns \(a, b, c, d, e\), not"):
        roles_of(table, table.head(), None, None)
    assert roles_of(table, table.head(), "x-ytp", None).order == "x-ytp"


@pytest.mark.parametrize("name", ["x y t p", "events"])
def test_a_camera_matrix_beside_the_events_does_not_matter(name):
    calibration = stored("K", np.eye(4))
    if name == "events":
        arrays = [calibration, stored("events", MATRIX)]
    else:
        arrays = [calibration, *(stored(one, np.arange(3)) for one in name.split())]
    assert chosen(tables_in(arrays), None, "").length == 3
    assert chosen(tables_in(arrays), "K", "").length == 4
