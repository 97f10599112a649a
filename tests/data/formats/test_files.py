"""Files are opened by path, read whole with warnings, and written whole or not at all."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evsurf.data.formats.damage import DamageError, DamageWarning, FormatError
from evsurf.data.formats.files import open_recording, read, write
from evsurf.data.formats.reader import Format
from evsurf.data.formats.registry import formats
from evsurf.data.formats.telling import GuessedSizeWarning
from evsurf.events import EventBatch, Events
from tests.data.formats.toy import TOY, header, rows
from tests.events.strategies import recordings

pytestmark = pytest.mark.usefixtures("toys")

EVENTS = Events.from_arrays([3, 0, 1], [1, 1, 0], [10, 25, 25], [1, 0, 1], (2, 4))


@pytest.fixture
def toy(tmp_path):
    path = tmp_path / "a.toy"
    path.write_bytes(header((2, 4)) + rows((3, 1, 10, 1), (0, 1, 25, 0), (1, 0, 25, 1)))
    return path


def test_reading_takes_texts_and_paths(toy):
    assert read(str(toy)) == read(toy) == EVENTS


def test_a_tilde_is_the_home_folder(toy, monkeypatch):
    monkeypatch.setenv("HOME", str(toy.parent))
    assert read("~/a.toy") == EVENTS
    write(EVENTS, "~/b.toy")
    assert (toy.parent / "b.toy").exists()


def test_a_format_may_be_named(tmp_path):
    path = tmp_path / "rows.of.mine"
    path.write_bytes(rows((3, 1, 10, 1)))
    assert read(path, (2, 4), format="bare") == EVENTS[:1]
    with pytest.raises(ValueError, match="'brae' is none of"):
        read(path, format="brae")


def test_a_folder_may_be_a_recording(tmp_path):
    (tmp_path / "rows").write_bytes(rows((3, 1, 10, 1)))
    assert read(tmp_path, (2, 4)) == EVENTS[:1]


def test_a_missing_file_is_refused_with_the_one_that_was_likely_meant(toy):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*b\.toy; did you mean a\.toy"):
        read(toy.with_name("b.toy"))
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*absent"):
        read(toy.parent / "absent" / "a.toy")


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes with names")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="is a device or a pipe"):
        read(tmp_path / "pipe")


@pytest.mark.parametrize("size", [(0, 4), (2, 40_000)])
def test_a_wrong_size_is_refused(toy, size):
    with pytest.raises(ValueError, match="not a sensor's"):
        read(toy, size)


def test_damage_is_a_warning_that_says_what_became_of_it(tmp_path):
    path = tmp_path / "a.toy"
    path.write_bytes(header((2, 4)) + rows((3, 1, 10, 1), (9, 9, 9, 1)) + b"1")
    with pytest.warns(DamageWarning) as told:
        assert read(path) == EVENTS[:1]
    assert str(told[0].message) == (
        "a.toy: out_of_bounds: 1, first at event 1 (events outside the sensor, skipped); "
        "truncated: 1, first at byte 34 (bytes after the last whole record, ignored)"
    )


@pytest.mark.plain
def test_warnings_are_of_the_callers_line(tmp_path):
    path = tmp_path / "a.bare"
    path.write_bytes(rows((3, 1, 10, 1)) + b"1")
    with pytest.warns(UserWarning, match=r"a\.bare") as told:
        read(path)
    assert [warning.category for warning in told] == [GuessedSizeWarning, DamageWarning]
    assert {warning.filename for warning in told} == {__file__}


def test_events_too_early_for_their_place_are_sorted_in_stably(tmp_path):
    path = tmp_path / "a.toy"
    path.write_bytes(header((2, 4)) + rows((0, 1, 25, 0), (1, 0, 25, 1), (3, 1, 10, 1)))
    with pytest.warns(DamageWarning, match=r"time_backwards: 1, first at event 2 .*put in order"):
        assert read(path) == EVENTS


def test_strict_reading_raises(tmp_path):
    path = tmp_path / "a.toy"
    path.write_bytes(header((2, 4)) + rows((9, 9, 9, 1)))
    with pytest.raises(DamageError, match=r"^a\.toy: out_of_bounds"):
        read(path, strict=True)


def test_an_opened_file_skips_what_is_too_early(tmp_path):
    path = tmp_path / "a.toy"
    path.write_bytes(header((2, 4)) + rows((0, 1, 25, 0), (1, 0, 25, 1), (3, 1, 10, 1)))
    with open_recording(path) as recording:
        assert recording.read() == EVENTS[1:]


@given(events=recordings(), count=st.integers(1, 4))
def test_what_is_written_is_read_back(tmp_path_factory, events, count):
    path = tmp_path_factory.getbasetemp() / "back.toy"
    write(events, path)
    assert read(path) == events
    write((events[i : i + count] for i in range(0, len(events), count)), path, size=events.size)
    assert read(path) == events


def test_an_opened_recording_is_written_with_its_size(toy, tmp_path):
    with open_recording(toy) as recording:
        write(recording, tmp_path / "b.toy")
    assert read(tmp_path / "b.toy") == EVENTS


def test_no_events_are_written_as_such(tmp_path):
    write(Events.empty((2, 4)), tmp_path / "a.toy")
    write([], tmp_path / "b.toy", size=(2, 4))
    write(Events.empty((2, 4)), tmp_path / "c.bare")
    assert read(tmp_path / "a.toy") == read(tmp_path / "b.toy") == Events.empty((2, 4))
    assert read(tmp_path / "c.bare", (2, 4)) == Events.empty((2, 4))


@pytest.mark.parametrize(
    ("events", "options", "error", "words"),
    [
        ([], {}, ValueError, "size is needed to write no events"),
        ([EVENTS, EVENTS], {}, ValueError, "piece 1 starts at 10 us, before .* ends .25 us"),
        ([EVENTS, Events.empty((2, 5))], {}, ValueError, r"piece 1 has size \(2, 5\)"),
        (EVENTS, {"size": (2, 5)}, ValueError, r"piece 0 has size \(2, 4\), not \(2, 5\)"),
        (EVENTS, {"format": "folder"}, ValueError, "folder can be read, but not written"),
        ([1, 2], {}, TypeError, "pieces of one, got <class 'int'>"),
        ("text", {}, TypeError, "pieces of one, got <class 'str'>"),
    ],
)
def test_what_cannot_be_written_is_refused_and_leaves_nothing(
    tmp_path, events, options, error, words, own_errors
):
    with pytest.raises(error, match=words):
        write(events, tmp_path / "a.toy", **options)
    assert list(tmp_path.iterdir()) == []


def test_a_batch_of_samples_is_not_one_recording(tmp_path, own_errors):
    with pytest.raises(ValueError, match="pieces of one recording follow each other in time"):
        write(EventBatch.pack([EVENTS, EVENTS]), tmp_path / "a.toy")


@pytest.mark.parametrize("kind", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_whatever_interrupts_the_writing_leaves_what_was_there(toy, kind):
    before = toy.read_bytes()

    def pieces():
        yield EVENTS
        raise kind

    with pytest.raises(kind):
        write(pieces(), toy)
    assert toy.read_bytes() == before
    assert list(toy.parent.iterdir()) == [toy]


def test_a_writer_that_fails_half_way_leaves_nothing(tmp_path, monkeypatch):
    def half(path, pieces, size):
        path.write_bytes(b"half")
        raise OSError("no space left")

    monkeypatch.setitem(
        formats(), "toy", Format("toy", "", (".toy",), TOY.recognises, TOY.open, half)
    )
    with pytest.raises(OSError, match="no space"):
        write(EVENTS, tmp_path / "a.toy")
    assert list(tmp_path.iterdir()) == []


def test_the_target_of_a_link_is_replaced_and_the_link_kept(toy):
    link = toy.with_name("link.toy")
    link.symlink_to(toy)
    write(EVENTS[:1], link)
    assert link.is_symlink()
    assert read(toy) == EVENTS[:1]


def test_a_folder_or_device_is_not_replaced(tmp_path):
    (tmp_path / "a.toy").mkdir()
    with pytest.raises(ValueError, match="not a file that could be replaced"):
        write(EVENTS, tmp_path / "a.toy")
    with pytest.raises(ValueError, match="not a file that could be replaced"):
        write(EVENTS, os.devnull, format="toy")
    assert not Path(os.devnull).is_file()


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*absent"):
        write(EVENTS, tmp_path / "absent" / "a.toy")


def test_a_new_file_has_the_rights_that_any_new_file_has(tmp_path):
    write(EVENTS, tmp_path / "a.toy")
    (tmp_path / "b").touch()
    assert (tmp_path / "a.toy").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_a_header_without_events_warns_of_nothing(toy):
    toy.write_bytes(header((2, 4)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(read(toy)) == 0


def test_a_broken_header_is_an_error_of_the_format(toy):
    toy.write_bytes(header((2, 4))[:6])
    with pytest.raises(FormatError, match="the header breaks off"):
        read(toy)


def test_a_guess_warns_and_a_given_size_does_not(tmp_path):
    path = tmp_path / "a.bare"
    path.write_bytes(rows((3, 1, 10, 1)))
    with pytest.warns(GuessedSizeWarning):
        assert read(path).size == (2, 4)
    assert read(path, (5, 5)).size == (5, 5)
