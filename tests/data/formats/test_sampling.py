"""A sample comes from three places, or from the front, and says so."""

from __future__ import annotations

import pytest

from evsurf.data.formats import sampling
from evsurf.data.formats.reader import Options
from evsurf.data.formats.sampling import look_at_all, sample
from tests.data.formats.toy import BROKEN, ROW, START, Bare, Toy, header, rows

HUNDRED = [(i % 4, 0, 10 * i, i % 2) for i in range(100)]


@pytest.fixture
def files(tmp_path):
    toy, bare = tmp_path / "a.toy", tmp_path / "a.bare"
    toy.write_bytes(header((1, 4)) + rows(*HUNDRED))
    bare.write_bytes(rows(*HUNDRED))
    return toy, bare


@pytest.fixture
def hurried(monkeypatch):
    """As if every file were large and the time up at once."""
    monkeypatch.setattr(sampling, "_PIECE", 10)
    monkeypatch.setattr(sampling, "_LEAST", 20)
    monkeypatch.setattr(sampling, "_SECONDS", -1.0)


def test_a_small_file_is_looked_at_whole(files):
    for path, kind in zip(files, (Toy, Bare), strict=True):
        look = sample(kind(path, Options()), path.stat().st_size)
        assert (look.extent, look.events, look.exact, look.end) == ("all", 100, True, 990)
        assert look.tally.events == 100


@pytest.mark.usefixtures("hurried")
def test_random_access_gives_three_places_and_the_exact_number(files):
    look = sample(Toy(files[0], Options()), files[0].stat().st_size)
    assert (look.extent, look.events, look.exact) == ("places", 100, True)
    assert (look.tally.events, look.tally.start, look.end) == (30, 0, 990)


@pytest.mark.usefixtures("hurried")
def test_the_front_is_taken_for_the_rest(files):
    look = sample(Bare(files[1], Options()), files[1].stat().st_size)
    assert (look.extent, look.events, look.exact) == ("front", 100, False)
    assert (look.tally.events, look.tally.end, look.end) == (20, 190, 950)


@pytest.mark.usefixtures("hurried")
def test_positions_that_need_the_whole_file_are_not_asked_for(files, monkeypatch):
    monkeypatch.setattr(Toy, "indexed", False)
    monkeypatch.setattr(Toy, "__len__", lambda _: pytest.fail("the file was read"))
    assert sample(Toy(files[0], Options()), files[0].stat().st_size).extent == "front"


@pytest.mark.usefixtures("hurried")
def test_a_reader_that_does_not_tell_its_place_leaves_the_rest_unknown(files, monkeypatch):
    monkeypatch.setattr(Bare, "consumed", None)
    look = sample(Bare(files[1], Options()), files[1].stat().st_size)
    assert (look.events, look.exact, look.end) == (None, False, None)


def test_all_of_it_is_counted_with_progress(files, monkeypatch):
    monkeypatch.setattr(sampling, "_LARGE_PIECE", 50)
    shares = []
    look = look_at_all(Toy(files[0], Options()), files[0].stat().st_size, shares.append)
    assert (look.extent, look.events, look.exact, look.end) == ("all", 100, True, 990)
    assert shares == [(START + 50 * ROW.itemsize) / (START + 100 * ROW.itemsize), 1.0, 1.0]


@pytest.mark.parametrize("everything", [True, False])
def test_where_reading_breaks_off_what_came_before_is_told(tmp_path, everything):
    path = tmp_path / "a.bare"
    path.write_bytes(rows(*HUNDRED[:50], *[(0, 0, 500, 0)] * 2**16, (0, 0, BROKEN, 0)))
    reader, size = Bare(path, Options()), path.stat().st_size
    look = look_at_all(reader, size, lambda _: None) if everything else sample(reader, size)
    assert look.exact is False
    assert "a row is broken" in str(look.broken)
