"""Convert writes whole files or none, and says beforehand what cannot be done."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evsurf.data.formats import read
from evsurf.events import Events
from tests.data.formats.toy import BROKEN, header, rows

pytestmark = pytest.mark.usefixtures("toys")

ROOT = Path(__file__).parents[2]
FIVE = [(3, 1, 10, 1), (0, 1, 25, 0), (1, 0, 25, 1), (1, 0, 40, 1), (2, 1, 90, 0)]
EVENTS = Events.from_arrays(*zip(*FIVE, strict=True), (2, 4))

# A reader that hands out one event at a time, slowly; the rest is as users have it.
SLOWLY = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from tests.data.formats import toy

class Slow(toy.Bare):
    def pieces(self, count):
        for columns in super().pieces(1):
            time.sleep(0.02)
            yield columns

toy.BARE = toy.Format("bare", "slow rows", (".bare",), lambda *_: False, Slow, toy.write_bare)
toy.register(lambda known, name, one: known.update({name: one}))
from evsurf.cli import main
sys.exit(main())
"""


@pytest.fixture
def bare(tmp_path):
    path = tmp_path / "a.bare"
    path.write_bytes(rows(*FIVE))
    return path


@pytest.fixture
def toy(tmp_path):
    path = tmp_path / "a.toy"
    path.write_bytes(header((2, 4)) + rows(*FIVE))
    return path


def test_a_file_becomes_one_of_another_format(typed, toy, tmp_path):
    target = tmp_path / "b.bare"
    code, out, err = typed("convert", str(toy), "-o", str(target))
    assert (code, err) == (0, "")
    assert out.startswith(f"{target}: 5 events, 65 B, ")
    assert read(target, (2, 4)) == EVENTS


def test_a_guess_is_a_note_and_a_given_size_none(typed, bare, tmp_path):
    target = tmp_path / "b.toy"
    code, _, err = typed("convert", str(bare), "-o", str(target))
    assert code == 0
    assert err.startswith("note: a.bare does not say its sensor's size; 2x4")
    assert typed("convert", str(bare), "-o", str(target), "--force", "--size", "5x6").err == ""
    assert read(target).size == (5, 6)


def test_the_formats_may_be_named(typed, bare, tmp_path):
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(bare.read_bytes())
    words = ["--from", "bare", "--to", "toy", "--size", "2x4"]
    assert typed("convert", str(source), "-o", str(target), *words).code == 0
    assert read(target) == EVENTS


def test_several_files_go_into_a_folder(typed, toy, tmp_path):
    (tmp_path / "B.c.TOY").write_bytes(toy.read_bytes())
    folder = tmp_path / "new"
    words = ["convert", str(toy), str(tmp_path / "B.c.TOY"), "-o", f"{folder}/", "--to", "bare"]
    assert typed(*words).code == 0
    assert sorted(path.name for path in folder.iterdir()) == ["B.c.bare", "a.bare"]
    assert read(folder / "a.bare", (2, 4)) == EVENTS


def test_a_file_that_exists_is_replaced_only_by_force(typed, toy, tmp_path):
    target = tmp_path / "b.bare"
    target.write_bytes(b"kept")
    code, out, err = typed("convert", str(toy), "-o", str(target))
    assert (code, out) == (2, "")
    assert err == f"evsurf: error: '{target}' exists; --force replaces it\n"
    assert target.read_bytes() == b"kept"
    assert typed("convert", str(toy), "-o", str(target), "--force").code == 0
    assert read(target, (2, 4)) == EVENTS


def test_damage_is_a_note_and_with_strict_an_error(typed, tmp_path):
    source, target = tmp_path / "a.toy", tmp_path / "b.bare"
    source.write_bytes(header((2, 4)) + rows(*FIVE, (9, 9, 99, 1)))
    code, _, err = typed("convert", str(source), "-o", str(target))
    assert code == 0
    assert err.startswith("note: a.toy: out_of_bounds: 1, first at event 5 (events outside")
    code, _, err = typed("convert", str(source), "-o", str(target), "--force", "--strict")
    assert code == 2
    assert err.startswith("evsurf: error: a.toy: out_of_bounds")
    assert read(target, (2, 4)) == EVENTS


def test_where_reading_breaks_off_nothing_is_written(typed, tmp_path):
    source = tmp_path / "a.bare"
    source.write_bytes(rows(*FIVE) + rows((0, 0, BROKEN, 0)))
    code, _, err = typed("convert", str(source), "-o", str(tmp_path / "b.toy"), "--size", "2x4")
    assert code == 2
    assert "a.bare: a row is broken (at byte" in err
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (["a.toy"], "output is missing"),
        (["a.toy", "-o", "b.xyz"], "'b.xyz' does not say which format to write"),
        (["a.toy", "-o", "b", "--to", "folder"], "--to is 'folder', which can be read but not"),
        (["a.toy", "-o", "b", "--to", "bear"], "Did you mean 'bare'?"),
        (["a.toy", "-o", "a.toy", "--force"], "which is the file to be read"),
        (["a.toy", "a.bare", "-o", "b.toy"], "several files need a folder: end it in /"),
        (["a.toy", "-o", "new/"], "--to is needed to write into a folder"),
        (["a.toy", "a.bare", "-o", "new/", "--to", "toy"], "files would become 'new/a.toy'"),
        (["a.toy", "-o", "absent/b.bare"], "there is no folder 'absent'"),
        (["absent.toy", "-o", "b.bare"], "there is no file absent.toy"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_one_line_and_leaves_nothing(
    typed, toy, bare, monkeypatch, tmp_path, words, refusal
):
    monkeypatch.chdir(tmp_path)
    code, out, err = typed("convert", *words)
    assert (code, out) == (2, "")
    assert err.startswith("evsurf: error: ")
    assert refusal in err
    files = sorted(path.name for path in tmp_path.rglob("*") if path.is_file())
    assert files == ["a.bare", "a.toy"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize(
    ("number", "code", "words"),
    [(signal.SIGINT, 130, "evsurf: stopped\n"), (signal.SIGTERM, 143, "")],
)
def test_a_signal_leaves_nothing_half_written(tmp_path, number, code, words):
    source, target = tmp_path / "a.bare", tmp_path / "out" / "b.toy"
    source.write_bytes(rows(*FIVE * 1000))
    target.parent.mkdir()
    command = [sys.executable, "-c", SLOWLY, "convert", str(source), "-o", str(target)]
    child = subprocess.Popen(
        [*command, "--size", "2x4"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        cwd=ROOT,
    )  # fmt: skip
    ends = time.monotonic() + 60
    while not list(target.parent.iterdir()) and time.monotonic() < ends:
        time.sleep(0.05)
    assert [path.name[:7] for path in target.parent.iterdir()] == [".b.toy."]
    child.send_signal(number)
    _, err = child.communicate(timeout=60)
    assert (child.returncode, err) == (code, words)
    assert list(target.parent.iterdir()) == []
