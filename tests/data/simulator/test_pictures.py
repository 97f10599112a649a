"""Pictures from files come grey, in order and with their times, or not at all."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from evsurf.data.simulator import Camera
from evsurf.data.simulator.pictures import film, grey

imageio = pytest.importorskip("imageio.v3", reason="needs the extra [view]")


def steps(count: int = 4, size=(6, 8)) -> list[np.ndarray]:
    """Grey pictures, each brighter than the last."""
    return [np.full(size, 40 + 50 * k, np.uint8) for k in range(count)]


def values(path, **options) -> list[tuple[float, float]]:
    return [(t, round(float(picture[0, 0]) * 255)) for t, picture in film(path, **options)]


def test_colours_become_brightness():
    red = np.zeros((2, 2, 3), np.uint8)
    red[..., 0] = 255
    assert grey(red) == pytest.approx(np.full((2, 2), 0.299), abs=1e-6)
    assert grey(np.dstack([red, np.full((2, 2), 7, np.uint8)])) == pytest.approx(grey(red))
    assert grey(np.full((2, 2), 65535, np.uint16)).max() == 1
    assert grey(np.full((2, 2, 1), 0.5)).shape == (2, 2)


@pytest.mark.parametrize(
    ("picture", "message"),
    [
        (np.zeros((1, 5)), "at least 2 x 2 pixels"),
        (np.zeros(5), "must be grey or coloured"),
        (np.zeros((4, 4, 7)), "must be grey or coloured"),
        (np.full((4, 4), 3.0), "divide floats by what is white"),
        (np.full((4, 4), np.nan), "intensities must be from 0 to 1"),
        (np.zeros((4, 4), np.int32), "unsigned integers or floats, got int32"),
    ],
)
def test_what_is_no_picture_is_refused(picture, message):
    with pytest.raises(ValueError, match=message):
        grey(picture)


def test_pictures_of_a_folder_come_in_the_order_of_their_numbers(tmp_path):
    for number, picture in zip((2, 10, 9, 1), steps(), strict=True):
        imageio.imwrite(tmp_path / f"a{number}.png", picture)
    assert values(tmp_path, rate=100.0) == [(0, 190), (10_000, 40), (20_000, 140), (30_000, 90)]


def test_a_file_of_times_says_when(tmp_path):
    (tmp_path / "images").mkdir()
    for number, picture in enumerate(steps(3)):
        imageio.imwrite(tmp_path / "images" / f"{number}.png", picture)
    (tmp_path / "timestamps.txt").write_text("0 5.0\n1 5.25\n2 6.0\n", encoding="utf-8")
    assert [t for t, _ in values(tmp_path)] == [0, 250_000, 1_000_000]
    assert [t for t, _ in values(tmp_path, rate=10.0)] == [0, 100_000, 200_000]
    (tmp_path / "timestamps.txt").write_text("0 5.0\n", encoding="utf-8")
    with pytest.raises(ValueError, match="has 1 times for 3 pictures"):
        values(tmp_path)
    (tmp_path / "timestamps.txt").write_text("when\n" * 3, encoding="utf-8")
    with pytest.raises(ValueError, match="must end each line in a time in seconds"):
        values(tmp_path)


def test_arrays_are_films_of_a_given_rate(tmp_path):
    np.save(tmp_path / "film.npy", np.stack(steps()))
    assert values(tmp_path / "film.npy", rate=1000.0)[-1] == (3_000, 190)
    with pytest.raises(ValueError, match="give the rate"):
        values(tmp_path / "film.npy")
    np.save(tmp_path / "film.npy", np.zeros(5))
    with pytest.raises(ValueError, match=r"\[pictures, height, width\], got \(5,\)"):
        values(tmp_path / "film.npy", rate=10.0)


def test_films_know_their_rate(tmp_path):
    imageio.imwrite(tmp_path / "film.gif", np.stack(steps()), duration=50, plugin="pillow")
    found = values(tmp_path / "film.gif")
    assert [t for t, _ in found] == [0, 50_000, 100_000, 150_000]
    assert [value for _, value in found] == [40, 90, 140, 190]


def test_videos_are_decoded(tmp_path):
    pytest.importorskip("av", reason="needs the extra [view]")
    frames = np.stack(steps(size=(32, 32)))[..., None].repeat(3, axis=-1)
    imageio.imwrite(tmp_path / "film.mp4", frames, plugin="pyav", codec="mpeg4", fps=25)
    found = values(tmp_path / "film.mp4")
    assert [t for t, _ in found] == [0, 40_000, 80_000, 120_000]
    assert [value for _, value in found] == pytest.approx([40, 90, 140, 190], abs=12)


def test_a_camera_sees_a_film(tmp_path):
    np.save(tmp_path / "film.npy", np.stack(steps()))
    events = Camera((6, 8), spread=0.0, settled=True).record(film(tmp_path / "film.npy", rate=50.0))
    assert bool(events.p.all())
    assert len(events) % 48 == 0
    assert len(events) > 0


def test_pictures_of_different_sizes_are_refused(tmp_path):
    imageio.imwrite(tmp_path / "1.png", steps()[0])
    imageio.imwrite(tmp_path / "2.png", steps(size=(6, 9))[0])
    with pytest.raises(ValueError, match=r"picture 1 .* has size \(6, 9\), the first has \(6, 8\)"):
        values(tmp_path, rate=10.0)


@pytest.mark.parametrize("count", [0, 1])
def test_a_film_without_change_of_pictures_is_refused(tmp_path, count):
    np.save(tmp_path / "film.npy", np.zeros((count, 4, 4), np.uint8))
    with pytest.raises(ValueError, match=f"holds {count} pictures: events need at least two"):
        values(tmp_path / "film.npy", rate=10.0)


def test_what_is_no_film_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file or folder"):
        values(tmp_path / "absent.mp4")
    (tmp_path / "notes.txt").write_text("no film", encoding="utf-8")
    with pytest.raises(ValueError, match="no film known here; it must end in one of .mp4"):
        values(tmp_path / "notes.txt")
    with pytest.raises(ValueError, match="holds no picture ending in"):
        values(tmp_path, rate=10.0)
    with pytest.raises(ValueError, match="rate = 0 must be above 0"):
        values(tmp_path, rate=0)


def test_without_imageio_the_error_names_the_extra(tmp_path, monkeypatch):
    imageio.imwrite(tmp_path / "1.png", steps()[0])
    monkeypatch.setitem(sys.modules, "imageio.v3", None)
    with pytest.raises(ImportError, match=r"pip install 'evsurf\[view\]'"):
        values(tmp_path, rate=10.0)
