"""A recording is read whole, in pieces, by position and by time, and tells what was damaged."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evsurf.data.formats.damage import DamageError, FormatError
from evsurf.data.formats.files import open_recording, read
from evsurf.data.formats.recording import Recording
from evsurf.data.formats.telling import GuessedSizeWarning
from evsurf.events import Events
from tests.data.formats.toy import BROKEN, header, rows

pytestmark = pytest.mark.usefixtures("toys")

FIVE = [(3, 1, 10, 1), (0, 1, 25, 0), (1, 0, 25, 1), (1, 0, 40, 1), (2, 1, 90, 0)]
EVENTS = Events.from_arrays(*zip(*FIVE, strict=True), (2, 4))
NAMES = ["a.toy", "a.bare"]


def write(folder, name: str, *events, tail: bytes = b"") -> str:
    path = folder / name
    head = header((2, 4)) if name.endswith(".toy") else b""
    path.write_bytes(head + rows(*events) + tail)
    return str(path)


@pytest.fixture(params=NAMES)
def five(request, tmp_path):
    """The five events, once where any place is found at once and once where it is not."""
    with open_recording(write(tmp_path, request.param, *FIVE), (2, 4)) as recording:
        yield recording


def test_random_access_is_told(tmp_path):
    assert open_recording(write(tmp_path, "a.toy")).random_access
    assert not open_recording(write(tmp_path, "a.bare")).random_access


def test_the_whole_is_the_chunks_after_one_another(five):
    assert five.read() == EVENTS
    chunks = list(five.chunks(2))
    assert [len(chunk) for chunk in chunks] == [2, 2, 1]
    assert [t for chunk in chunks for t in chunk.t.tolist()] == [10, 25, 25, 40, 90]
    assert len(five) == 5


def test_chunks_start_anew_each_time(five):
    assert next(five.chunks(2)) == next(five.chunks(2)) == EVENTS[:2]


@given(
    start=st.none() | st.integers(-8, 8),
    stop=st.none() | st.integers(-8, 8),
    name=st.sampled_from(NAMES),
)
def test_slices_are_those_of_the_events(tmp_path_factory, start, stop, name):
    path = write(tmp_path_factory.getbasetemp(), name, *FIVE)
    with open_recording(path, (2, 4)) as recording:
        assert recording[start:stop] == EVENTS[start:stop]


@given(times=st.tuples(st.integers(0, 100), st.integers(0, 100)), name=st.sampled_from(NAMES))
def test_between_is_that_of_the_events(tmp_path_factory, times, name):
    path = write(tmp_path_factory.getbasetemp(), name, *FIVE)
    with open_recording(path, (2, 4)) as recording:
        assert recording.between(*sorted(times)) == EVENTS.between(*sorted(times))


def test_between_takes_any_python_int(five):
    assert five.between(-(10**30), 10**30) == EVENTS


def test_a_part_keeps_no_more_than_itself_in_memory(five):
    part = five[1:3]
    if not five.random_access:
        assert part.t.untyped_storage().nbytes() == 16


@pytest.mark.parametrize("index", [2, slice(0, 4, 2), "x"])
def test_only_slices_without_steps_are_taken(five, index, own_errors):
    with pytest.raises(TypeError, match="slice with step 1"):
        five[index]


def test_other_wrong_arguments_are_refused(five, own_errors):
    with pytest.raises(ValueError, match="count = 0 must be at least 1"):
        five.chunks(0)
    with pytest.raises(TypeError, match="count must be an int"):
        five.chunks(2.0)
    with pytest.raises(ValueError, match="t0 = 5 is after t1 = 4"):
        five.between(5, 4)
    with pytest.raises(TypeError, match="t0 must be an int"):
        five.between(0.5, 4)
    with pytest.raises(TypeError):
        five[1.5:]


def test_iterating_says_how(five):
    with pytest.raises(TypeError, match=r"recording\.chunks\(\)"):
        iter(five)


def test_a_recording_without_events_is_true_and_not_counted(tmp_path):
    assert open_recording(write(tmp_path, "a.toy"))


def test_a_file_without_events_is_a_recording_in_which_nothing_happened(tmp_path):
    recording = open_recording(write(tmp_path, "a.toy"))
    assert recording.read() == Events.empty((2, 4))
    assert list(recording.chunks()) == []
    assert recording[0:3] == recording[-1:] == recording.between(0, 9) == Events.empty((2, 4))
    with pytest.warns(GuessedSizeWarning):
        assert read(write(tmp_path, "a.bare")) == Events.empty((1, 1))


def test_who_says_the_size_is_told(tmp_path):
    toy, bare = write(tmp_path, "a.toy", *FIVE), write(tmp_path, "a.bare", *FIVE)
    sources = [open_recording(path, size).size_source for path in (toy, bare) for size in
               (None, (3, 5))]  # fmt: skip
    assert sources == ["header", "argument", "guess", "argument"]
    assert open_recording(toy, (3, 5)).size == (3, 5)


def test_a_size_that_nobody_says_is_guessed_once_with_a_warning(tmp_path):
    recording = open_recording(write(tmp_path, "a.bare", *FIVE))
    assert "unknown size" in repr(recording)
    with pytest.warns(GuessedSizeWarning, match=r"a\.bare .* 2x4 .*size=\(height, width\)"):
        assert recording.chunks(2) is not None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert recording.size == (2, 4)
        assert next(recording.chunks(2)).size == (2, 4)
    assert "2x4" in repr(recording)


def test_reading_all_guesses_without_a_pass_more(tmp_path, monkeypatch):
    recording = open_recording(write(tmp_path, "a.bare", *FIVE))
    passes = []
    pieces = recording._reader.pieces

    def counted(count):
        passes.append(count)
        return pieces(count)

    monkeypatch.setattr(recording._reader, "pieces", counted)
    with pytest.warns(GuessedSizeWarning):
        assert recording.read() == EVENTS
    assert len(passes) == 1


def test_damage_is_that_of_what_was_read_last(five, tmp_path):
    name = f"b.{five.format}"
    damaged = [(9, 9, 0, 1), *FIVE, (0, 0, 80, 1)]
    with open_recording(write(tmp_path, name, *damaged, tail=b"12"), (2, 4)) as recording:
        told = {"out_of_bounds": 1, "time_backwards": 1, "truncated": 2}
        for use in (
            lambda: list(recording.chunks(2)),
            lambda: list(recording.chunks()),
            lambda: recording[:],
            lambda: recording.between(0, 1000),
            recording.read,
        ):
            use()
            counts = {name: found.count for name, found in recording.damage.violations.items()}
            assert counts == told
        assert recording.read() == EVENTS


def test_a_guess_leaves_no_damage_behind(tmp_path):
    recording = open_recording(write(tmp_path, "a.bare", (3, 1, 5, 1), (0, 0, 4, 1)))
    with pytest.warns(GuessedSizeWarning):
        assert recording.size == (2, 4)
    assert not recording.damage


@pytest.mark.parametrize("use", ["chunks", "size", "read", "between", "slice", "len"])
def test_strict_damage_raises_wherever_it_is_met(tmp_path, use):
    path = write(tmp_path, "a.bare", (3, 1, 5, 1), (0, 0, 4, 1))
    recording = open_recording(path, None if use == "size" else (2, 4), strict=True)
    uses = {
        "chunks": lambda: list(recording.chunks()),
        "size": lambda: recording.size,
        "read": recording.read,
        "between": lambda: recording.between(0, 9),
        "slice": lambda: recording[0:],
        "len": lambda: len(recording),
    }
    with pytest.raises(DamageError, match=r"^a\.bare: time_backwards: .* \(at event 1\)"):
        uses[use]()


def test_an_error_in_the_middle_names_the_file_once_and_the_byte(tmp_path):
    path = write(tmp_path, "a.bare", *FIVE, (0, 0, BROKEN, 0))
    recording = open_recording(path, (2, 4))
    for use in (recording.read, lambda: list(recording.chunks(1)), lambda: recording[3:]):
        with pytest.raises(FormatError) as caught:
            use()
        assert str(caught.value).startswith("a.bare: a row is broken (at byte ")
        assert str(caught.value.path) == path
        assert caught.value.offset is not None
    # What stands before it can be had.
    assert [len(chunk) for _, chunk in zip(range(5), recording.chunks(1), strict=False)] == [1] * 5


def test_an_error_in_the_header_names_the_file(tmp_path):
    (tmp_path / "a.toy").write_bytes(b"TOY!")
    with pytest.raises(FormatError, match=r"^a\.toy: the header breaks off \(at byte 4\)$"):
        open_recording(tmp_path / "a.toy")


def test_a_closed_recording_says_so(five):
    five.close()
    five.close()
    for use in (five.read, lambda: five[0:1], lambda: next(five.chunks()), lambda: len(five)):
        with pytest.raises(ValueError, match="is closed: open it again"):
            use()


@pytest.mark.parametrize("tells", [True, False])
def test_progress_is_the_share_of_the_file(five, monkeypatch, tells):
    if not tells:
        monkeypatch.setattr(type(five._reader), "consumed", None)
    shares = [five.progress for _ in five.chunks(1)]
    if tells or five.random_access:
        assert shares == sorted(set(shares))
        assert shares[-1] == 1.0
    else:
        assert shares == [None] * 5


def test_facts_are_those_of_the_header(five):
    assert five.facts == ({"colour": "red"} if five.format == "bare" else {})


def test_it_prints_its_name_format_and_size(five):
    assert repr(five) == f"Recording({five.path.name!r}, {five.format}, 2x4)"
    assert isinstance(five, Recording)
