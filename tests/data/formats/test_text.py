"""Text with an event per line: exact times, any order of columns, damage by line."""

from __future__ import annotations

import contextlib
import gzip
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evsurf.data import formats
from evsurf.data.formats import FormatError
from tests.data.formats.recorded import (
    EXPECTED,
    SIZE,
    column,
    lists,
    long_recording,
    recording,
    same,
)
from tests.events.strategies import recordings

ECD = """0.000000000 7 9 0
0.040000000 3 120 1
0.040000000 345 4 0
0.090000000 2 8 1
2.500001000 40 129 1
2.600000000 0 0 0
"""
E2VID = "346 130\n" + ECD


def rows(order: str, separator: str = ",") -> str:
    found = zip(*(column(role).tolist() for role in order), strict=True)
    return "".join(separator.join(map(str, row)) + "\n" for row in found)


KNOWN = {
    "ECD": ECD,
    "E2VID": E2VID,
    "tabs": ECD.replace(" ", "\t"),
    "no last line end": ECD.rstrip(),
    "line ends of Windows": ECD.replace("\n", "\r\n"),
    "comments": "# t x y p\n" + ECD.replace("2.5", "\n# so far\n% and on\n2.5"),
    "named": "x,y,t,p\n" + rows("xytp"),
    "named in another order": "timestamp;polarity;y;x\n" + rows("tpyx", ";"),
    "named in a comment": "# p t x y\n" + rows("ptxy", " "),
    "quoted names": '"x","y","t_us","p"\n' + rows("xytp"),
    "byte order mark": "\ufeffx,y,t,p\n" + rows("xytp"),
    "OpenEB": "%geometry:346,130\n" + rows("xypt"),
    "blanks after commas": rows("xypt", ", "),
    "more columns": "id,x,y,t,p,note\n"
    + "".join(f"{i},{line},\n" for i, line in enumerate(rows("xytp").splitlines())),
    "nanoseconds": "t_ns,x,y,p\n" + rows("txyp").replace(",", "000,", 1).replace("\n", "\n", 1),
    "true and false": "x,y,t,p\n"
    + rows("xytp").replace(",0\n", ",False\n").replace(",1\n", ",true\n"),
    "signed": "x,y,t,p\n" + rows("xytp").replace(",0\n", ",-1\n").replace(",1\n", ",+1\n"),
    "floats": "x,y,t,p\n" + rows("xytp").replace(",", ".0,").replace("\n", ".0\n", -1),
}
KNOWN["nanoseconds"] = "t_ns,x,y,p\n" + "".join(
    line.replace(",", "000,", 1) + "\n" for line in rows("txyp").splitlines()
)
KNOWN["floats"] = "x,y,t,p\n" + rows("xytp").replace(",", ".0,")


@pytest.mark.parametrize("text", KNOWN.values(), ids=KNOWN.keys())
@pytest.mark.parametrize("compressed", [False, True])
def test_texts_of_many_kinds_are_read(tmp_path, text, compressed):
    data = text.encode()
    (tmp_path / "a").write_bytes(gzip.compress(data) if compressed else data)
    events = formats.read(tmp_path / "a", SIZE)
    assert lists(events) == EXPECTED


def test_numpy_s_own_text_is_read(tmp_path):
    matrix = np.stack([column(role) / (1e6 if role == "t" else 1) for role in "txyp"], axis=1)
    np.savetxt(tmp_path / "a.txt", matrix)
    assert lists(formats.read(tmp_path / "a.txt", SIZE)) == EXPECTED


@pytest.mark.parametrize(
    ("text", "size"),
    [(E2VID, SIZE), (KNOWN["OpenEB"], SIZE), ("# height=130 width: 346\n" + ECD, SIZE)],
)
def test_a_size_in_the_text_is_no_guess(tmp_path, text, size):
    (tmp_path / "a.txt").write_text(text)
    assert formats.read(tmp_path / "a.txt").size == size


@pytest.mark.parametrize(
    ("written", "microseconds"),
    [
        ("0.1", 100_000),
        ("0.0000014", 1),
        ("0.0000016", 2),
        ("0.0000005", 0),
        ("0.0000015", 2),
        ("0.00000050000000000000000000000000001", 1),
        ("9007199254.740993", 9007199254740993),
        ("1504645177.4199570", 1504645177419957),
        ("1504645177.4199574999999999999", 1504645177419957),
        ("-0.25", -250_000),
        ("1e-3", 1_000),
        ("2.5E+00", 2_500_000),
        ("00000000000000000000000000001.5", 1_500_000),
        (".5", 500_000),
        ("7.", 7_000_000),
    ],
)
def test_times_are_exact_to_the_microsecond(tmp_path, written, microseconds):
    lines = ["t_s,x,y,p", f"{written},1,1,1"]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    assert formats.read(tmp_path / "a.csv", (2, 2)).t.tolist() == [microseconds]


def test_a_column_order_may_be_given(tmp_path):
    (tmp_path / "a.txt").write_text(rows("tyxp", " "))
    assert lists(formats.read(tmp_path / "a.txt", SIZE, columns="tyxp")) == EXPECTED
    (tmp_path / "a.csv").write_text("0,0,0,0\n1,1,1,0\n")
    with pytest.raises(FormatError, match='may be xytp or xypt or txyp: say columns="txyp"'):
        formats.read(tmp_path / "a.csv")


def test_columns_that_cannot_be_so_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("1,2,30,1\n2,1,40000,0\n")
    with pytest.raises(FormatError, match="the polarities start with"):
        formats.read(tmp_path / "a.csv", columns="xypt")
    (tmp_path / "a.csv").write_text("time;x;y;label\n1;2;3;1\n")
    with pytest.raises(FormatError, match="called time, x, y, label, and none for p"):
        formats.read(tmp_path / "a.csv")


