"""`evsurf simulate` makes events of worlds, films and pictures, and says what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

import evsurf as es

SMALL = ("--size", "65x86", "--seconds", "0.1")


def test_a_world_becomes_events_frames_and_flow(typed, tmp_path):
    out, frames, flow = (str(tmp_path / name) for name in ("fly.npz", "frames.npz", "flow.npz"))
    code, text, err = typed(
        "simulate", "fly", "-o", out, "--frames", frames, "--flow", flow, *SMALL
    )
    assert (code, err) == (0, "")
    events = es.read(out)
    assert text.splitlines()[0].startswith(f"{out}: {len(events):,} events of 65x86, 0.")
    assert events.size == (65, 86)
    assert len(events) > 100
    with np.load(frames) as seen, np.load(flow) as moved:
        assert seen["frames"].shape == (4, 65, 86)
        assert seen["times"].tolist() == moved["times"].tolist()
        assert moved["flow"].shape == (3, 2, 65, 86)
        assert moved["visible"].mean() > 0.5
    assert sorted(file.name for file in tmp_path.iterdir()) == ["flow.npz", "fly.npz", "frames.npz"]


def test_a_seed_gives_the_same_events_and_a_preset_others(typed, tmp_path):
    found = []
    for number, more in enumerate([(), (), ("--seed", "3"), ("--preset", "noisy")]):
        path = tmp_path / f"{number}.npz"
        assert typed("simulate", "fly", "-o", str(path), *SMALL, *more)[0] == 0
        found.append(es.read(path))
    assert found[0] == found[1]
    assert found[0] != found[2]
    assert found[0] != found[3]


def test_a_higher_threshold_gives_fewer_events(typed, tmp_path):
    counts = []
    for threshold in ("0.2", "0.6"):
        path = tmp_path / f"{threshold}.npz"
        typed("simulate", "fly", "-o", str(path), "--threshold", threshold, *SMALL)
        counts.append(len(es.read(path)))
    assert counts[0] > 2 * counts[1]


def test_an_array_of_pictures_is_a_film(typed, tmp_path):
    pictures = np.stack([np.full((6, 8), 30 + 40 * k, np.uint8) for k in range(5)])
    np.save(tmp_path / "film.npy", pictures)
    film, out, frames = (str(tmp_path / name) for name in ("film.npy", "out.dat", "frames.npz"))
    code, text, err = typed("simulate", film, "-o", out, "--rate", "100", "--frames", frames)
    assert (code, err) == (0, "")
    assert "from 5 pictures" in text
    assert es.read(out).size == (6, 8)
    with np.load(frames) as seen:
        assert (seen["frames"] == pictures).all()
        assert seen["times"].tolist() == [0, 10_000, 20_000, 30_000, 40_000]
    typed("simulate", film, "-o", out, "--rate", "100", "--seconds", "0.02", "--force")
    assert es.read(out).t[-1] <= 20_000


def test_a_picture_is_seen_by_a_moving_eye(typed, tmp_path):
    imageio = pytest.importorskip("imageio.v3", reason="needs the extra [view]")
    picture = np.zeros((28, 28), np.uint8)
    picture[8:20, 12:16] = 255
    imageio.imwrite(tmp_path / "one.png", picture)
    out = str(tmp_path / "one.bin")
    assert typed("simulate", str(tmp_path / "one.png"), "-o", out, "--size", "34x34")[0] == 0
    events = es.read(out, size=(34, 34))
    assert len(events) > 200
    assert 0.25e6 < events.duration < 0.35e6
    assert 0.3 < float(events.p.float().mean()) < 0.7


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("flyy", "-o", "a.npz"), "no file and no world (drive, fly); did you mean the world fly?"),
        (("fly", "-o", "a.xyz"), "does not say which format to write"),
        (("fly", "-o", "a.npz", "--frames", "b.txt"), "--frames is 'b.txt', but must end in .npz"),
        (("fly", "-o", "a.npz", "--seconds", "0"), "--seconds must be a number above 0, up to 600"),
        (("fly", "-o", "a.npz", "--seconds", "0.01"), "a frame of this world takes"),
        (("fly", "-o", "a.npz", "--threshold", "-1"), "--threshold must be a number above 0"),
        (("fly", "-o", "a.npz", "--rate", "10"), "--rate is for pictures"),
        (
            ("fly", "-o", "a.npz", "--preset", "loud"),
            "--preset must be one of 'clean', 'default', 'noisy'",
        ),
        (("here.npy", "-o", "a.npz", "--flow", "b.npz"), "--flow needs a world"),
        (("here.npy", "-o", "a.npz"), "give the rate"),
        (("here.npy", "-o", "a.npz", "--rate", "9", "--size", "4x4"), "--size is for a world"),
        (("one.npy", "-o", "a.npz", "--rate", "9"), "one.npy holds 1 pictures"),
        (("fly", "-o", "here.npz"), "'here.npz' exists; --force replaces it"),
        (("fly", "-o", "nowhere/a.npz"), "there is no folder 'nowhere'"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(typed, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    np.save("here.npy", np.zeros((3, 6, 8), np.uint8))
    np.save("one.npy", np.zeros((1, 6, 8), np.uint8))
    (tmp_path / "here.npz").write_text("something", encoding="utf-8")
    code, out, err = typed("simulate", *words)
    assert (code, out) == (2, "")
    assert message in err
    assert sorted(file.name for file in tmp_path.iterdir()) == ["here.npy", "here.npz", "one.npy"]


def test_what_is_interrupted_leaves_nothing(typed, tmp_path, monkeypatch):
    from evsurf.data.simulator.scene import Scene

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Scene, "flow", stopped)
    flow = str(tmp_path / "flow.npz")
    code, _, err = typed("simulate", "fly", "-o", str(tmp_path / "a.npz"), "--flow", flow, *SMALL)
    assert code == 130
    assert err == "evsurf: stopped\n"
    assert [file.name for file in tmp_path.iterdir()] == ["a.npz"]
