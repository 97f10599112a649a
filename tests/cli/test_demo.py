"""The demo draws a picture, the same one each time, and says where it is."""

from __future__ import annotations

import builtins
import functools
import sys
from io import BytesIO

import numpy as np
import pytest
import torch

from evsurf.cli import demo, foresight

STEPS = 2
LEARN = foresight.learn


@pytest.fixture
def quick(monkeypatch):
    """A demo that learns little and measures nothing, as its tests need neither."""
    monkeypatch.setattr(demo, "_STEPS", STEPS)
    monkeypatch.setattr(demo, "_speed", lambda *_: "no time")
    # The lesson does not depend on the options.
    monkeypatch.setattr(foresight, "learn", lesson)


@functools.cache
def lesson(steps: int, *, seed: int):
    return LEARN(steps, seed=seed)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder while the test lasts."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def pixels(path) -> np.ndarray:
    from matplotlib.image import imread

    return imread(BytesIO(path.read_bytes()), format="png")


def test_a_picture_is_drawn_and_its_path_printed(typed, quick, folder):
    code, out, err = typed("demo")
    assert (code, err) == (0, "")
    assert [path.name for path in folder.iterdir()] == ["demo.png"]
    assert "The picture is demo.png (" in out
    image = pixels(folder / "demo.png")
    assert min(image.shape[:2]) > 500
    assert len(np.unique(image.reshape(-1, image.shape[2]), axis=0)) > 50


def test_what_is_printed_is_wrapped_between_words(typed, quick, folder):
    lines = typed("demo").out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "`evsurf doctor`" in " ".join(line.strip() for line in lines)


def test_a_long_path_stays_in_one_piece(typed, quick, folder):
    deep = folder / ("a" * 60) / ("b" * 60)
    deep.mkdir(parents=True)
    assert f"The picture is {deep}/x.png (" in typed("demo", "-o", f"{deep}/x.png").out


def test_a_path_with_brackets_is_printed_as_it_is(typed, quick, folder):
    assert "The picture is a[b].png (" in typed("demo", "-o", "a[b].png").out
    assert (folder / "a[b].png").exists()


def test_the_demo_can_be_run_again_and_gives_the_same_picture(typed, quick, folder):
    assert typed("demo").code == 0
    first = (folder / "demo.png").read_bytes()
    torch.manual_seed(5)
    assert typed("demo").code == 0
    assert (folder / "demo.png").read_bytes() == first


def test_the_seed_changes_the_picture(typed, quick, folder):
    for seed in "12":
        typed("demo", "--seed", seed, "-o", f"{seed}.png")
    one, two = pixels(folder / "1.png"), pixels(folder / "2.png")
    assert one.shape != two.shape or not np.array_equal(one, two)


@pytest.mark.parametrize(
    ("name", "start"),
    [("x.jpg", b"\xff\xd8"), ("x.PDF", b"%PDF"), ("x.svg", b"<?xml")],
)
def test_the_ending_chooses_the_format(typed, quick, folder, name, start):
    assert typed("demo", "--output", name).code == 0
    assert (folder / name).read_bytes().startswith(start)


@pytest.mark.parametrize("name", ["demo", "x.bmp", "x.xyz", "png"])
def test_endings_that_no_picture_has_are_refused(typed, no_work, folder, name):
    assert typed("demo", "-o", name) == (
        2,
        "",
        f"evsurf: error: --output must end in .png, .jpg, .pdf, .svg, not {name!r}\n",
    )
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", ["", ".", "absent/x.png", "x.png/x.png", f"{'a' * 300}.png"])
def test_an_output_that_cannot_be_written_is_refused_before_the_work(typed, no_work, folder, name):
    (folder / "x.png").touch()
    code, out, err = typed("demo", "-o", name)
    assert (code, out) == (2, "")
    assert err.startswith(f"evsurf: error: --output is {name!r}, ")
    assert err.count("\n") == 1


def test_without_matplotlib_the_extra_is_named_before_the_work(typed, no_work, folder, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    plain = builtins.__import__

    def without(name, *args, **kwargs):
        if name.split(".")[0] == "matplotlib":
            raise ModuleNotFoundError(f"No module named {name!r}")
        return plain(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    code, out, err = typed("demo")
    assert (code, out) == (2, "")
    assert "pip install 'evsurf[view]'" in err
    assert list(folder.iterdir()) == []


def test_torch_keeps_its_threads(typed, quick, folder, threads_set, monkeypatch):
    threads_set(2)
    during = []

    def learn(*args, **kwargs):
        during.append(torch.get_num_threads())
        return lesson(*args, **kwargs)

    monkeypatch.setattr(foresight, "learn", learn)
    assert typed("demo").code == 0
    assert during == [1]
    assert torch.get_num_threads() == 2


def test_torch_keeps_its_threads_where_learning_fails(
    typed, quick, folder, threads_set, monkeypatch
):
    threads_set(2)

    def learn(*_, **__):
        raise RuntimeError("no memory")

    monkeypatch.setattr(foresight, "learn", learn)
    assert typed("demo").code == 2
    assert torch.get_num_threads() == 2


def test_what_was_learned_and_how_fast_it_is_are_told(typed, folder, monkeypatch):
    monkeypatch.setattr(demo, "_STEPS", STEPS)
    out = " ".join(typed("demo").out.split())
    learned = lesson(STEPS, seed=demo._LEARNING_SEED)
    assert (
        f"the loss fell from {learned.first_loss:.2f} to {learned.last_loss:.2f} in {STEPS} steps"
    ) in out
    assert " ms: " in out
    assert "million events per second" in out