def test_bad_lines_are_counted_with_the_byte_of_the_first(tmp_path):
    lines = ["5,1,1,1", "6,1,1", "7,1,1,1,1", "8,,1,1", "x,1,1,1", "9,1.5,1,1", "9,1 ,1,1"]
    lines += ["10,1,1,7", "11,3,1,1", "4,1,1,0", "1e400,0,0,1", "12,0,0,0;", "nan,0,0,1"]
    (tmp_path / "a.csv").write_text("t,x,y,p\n" + "\n".join(lines))
    with pytest.warns(formats.DamageWarning) as caught:
        events = formats.read(tmp_path / "a.csv", (2, 2))
    assert events.t.tolist() == [4, 5, 9, 12]
    parts = str(caught[0].message).split("; ")
    places = [part.split(", first at ")[1].split(" (")[0] for part in parts]
    assert places == ["byte 16", "byte 66", "event 2", "event 4", "event 3"]
    assert "bad_line: 6" in str(caught[0].message)


def test_strict_reading_stops_at_the_byte(tmp_path):
    (tmp_path / "a.csv").write_text("t,x,y,p\n5,1,1,1\n6,1\n")
    with pytest.raises(formats.DamageError, match="bad_line") as caught:
        formats.read(tmp_path / "a.csv", (2, 2), strict=True)
    assert caught.value.offset == 16


def test_a_line_without_end_needs_no_memory_of_its_length(tmp_path):
    text = b"t,x,y,p\n5,1,1,1\n" + b"7" * 5_000_000 + b"\n8,1,1,0\n"
    (tmp_path / "a.csv").write_bytes(text)
    with pytest.warns(formats.DamageWarning, match="bad_line: 1, first at byte 16"):
        assert formats.read(tmp_path / "a.csv", (2, 2)).t.tolist() == [5, 8]


def test_a_compressed_text_that_breaks_off_gives_what_it_has(tmp_path):
    formats.write(long_recording(), tmp_path / "a.csv.gz")
    data = (tmp_path / "a.csv.gz").read_bytes()
    (tmp_path / "a.csv.gz").write_bytes(data[: len(data) // 2])
    with pytest.warns(formats.DamageWarning, match="truncated"):
        assert 10_000 < len(formats.read(tmp_path / "a.csv.gz")) < 150_000


@pytest.mark.parametrize(
    "text",
    [
        "hello world\n",
        "0.5 images/1.png\n0.6 images/2.png\n",
        "1 2 3\n4 5 6\n",
        "1 2 3 4 5 6 7 8\n" * 9,
        "\x00\x01",
        "x,y,label,p\n1,2,3,4\n",
    ],
)
def test_other_texts_are_refused(tmp_path, text):
    (tmp_path / "a.txt").write_text(text)
    with pytest.raises(FormatError):
        formats.read(tmp_path / "a.txt")


@pytest.mark.parametrize("suffix", [".csv", ".txt", ".csv.gz", ".txt.gz"])
def test_what_is_written_is_read_again(tmp_path_factory, suffix):
    folder = tmp_path_factory.mktemp("written")

    @given(recordings())
    def check(events):
        formats.write(events, folder / f"a{suffix}")
        assert same(formats.read(folder / f"a{suffix}"), events)

    check()


def test_what_is_written_reads_well(tmp_path):
    events = recording()[:2]
    formats.write(events, tmp_path / "a.csv")
    formats.write(events, tmp_path / "a.txt")
    assert (tmp_path / "a.csv").read_text() == (
        "# height=130 width=346 time=microseconds\nx,y,t,p\n7,9,0,0\n3,120,40000,1\n"
    )
    assert (tmp_path / "a.txt").read_text() == "346 130\n0.000000 7 9 0\n0.040000 3 120 1\n"


def test_no_events_keep_their_size(tmp_path):
    for name in ("a.csv", "a.txt"):
        formats.write([], tmp_path / name, size=(3, 4))
        assert formats.read(tmp_path / name).size == (3, 4)


def test_long_texts_come_in_pieces(tmp_path):
    events = long_recording(200_000)
    formats.write(events, tmp_path / "a.csv")
    with formats.open_recording(tmp_path / "a.csv") as found:
        chunks = list(found.chunks(30_000))
        assert max(len(chunk) for chunk in chunks) <= 30_000
        assert [t for chunk in chunks for t in chunk.t.tolist()] == events.t.tolist()
        assert same(found.read(), events)


@given(st.lists(st.sampled_from([*"0123456789", *"., ;\n\r\t-+eE#%", "x", "true"]), max_size=60))
def test_any_text_raises_nothing_but_our_errors(tmp_path_factory, characters):
    path = tmp_path_factory.mktemp("any") / "a.txt"
    path.write_text("0.5 1 1 1\n" + "".join(characters), newline="")
    with warnings.catch_warnings(action="ignore"), contextlib.suppress(FormatError):
        formats.read(path, (2, 2))


def test_slider_depth_is_read_as_its_text_says(shared_data):
    with pytest.warns(formats.GuessedSizeWarning):
        events = formats.read(shared_data / "ecd_slider_depth" / "events.txt.gz")
    assert (len(events), events.size) == (1_078_541, (180, 240))
    assert events.t[[0, 1, -1]].tolist() == [3811, 3820, 3404080]
    assert round(100 * float(events.p.double().mean()), 1) == 41.5


def test_a_sample_that_may_be_either_needs_its_columns(shared_data):
    path = shared_data / "aestream_samples" / "sample.csv"
    with pytest.raises(FormatError, match="columns="):
        formats.read(path)
    assert len(formats.read(path, (100, 100), columns="xytp")) == 100
