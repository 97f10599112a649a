"""Info of one file is a list, of several a table; scripts get JSON and exit codes."""

from __future__ import annotations

import json
import warnings

import pytest

from tests.data.formats.toy import BROKEN, header, rows

pytestmark = pytest.mark.usefixtures("toys")

FIVE = [(3, 1, 10, 1), (0, 1, 25, 0), (1, 0, 25, 1), (1, 0, 40, 1), (1, 0, 1_000_010, 0)]


@pytest.fixture
def toy(tmp_path):
    path = tmp_path / "[a].toy"
    path.write_bytes(header((2, 4)) + rows(*FIVE, (9, 9, 1_000_010, 0)))
    return str(path)


@pytest.fixture
def bare(tmp_path):
    path = tmp_path / "b.bare"
    path.write_bytes(rows(*FIVE))
    return str(path)


def test_one_file_is_told_line_by_line(typed, toy):
    code, out, err = typed("info", toy)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == toy
    assert lines[3].split() == [
        "sensor", "2", "x", "4", "(height", "x", "width),", "says", "its", "header",
    ]  # fmt: skip
    assert "out_of_bounds: 1, first at event 5" in out
    assert max(map(len, lines[1:])) <= 80


def test_a_guessed_size_is_no_warning(typed, bare):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        code, out, err = typed("info", bare)
    assert (code, err) == (0, "")
    assert "a guess from its events" in out


def test_several_files_are_a_table(typed, toy, bare):
    code, out, err = typed("info", toy, bare)
    assert (code, err) == (0, "")
    head, first, second, *_ = out.splitlines()
    assert head.split()[0] == "file"
    assert "[a].toy" in first
    assert "out_of_bounds" in out
    assert "2x4?" in second
    assert max(map(len, out.splitlines())) <= 80


def test_json_is_one_line_for_each_file(typed, toy, bare):
    code, out, err = typed("info", "--json", toy, bare)
    assert (code, err) == (0, "")
    told = [json.loads(line) for line in out.splitlines()]
    assert [one["format"] for one in told] == ["toy", "bare"]
    assert [one["events"] for one in told] == [5, 5]


def test_in_full_all_is_read(typed, bare):
    assert json.loads(typed("info", "--json", "--full", bare).out)["looked_at"] == "all"


def test_the_options_of_reading_are_passed_on(typed, bare, tmp_path):
    plain = tmp_path / "plain"
    plain.write_bytes(rows(*FIVE))
    told = json.loads(typed("info", "--json", "--from", "bare", "--size", "7x9", str(plain)).out)
    assert (told["height"], told["width"], told["size_source"]) == (7, 9, "argument")


def test_a_file_that_cannot_be_read_is_one_line_and_code_2(typed, tmp_path):
    code, out, err = typed("info", str(tmp_path / "absent.toy"))
    assert (code, out) == (2, "")
    assert err.splitlines()[0] == (f"evsurf: error: there is no file {tmp_path / 'absent.toy'}")


def test_one_bad_file_among_others_does_not_hide_them(typed, toy, tmp_path):
    (tmp_path / "c.xyz").write_bytes(b"hello")
    code, out, err = typed("info", str(tmp_path / "c.xyz"), toy)
    assert code == 2
    assert "[a].toy" in out
    assert "c.xyz has no format known here" in err
    assert err.startswith("evsurf: ")


def test_a_file_that_breaks_off_is_told_with_code_1(typed, tmp_path):
    path = tmp_path / "d.bare"
    path.write_bytes(rows(*FIVE, (0, 0, BROKEN, 0)))
    code, out, _ = typed("info", str(path))
    assert code == 1
    assert "reading breaks off" in out


@pytest.mark.parametrize("words", [(), ("--size", "7"), ("a.toy", "--size", "0x4")])
def test_wrong_words_are_one_line(typed, words, toy):
    code, out, err = typed("info", *(toy if word == "a.toy" else word for word in words))
    assert (code, out) == (2, "")
    assert err.startswith("evsurf: error: ")
