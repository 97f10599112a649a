"""Streams are found wherever they are in a file; what is unknown is listed."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from evsurf.data.formats import FormatError, open_recording, read
from tests.data.formats.hdf5.files import (
    SIZE,
    some_events,
    table_of,
    write_dsec,
    write_mvsec,
    write_rvt,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.anything"


@pytest.mark.parametrize("stream", ["left", "davis/left", "davis/left/events", "/davis/left"])
def test_a_stream_has_a_short_name_and_a_long_one(path, stream):
    left, right = some_events(30), some_events(20)
    write_mvsec(path, left, right)
    assert len(read(path, stream=stream)) == 30


@pytest.mark.parametrize("stream", [None, "middle"])
def test_without_a_choice_the_streams_are_listed(path, stream):
    write_mvsec(path, some_events(), some_events())
    with pytest.raises(FormatError, match="'left', 'right'"):
        read(path, stream=stream)


def test_pictures_beside_the_events_are_facts(path):
    write_mvsec(path, some_events(), some_events())
    with open_recording(path, stream="left") as recording:
        assert recording.facts["image_raw"] == "2 x 5 x 7 uint8"
        assert recording.facts["stream"] == "davis/left/events"


@pytest.mark.parametrize("order", ["txyp", "pytx"])
def test_a_table_anywhere_is_read_when_it_is_named(path, order):
    events = some_events()
    with h5py.File(path, "w") as file:
        file["deep/down/values"] = table_of(events, order)
    found = read(path, SIZE, stream="deep/down/values", columns=order)
    assert np.array_equal(found.t, events.t)
    assert np.array_equal(found.x, events.x)


def test_an_unknown_layout_says_what_it_holds_and_what_to_do(path):
    with h5py.File(path, "w") as file:
        file["deep/values"] = np.zeros((3, 4))
        file["note"] = "hello"
    with pytest.raises(FormatError) as caught:
        read(path)
    for part in ("/deep/values 3 x 4 float64", "stream=", "columns="):
        assert part in str(caught.value)


def test_an_empty_file_says_so(path):
    h5py.File(path, "w").close()
    with pytest.raises(FormatError, match="It holds nothing"):
        read(path)


@pytest.mark.parametrize("columns", ["xyt", "xytt", "abcd"])
def test_an_order_must_name_each_column_once(path, columns):
    write_mvsec(path, some_events(), some_events())
    with pytest.raises(ValueError, match="once each"):
        read(path, stream="left", columns=columns)


def test_columns_with_names_need_no_order(path):
    write_dsec(path, some_events())
    with pytest.raises(ValueError, match="names its columns"):
        read(path, columns="xytp")


def test_links_out_of_the_file_are_not_followed(path, tmp_path):
    write_dsec(tmp_path / "other.h5", some_events())
    with h5py.File(path, "w") as file:
        file["events"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "/events")
        file["again"] = h5py.SoftLink("/events")
    with pytest.raises(FormatError, match="It holds nothing"):
        read(path)


def test_groups_in_a_circle_end(path):
    with h5py.File(path, "w") as file:
        group = file.create_group("a")
        group["b"] = file["/"]
    with pytest.raises(FormatError, match="It holds nothing"):
        read(path)


def test_what_numpy_has_no_type_for_is_passed_over(path):
    write_rvt(path, some_events())
    with h5py.File(path, "r+") as file:
        file["nothing"] = h5py.Empty("f")
        odd = h5py.h5t.create(h5py.h5t.OPAQUE, 3)
        h5py.h5d.create(file.id, b"odd", odd, h5py.h5s.create_simple((2,)))
    assert len(read(path)) == 3000


@pytest.mark.parametrize("said", ["0x5", "nonsense", "7", "99999999999x3"])
def test_a_size_that_cannot_be_one_is_none(path, said):
    write_dsec(path, some_events())
    with h5py.File(path, "r+") as file:
        file.attrs["geometry"] = said
    with open_recording(path) as recording:
        assert recording.size_source == "guess"
