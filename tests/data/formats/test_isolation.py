"""A reader in a process of its own gives the same events, and its failures are errors."""

from __future__ import annotations

import gc
import os
import select
import sys
import warnings
from pathlib import Path

import pytest

from evsurf.data.formats.damage import Damage, DamageError, DamageWarning, FormatError
from evsurf.data.formats.files import open_recording, read
from evsurf.data.formats.isolation import CrashedReaderError, Limits, parent
from evsurf.data.formats.isolation.limits import signal_of
from evsurf.data.formats.reader import Format, Options
from evsurf.data.formats.recording import ALL, Recording
from evsurf.events import Events
from tests.data.formats import wild
from tests.data.formats.toy import header, rows

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs file descriptors")

FIVE = [(3, 1, 10, 1), (0, 1, 25, 0), (1, 0, 25, 1), (1, 0, 40, 1), (2, 1, 90, 0)]
EVENTS = Events.from_arrays(*zip(*FIVE, strict=True), (2, 4))
LIMITS = Limits(seconds=20, memory=2**31)


@pytest.fixture(scope="module", autouse=True)
def _prelude():
    """The other process knows the tests' formats, and shares nothing else with this one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parent, "PRELUDE", "from tests.data.formats.wild import register; register()")
        yield


@pytest.fixture(scope="module")
def child():
    """One process for all the files that leave it alive: starting one takes seconds."""
    child = parent.Child(LIMITS)
    yield child
    child.end()


@pytest.fixture
def opened(child):
    def open_(path: Path, size=None, *, keep_unsorted: bool = False, strict: bool = False):
        options = Options(size, keep_unsorted=keep_unsorted, damage=Damage(strict))
        name, reader = parent.opened_in(child, path, options, None)
        # Closing the recording would end the process of the other tests.
        one = Format(name, "", (), lambda *_: True, lambda *_: reader)
        return Recording(path, one, options)

    return open_


@pytest.mark.parametrize("name", ["a.toy", "a.bare"])
def test_events_and_what_is_said_of_them_are_the_same(opened, tmp_path, name):
    path = tmp_path / name
    path.write_bytes((header((2, 4)) if name == "a.toy" else b"") + rows(*FIVE, (9, 9, 99, 1)))
    recording = opened(path, (2, 4))
    assert recording.read() == EVENTS
    assert str(recording.damage) == "out_of_bounds: 1, first at event 5"
    assert [len(chunk) for chunk in recording.chunks(2)] == [2, 2, 1]
    assert recording[1:3] == EVENTS[1:3]
    assert recording.between(20, 41) == EVENTS.between(20, 41)
    assert len(recording) == 5
    assert recording.format == name[2:]
    assert recording.random_access == (name == "a.toy")
    assert recording.facts == ({} if name == "a.toy" else {"colour": "red"})
    assert recording.progress == 1.0 or recording.random_access


def test_damage_is_counted_once_in_every_pass(opened, tmp_path):
    path = tmp_path / "a.toy"
    path.write_bytes(header((2, 4)) + rows((0, 0, 5, 1), (0, 0, 4, 1)))
    recording = opened(path, keep_unsorted=True)
    for _ in range(2):
        assert recording.read().t.tolist() == [4, 5]
        assert str(recording.damage) == "time_backwards: 1, first at event 1"


def test_strict_damage_and_broken_headers_raise_as_they_would_here(opened, tmp_path):
    path = tmp_path / "a.toy"
    path.write_bytes(header((2, 4)) + rows((9, 9, 5, 1)))
    with pytest.raises(DamageError, match=r"^a\.toy: out_of_bounds") as caught:
        opened(path, strict=True).read()
    assert caught.value.violation == "out_of_bounds"
    path.write_bytes(b"TOY!")
    with pytest.raises(FormatError, match="the header breaks off") as broken:
        opened(path)
    assert broken.value.offset == 4


def test_errors_of_readers_leave_the_process_for_the_next_file(opened, tmp_path):
    with pytest.raises(FormatError, match=r"^refuse\.wild: no such thing \(at byte 7\)$") as caught:
        opened(wild.file(tmp_path, "refuse"), (2, 4)).read()
    assert caught.value.offset == 7
    with pytest.raises(CrashedReaderError, match=r"^fail\.wild: its reader fails with KeyError"):
        opened(wild.file(tmp_path, "fail"), (2, 4)).read()
    assert len(opened(wild.file(tmp_path, "shout"), (2, 4)).read()) == 0


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is counted on Linux")
def test_too_much_memory_is_refused_and_the_process_lives_on(opened, tmp_path):
    with pytest.raises(CrashedReaderError, match=r"devour.*2,147,483,648 bytes.*Limits\(memory"):
        opened(wild.file(tmp_path, "devour"), (2, 4)).read()
    assert len(opened(wild.file(tmp_path, "shout"), (2, 4)).read()) == 0


def test_two_passes_at_once_are_refused(opened, tmp_path):
    path = tmp_path / "a.bare"
    path.write_bytes(rows(*FIVE))
    recording = opened(path, (2, 4))
    first = recording.chunks(1)
    next(first)
    next(recording.chunks(1))
    with pytest.raises(ValueError, match="one pass at a time"):
        next(first)


def test_reading_a_file_starts_and_ends_a_process(tmp_path):
    path = tmp_path / "a.toy"
    path.write_bytes(header((2, 4)) + rows(*FIVE, (9, 9, 99, 1)))
    files = Path("/proc/self/fd")
    before = len(list(files.iterdir())) if files.exists() else 0
    with pytest.warns(DamageWarning, match=r"^a\.toy: out_of_bounds"):
        assert read(path, isolate=LIMITS) == EVENTS
    gc.collect()
    assert not before or len(list(files.iterdir())) == before


@pytest.mark.parametrize(
    ("way", "words", "name"),
    [
        ("crash", "was ended by SIGSEGV", "SIGSEGV"),
        ("exit", "ended with code 3: out of cheese", None),
        ("hang", "took longer than 0.5 s", None),
    ],
)
def test_whatever_ends_the_reader_is_an_error_that_names_it(tmp_path, way, words, name):
    seconds = 0.5 if way == "hang" else 20
    path = wild.file(tmp_path, way)
    with open_recording(path, (2, 4), isolate=Limits(seconds=seconds)) as recording:
        with pytest.raises(CrashedReaderError) as caught:
            recording.read()
        assert str(caught.value).startswith(f"{way}.wild: its reader, in a process of its own, ")
        assert words in str(caught.value)
        assert caught.value.signal_name == name
        with pytest.raises(ValueError, match="open the file again"):
            recording.read()


def test_ctrl_c_ends_the_other_process_too(child, monkeypatch):
    other = object.__new__(parent.Child)
    other.__dict__ |= child.__dict__
    ended = []
    monkeypatch.setattr(other, "end", lambda: ended.append(other), raising=False)

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(select, "select", stopped)
    monkeypatch.setattr(os, "write", lambda *_: None)
    with pytest.raises(KeyboardInterrupt):
        other.ask("length", 1.0)
    assert ended == [other]


@pytest.mark.parametrize("wrong", [{"seconds": 0}, {"memory": -1}])
def test_limits_are_above_0(wrong):
    with pytest.raises(ValueError, match="must be above 0"):
        Limits(**wrong)


def test_limits_that_nobody_gives_grow_with_the_file_and_the_machine():
    assert Limits().seconds_for(0) == 60
    assert Limits().seconds_for(10**9) == 1060
    assert Limits(seconds=2.0).seconds_for(10**9) == 2
    assert Limits(memory=5).bytes == 5
    assert Limits().bytes > 2**26


def test_signals_have_names():
    assert (signal_of(0), signal_of(3), signal_of(-11)) == (None, None, "SIGSEGV")
    assert signal_of(-1000) == "signal 1000"


def test_a_missing_file_starts_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(parent, "Child", lambda _: pytest.fail("a process was started"))
    with warnings.catch_warnings(), pytest.raises(FileNotFoundError):
        read(tmp_path / "absent.toy", isolate=True)
    assert ALL > 2**40
