"""What is made appears whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from evsurf.data.datasets.making import cache_folder, made


def test_a_folder_appears_when_it_is_whole(tmp_path):
    place = tmp_path / "deep" / "data"
    with made(place) as partial:
        (partial / "a").write_text("1", encoding="utf-8")
        assert not place.exists()
    assert (place / "a").read_text(encoding="utf-8") == "1"
    assert list(place.parent.iterdir()) == [place]


def test_what_is_interrupted_leaves_nothing(tmp_path):
    def interrupted() -> None:
        with made(tmp_path / "data") as partial:
            (partial / "a").write_text("1", encoding="utf-8")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_a_faster_process_stays(tmp_path):
    place = tmp_path / "data"
    with made(place) as partial:
        (partial / "a").write_text("slow", encoding="utf-8")
        with made(place) as faster:
            (faster / "a").write_text("fast", encoding="utf-8")
    assert (place / "a").read_text(encoding="utf-8") == "fast"
    assert list(tmp_path.iterdir()) == [place]


def test_data_sets_are_kept_in_the_users_own_cache():
    assert cache_folder().is_relative_to(Path.home())
