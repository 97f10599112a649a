"""Mapped files: pieces, places, damage, and what is left open."""

from __future__ import annotations

import numpy as np
import pytest

from evsurf.data.formats import DamageError, open_recording, read
from evsurf.data.formats.binary import BinaryReader
from evsurf.data.formats.damage import Damage
from evsurf.data.formats.dat import FORMAT
from evsurf.data.formats.reader import Options
from tests.data.formats import encoders as enc

SIZE = (100, 120)


@pytest.fixture
def damaged(tmp_path):
    """A thousand blocks' worth of events with damage in many places."""
    events = enc.random_events(30_000, SIZE, us=1_000_000)
    draw = np.random.default_rng(5)
    bad = [(x, y, t - 500, p) if draw.random() < 1e-3 else (x, y, t, p) for x, y, t, p in events]
    bad = [
        (150, y, max(t, 0), p) if draw.random() < 1e-3 else (x, y, max(t, 0), p)
        for x, y, t, p in bad
    ]
    path = tmp_path / "a.dat"
    path.write_bytes(enc.dat_header(SIZE) + enc.dat(bad) + b"end")
    return path


def test_places_of_a_damaged_file_count_what_the_pieces_hand_out(damaged):
    with open_recording(damaged) as recording:
        whole = np.concatenate([piece.numpy() for piece in recording.chunks(1000)])
        found = str(recording.damage)
        assert len(recording) == len(whole) < 30_000
        assert len(recording[:]) == len(whole)
        assert str(recording.damage) == found
        for start, stop in [(0, 10), (9_990, 20_000), (len(whole) - 3, len(whole) + 9)]:
            assert recording[start:stop].numpy().tolist() == whole[start:stop].tolist()
        inside = (whole["t"] >= 300_000) & (whole["t"] < 300_100)
        assert recording.between(300_000, 300_100).numpy().tolist() == whole[inside].tolist()
        assert "truncated: 3, first at byte" in found


def test_reading_all_sorts_late_events_in(damaged):
    with pytest.warns(match="time_backwards"):
        events = read(damaged)
    with open_recording(damaged) as recording:
        assert len(events) > len(recording)
    assert (events.t.diff() >= 0).all()


def test_strict_damage_is_also_raised_by_the_first_access_to_a_place(damaged):
    with open_recording(damaged, strict=True) as recording:
        for _ in range(2):
            with pytest.raises(DamageError) as caught:
                recording[0:1]
            assert caught.value.offset is not None


def test_a_place_notes_the_damage_near_it(tmp_path):
    events = enc.random_events(30_000, SIZE, us=1_000_000)
    path = tmp_path / "a.dat"
    path.write_bytes(enc.dat_header(SIZE) + enc.dat([*events[:-1], (150, 0, 999_999, 1)]))
    with open_recording(path) as recording:
        assert len(recording[0:9]) == 9
        assert not recording.damage
        assert len(recording[29_000:]) == 999
        assert list(recording.damage.violations) == ["out_of_bounds"]


def test_the_reader_tells_how_far_it_came_and_whether_it_has_an_index(damaged):
    with FORMAT.open(damaged, Options(damage=Damage())) as reader:
        assert isinstance(reader, BinaryReader)
        head = len(enc.dat_header(SIZE))
        assert (reader.consumed, reader.indexed) == (head, False)
        pieces = reader.pieces(5000)
        next(pieces)
        assert head + 5000 * 8 <= reader.consumed < head + 5100 * 8
        assert len(reader) < 30_000
        assert reader.indexed


def test_one_piece_of_all_is_not_copied(tmp_path):
    path = tmp_path / "a.dat"
    path.write_bytes(enc.dat_header(SIZE) + enc.dat(enc.random_events(1000, SIZE, us=1000)))
    with FORMAT.open(path, Options(damage=Damage())) as reader:
        (piece,) = reader.pieces(2**62)
        assert piece.length == 1000
        assert all(column.base is not None for column in piece)


def test_pieces_may_be_of_one_event(tmp_path):
    path = tmp_path / "a.dat"
    events = enc.random_events(50, SIZE, us=1000)
    path.write_bytes(enc.dat_header(SIZE) + enc.dat(events))
    with open_recording(path) as recording:
        assert [piece.t.tolist() for piece in recording.chunks(1)] == [[t] for _, _, t, _ in events]


@pytest.mark.parametrize("payload", [b"", b"abc"])
def test_a_file_without_events_is_empty(tmp_path, payload):
    path = tmp_path / "a.dat"
    path.write_bytes(enc.dat_header(SIZE) + payload)
    with open_recording(path) as recording:
        assert len(recording) == len(recording.read()) == len(recording[0:5]) == 0
        assert len(recording.between(0, 10**9)) == 0
        assert list(recording.chunks()) == []


def test_an_empty_file_is_read_where_the_format_is_named(tmp_path):
    path = tmp_path / "a.bin"
    path.touch()
    with open_recording(path, (34, 34), format="atis_bin") as recording:
        assert len(recording) == 0


def test_a_closed_reader_has_let_go_of_its_file(tmp_path):
    path = tmp_path / "a.dat"
    path.write_bytes(enc.dat_header(SIZE) + enc.dat([(1, 2, 3, 1)]))
    recording = open_recording(path)
    events = recording.read()
    recording.close()
    recording.close()
    assert events.x.tolist() == [1]


def test_part_of_a_file_of_many_blocks_is_found_from_any_block(tmp_path):
    events = enc.random_events(60_000, SIZE, us=1_000_000)
    path = tmp_path / "a.raw"
    path.write_bytes(enc.raw_header("EVT3", SIZE) + enc.evt3(events))
    t = np.array([t for _, _, t, _ in events])
    with open_recording(path, strict=True) as recording:
        assert len(recording) == 60_000
        for start in range(0, 60_000, 7_001):
            assert recording[start : start + 9_000].t.tolist() == t[start : start + 9_000].tolist()
        for t0 in range(0, 1_000_000, 99_999):
            inside = t[(t >= t0) & (t < t0 + 5_000)]
            assert recording.between(t0, t0 + 5_000).t.tolist() == inside.tolist()
