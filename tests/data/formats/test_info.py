"""Info tells what a file holds, in a moment, and says what it is sure of."""

from __future__ import annotations

import json

import pytest

from evsurf.data.formats import sampling
from evsurf.data.formats.damage import FormatError
from evsurf.data.formats.info import decimal, info, seconds
from tests.data.formats.toy import BROKEN, header, rows

pytestmark = pytest.mark.usefixtures("toys")

FIVE = [(3, 1, 10, 1), (0, 1, 25, 0), (1, 0, 25, 1), (1, 0, 40, 1), (1, 0, 1_000_010, 0)]


@pytest.fixture
def toy(tmp_path):
    path = tmp_path / "a.toy"
    path.write_bytes(header((2, 4)) + rows(*FIVE, (9, 9, 1_000_010, 0)))
    return path


@pytest.fixture
def bare(tmp_path):
    path = tmp_path / "a.bare"
    path.write_bytes(rows(*FIVE))
    return path


@pytest.fixture
def hurried(monkeypatch):
    monkeypatch.setattr(sampling, "_LEAST", 2)
    monkeypatch.setattr(sampling, "_SECONDS", -1.0)


def test_a_worked_example(toy):
    found = info(toy)
    assert (found.format, found.bytes, found.size, found.size_source) == (
        "toy",
        86,
        (2, 4),
        "header",
    )
    assert (found.events, found.exact, found.start, found.end) == (5, True, 10, 1_000_010)
    assert (found.duration, found.rate, found.on) == (1_000_000, 5.0, 0.6)
    assert found.hottest == ((1, 0, 3), (0, 1, 1), (3, 1, 1))
    assert (found.looked_at, found.sample, found.broken) == ("all", 5, None)
    assert {name: one.count for name, one in found.damage.items()} == {"out_of_bounds": 1}


def test_it_prints_as_a_table(toy, bare):
    assert (
        str(info(toy))
        == f"""{toy}
  format    toy
  on disk   86 B
  sensor    2 x 4 (height x width), says its header
  events    5
  time      1 s, starts at 10 us
  rate      5 events/s
  polarity  60.0% ON, 40.0% OFF
  hottest   x 1, y 0 (60.00%), x 0, y 1 (20.00%), x 3, y 1 (20.00%)
  damage    out_of_bounds: 1, first at event 5 (events outside the sensor, skipped)"""
    )
    assert "  colour    red\n  damage    none found" in str(info(bare))


def test_who_says_the_size_is_told(toy, bare):
    assert info(toy, (20, 20)).size_source == "argument"
    assert "2 x 4 (height x width), a guess from its events" in str(info(bare))


@pytest.mark.usefixtures("hurried")
def test_what_is_estimated_is_called_so(bare):
    found = info(bare)
    assert (found.looked_at, found.exact, found.sample) == ("front", False, 2)
    assert found.events == 5
    text = str(found)
    assert "about 5, estimated from its front" in text
    assert "judged by  front, 2 events" in text


@pytest.mark.usefixtures("hurried")
def test_in_full_nothing_is_estimated(bare):
    shares = []
    found = info(bare, full=True, progress=shares.append)
    assert (found.looked_at, found.exact, found.events, found.end) == ("all", True, 5, 1_000_010)
    assert shares[-1] == 1.0


def test_a_file_without_events_has_no_times(tmp_path):
    path = tmp_path / "a.toy"
    path.write_bytes(header((2, 4)))
    found = info(path)
    assert (found.events, found.start, found.duration, found.rate, found.on) == (
        0,
        None,
        None,
        None,
        None,
    )
    assert found.hottest == ()
    assert str(found).endswith("events   0\n  damage   none found")


def test_events_of_one_moment_have_no_rate(tmp_path):
    path = tmp_path / "a.toy"
    path.write_bytes(header((2, 4)) + rows(*FIVE[1:3]))
    assert (info(path).duration, info(path).rate) == (0, None)


@pytest.mark.parametrize("full", [True, False])
def test_where_reading_breaks_off_is_told_and_not_raised(tmp_path, full):
    path = tmp_path / "a.bare"
    path.write_bytes(rows(*FIVE, (0, 0, BROKEN, 0)))
    found = info(path, full=full)
    assert found.broken == "a row is broken (at byte 0)"
    assert "reading breaks off: a row is broken" in str(found)
    assert not found.exact


def test_a_file_that_cannot_be_opened_raises(tmp_path):
    path = tmp_path / "a.toy"
    path.write_bytes(b"TOY!")
    with pytest.raises(FormatError, match=r"a\.toy: the header breaks off"):
        info(path)


def test_a_folder_has_the_bytes_of_its_files(tmp_path):
    (tmp_path / "rows").write_bytes(rows(*FIVE))
    (tmp_path / "more").write_bytes(b"12")
    assert info(tmp_path).bytes == 5 * 13 + 2


def test_it_goes_to_json_and_back(toy):
    told = json.loads(json.dumps(info(toy).as_json()))
    assert told["events"] == 5
    assert (told["height"], told["width"]) == (2, 4)
    assert told["hottest"][0] == {"x": 1, "y": 0, "events": 3}
    assert told["damage"] == {"out_of_bounds": {"count": 1, "first": 5, "place": "event"}}


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (1234, "1.23 kB"), (12_345, "12.3 kB"),
     (999_700, "1.00 MB"), (123_456_789, "123 MB"), (1.07e9, "1.07 GB"), (2e12, "2,000 GB")],
)  # fmt: skip
def test_sizes_have_three_digits(value, text):
    assert decimal(value, "B") == text


@pytest.mark.parametrize(
    ("microseconds", "text"),
    [(0, "0 us"), (999, "999 us"), (1500, "1.50 ms"), (99_950, "100 ms"), (3_400_000, "3.40 s"),
     (10_768_000, "10.8 s")],
)  # fmt: skip
def test_durations_have_the_unit_that_suits_them(microseconds, text):
    assert seconds(microseconds) == text
